"""Membership inference: is this person in the table?

One attack uses the distance to the nearest released row, which is small for those who are in the
table. For a mechanism that can be run again, a shadow attack tells its results with one person from
those without them; the stated epsilon bounds its success. To draw a release again, settings come
from its manifest and, where only the holder has them, from the private part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import betaincinv

from tamis.arrays import Floats
from tamis.attack.kernels import NearestRows
from tamis.attack.scene import AttackScore, Cells, Scene, as_numbers, scored
from tamis.dp.budget import opendp
from tamis.dp.domain import axis, brought
from tamis.errors import CannotMeet, InputError, listed
from tamis.evaluate.figure import Figure, auc, wilson_share
from tamis.learn.holdout import Predictions
from tamis.table import Table, only

Mask = NDArray[np.bool_]


def membership(scene: Scene) -> AttackScore | None:
    """An attacker who knows all released columns of a person; `None` without a control group.

    It declares people to be in the table if a released row is nearer to them than a threshold,
    which is chosen on half of the people and tried on the others. As many are in the table as are
    not, so guessing is right for half of them.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> table, others = patients(rows=300), patients(rows=300, random_state=1)
    >>> membership(Scene(table, table, control=others)).success.value
    1.0
    """
    cells = scene.cells
    if cells.control is None:
        return None
    many = min(len(scene.inside), len(cells.control), scene.most)
    if many < 4:
        return None
    draw = scene.draw(6)
    inside = cells.original[scene.inside][draw.permutation(len(scene.inside))[:many]]
    outside = cells.control[draw.permutation(len(cells.control))[:many]]
    near, far = (
        distances_to_nearest(people, cells.without, cells.nominal) for people in (inside, outside)
    )
    half = many // 2
    at = threshold(near[:half], far[:half])
    said = np.concatenate([near[half:] <= at, far[half:] > at])
    return scored(
        "membership, nearest row",
        "says that a person is in the table if a released row is near enough to them",
        said,
        guess=0.5,
        details={
            "auc": _area(near, far),
            "in_table_found": float((near[half:] <= at).mean()),
            "others_suspected": float((far[half:] <= at).mean()),
        },
    )


def distances_to_nearest(people: Cells, rows: Cells, nominal: Mask) -> Floats:
    """The distance of each person to the nearest of the rows."""
    near, far = NearestRows(rows, nominal), [np.zeros(0)]
    for first in range(0, len(people), 64):
        part = people[first : first + 64]
        far.append(near.to(part, np.ones(part.shape, np.bool_))[1])
    return np.concatenate(far)


def threshold(near: Floats, far: Floats) -> float:
    """The distance that best separates two groups: people up to it count as near.

    >>> threshold(np.array([0.0, 0.1]), np.array([0.5, 0.6]))
    0.1
    """
    # Of equally good cuts the first, and so the smallest, is taken; -inf calls nobody near.
    cuts = np.concatenate([[-inf], np.unique(np.concatenate([near, far]))])
    right = [(near <= cut).mean() + (far > cut).mean() for cut in cuts]
    return float(cuts[int(np.argmax(right))])


def _area(near: Floats, far: Floats) -> dict[str, float | None] | None:
    """Area under the ROC curve of nearness as a sign of membership."""
    scores = np.concatenate([-near, -far])
    truth = np.repeat([1, 0], [len(near), len(far)])
    both = np.column_stack([-scores, scores])
    area = auc(Predictions(np.array([0, 1]), truth, truth, both))
    return None if area is None else area.to_dict()


@dataclass(frozen=True)
class ShadowAttack:
    """How well results with one person can be told from results without them.

    Parameters
    ----------
    success : Figure
        The share of results that are classified correctly; guessing is right for half.
    allowed : float
        The largest share that the promised epsilon and delta allow.
    epsilon_at_least : float
        A lower bound of epsilon that the results prove, with 95 % confidence; 0 if none.
    runs : int
        How often the mechanism was run, with and without the person.
    """

    success: Figure
    allowed: float
    epsilon_at_least: float
    runs: int

    @property
    def within(self) -> bool:
        """Whether the results are compatible with the promise."""
        return (self.success.low or 0.0) <= self.allowed


def shadow_attack(
    make: Callable[[pl.DataFrame, int], pl.DataFrame],
    frame: pl.DataFrame,
    *,
    epsilon: float,
    delta: float = 0.0,
    person: int | None = None,
    runs: int = 100,
    random_state: int = 0,
) -> ShadowAttack:
    """Run a mechanism with and without a person, and tell the results apart.

    `make` takes a frame and a seed and returns the released rows; epsilon and delta are what it
    promises when one row is added or removed. `person` is the number of a row; by default the one
    farthest from all others. A threshold is chosen on half of the `runs` with and without the
    person.

    >>> frame = pl.DataFrame({"x": [0.0] * 20 + [1.0]})
    >>> open_book = shadow_attack(lambda rows, seed: rows, frame, epsilon=1.0, runs=40)
    >>> open_book.success.value, open_book.within
    (1.0, False)
    >>> constant = pl.DataFrame({"x": [0.5]})
    >>> shadow_attack(lambda rows, seed: constant, frame, epsilon=1.0, runs=40).within
    True
    """
    row = farthest(frame) if person is None else person
    others = frame.filter(pl.int_range(pl.len()) != row)
    near, far = _gaps(
        lambda table, seed: gap_to_nearest(frame[[row]], make(table, seed)),
        (frame, others),
        runs,
        random_state,
    )
    return told_apart(near, far, epsilon, delta)


def check_runs(runs: int) -> None:
    """Raise for fewer than 4 runs: half of them choose a threshold, the others try it."""
    if runs < 4:
        raise InputError(f"a shadow attack needs 4 runs or more, got {runs}")


def _gaps(
    gap: Callable[[Any, int], float], tables: tuple[Any, Any], runs: int, random_state: int
) -> list[Floats]:
    """The gaps between a person and `runs` results drawn from each of two tables."""
    check_runs(runs)
    seeds = np.random.default_rng(random_state).integers(0, 2**31, (2, runs)).tolist()
    return [np.array([gap(table, seed) for seed in row]) for table, row in zip(tables, seeds)]


def told_apart(near: Floats, far: Floats, epsilon: float, delta: float = 0.0) -> ShadowAttack:
    """A shadow attack from the gaps of results with a person and of as many without.

    A threshold is chosen on half of the results and tried on the others.

    >>> told_apart(np.zeros(40), np.ones(40), epsilon=1.0).within
    False
    """
    runs = len(near)
    half = runs // 2
    at = threshold(near[:half], far[:half])
    hits, alarms = int((near[half:] <= at).sum()), int((far[half:] <= at).sum())
    of = runs - half
    # A test between neighbours has true and false positive rates with TPR <= e^epsilon FPR + delta
    # and, for the negatives, TNR <= e^epsilon FNR + delta. Adding both bounds the accuracy
    # (TPR + TNR) / 2 by (e^epsilon + delta) / (1 + e^epsilon).
    return ShadowAttack(
        wilson_share(hits + of - alarms, 2 * of),
        (exp(epsilon) + delta) / (1 + exp(epsilon)),
        epsilon_at_least(hits, alarms, of, delta),
        runs,
    )


def epsilon_at_least(hits: int, alarms: int, of: int, delta: float = 0.0) -> float:
    """A lower bound of epsilon from an attack's hits and false alarms, with Clopper-Pearson bounds.

    Both rates are bounded at 2.5 %, so that both bounds hold at once with 95 % confidence.

    >>> epsilon_at_least(50, 50, 100), round(epsilon_at_least(100, 0, 100), 2)
    (0.0, 3.28)
    """
    largest = 0.0
    # Once for the claim that the person is in, once for the claim that they are not.
    for right, wrong in ((hits, alarms), (of - alarms, of - hits)):
        low = float(betaincinv(right, of - right + 1, 0.025)) if right else 0.0
        high = float(betaincinv(wrong + 1, of - wrong, 0.975)) if wrong < of else 1.0
        if low > delta:
            largest = max(largest, log((low - delta) / high))
    return largest


def gap_to_nearest(target: pl.DataFrame, release: pl.DataFrame) -> float:
    """Distance to the nearest released row, minus a little for each row at that distance.

    So results with equal distances are ordered by how many rows there are.
    """
    columns = tuple(c for c in target.columns if c in release.columns)
    if not release.height or not columns:
        return float(len(target.columns))
    (asked, rows), nominal = as_numbers([target, release], columns)
    hits, far = NearestRows(rows, nominal).to(asked, np.ones(asked.shape, np.bool_))
    return float(far[0] - 1e-6 * hits.sum())


def farthest(frame: pl.DataFrame) -> int:
    """The row that is farthest from its nearest other row.

    >>> farthest(pl.DataFrame({"x": [1.0, 1.1, 5.0, 1.2]}))
    2
    """
    (cells,), nominal = as_numbers([frame], tuple(frame.columns))
    known = np.ones((1, cells.shape[1]), np.bool_)
    far = [
        float(NearestRows(np.delete(cells, i, axis=0), nominal).to(cells[[i]], known)[1][0])
        for i in range(len(cells))
    ]
    return int(np.argmax(far))


Draw = Callable[[Table, int], pl.DataFrame]
"""Draws synthetic rows from a table; the seed governs everything but the noise."""

RUNS = 100
SHADOWED = 50
"""The most people in the table that is drawn from. The promise holds for every table, and one
person stands out most in a small one."""


@dataclass(frozen=True, eq=False)
class Shadow:
    """A table with a person, its neighbour without them, and a function that draws from both."""

    whole: Table
    neighbour: Table
    target: pl.DataFrame
    """The rows of the person, in the drawn columns."""
    draw: Draw

    def gap(self, table: Table, seed: int) -> float:
        """Gap between the person and rows drawn from a table; largest where none can be drawn."""
        try:
            drawn = self.draw(table, seed)
        except CannotMeet:
            drawn = pl.DataFrame()
        return min(gap_to_nearest(self.target[[row]], drawn) for row in range(self.target.height))


def shadow_of_release(
    original: Table,
    manifest: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    *,
    runs: int = RUNS,
    most: int = SHADOWED,
    random_state: int = 0,
) -> AttackScore:
    """Draw a release of synthetic rows again with and without one person, of at most `most` people.

    `manifest` is that of the release, with its `budget`; `settings` are those of the method `dp`
    that only the holder has: `bins`, `rows`, `items`. A threshold is chosen on half of the `runs`.
    Raises `InputError` where such rows cannot be drawn again.
    """
    opendp()
    budget = manifest["budget"]
    shadow = _shadow(original, manifest, settings or {}, most, random_state)
    near, far = _gaps(shadow.gap, (shadow.whole, shadow.neighbour), runs, random_state)
    return _scored(told_apart(near, far, float(budget["epsilon"]), float(budget["delta"])), budget)


def _scored(attack: ShadowAttack, budget: Mapping[str, Any]) -> AttackScore:
    return AttackScore(
        "membership, shadow tables",
        "draws the release again with and without the person who stands out most, and tells the "
        "results apart",
        attack.success,
        0.5,
        1,
        details={
            "allowed": attack.allowed,
            "epsilon": float(budget["epsilon"]),
            "epsilon_at_least": attack.epsilon_at_least,
            "runs": attack.runs,
            "within": attack.within,
        },
    )


def _shadow(
    original: Table,
    manifest: Mapping[str, Any],
    settings: Mapping[str, Any],
    most: int,
    random_state: int,
) -> Shadow:
    budget = manifest["budget"]
    columns, draw = _drawing(original, manifest, settings)
    table = _few(original.select(columns), most, random_state)
    declared = {c: _declared(domain) for c, domain in budget["domain"].items()}
    bounded = brought(
        only(table.frame, [*columns, table.target]),
        [axis(c, domain, label=c == table.target) for c, domain in declared.items()],
    )
    people = table.people.codes
    first = np.unique(people, return_index=True)[1]
    who = int(first[farthest(bounded[first])])  # by the first row of each person
    mine = people == people[who]
    if budget["neighbours"] == "substitute":
        frame = _replaced(table.frame, who, _unlike(bounded, who))
    else:
        frame = table.frame.filter(pl.Series(~mine))
    return Shadow(table, replace(table, frame=frame), bounded.filter(pl.Series(mine)), draw)


def _drawing(
    original: Table, manifest: Mapping[str, Any], settings: Mapping[str, Any]
) -> tuple[list[str], Draw]:
    """The features that rows are drawn from, and the function that draws them."""
    budget, kind = manifest["budget"], manifest["method"]["parameters"].get("kind")
    drawn = [c["name"] for c in manifest["columns"] if c["role"] != "target"]
    if gone := [c for c in drawn if c not in original.features]:
        raise InputError(f"the original has no feature {listed(gone)}, which the release has")
    if kind == "selected":
        items = [c for c in settings.get("items") or original.features if c in original.features]
        return items, _selected(budget, items, len(drawn))
    if kind not in _OPTIONS:
        raise InputError(
            f"rows of kind {kind!r} cannot be drawn again here, so no shadow attack was tried"
        )
    return drawn, _modelled(str(kind), budget, settings)


_OPTIONS = {
    "histogram": ("bins",),
    "partition": ("bins", "rows"),
    "synthesiser": ("bins", "algorithm"),
}
"""The settings of each model that only the holder has."""


def _modelled(kind: str, budget: Mapping[str, Any], settings: Mapping[str, Any]) -> Draw:
    from tamis.dp.histogram import DPHistogram, DPPartition
    from tamis.dp.synthesiser import DPSynthesiser

    model_of: dict[str, Any] = {
        "histogram": DPHistogram,
        "partition": DPPartition,
        "synthesiser": DPSynthesiser,
    }
    given = {name: settings[name] for name in _OPTIONS[kind] if settings.get(name) is not None}
    # The synthesiser has fixed neighbours and takes a delta; the other models take neighbours.
    cost = "delta" if kind == "synthesiser" else "neighbours"
    given[cost] = budget[cost]
    bounds = {c: _declared(domain) for c, domain in budget["domain"].items()}

    def draw(table: Table, seed: int) -> pl.DataFrame:
        model = model_of[kind](
            budget["epsilon"],
            bounds=bounds,
            max_rows_per_person=budget["max_rows_per_person"] or 1,
            random_state=seed,
            **given,
        )
        frame: pl.DataFrame = model.fit_sample(table).frame
        return frame

    return draw


def _selected(budget: Mapping[str, Any], items: Sequence[str], features: int) -> Draw:
    from tamis.dp.selector import private_records, zero_one_records

    def draw(table: Table, seed: int) -> pl.DataFrame:
        records, unit = zero_one_records(table, items)
        labels = _declared(budget["domain"][table.target])
        return private_records(
            records, features, budget["epsilon"], labels=labels, unit=unit, random_state=seed
        ).frame

    return draw


def _declared(domain: Mapping[str, Any]) -> dict[str, Any]:
    """The domain of a column in a manifest, without nulls, as `axis` takes it."""
    return {key: value for key, value in domain.items() if value is not None}


def _few(table: Table, most: int, random_state: int) -> Table:
    """The rows of at most `most` people, drawn at random."""
    people = table.people.codes
    some = np.random.default_rng([random_state, 11]).permutation(table.everybody)[:most]
    return replace(table, frame=table.frame.filter(pl.Series(np.isin(people, some))))


def _replaced(frame: pl.DataFrame, row: int, by: int) -> pl.DataFrame:
    """The frame with one row replaced by another of its rows."""
    places = np.arange(frame.height)
    places[row] = by
    return frame[places]


def _unlike(frame: pl.DataFrame, row: int) -> int:
    """The row that differs most from a given one."""
    (cells,), nominal = as_numbers([frame], tuple(frame.columns))
    far = np.where(nominal, cells != cells[row], np.abs(cells - cells[row]))
    return int(np.argmax(np.nan_to_num(far.astype(np.float64), nan=1.0).sum(axis=1)))
