"""Aggregates over all rows of a person, as further columns for models that learn row by row.

If a release shows which rows belong to one person, anyone who sees one of them sees the others.
A model gets these as further columns of each row: the person's number of rows, and aggregates of
each column over them.
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
    """Aggregates over the rows of a person, for each row: their number, and those of each column.

    Numbers and dates give minimum, mean and maximum; other columns the mode and the number of
    distinct values. Missing cells are ignored.

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
    # Of several modes the first by value, whatever the order of the rows.
    text = {"mode": cell.drop_nulls().mode().min(), "n_unique": cell.drop_nulls().n_unique()}
    count = whose.to_frame().select(pl.len().over(_WHOSE)).to_series()
    aggregates = [count.alias(COUNT)]
    for column in frame.get_columns():
        numeric = column.dtype.is_numeric()
        cells = bare(column)
        if column.dtype.is_temporal():
            cells, numeric = cells.to_physical(), True
        elif not numeric:
            cells = cells.cast(pl.String)
        rows = pl.DataFrame([whose, cells.alias(_CELL)])
        for what, of in (number if numeric else text).items():
            by_person = rows.select(of.over(_WHOSE)).to_series()
            aggregates.append(by_person.alias(f"all rows: {what} of {column.name}"))
    return aggregates


def beside_all_rows(frame: pl.DataFrame, columns: Sequence[str], people: People) -> pl.DataFrame:
    """Some columns of a frame, followed by the aggregates of all columns over the person's rows."""
    rows = only(frame, columns)
    if people.each_row or not people.together:
        return rows
    more = [s for s in all_rows_of_people(frame, people) if s.name not in frame.columns]
    return frame_of_columns([*rows.get_columns(), *more], frame.height)


def of_all_rows(known: Sequence[str], shown: Sequence[str]) -> tuple[str, ...]:
    """The aggregate columns, among `shown`, that depend on the `known` columns alone.

    >>> of_all_rows(["days"], ["all rows: how many", "all rows: max of days", "all rows: n of x"])
    ('all rows: how many', 'all rows: max of days')
    """
    wanted = {*known}
    return tuple(c for c in shown if known and (c == COUNT or c.partition(" of ")[2] in wanted))


def seen_whole(release: Release) -> Release:
    """A release as seen by attackers who know which rows belong to one person.

    They also see the targets of the person's other rows.
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
