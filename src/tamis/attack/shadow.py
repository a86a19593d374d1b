"""A shadow attack on synthetic rows: the release is drawn again, with and without one person.

How well the results are told apart is compared with what the stated epsilon allows. The settings
come from the manifest; where the holder's part is there, those that only it has come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tamis.attack.membership import ShadowAttack, farthest, gap_to_nearest, told_apart
from tamis.attack.scene import as_numbers
from tamis.attack.score import AttackScore
from tamis.dp.budget import opendp
from tamis.dp.domain import axis, brought
from tamis.dp.histogram import DPHistogram
from tamis.dp.partition import DPPartition
from tamis.dp.selector import private_records, zero_one_records
from tamis.errors import CannotMeet, InputError, listed
from tamis.table import Table, only

Draw = Callable[[Table, int], pl.DataFrame]
"""Draws synthetic rows of a table, with a seed for all but the noise."""

RUNS = 100
SHADOWED = 50
"""The most people to draw from: the promise holds for every table, and one person stands out most
in a small one."""


@dataclass(frozen=True, eq=False)
class Shadow:
    """A table with a person, its neighbour without them, and how rows are drawn from both."""

    whole: Table
    neighbour: Table
    target: pl.DataFrame
    """The rows of the person, in the columns that are drawn."""
    draw: Draw

    def gap(self, table: Table, seed: int) -> float:
        """How near the person is to rows drawn from a table; far from all where none are left."""
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
    """Draw a release of synthetic rows again, with and without one person.

    Parameters
    ----------
    original : Table
    manifest : mapping
        Of the release, with its `budget`.
    settings : mapping, optional
        Those of the method `dp` that only the holder has: `bins`, `rows`, `items`.
    runs : int
        With and without the person, each; half of them to choose a threshold.
    most : int
        The most people to draw from.
    random_state : int

    Returns
    -------
    AttackScore
        `InputError` where such rows cannot be drawn again.
    """
    opendp()
    if runs < 4:
        raise InputError(f"a shadow attack needs 4 runs or more, got {runs}")
    budget = manifest["budget"]
    shadow = _shadow(original, manifest, settings or {}, most, random_state)
    seeds = np.random.default_rng(random_state).integers(0, 2**31, (2, runs)).tolist()
    near, far = (
        np.array([shadow.gap(table, seed) for seed in each])
        for table, each in zip((shadow.whole, shadow.neighbour), seeds)
    )
    return _scored(told_apart(near, far, float(budget["epsilon"]), float(budget["delta"])), budget)


def _scored(found: ShadowAttack, budget: Mapping[str, Any]) -> AttackScore:
    return AttackScore(
        "membership, shadow tables",
        "draws the release again with and without the person who stands out most, and tells the "
        "results apart",
        found.success,
        0.5,
        1,
        details={
            "allowed": found.allowed,
            "epsilon": float(budget["epsilon"]),
            "epsilon_at_least": found.epsilon_at_least,
            "runs": found.runs,
            "within": found.within,
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
    declared = {c: _declared(found) for c, found in budget["domain"].items()}
    said = brought(
        only(table.frame, [*columns, table.target]),
        [axis(c, found, label=c == table.target) for c, found in declared.items()],
    )
    people = np.arange(table.rows) if table.people is None else table.people
    first = np.unique(people, return_index=True)[1]
    who = int(first[farthest(said[first])])
    mine = people == people[who]
    if budget["neighbours"] == "substitute":
        frame = _replaced(table.frame, who, _unlike(said, who))
    else:
        frame = table.frame.filter(pl.Series(~mine))
    return Shadow(table, replace(table, frame=frame), said.filter(pl.Series(mine)), draw)


def _drawing(
    original: Table, manifest: Mapping[str, Any], settings: Mapping[str, Any]
) -> tuple[list[str], Draw]:
    """The features that rows are drawn from, and how."""
    budget, kind = manifest["budget"], manifest["method"]["parameters"].get("kind")
    drawn = [c["name"] for c in manifest["columns"] if c["role"] != "target"]
    if gone := [c for c in drawn if c not in original.features]:
        raise InputError(f"the original has no feature {listed(gone)}, which the release has")
    if kind == "selected":
        items = [c for c in settings.get("items") or original.features if c in original.features]
        return items, _selected(budget, items, len(drawn))
    if kind not in MODELS:
        raise InputError(
            f"rows of kind {kind!r} cannot be drawn again here, so no shadow attack was tried"
        )
    return drawn, _modelled(str(kind), budget, settings)


MODELS: dict[str, Any] = {"histogram": DPHistogram, "partition": DPPartition}


def _modelled(kind: str, budget: Mapping[str, Any], settings: Mapping[str, Any]) -> Draw:
    names = ("bins", "rows") if kind == "partition" else ("bins",)
    given = {name: settings[name] for name in names if settings.get(name) is not None}
    bounds = {c: _declared(found) for c, found in budget["domain"].items()}

    def draw(table: Table, seed: int) -> pl.DataFrame:
        model = MODELS[kind](
            budget["epsilon"],
            bounds=bounds,
            neighbours=budget["neighbours"],
            max_rows_per_person=budget["max_rows_per_person"] or 1,
            random_state=seed,
            **given,
        )
        frame: pl.DataFrame = model.fit_sample(table).frame
        return frame

    return draw


def _selected(budget: Mapping[str, Any], items: Sequence[str], features: int) -> Draw:
    def draw(table: Table, seed: int) -> pl.DataFrame:
        records, unit = zero_one_records(table, items)
        labels = _declared(budget["domain"][table.target])
        return private_records(
            records, features, budget["epsilon"], labels=labels, unit=unit, random_state=seed
        ).frame

    return draw


def _declared(found: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of a column, as `axis` takes it."""
    return {key: value for key, value in found.items() if value is not None}


def _few(table: Table, most: int, random_state: int) -> Table:
    """The rows of some people, drawn at random."""
    people = np.arange(table.rows) if table.people is None else table.people
    every = np.unique(people)
    some = np.random.default_rng([random_state, 11]).permutation(every)[:most]
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
