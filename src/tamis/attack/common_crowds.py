"""How many people look alike in several files at once: the fewest that are possible.

A unit is a record of a person, see `matching`. What it is seen as in a new release is certain, and
what in earlier files often is. Where members of a group cannot be told apart, only bounds hold: of
a group of 7 units of which 5 are seen in a file as the same, any 4 have at least 2 that are. So
many are alike for certain; and wherever one may be, there may be no more than that one.
"""

from __future__ import annotations

from functools import reduce
from typing import Literal

import numpy as np
import polars as pl

from tamis.attack.matching import ABSENT, Ints, Units
from tamis.coding import Coded, joined
from tamis.risk.grouping import Grouping

Who = Literal["gone", "new", "both"]


def fewest_candidates(units: Units, now: Ints) -> tuple[int, Who]:
    """The fewest people alike in all files, and whether these have left, came, or are in all.

    Parameters
    ----------
    units : Units
    now : array of int
        For each row of the table, what it is seen as in a new release.

    Examples
    --------
    >>> from tamis.attack.matching import FilePlaces, pl
    >>> from tamis.people import People
    >>> seen = pl.DataFrame({"group": [0, 1], "view": [0, ABSENT], "amount": [3, 1]})
    >>> places = FilePlaces(np.array([0, 0, 0, 1]), seen, np.array([0, 1, 2, ABSENT]))
    >>> units = Units(4, People.of_rows(4), np.zeros(4), (places,))
    >>> fewest_candidates(units, np.zeros(4, dtype=int))
    (1, 'new')
    """
    gone = np.full(len(units.pattern) - units.rows, ABSENT)
    seen = np.concatenate([now, gone]).astype(np.int64)
    return _of_certain(units, seen) if units.certain else _of_possible(units, seen)


def fewest_gone(units: Units) -> int | None:
    """The fewest alike among those who have left the table, where all is certain; `None`: nobody.

    >>> from tamis.people import People
    >>> fewest_gone(Units(4, People.of_rows(4), np.zeros(4), ()))
    """
    gone = len(units.pattern) - units.rows
    return _of_certain(units, np.full(gone, ABSENT), units.rows)[0] if gone else None


def coded_numbers(numbers: Ints) -> Coded:
    """Numbers from -1 as codes."""
    return Coded(numbers.astype(np.int64) + 1, int(numbers.max(initial=0)) + 2)


def _of_certain(units: Units, now: Ints, first: int = 0) -> tuple[int, Who]:
    """The fewest of the units from the first on."""
    views = [place.view[first:] for place in units.places if place.view is not None]
    keys = reduce(joined, map(coded_numbers, [units.pattern[first:], *views, now]))
    who = units.people[first:].renumbered()
    groups = Grouping.of_classes(keys, who)
    unit = groups.row_of[int(groups.sizes.argmin())]
    return groups.k_anonymity, _who(now[unit], [view[unit] for view in views])


def _of_possible(units: Units, now: Ints) -> tuple[int, Who]:
    names = [f"view {i}" for i in range(len(units.places))]
    columns = {"now": now, "pattern": units.pattern}
    columns |= {f"group {i}": place.group for i, place in enumerate(units.places)}
    if not units.people.each_row:
        columns["person"] = units.people.codes
    blocks = pl.DataFrame(columns).group_by(list(columns)).agg(size=pl.len().cast(pl.Int64))
    # Of a block, all but `short` are certainly seen so in every file.
    blocks = blocks.with_columns(short=pl.lit(0, pl.Int64))
    for i, place in enumerate(units.places):
        options = place.options.join(place.sizes, on="group").rename(
            {"group": f"group {i}", "view": names[i]}
        )
        others = pl.col("members") - pl.col("size")
        sure = (pl.col("amount") - others).clip(0, pl.col("size"))
        blocks = blocks.join(options, on=f"group {i}").with_columns(
            short=pl.col("short") + pl.col("size") - sure
        )
        blocks = blocks.drop("amount", "members")
    sure = (pl.col("size") - pl.col("short")).clip(0)
    alike = sure.sum() if units.people.each_row else pl.col("person").filter(sure > 0).n_unique()
    somewhere = pl.any_horizontal(pl.col("now", *names) != ABSENT)
    crowds = blocks.filter(somewhere).group_by("now", "pattern", *names).agg(alike=alike)
    least = crowds.sort("alike").row(0, named=True)
    return max(1, int(least["alike"])), _who(least["now"], [least[name] for name in names])


def _who(now: int, views: list[int]) -> Who:
    if now == ABSENT:
        return "gone"
    return "new" if ABSENT in views else "both"
