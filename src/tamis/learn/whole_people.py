"""What rows of a person say together, for a model that learns row by row.

Where a release says which rows are of one person, whoever looks at one of them sees the others. A
model is shown them as more columns of each row: how many rows the person has, and of each column
what all of the person's rows come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from tamis.people import People
from tamis.release import AlteredRelease, Release
from tamis.table import Table, bare, frame_of_columns, only

COUNT = "all rows: how many"
_WHOSE, _CELL = "whose", "cell"


def all_rows_of_people(frame: pl.DataFrame, people: People) -> list[pl.Series]:
    """More columns for each row: the person's rows, and what these have in each column.

    Of numbers and dates the least, the mean and the largest; of others the commonest and how many
    different ones there are. A missing cell counts for none.

    >>> stays = pl.DataFrame({"days": [1, 3, 5], "ward": ["A", "A", "B"]})
    >>> for column in all_rows_of_people(stays, People.of([0, 0, 1])):
    ...     print(column.name, column.to_list())
    all rows: how many [2, 2, 1]
    all rows: min of days [1, 1, 5]
    all rows: mean of days [2.0, 2.0, 5.0]
    all rows: max of days [3, 3, 5]
    all rows: mode of ward ['A', 'A', 'B']
    all rows: n_unique of ward [1, 1, 1]
    """
    whose = pl.Series(_WHOSE, people.codes)
    cell = pl.col(_CELL)
    number = {"min": cell.min(), "mean": cell.mean(), "max": cell.max()}
    text = {"mode": cell.drop_nulls().mode().min(), "n_unique": cell.drop_nulls().n_unique()}
    count = whose.to_frame().select(pl.len().over(_WHOSE)).to_series()
    found = [count.alias(COUNT)]
    for column in frame.get_columns():
        numeric = column.dtype.is_numeric()
        cells = bare(column)
        if column.dtype.is_temporal():
            cells, numeric = cells.to_physical(), True
        elif not numeric:
            cells = cells.cast(pl.String)
        rows = pl.DataFrame([whose, cells.alias(_CELL)])
        for what, of in (number if numeric else text).items():
            seen = rows.select(of.over(_WHOSE)).to_series()
            found.append(seen.alias(f"all rows: {what} of {column.name}"))
    return found


def beside_all_rows(frame: pl.DataFrame, columns: Sequence[str], people: People) -> pl.DataFrame:
    """Some columns of a frame, and beside them what all rows of the person have in any column."""
    rows = only(frame, columns)
    if people.each_row or not people.together:
        return rows
    more = [s for s in all_rows_of_people(frame, people) if s.name not in frame.columns]
    return frame_of_columns([*rows.get_columns(), *more], frame.height)


def of_all_rows(known: Sequence[str], shown: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns that are shown more that tell of known ones alone.

    >>> of_all_rows(["days"], ["all rows: how many", "all rows: max of days", "all rows: n of x"])
    ('all rows: how many', 'all rows: max of days')
    """
    wanted = {*known}
    return tuple(c for c in shown if known and (c == COUNT or c.partition(" of ")[2] in wanted))


def seen_whole(release: Release) -> Release:
    """A release as attackers see it who see which rows are of one person.

    The targets of a person's other rows are there to be seen, too.
    """
    if release.is_suppressed:
        return seen_whole(release.unsuppressed).keeping(release.mask)
    if release.people.each_row or not release.people.together or not release.features:
        return release
    wide = replace(release, table=_wide(release.table, release.people))
    if isinstance(wide, AlteredRelease):
        return replace(wide, unaltered=_wide(wide.unaltered, release.people))
    return wide


def _wide(table: Table, people: People) -> Table:
    shown = [*table.features, table.target]
    frame = beside_all_rows(only(table.frame, shown), shown, people)
    return replace(table, frame=frame)
