"""Sizes of equivalence classes, and the sensitive values within them, counted on any engine.

One group-by over the rows gives *cells*: each combination of values that occurs, and how often.
Everything else is counted from cells, in columns named c0 to cn. A missing value is a value of its
own: grouping and windows keep it apart from every other, and it is never joined on.

Classes are taken into memory in batches of whole classes. If the sensitive column has few values,
each becomes a column of counts and a class is one row; if it has many, the cells are sorted.

A release is counted here before it is written, and once written it is counted again by another
engine. So nothing here knows the requirements: verification counts by the definitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import narwhals as nw
import numpy as np
import polars as pl

from tamis.errors import CannotMeet, listed
from tamis.release_counts import Counts, ExposureFacts, Kind, shown_counts
from tamis.rows.engines import BATCH, Engine, Frame
from tamis.table import Unit

ROWS, SIZE = "n", "size"
"""Names of the columns with the rows of a cell, and with the size of its class."""
PEOPLE, ALL = "people", "all"
MOST_COUNTED_VALUES = 32
"""Up to this many sensitive values, each gets a column of counts: no sort, but wide rows."""


def count_cells(frame: Frame, columns: Sequence[str]) -> Frame:
    """Each combination of values that occurs, and the number of rows with it."""
    if not columns:
        return frame.select(_whole(nw.len(), ROWS))
    counted = frame.group_by(*columns).agg(nw.len().alias(ROWS))
    # Engines count in different integer types.
    return counted.with_columns(nw.col(ROWS).cast(nw.Int64))


def crowds_of(cells: Frame, columns: Sequence[str], who: Sequence[str]) -> Frame:
    """The classes by some columns (at least one), with the people in each.

    From cells over at least these columns and `who`, which distinguish people; if that is empty,
    rows are counted.
    """
    # Merged over `who` as well, a row of cells is one person of one class.
    members = merge_cells(cells, [*columns, *who])
    size = nw.len() if who else nw.col(ROWS).sum()
    return members.group_by(*columns).agg(_whole(size, PEOPLE))


def merge_cells(cells: Frame, columns: Sequence[str]) -> Frame:
    """Cells over fewer columns, from cells over more."""
    if not columns:
        return cells.select(_whole(nw.col(ROWS).sum(), ROWS))
    merged = cells.group_by(*columns).agg(nw.col(ROWS).sum())
    return merged.with_columns(nw.col(ROWS).cast(nw.Int64))


def count_rows(engine: Engine, frame: Frame) -> int:
    """Number of rows of a frame."""
    return int(engine.small(frame.select(_whole(nw.len(), ROWS))).item())


def sum_of(engine: Engine, frame: Frame, column: str) -> int:
    """Sum of a column of whole numbers; 0 if there are none."""
    return int(engine.small(frame.select(_whole(nw.col(column).sum(), column))).item() or 0)


def count_distinct(engine: Engine, frame: Frame, columns: Sequence[str]) -> int:
    """Number of distinct combinations of values; missing counts as a value."""
    return count_rows(engine, count_cells(frame, columns))


def finer_left_out(
    engine: Engine, frame: Frame, distinct: Mapping[str, int], rows: int
) -> tuple[str, ...]:
    """The columns that determine no other one; those that do are finer than a person.

    `distinct` is the number of values of each column. A column determines another if the pair has
    no more distinct combinations than the column alone.
    """
    kept = list(distinct)
    # One after the other, so that of columns which determine each other the last one stays.
    for name in list(kept):
        others = [c for c in kept if c != name]
        alone = bool(others) and distinct[name] == rows
        if alone or any(count_distinct(engine, frame, [name, c]) == distinct[name] for c in others):
            kept.remove(name)
    return tuple(kept)


@dataclass(frozen=True)
class Dropped:
    """The k, the unique rows and the unique people if one column is left out."""

    column: str
    k: int
    unique_rows: int
    unique_people: int


def sizes_of_classes(
    engine: Engine, cells: Frame, quasi: Sequence[str], who: Sequence[str] = ()
) -> tuple[pl.DataFrame, list[Dropped]]:
    """Count the classes of each size, and what leaving out each column would change.

    Parameters
    ----------
    engine : Engine
    cells : frame
        Cells over at least `quasi` and `who`.
    quasi : columns that define a class
    who : columns that distinguish people; empty if each row is a person

    Returns
    -------
    frame, list of Dropped
        Columns `size`, `classes`, `rows`, and `people` (those whose smallest class has that size),
        by ascending size.
    """
    members = engine.hold(merge_cells(cells, [*quasi, *who]))
    sizes = size_counts(engine, members, quasi, who)
    return sizes, [_without(engine, members, quasi, who, column) for column in quasi]


def size_counts(
    engine: Engine, members: Frame, quasi: Sequence[str], who: Sequence[str]
) -> pl.DataFrame:
    """Count the classes of each size, from cells over exactly `quasi` and `who`."""
    if not who:  # a cell is a class
        counted = members.group_by(ROWS).agg(nw.len().alias("classes"))
        sizes = engine.small(counted).select(
            pl.col(ROWS).alias(SIZE), pl.col("classes").cast(pl.Int64)
        )
        rows = pl.col(SIZE) * pl.col("classes")
        return sizes.with_columns(rows=rows, people=rows).sort(SIZE)
    sized = engine.hold(_with_size(members, quasi))
    by_size = sized.group_by(SIZE).agg(nw.len().alias("classes"), nw.col(ROWS).sum().alias("rows"))
    by_size = by_size.select(*(_whole(nw.col(c), c) for c in (SIZE, "classes", "rows")))
    least = sized.group_by(*who).agg(nw.col(SIZE).min())
    people = least.group_by(SIZE).agg(nw.len().alias("people"))
    whole = pl.all().cast(pl.Int64)
    sizes = engine.small(by_size)
    # So far `classes` counts members, and each class of a size has as many as its size.
    sizes = sizes.with_columns(pl.col("classes") // pl.col(SIZE))
    joined = sizes.join(engine.small(people).select(whole), on=SIZE, how="left")
    return joined.with_columns(pl.col("people").fill_null(0)).sort(SIZE)


def alike_counts(
    engine: Engine, cells: Frame, columns: Sequence[str], value: str, who: Sequence[str] = ()
) -> tuple[int, int, int]:
    """Count the groups with a single value, all groups, and the rows or people in the former.

    Parameters
    ----------
    engine : Engine
    cells : frame
        Cells over at least these columns.
    columns : columns that define a group
    value : a column without missing cells
    who : columns that distinguish people; empty if each row is a person
    """
    # The constant column keeps the window valid where there are no columns to group by.
    every = cells.with_columns(nw.lit(1).alias("all"), nw.col(value).cast(nw.String).alias("said"))
    keys = ["all", *columns]
    one = nw.col("said").min().over(*keys) == nw.col("said").max().over(*keys)
    marked = engine.hold(every.with_columns(one_where(one).alias("one")))
    alike = marked.filter(nw.col("one") == 1)
    groups, of = (count_distinct(engine, frame, keys) for frame in (alike, marked))
    if who:
        return groups, of, count_distinct(engine, alike, who)
    return groups, of, sum_of(engine, alike, ROWS)


def _without(
    engine: Engine, members: Frame, quasi: Sequence[str], who: Sequence[str], column: str
) -> Dropped:
    others = [c for c in quasi if c != column]
    if not who:
        alone = one_where(nw.col(ROWS) == 1)
        k, unique = engine.small(
            merge_cells(members, others).select(
                _whole(nw.col(ROWS).min(), "k"), _whole(alone.sum(), "alone")
            )
        ).row(0)
        return Dropped(column, k, unique, unique)
    sized = _with_size(merge_cells(members, [*others, *who]), others)
    rows = nw.when(nw.col(SIZE) == 1).then(nw.col(ROWS)).otherwise(nw.lit(0))
    k, unique = engine.small(
        sized.select(_whole(nw.col(SIZE).min(), "k"), _whole(rows.sum(), "rows"))
    ).row(0)
    people = count_distinct(engine, sized.filter(nw.col(SIZE) == 1), who)
    return Dropped(column, k, unique, people)


def _with_size(members: Frame, quasi: Sequence[str]) -> Frame:
    """Add the number of members of its class to each member."""
    if not quasi:
        one = members.with_columns(nw.lit(1).alias("all"))
        return _with_size(one, ["all"]).drop("all")
    return members.with_columns(_whole(nw.col(ROWS).count().over(*quasi), SIZE))


def one_where(condition: nw.Expr) -> nw.Expr:
    """1 where a condition holds, else 0, as not every engine sums booleans."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))


def _whole(expression: nw.Expr, name: str) -> nw.Expr:
    """A count as Int64: sums have 128 bits on DuckDB, and counts are unsigned on polars."""
    return expression.cast(nw.Int64).alias(name)


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """The sensitive values of a table, and how many people have each within each class.

    Parameters
    ----------
    engine : Engine
    entries : frame
        The quasi-identifiers, the sensitive column, and `n`: the people of the class who have the
        value. If people have several rows, there are also entries with `n` 0, which carry the
        number of people of the class in `people`.
    quasi, sensitive : columns
    values : polars frame
        The values, ascending and missing last, and `n`: the people of the table who have each.
    number : bool
        Whether the sensitive column is numeric.
    several : bool
        Whether people have several rows.
    """

    engine: Engine
    entries: Frame
    quasi: list[str]
    sensitive: str
    values: pl.DataFrame
    number: bool
    several: bool

    @property
    def few(self) -> bool:
        return self.values.height <= MOST_COUNTED_VALUES

    @property
    def missing(self) -> bool:
        return self.values[self.sensitive].null_count() > 0


def sensitive_counts(
    engine: Engine,
    cells: Frame,
    quasi: Sequence[str],
    sensitive: str,
    who: Sequence[str],
    number: bool,
) -> SensitiveCounts:
    """Count the sensitive values within each class, from cells of all these columns."""
    quasi = list(quasi)
    if not who:
        entries = merge_cells(cells, [*quasi, sensitive])
        values = engine.small(merge_cells(cells, [sensitive]))
        entries = entries.with_columns(nw.col(ROWS).alias(PEOPLE))
    else:
        once = count_cells(cells, [*quasi, sensitive, *who])
        entries = count_cells(once, [*quasi, sensitive]).with_columns(
            nw.lit(0).cast(nw.Int64).alias(PEOPLE)
        )
        # Keys may be missing and cannot be joined on, so the people of each class are appended as
        # entries of their own.
        of_class = count_cells(count_cells(cells, [*quasi, *who]), quasi)
        kind = cells.collect_schema()[sensitive]
        extra = of_class.select(
            *quasi,
            nw.lit(None).cast(kind).alias(sensitive),
            nw.lit(0).cast(nw.Int64).alias(ROWS),
            nw.col(ROWS).alias(PEOPLE),
        )
        values = engine.small(count_cells(count_cells(cells, [sensitive, *who]), [sensitive]))
        entries = nw.concat([entries.select(*extra.collect_schema().names()), extra])
    values = values.sort(sensitive, nulls_last=True)
    held = engine.hold(entries)
    return SensitiveCounts(engine, held, quasi, sensitive, values, number, bool(who))


def whole_classes(
    counts: SensitiveCounts, rows: int = BATCH, *, keys: bool = False
) -> Iterator[pl.DataFrame]:
    """Yield the entries by class and value, in batches that never divide a class.

    Columns `class` (from 0 in each batch), `value` (a position in `counts.values`), `n` and
    `people`; with `keys` also those that define the class.
    """
    quasi = counts.quasi if keys else []
    return (_from_columns if counts.few else _from_sorted)(counts, rows, quasi)


def _from_columns(
    counts: SensitiveCounts, rows: int, keys: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """For few values: the engine gives each a column, so that every row is a whole class."""
    names = [f"v{i}" for i in range(counts.values.height)]
    classes = max(1, rows // len(names))
    for batch in counts.engine.batches(_one_column_each(counts, names, keys), classes):
        people = batch.select(names).to_numpy()
        place, value = np.nonzero(people)
        entries = {"class": place, "value": value, ROWS: people[place, value]}
        yield pl.DataFrame(entries).hstack(batch.select(PEOPLE, *keys)[place])


def _one_column_each(counts: SensitiveCounts, names: list[str], keys: Sequence[str]) -> Frame:
    """The classes, with the people who have each value in a column of its own."""
    cell, rows = nw.col(counts.sensitive), nw.col(ROWS)
    is_value = [
        cell.is_null() if value is None else cell == nw.lit(value)
        for value in counts.values[counts.sensitive]
    ]
    spread = counts.entries.with_columns(
        *(
            nw.when(match).then(rows).otherwise(nw.lit(0)).alias(v)
            for match, v in zip(is_value, names)
        )
    )
    summed = spread.group_by(*counts.quasi).agg(
        *(nw.col(v).sum() for v in names), nw.col(PEOPLE).max()
    )
    return summed.select(*(_whole(nw.col(c), c) for c in (*names, PEOPLE)), *keys)


def _from_sorted(counts: SensitiveCounts, rows: int, keys: Sequence[str]) -> Iterator[pl.DataFrame]:
    """For many values: the engine sorts the entries, and each batch keeps back its last class.

    More entries of that class may follow in the next batch.
    """
    order = [*counts.quasi, counts.sensitive]
    rest: pl.DataFrame | None = None
    for batch in counts.engine.batches(counts.entries.sort(*order, nulls_last=True), rows):
        part = batch if rest is None else pl.concat([rest, batch])
        numbered = _class_numbers(part, counts.quasi)
        whole = int(numbered.search_sorted(numbered[-1]))  # those before the last class
        rest = part[whole:]
        if whole:
            yield _coded_part(counts, part[:whole], numbered[:whole], keys)
    if rest is not None:
        yield _coded_part(counts, rest, pl.Series(np.zeros(rest.height, dtype=np.int64)), keys)


def _class_numbers(part: pl.DataFrame, quasi: Sequence[str]) -> pl.Series:
    """Number the classes of a sorted batch, by where any key changes."""
    opens = pl.any_horizontal(pl.col(c).ne_missing(pl.col(c).shift()) for c in quasi)
    return part.select(opens.cast(pl.Int64).cum_sum()).to_series()


def _coded_part(
    counts: SensitiveCounts, part: pl.DataFrame, numbered: pl.Series, keys: Sequence[str]
) -> pl.DataFrame:
    values = counts.values.select(counts.sensitive, pl.int_range(pl.len()).alias("value"))
    classes = (numbered - numbered[0]).alias("class")
    coded = part.select(classes, counts.sensitive, ROWS, PEOPLE, *keys)
    if counts.several:
        people = pl.col(PEOPLE).max().over("class")
        coded = coded.with_columns(people).filter(pl.col(ROWS) > 0)
    joined = coded.join(values, on=counts.sensitive, how="left", nulls_equal=True)
    return joined.select("class", "value", ROWS, PEOPLE, *keys).sort("class", "value")


class Smallest(NamedTuple):
    """The size of the smallest group, and how many are alone in theirs."""

    k: int
    unique: int


def smallest(engine: Engine, cells: Frame, columns: list[str], who: list[str]) -> Smallest:
    """The smallest group of equal rows, from cells over at least these columns.

    Counts people if `who` distinguishes them; without columns, all are one group.
    """
    if not columns and not who:
        rows = sum_of(engine, cells, ROWS)
        return Smallest(rows, int(rows == 1))
    merged = engine.hold(merge_cells(cells, [*columns, *who]))
    sizes = size_counts(engine, merged, columns, who)
    alone = sizes.filter(pl.col(SIZE) == 1)
    return Smallest(int(sizes[SIZE][0]), int(alone["people"].sum()))


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """The released rows behind an engine, before or after they are written."""

    engine: Engine
    frame: Frame
    columns: dict[str, str]
    """The released columns of the frame by name; columns of bounds may be absent."""
    target: str
    who: list[str]
    """The columns that distinguish people; empty if each row is a different person."""

    @cached_property
    def cells(self) -> Frame:
        """Cells over the released columns and those that distinguish people."""
        every = [*self.columns.values(), *self.who]
        return self.engine.hold(count_cells(self.frame, every))

    def named(self, names: Collection[str]) -> list[str]:
        """The columns of the frame with these names; raises if one is not released."""
        if missing := [name for name in names if name not in self.columns]:
            raise CannotMeet(
                f"a promise is about column {listed(missing)}, which is not in the file"
            )
        return [self.columns[name] for name in names]

    def reached(self, names: Collection[str], in_people: bool) -> int:
        """Size of the smallest group of rows that are equal in some columns."""
        return smallest(self.engine, self.cells, self.named(names), self._who(in_people)).k

    def counts(self, known: list[str], in_people: bool) -> Counts:
        """How many are unique, as `tamis.verification.checks` counts it, and how many there are."""
        engine, cells, who = self.engine, self.cells, self._who(in_people)
        columns, target = self.named(known), self.columns[self.target]
        groups, of, members = alike_counts(engine, cells, columns, target, who)
        figures = {
            "known": smallest(engine, cells, columns, who)._asdict(),
            "everything": smallest(engine, cells, list(self.columns.values()), who)._asdict(),
            "same_target": {"groups": groups, "of": of, "members": members},
        }
        if who:
            return figures, count_distinct(engine, cells, who)
        return figures, sum_of(engine, cells, ROWS)

    def exposure(self, known: list[str], k: int, unit: Unit, kind: Kind = "equal") -> ExposureFacts:
        """How many are unique by what attackers may know; also in rows if people have several.

        Counts of 1 to k - 1 people are withheld.
        """
        facts = self._facts(known, k, unit, kind, bool(self.who))
        return {**facts, "rows": self._facts(known, k, "rows", kind, False)} if self.who else facts

    def _who(self, in_people: bool) -> list[str]:
        return self.who if in_people else []

    def _facts(
        self, known: list[str], k: int, unit: Unit, kind: Kind, in_people: bool
    ) -> ExposureFacts:
        counts = self.counts(known, in_people)
        return shown_counts(counts, known, kind, unit, k, few=not in_people)


def one_group(cells: Frame, columns: list[str]) -> tuple[Frame, list[str]]:
    """Cells and the columns that define groups; without any, a constant one is added."""
    return (cells, columns) if columns else (cells.with_columns(nw.lit(1).alias(ALL)), [ALL])


def counted_average_risk(engine: Engine, cells: Frame, columns: list[str], who: list[str]) -> float:
    """Mean over people of 1 / size of their smallest group.

    From cells over at least the columns that define groups and `who`; if that is empty, each row
    is a person.
    """
    sizes = group_sizes(engine, cells, columns, who)
    risks = sizes.select((pl.col("people") / pl.col(SIZE)).sum() / pl.col("people").sum())
    return float(risks.item())


def group_sizes(engine: Engine, cells: Frame, columns: list[str], who: list[str]) -> pl.DataFrame:
    cells, columns = one_group(cells, columns)
    members = engine.hold(merge_cells(cells, [*columns, *who]))
    return size_counts(engine, members, columns, who)
