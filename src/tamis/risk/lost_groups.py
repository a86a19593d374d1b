"""Who is left out of a release and why: for the holder alone, never in what leaves.

A group goes because too few are alike in it (k), or because those in it are too alike in the
sensitive column (l, t and the others). What would save a value that goes altogether is tried: the
same people in groups without one of the known columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
import polars as pl

from tamis.coding import Coded, coded, dense, joined
from tamis.release import Release
from tamis.risk.diversity import count_groups
from tamis.risk.grouping import Grouping, Ints, people_of
from tamis.risk.suppression import Bools, Suppression

MOST_VALUES = 10
"""The most values that go altogether of which it is found what would save them."""
MOST_TRIED = 12
"""The most known columns of which each is left out in turn, to find what would save a value."""


class LostGroup(NamedTuple):
    """People who are alike in what is known of them, and are left out."""

    values: dict[str, str]
    people: int
    reason: str
    """The name of the requirement that it breaks; `row`: it goes by another row of theirs."""


class LostValue(NamedTuple):
    """A value of a released column that everybody who has it takes along."""

    column: str
    value: str
    people: int
    reasons: tuple[str, ...]
    saved_without: tuple[str, ...]
    """Columns without which, or in coarser form, all of them would stay."""


@dataclass(frozen=True)
class Lost:
    """All groups that go, the largest first, and the values that go with them, the first few."""

    groups: tuple[LostGroup, ...]
    values: tuple[LostValue, ...]
    more_values: int = 0


def lost_groups(release: Release, suppression: Suppression) -> Lost | None:
    """Who is left out of a release and why; `None` where nobody is."""
    whole = release.whole
    if whole is None or release.kept is None or release.by_containment:
        return None
    gone = ~release.kept
    known = [name for name in whole.table.quasi if name in whole.table.frame.columns]
    columns = {name: coded(whole.table.frame[name]) for name in known}
    everybody = _together(columns, known, len(gone))
    reasons = _reasons(everybody, suppression)
    frame = whole.table.only(known)
    people = suppression.people
    groups = _groups(frame, everybody, gone, reasons, people)
    vanished = [
        (name, value, n) for name in known for value, n in _vanished(frame[name], gone, people)
    ]
    vanished.sort(key=lambda each: -each[2])
    values = []
    for name, value, n in vanished[:MOST_VALUES]:
        rows = np.flatnonzero((_texts(frame[name]) == value).fill_null(False).to_numpy())
        why = sorted({reasons[each] or "row" for each in np.unique(everybody.codes[rows])})
        saved = _saving(rows, columns, suppression)
        values.append(LostValue(name, value, n, tuple(why), saved))
    groups.sort(key=lambda group: -group.people)
    return Lost(tuple(groups), tuple(values), max(0, len(vanished) - MOST_VALUES))


def _together(columns: dict[str, Coded], names: list[str], rows: int) -> Coded:
    if not names:
        return Coded(np.zeros(rows, dtype=np.int64), 1)
    return dense(reduce(joined, [columns[name] for name in names]))


def _reasons(classes: Coded, suppression: Suppression) -> list[str]:
    """Why each class goes by itself; empty for one that could stay."""
    people = suppression.people
    grouping = Grouping.of_classes(classes, None if people is None else dense(people_of(people)))
    counts = count_groups(grouping, suppression.secret)
    found = np.full(len(grouping.sizes), "", dtype=object)
    for asked in reversed(suppression.asked.by_group):  # the first of several reasons is told
        found[asked.breaking(counts)] = asked.name
    return [str(reason) for reason in found]


def _groups(
    frame: pl.DataFrame, classes: Coded, gone: Bools, reasons: list[str], people: Ints | None
) -> list[LostGroup]:
    rows = np.flatnonzero(gone)
    rows = rows[np.argsort(classes.codes[rows], kind="stable")]
    numbers, starts = np.unique(classes.codes[rows], return_index=True)
    found = []
    for number, here in zip(numbers.tolist(), np.split(rows, starts[1:])):
        cells = frame.row(int(here[0]), named=True)
        values = {name: "missing" if cell is None else str(cell) for name, cell in cells.items()}
        found.append(LostGroup(values, _count(here, people), reasons[number] or "row"))
    return found


def _count(rows: Ints, people: Ints | None) -> int:
    return len(rows) if people is None else len(np.unique(people[rows]))


def _texts(cells: pl.Series) -> pl.Series:
    return cells.alias("").cast(pl.String)


def _vanished(cells: pl.Series, gone: Bools, people: Ints | None) -> list[tuple[str, int]]:
    """The values of a column of which no row stays, and how many people had them."""
    who = np.arange(len(gone)) if people is None else people
    rows = pl.DataFrame({"value": _texts(cells), "gone": gone, "who": who}).drop_nulls("value")
    each = rows.group_by("value").agg(pl.col("gone").all(), pl.col("who").n_unique())
    return each.filter("gone").sort("value").select("value", "who").rows()


def _saving(rows: Ints, columns: dict[str, Coded], suppression: Suppression) -> tuple[str, ...]:
    """The columns without each of which none of these rows would have to go."""
    if len(columns) > MOST_TRIED:
        return ()
    found = []
    for name in columns:
        rest = [other for other in columns if other != name]
        classes = _together(columns, rest, len(suppression.secret))
        reasons = _reasons(classes, suppression)
        if not any(reasons[number] for number in np.unique(classes.codes[rows])):
            found.append(name)
    return tuple(found)
