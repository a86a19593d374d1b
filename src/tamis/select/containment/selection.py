"""What a search chose, also as pictures, and the arrays that greedy kernels choose in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.charts import BLUE, INK, ORANGE, SOFT, Axes, Picture, Scale, around, shortened
from tamis.errors import plural
from tamis.notebook import in_short


@dataclass(frozen=True)
class Step:
    """One feature chosen: what it added, and where the set stood afterwards."""

    feature: int
    gain: float
    utility: float
    anonymity: int


@dataclass(frozen=True)
class Selection:
    """A feasible set of columns, by number, in the order of choice.

    `bound` is a proven upper limit of the utility over all feasible sets, if the search gives
    one; `steps` is the path, if the search had one.
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
        """How far the utility may be below the optimum, as a share of the bound."""
        if self.bound is None:
            return None
        return 0.0 if self.bound == 0 else max(0.0, (self.bound - self.utility) / self.bound)


class StopRule(NamedTuple):
    """What ends or bars a choice."""

    k: int
    equality: bool
    stop: bool
    most: int
    least_gain: float
    """In the unit of the counts; a gain must be above it."""

    @property
    def privacy(self) -> Literal["containment", "equality"]:
        """The kind of anonymity, by name."""
        return "equality" if self.equality else "containment"


class Path(NamedTuple):
    """The choices so far, by position in the queue."""

    item: NDArray[np.int32]
    gain: NDArray[np.int64]
    anonymity: NDArray[np.int64]


class Queue(NamedTuple):
    """Candidates by the last known gain; those from `FRESH` on still wait in their first order."""

    column: NDArray[np.int64]
    gain: NDArray[np.int64]
    stamp: NDArray[np.int32]
    """How many columns were chosen when the gain was counted; -1: the item is out."""
    heap: NDArray[np.int64]
    state: NDArray[np.int64]


def empty_path(most: int, items: int) -> Path:
    """Space for a path of choices."""
    room = min(most, items)
    return Path(np.zeros(room, np.int32), np.zeros(room, np.int64), np.zeros(room, np.int64))


def first_queue(column: NDArray[np.int64], bound: NDArray[np.int64]) -> Queue:
    """Candidates in the order of their first gains, which are upper bounds."""
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
    """Utility and anonymity, counted in `unit`, after each feature chosen; `k` is a line.

    `names` are those of all columns.
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
    """Utility against k, with the number of features beside each point."""
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
