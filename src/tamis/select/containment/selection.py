"""Stopping rule and result of a search, its pictures, and the arrays of the greedy kernels.

A person may have several rows, but searches count rows. Asking a search for more than k rows gives
groups of more people: once any k - 1 people together have fewer rows than asked for, every group
has at least k people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import sparse_rows
from tamis.charts import BLUE, INK, ORANGE, SOFT, Axes, Picture, Scale, around, shortened
from tamis.coding import Coded
from tamis.errors import CannotMeet, InputError, check_whole, plural
from tamis.notebook import in_short
from tamis.people import People
from tamis.risk.containment import containment_anonymity
from tamis.risk.grouping import sizes_of


@dataclass(frozen=True)
class Step:
    """One chosen feature: its gain, and the utility and anonymity of the set after it."""

    feature: int
    gain: float
    utility: float
    anonymity: int


@dataclass(frozen=True)
class Selection:
    """A feasible set of columns, by number, in the order of choice.

    `bound` is a proven upper bound of the utility over all feasible sets, if the search gives one;
    `steps` is the path of the search, if it has one.
    """

    features: tuple[int, ...]
    anonymity: int
    utility: float
    bound: float | None = None
    steps: tuple[Step, ...] = ()

    def __repr__(self) -> str:
        figures = f"anonymity {self.anonymity:,}, utility {self.utility:.4g}"
        return in_short(self, plural(len(self.features), "feature"), figures)

    @property
    def gap(self) -> float | None:
        """How far the utility may be below the optimum, as a fraction of the bound."""
        if self.bound is None:
            return None
        return 0.0 if self.bound == 0 else max(0.0, (self.bound - self.utility) / self.bound)


class StopRule(NamedTuple):
    """The anonymity to keep, and what ends a search: `stop` at a column that does not fit, the
    `most` columns, the least gain."""

    k: int
    equality: bool
    stop: bool
    most: int
    least_gain: float
    """In the unit of the counts; only a gain above it counts."""

    @property
    def privacy(self) -> Literal["containment", "equality"]:
        """The kind of anonymity, by name."""
        return "equality" if self.equality else "containment"


class Path(NamedTuple):
    """The columns chosen so far, as positions in the queue."""

    item: NDArray[np.int32]
    gain: NDArray[np.int64]
    anonymity: NDArray[np.int64]


class Queue(NamedTuple):
    """Candidates by their last known gain; those from `FRESH` on wait in their first order."""

    column: NDArray[np.int64]
    gain: NDArray[np.int64]
    stamp: NDArray[np.int32]
    """The number of columns chosen when the gain was counted; -1 if the item is out."""
    heap: NDArray[np.int64]
    state: NDArray[np.int64]


def empty_path(most: int, items: int) -> Path:
    """A path with room for `most` choices among `items`."""
    room = min(most, items)
    return Path(np.zeros(room, np.int32), np.zeros(room, np.int64), np.zeros(room, np.int64))


def first_queue(column: NDArray[np.int64], bound: NDArray[np.int64]) -> Queue:
    """A queue of candidates sorted by their first gains, which are upper bounds."""
    items = len(column)
    heap, stamp = np.zeros(items, np.int64), np.zeros(items, np.int32)
    return Queue(column, bound.copy(), stamp, heap, np.zeros(2, np.int64))


_WIDTH, _HEIGHT = 720.0, 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 70.0, 60.0, 60.0


HOLDERS = {
    "people": "people who have everything a person has",
    "rows": "rows that have everything a row has",
}


def path_picture(
    chosen: Selection, names: Sequence[str], k: int, utility: str, unit: str = "rows"
) -> Picture:
    """Picture of utility and anonymity after each chosen feature, with `k` as a line.

    `unit` is what the anonymity counts; `names` are those of all columns.
    """
    steps = chosen.steps
    picture = Picture(
        _WIDTH,
        _HEIGHT,
        f"{plural(len(steps), 'feature')} chosen at k = {k}",
        f"{utility} rises to {chosen.utility:.4g} while anonymity falls to {chosen.anonymity}, "
        "feature by feature.",
    )
    axes = _axes(picture)
    across = axes.across(0, max(len(steps), 1))
    up = axes.up(*around([0.0, *(s.utility for s in steps)]))
    people = [float(s.anonymity) for s in steps]
    # Anonymity falls from all rows to k: only a logarithmic axis shows both.
    fall = axes.up(1, max([k * 2.0, *people]) * 1.2, log=True)
    whole = [t for t in across.ticks(8) if t == int(t)]
    _frame(axes, across, whole, up, "features chosen", utility)
    axes.rows_at_the_right(fall, fall.ticks(), lambda tick: f"{tick:,.0f}", fill=ORANGE)
    axes.title_beside(_WIDTH - 14, HOLDERS[unit], fill=ORANGE, turn=90)
    axes.level(fall(k), stroke=ORANGE, stroke_dasharray="5 4")
    picture.text(_LEFT + 6, fall(k) - 5, f"k = {k}", fill=ORANGE, size=12)
    for values, scale, colour in (
        ([s.utility for s in steps], up, BLUE),
        (people, fall, ORANGE),
    ):
        points = [(across(i + 1), scale(v)) for i, v in enumerate(values)]
        picture.steps(points, fill="none", stroke=colour, stroke_width=2)
        for (x, y), step in zip(points, steps):
            tip = f"{names[step.feature]}: {utility} {step.utility:.4g}, {step.anonymity:,} {unit}"
            picture.circle(x, y, 3.5 if len(steps) < 60 else 2, tip, fill=colour)
    if len(steps) <= 12:
        for i, step in enumerate(steps):
            picture.text(
                across(i + 1), up(step.utility) - 9, shortened(names[step.feature], 16), size=10,
                anchor="middle", fill=SOFT,
            )  # fmt: skip
    count = plural(len(steps), "feature")
    picture.heading(_LEFT, 30, f"{count}, {utility} {chosen.utility:.4g}, k = {k}")
    return picture


def several_picture(chosen: Mapping[int, Selection], utility: str) -> Picture:
    """Picture of utility against k, with the number of features beside each point."""
    picture = Picture(
        _WIDTH,
        _HEIGHT,
        f"{utility} against k",
        "; ".join(
            f"k {k}: {utility} {s.utility:.4g} with {plural(len(s.features), 'feature')}"
            for k, s in chosen.items()
        ),
    )
    ks = sorted(chosen)
    axes = _axes(picture)
    across = axes.across(*around([float(k) for k in ks]))
    up = axes.up(*around(chosen[k].utility for k in ks))
    _frame(axes, across, ks, up, "k, the anonymity kept", utility)
    points = [(across(k), up(chosen[k].utility)) for k in ks]
    picture.steps(points, fill="none", stroke=BLUE, stroke_width=2)
    for k, (x, y) in zip(ks, points):
        count = plural(len(chosen[k].features), "feature")
        picture.circle(x, y, 5, f"k = {k}: {chosen[k].utility:.4g}, {count}", fill=BLUE)
        picture.text(x, y - 12, count, anchor="middle", size=12, fill=INK)
    picture.heading(_LEFT, 30, f"{utility} against k")
    return picture


def _axes(picture: Picture) -> Axes:
    return Axes(picture, _LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT - _BOTTOM)


def _frame(
    axes: Axes, across: Scale, ticks: Sequence[float], up: Scale, below: str, utility: str
) -> None:
    axes.rows(up, up.ticks(), fill=BLUE)
    axes.columns(across, ticks, grid=False)
    axes.title_below(_HEIGHT - 16, below, fill=SOFT)
    axes.title_beside(18, utility, fill=BLUE)


Privacy = Literal["containment", "equality"]
Found = TypeVar("Found")

GROWTH = 1.25
"""The smallest factor by which the rows asked for are raised: fewer searches against more rows
than necessary."""


def check_k(k: Any, rows: int) -> None:
    """Refuse a k that is not a whole number of at least 1, or too large for the table."""
    check_whole("k", k)
    if k > rows:
        raise CannotMeet(
            f"k = {k} cannot be met by {plural(rows, 'row')}, since no row can hide among more "
            f"rows than there are; choose k of at most {rows}"
        )


def check_privacy(privacy: Any) -> None:
    """Refuse an unknown kind of anonymity."""
    if privacy not in ("containment", "equality"):
        raise InputError(f"privacy must be 'containment' or 'equality', got {privacy!r}")


def labelled_rows(labelled: Any, label: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Check which rows have a label that may be used; `None` for all."""
    if labelled is None:
        return None
    known = np.asarray(labelled)
    if known.dtype != np.bool_ or known.shape != label.shape:
        raise InputError(
            f"labelled must have one boolean for each of the {len(label)} rows, got "
            f"{known.dtype} of shape {known.shape}"
        )
    if len(np.unique(label[known])) < 2:
        raise InputError("two classes are needed among the labelled rows")
    return known


def enough_rows(k: int, people: People) -> int:
    """The number of rows that always belong to at least k people: one more than any k - 1 have.

    >>> enough_rows(3, People.of([0, 0, 0, 1, 1, 2]))
    6
    """
    rows = np.sort(np.bincount(people.codes))[::-1]
    if k > len(rows):
        raise CannotMeet(
            f"k = {k} cannot be met by {plural(len(rows), 'person', 'people')} with "
            f"{plural(len(people), 'row')}; choose k "
            f"of at most {len(rows)}"
        )
    return int(rows[: k - 1].sum()) + 1


def keeping(
    k: int, people: People, search: Callable[[int], Found], reached: Callable[[Found], int]
) -> Found:
    """Ask a search for more and more rows until every group of its result has k people.

    `people` are numbered without gaps. `search` takes the rows that every group must have, and
    `reached` counts the people in the smallest group of its result.
    """
    most, rows = enough_rows(k, people), k
    while True:
        result = search(rows)
        crowd = reached(result)
        if crowd >= k:
            return result
        if rows >= most:
            raise CannotMeet(
                f"the smallest group has {plural(crowd, 'person', 'people')}, below k = {k}"
            )
        # Scaled by what is missing, as if rows and people grew in step.
        rows = min(most, int(np.ceil(rows * max(GROWTH, k / crowd))))


def selected(
    table: Any,
    people: People,
    k: int,
    search: Callable[[int], Selection],
    privacy: Privacy = "containment",
) -> Selection:
    """Select columns that keep k people with a search that counts rows.

    The anonymities of the result are in people.
    """
    bounds: list[float | None] = []

    def attempt(rows: int) -> Selection:
        result = search(rows)
        bounds.append(result.bound)
        return replace(result, anonymity=crowd_of(table, result.features, people, privacy))

    selection = keeping(k, people, attempt, lambda result: result.anonymity)
    chosen = [step.feature for step in selection.steps]
    steps = tuple(
        replace(step, anonymity=crowd_of(table, chosen[: i + 1], people, privacy))
        for i, step in enumerate(selection.steps)
    )
    # Sets that keep k people also keep k rows, so the bound of the first search, which asks for k
    # rows, holds for them too. Later bounds are over fewer sets.
    return replace(selection, bound=bounds[0], steps=steps)


def crowd_of(table: Any, features: Any, people: People, privacy: Privacy = "containment") -> int:
    """Anonymity of some columns in people: the fewest who have everything a row has, or equal it.

    >>> rows = np.array([[1, 1], [1, 0], [1, 1]])
    >>> who = People.of([0, 1, 0])
    >>> crowd_of(rows, [0], who), crowd_of(rows, [0, 1], who)
    (2, 1)
    """
    if not len(features):
        return people.count
    columns = table[:, list(features)]
    if privacy == "containment":
        return containment_anonymity(columns, people=people)
    return equal_people(sparse_rows(columns), people)


def equal_people(rows: Any, people: People) -> int:
    """The number of people in the smallest group of equal rows of a CSR array."""
    from tamis.risk.kernels import distinct_rows

    first, _, of_row = distinct_rows(rows.indptr, rows.indices)
    return int(sizes_of(Coded(of_row, len(first)), people).min())
