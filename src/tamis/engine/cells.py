"""How many rows, and people, are alike: asked of any engine, in columns named c0 to cn.

One group-by over the rows gives cells: each combination of values that occurs, and how often. All
else is counted from these. A missing value is a value of its own: grouping and windows keep it
apart from every other, and no join is made on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import polars as pl

from tamis.engine.backend import Engine, Frame

ROWS, SIZE = "n", "size"
"""The column with the rows of a cell, and the one with the size of its class."""


def count_cells(frame: Frame, columns: Sequence[str]) -> Frame:
    """Each combination of values that occurs, and the rows that have it."""
    if not columns:
        return frame.select(_whole(nw.len(), ROWS))
    counted = frame.group_by(*columns).agg(nw.len().alias(ROWS))
    return counted.with_columns(nw.col(ROWS).cast(nw.Int64))


def merge_cells(cells: Frame, columns: Sequence[str]) -> Frame:
    """The cells of fewer columns, from those of more."""
    if not columns:
        return cells.select(_whole(nw.col(ROWS).sum(), ROWS))
    merged = cells.group_by(*columns).agg(nw.col(ROWS).sum())
    return merged.with_columns(nw.col(ROWS).cast(nw.Int64))


def count_rows(engine: Engine, frame: Frame) -> int:
    """The number of rows of a frame."""
    return int(engine.small(frame.select(_whole(nw.len(), ROWS))).item())


def count_distinct(engine: Engine, frame: Frame, columns: Sequence[str]) -> int:
    """The number of different combinations of values, missing being one of them."""
    return count_rows(engine, count_cells(frame, columns))


def people_by(
    engine: Engine, frame: Frame, identifiers: Sequence[str], rows: int
) -> tuple[str, ...]:
    """The identifiers that distinguish people, by the rule of `Table.people`.

    One that determines another is finer than a person and is left out, as is a constant one,
    unless all are constant.
    """
    distinct = {c: count_distinct(engine, frame, [c]) for c in identifiers}
    kept = [c for c in identifiers if distinct[c] > 1]
    if not kept:
        return tuple(identifiers)
    for name in list(kept):
        others = [c for c in kept if c != name]
        alone = bool(others) and distinct[name] == rows
        if alone or any(count_distinct(engine, frame, [name, c]) == distinct[name] for c in others):
            kept.remove(name)
    return tuple(kept)


@dataclass(frozen=True)
class Dropped:
    """The k, the unique rows and the unique people where one column is left out."""

    column: str
    k: int
    unique_rows: int
    unique_people: int


def sizes_of_classes(
    engine: Engine, cells: Frame, quasi: Sequence[str], who: Sequence[str] = ()
) -> tuple[pl.DataFrame, list[Dropped]]:
    """The sizes of the classes, and what leaving out each column would change.

    Parameters
    ----------
    engine : Engine
    cells : frame
        Cells over at least `quasi` and `who`.
    quasi : columns that define a class
    who : columns that tell people apart; empty if each row is a person

    Returns
    -------
    frame, list of Dropped
        Columns `size`, `classes`, `rows`, and `people`: those whose smallest class has that
        size; by ascending size.
    """
    members = engine.hold(merge_cells(cells, [*quasi, *who]))
    sizes = size_counts(engine, members, quasi, who)
    return sizes, [_without(engine, members, quasi, who, column) for column in quasi]


def size_counts(
    engine: Engine, members: Frame, quasi: Sequence[str], who: Sequence[str]
) -> pl.DataFrame:
    """The sizes of the classes, from cells over exactly `quasi` and `who`."""
    if not who:
        counted = members.group_by(ROWS).agg(nw.len().alias("classes"))
        found = engine.small(counted).select(
            pl.col(ROWS).alias(SIZE), pl.col("classes").cast(pl.Int64)
        )
        rows = pl.col(SIZE) * pl.col("classes")
        return found.with_columns(rows=rows, people=rows).sort(SIZE)
    sized = engine.hold(_with_size(members, quasi))
    by_size = sized.group_by(SIZE).agg(nw.len().alias("classes"), nw.col(ROWS).sum().alias("rows"))
    by_size = by_size.select(*(_whole(nw.col(c), c) for c in (SIZE, "classes", "rows")))
    least = sized.group_by(*who).agg(nw.col(SIZE).min())
    people = least.group_by(SIZE).agg(nw.len().alias("people"))
    whole = pl.all().cast(pl.Int64)
    found = engine.small(by_size)
    # Each class of a size has as many members as the size says.
    found = found.with_columns(pl.col("classes") // pl.col(SIZE))
    joined = found.join(engine.small(people).select(whole), on=SIZE, how="left")
    return joined.with_columns(pl.col("people").fill_null(0)).sort(SIZE)


def alike_counts(
    engine: Engine, cells: Frame, columns: Sequence[str], value: str, who: Sequence[str] = ()
) -> tuple[int, int, int]:
    """The groups in which all have one value, all groups, and the rows or people in the former.

    Parameters
    ----------
    engine : Engine
    cells : frame
        Cells over at least these columns.
    columns : columns that define a group
    value : a column without missing cells
    who : columns that tell people apart; empty if each row is a person
    """
    every = cells.with_columns(nw.lit(1).alias("all"), nw.col(value).cast(nw.String).alias("said"))
    keys = ["all", *columns]
    one = nw.col("said").min().over(*keys) == nw.col("said").max().over(*keys)
    marked = engine.hold(every.with_columns(one_where(one).alias("one")))
    alike = marked.filter(nw.col("one") == 1)
    groups, of = (count_distinct(engine, frame, keys) for frame in (alike, marked))
    if who:
        return groups, of, count_distinct(engine, alike, who)
    rows = engine.small(alike.select(_whole(nw.col(ROWS).sum(), ROWS))).item()
    return groups, of, rows or 0


def _without(
    engine: Engine, members: Frame, quasi: Sequence[str], who: Sequence[str], column: str
) -> Dropped:
    others = [c for c in quasi if c != column]
    if not who:
        alone = one_where(nw.col(ROWS) == 1)
        found = engine.small(
            merge_cells(members, others).select(
                _whole(nw.col(ROWS).min(), "k"), _whole(alone.sum(), "alone")
            )
        ).row(0)
        return Dropped(column, found[0], found[1], found[1])
    sized = _with_size(merge_cells(members, [*others, *who]), others)
    rows = nw.when(nw.col(SIZE) == 1).then(nw.col(ROWS)).otherwise(nw.lit(0))
    k, unique = engine.small(
        sized.select(_whole(nw.col(SIZE).min(), "k"), _whole(rows.sum(), "rows"))
    ).row(0)
    people = count_distinct(engine, sized.filter(nw.col(SIZE) == 1), who)
    return Dropped(column, k, unique, people)


def _with_size(members: Frame, quasi: Sequence[str]) -> Frame:
    """Each member with the number of members of their class."""
    if not quasi:
        one = members.with_columns(nw.lit(1).alias("all"))
        return _with_size(one, ["all"]).drop("all")
    return members.with_columns(_whole(nw.col(ROWS).count().over(*quasi), SIZE))


def one_where(condition: nw.Expr) -> nw.Expr:
    """1 where a condition holds, else 0: not every engine sums booleans."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))


def _whole(expression: nw.Expr, name: str) -> nw.Expr:
    """Sums are 128 bits wide on DuckDB and unsigned on polars; all counts are made alike."""
    return expression.cast(nw.Int64).alias(name)
