"""`LargeTable`: rows behind an engine with their roles; and samples of it.

A salted hash of the rows' content decides what is drawn. So a sample is the same on every engine
and in any order of the rows, and does not depend on identifiers: no figure measured on a sample can
confirm a guessed name. Where identifiers distinguish people, people are drawn, each with all their
rows. Of n people with equal rows, or n rows of equal content, about the requested share is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import ceil

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed
from tamis.people import SOME_VALUES, PersonCandidate, deciding, is_code
from tamis.read import named_target, need_labels, roles_without_empty, say_respelt, say_unlabelled
from tamis.read.frames import refuse_nested
from tamis.read.keys import counted_when_dropped
from tamis.rows.counts import (
    ROWS,
    count_cells,
    count_distinct,
    count_rows,
    finer_left_out,
    one_where,
)
from tamis.rows.engines import Engine, Frame
from tamis.table import BLANKS, Roles, Table, one_spelling


@dataclass(frozen=True, eq=False)
class LargeTable:
    """Rows behind an engine, with the roles of the columns.

    Parameters
    ----------
    engine : Engine
    frame : lazy frame
        Columns c0 to cn; numbers are normalised: no negative zero, NaN is missing.
    names : tuple of str
        The real names, in the order of the columns.
    shape : Table
        The same columns and roles, without rows.
    rows : int
        The number of rows.
    """

    engine: Engine
    frame: Frame
    names: tuple[str, ...]
    shape: Table
    rows: int

    def columns(self, names: Iterable[str]) -> list[str]:
        """The columns of the frame with these names."""
        at = {name: f"c{i}" for i, name in enumerate(self.names)}
        return [at[name] for name in names]

    def name_of(self, column: str) -> str:
        """The real name of a column of the frame."""
        return self.names[int(column[1:])]

    @cached_property
    def person_columns(self) -> tuple[str, ...]:
        """The identifiers that distinguish people; empty if none do."""
        roles = self.shape.roles
        if roles.person is not None:
            return roles.person
        if not roles.identifiers:
            return ()
        distinct = {c: count_distinct(self.engine, self.frame, [c]) for c in self.deciding}
        columns = finer_left_out(self.engine, self.frame, distinct, self.rows)
        return tuple(self.name_of(c) for c in columns)

    @cached_property
    def deciding(self) -> list[str]:
        """The identifiers that may decide who is a person, by the rule of `Table.people`."""
        names = self.shape.roles.identifiers
        columns = self.columns(names)
        some = self.engine.small(self.frame.select(*columns).head(SOME_VALUES))
        distinct = {n: count_distinct(self.engine, self.frame, [c]) for n, c in zip(names, columns)}
        values = {n: some[c].alias(n) for n, c in zip(names, columns)}
        return self.columns(deciding(values, distinct))

    @property
    def open_candidates(self) -> tuple[PersonCandidate, ...]:
        """Codes that disagree on who is a person, like `Table.open_candidates`."""
        if self.shape.roles.person is not None or not self.shape.roles.identifiers:
            return ()
        some = self.engine.small(self.frame.select(*self.deciding).head(SOME_VALUES))
        numbers = [c for c in self.deciding if is_code(some[c])]
        if len(numbers) < 2:
            return ()
        sets = [(c,) for c in numbers] + [tuple(numbers)]
        *single, together = [count_distinct(self.engine, self.frame, c) for c in sets]
        if len({*single, together}) == 1:  # all distinguish the same people
            return ()
        people = [*single, *([together] if together > max(single) else [])]
        named = (tuple(map(self.name_of, c)) for c in sets)
        return tuple(PersonCandidate(c, n, self.rows) for c, n in zip(named, people))

    @cached_property
    def who(self) -> list[str]:
        """The columns that distinguish people; empty if each row is a different person."""
        columns = self.columns(self.person_columns)
        if not columns or count_distinct(self.engine, self.frame, columns) == self.rows:
            return []
        return columns


def large_table(engine: Engine, frame: Frame, schema: pl.Schema, roles: Roles) -> LargeTable:
    """Check and normalise an opened frame.

    Parameters
    ----------
    engine : Engine
    frame : lazy frame
        As opened: columns c0 to cn.
    schema : polars schema
        The real names and types, in the same order.
    roles : Roles
    """
    refuse_uncountable(schema)
    plain = frame.with_columns(*one_value(frame, engine.has_nan))
    roles = _counting_dropped(engine, plain, schema, roles)
    if not roles.exact_identifiers:
        plain = _spelt_once(engine, plain, schema, roles.identifiers)
    rows = count_rows(engine, plain)
    if not rows:
        raise InputError("the table has no rows")
    return LargeTable(engine, plain, tuple(schema), shape_of(schema, roles), rows)


def _counting_dropped(engine: Engine, frame: Frame, schema: pl.Schema, roles: Roles) -> Roles:
    """Turn dropped ids of people into identifiers, judged by the first rows.

    See `tamis.read.keys.counted_when_dropped`.
    """
    if not roles.dropped or roles.person is not None:
        return roles
    some = engine.small(frame.head(LOOKED_AT))
    return counted_when_dropped(some.rename(dict(zip(some.columns, schema))), roles)


def _spelt_once(
    engine: Engine, frame: Frame, schema: pl.Schema, identifiers: Sequence[str]
) -> Frame:
    """Normalise the spelling of identifiers (see `one_spelling`), which are never released."""
    merged = {}
    for place, (name, kind) in enumerate(schema.items()):
        if name not in identifiers or kind not in (pl.String, pl.Categorical, pl.Enum):
            continue
        column = f"c{place}"
        folded = _with_spellings(engine, frame, column)
        changed = one_where(nw.col(column) != nw.col(_SPELT)).alias(ROWS)
        changes = folded.select(changed).select(nw.col(ROWS).sum().cast(nw.Int64))
        if not engine.small(changes).item():  # usually nothing changes: no copy is made
            continue
        before = count_distinct(engine, frame, [column])
        names = frame.collect_schema().names()
        frame = folded.with_columns(nw.col(_SPELT).alias(column)).select(*names)
        if spellings := before - count_distinct(engine, frame, [column]):
            merged[name] = spellings
    say_respelt(merged)
    return frame


_SPELT = "spelt"
_RAW = "raw"


def _with_spellings(engine: Engine, frame: Frame, column: str) -> Frame:
    """Add the normalised spelling of a text column.

    Engines agree on ASCII only, so texts with other characters are normalised in Python, each
    distinct one once.
    """
    cell = nw.col(column)
    plain = cell.str.to_lowercase().str.replace_all(BLANKS, " ").str.strip_chars(" ")
    odd = frame.filter(cell.str.contains(r"[^\x00-\x7f]")).select(cell.alias(_RAW)).unique()
    if not count_rows(engine, odd):
        return frame.with_columns(plain.alias(_SPELT))
    spelt = engine.keep(
        part.with_columns(one_spelling(part[_RAW]).alias(_SPELT)) for part in engine.batches(odd)
    )
    joined = engine.near(frame).join(spelt, left_on=column, right_on=_RAW, how="left")
    return joined.with_columns(nw.coalesce(nw.col(_SPELT), plain).alias(_SPELT))


def shape_of(schema: pl.Schema, roles: Roles) -> Table:
    """An empty table with the columns in their types in memory; an Enum becomes plain text."""
    kinds = {
        name: pl.Float64() if kind.is_decimal() else pl.String() if kind == pl.Enum else kind
        for name, kind in schema.items()
    }
    return Table(pl.DataFrame(schema=kinds), roles)


def labelled_large(table: LargeTable) -> LargeTable:
    """Keep the rows that have a label; a warning says how many have none."""
    target = named_target(table.shape.roles.target)
    (column,) = table.columns([target])
    frame = table.frame.filter(~nw.col(column).is_null())
    rows = count_rows(table.engine, frame)
    say_unlabelled(target, rows, table.rows)
    shape = replace(table.shape, unlabelled=table.rows - rows)
    return replace(table, frame=frame, rows=rows, shape=shape)


def check_large(table: LargeTable) -> LargeTable:
    """Drop empty columns; raise for infinite numbers and for missing values of the target.

    All columns are checked in one pass over the rows.
    """
    names = [c for c in table.names if c in table.shape.frame.columns]
    columns, schema = table.columns(names), table.frame.collect_schema()
    gone = [one_where(nw.col(c).is_null()).alias(f"gone_{c}") for c in columns]
    endless = [
        one_where(nw.col(c).abs() == nw.lit(float("inf"))).alias(f"endless_{c}")
        for c in columns
        if schema[c].is_float()
    ]
    marked = table.frame.select(*gone, *endless)
    sums = [nw.col(c).sum().cast(nw.Int64) for c in marked.collect_schema().names()]
    counts = table.engine.small(marked.select(*sums)).row(0, named=True)
    empty = [n for n, c in zip(names, columns) if counts[f"gone_{c}"] == table.rows]
    shape = table.shape.with_roles(**roles_without_empty(table.shape.roles, empty))
    infinite = [n for n, c in zip(names, columns) if counts.get(f"endless_{c}")]
    if infinite:
        raise InputError(
            f"column {listed(infinite)} has infinite numbers; replace them or make them missing"
        )
    target = table.shape.roles.target
    if target is not None:
        need_labels(target, counts[f"gone_{table.columns([target])[0]}"], table.rows)
    return replace(table, shape=shape)


def refuse_uncountable(schema: pl.Schema) -> None:
    """Raise for columns whose cells are not single numbers or texts of a size all engines have."""
    wide = (pl.Int128, pl.UInt128)
    if odd := [c for c, t in schema.items() if t in wide]:
        raise InputError(
            f"column {listed(odd)} holds whole numbers of 128 bits, which engines do not count; "
            "write them in 64 bits or as text, or pass --engine memory"
        )
    refuse_nested(schema)


def one_value(frame: Frame, has_nan: bool = True) -> list[nw.Expr]:
    """Normalise each column: decimals to floats, categories to text, -0.0 to 0.0, NaN to missing.

    Otherwise engines might disagree on which of these are equal when they group.
    """
    columns = []
    for name, kind in frame.collect_schema().items():
        column = nw.col(name)
        if kind.is_decimal():
            column = column.cast(nw.Float64)
        elif kind in (nw.Categorical, nw.Enum):
            column = column.cast(nw.String)
        if kind.is_float() or kind.is_decimal():
            present = nw.when(~column.is_nan()).then(column) if has_nan else column
            column = nw.when(present == 0).then(nw.lit(0.0)).otherwise(present)
        columns.append(column.alias(name))
    return columns


LOOKED_AT = 50_000
"""Number of first rows by which dropped columns are recognised as ids of people."""
HASH = "hash"
_APART, _NONE = "\x1f", "\x1e"
"""In the text that is hashed: the separator of cells, and the mark of a missing one."""
_LARGEST = 2.0**62
"""Floats are clipped to this, so that their whole part fits a 64-bit integer."""
_DIGITS = 12
"""Hex digits of a hash that decide whether a row is drawn; 48 bits are exact as a float."""
WHO, KEY, PLACE, _TAKEN = "who", "key", "place", "taken"
_ADDED, _ADDED_FROM = 12, (0, 12)
"""Number of decimal digits in each part of a hash that is summed, and where the parts start. Sums
over nine million rows of a person fit 64 bits, and two parts make equal sums by chance unlikely."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows drawn from a larger table.

    Parameters
    ----------
    table : Table
    of : int
        The rows of the larger table.
    by : str
        What was drawn: "people", "contents", or "everything" if all rows were taken.
    asked : int
        The number of rows asked for; about as many are drawn.
    """

    table: Table
    of: int
    by: str
    asked: int = 0

    def k_for(self, k: int) -> int:
        """The k to search with: scaled down as the sample is, but at least 2.

        >>> Sample(Table(pl.DataFrame({"a": [0] * 50})), 1000, "contents").k_for(100)
        5
        """
        return k if self.by == "everything" else max(2, ceil(k * self.table.rows / self.of))


def salt_of(seed: int, purpose: str) -> str:
    """The salt for a seed and a purpose, so that draws for two purposes are independent.

    >>> salt_of(7, "order")
    'tamis 7 order '
    """
    return f"tamis {seed} {purpose} "


def sampled(large: LargeTable, rows: int, seed: int) -> Sample:
    """Draw about `rows` rows of a large table, with the roles of the whole.

    Parameters
    ----------
    large : LargeTable
    rows : int
    seed : int
        Decides which rows; not a secret, since nothing that is drawn is published.
    """
    names = [c for c in large.names if c in large.shape.frame.columns]
    columns, share = large.columns(names), min(1.0, rows / large.rows)
    if share == 1.0:
        drawn = large.engine.small(large.frame.select(*columns), large.rows)
        by = "everything"
    elif large.who:
        drawn = _people(large, columns, share, seed)
        by = "people"
    else:
        drawn = _contents(large, columns, share, seed)
        by = "contents"
    frame = pl.DataFrame([drawn[c].alias(name) for c, name in zip(columns, names)])
    frame = frame.cast(dict(large.shape.frame.schema))  # type: ignore[arg-type]
    table = Table(frame, _roles_of(large, by), unlabelled=large.shape.unlabelled)
    return Sample(table, large.rows, by, rows)


def _roles_of(large: LargeTable, by: str) -> Roles:
    """The roles of the whole, with the person columns, which a sample alone could not decide."""
    roles = large.shape.roles
    if not roles.identifiers or (by == "everything" and roles.person is not None):
        return roles
    return replace(roles, person=large.person_columns if large.who else ())


def _without_identifiers(large: LargeTable, columns: Sequence[str]) -> list[str]:
    named = set(large.columns(large.shape.roles.identifiers))
    return [c for c in columns if c not in named]


def _people(large: LargeTable, columns: Sequence[str], share: float, seed: int) -> pl.DataFrame:
    content = _without_identifiers(large, columns)
    frame = large.engine.near(large.frame)
    texts = (content_text(frame, large.who).alias(WHO), content_text(frame, content).alias(KEY))
    rows = frame.with_columns(*texts)
    chosen = draw_people(large.engine, rows.select(WHO, KEY), share, seed)
    drawn = rows.join(chosen, on=WHO).select(*columns, HASH, PLACE)
    return large.engine.small(drawn).sort(HASH, PLACE, *content, *columns, nulls_last=True)


def draw_people(engine: Engine, rows: Frame, share: float, seed: int) -> Frame:
    """Draw a share of the people, decided by the content of their rows.

    Parameters
    ----------
    engine : Engine
    rows : frame
        Columns `who`, never missing, and `key`: the content of a row as text.
    share : float
    seed : int

    Returns
    -------
    frame
        Each person drawn once: `who`, and `hash` and `place`, which give an order that does not
        depend on `who`, except among people with equal rows.
    """
    salt = salt_of(seed, "sample")
    # A person's hash is made of the sum of their rows' hashes, which does not depend on the order
    # of the rows and hardly ever agrees for different rows.
    digits = reduce(_decimal, "abcdef", nw.col(HASH))
    parts = [digits.str.slice(at, _ADDED).cast(nw.Int64).alias(f"part{at}") for at in _ADDED_FROM]
    hashed = engine.with_hash(rows, KEY, salt).select(WHO, *parts)
    sums = [nw.col(f"part{at}").sum().cast(nw.Int64).alias(f"part{at}") for at in _ADDED_FROM]
    people = hashed.group_by(WHO).agg(*sums, nw.len().cast(nw.Int64).alias(ROWS))
    keyed = people.select(
        WHO, content_text(people, [*(f"part{at}" for at in _ADDED_FROM), ROWS]).alias(KEY)
    )
    held = engine.hold(engine.with_hash(keyed, KEY, salt).select(WHO, HASH))
    alike = engine.small(count_cells(held, [HASH]).filter(_perhaps(share)))
    taken = alike.select(HASH, pl.Series(_TAKEN, _copies(alike, share)))
    ranked = held.join(engine.keep([taken]), on=HASH)
    # Ranking by `who` matters only among people with equal rows, of whom any will do.
    ranked = ranked.with_columns(nw.col(WHO).rank("ordinal").over(HASH).cast(nw.Int64).alias(PLACE))
    return engine.hold(ranked.filter(nw.col(PLACE) <= nw.col(_TAKEN)).select(WHO, HASH, PLACE))


def _decimal(digits: nw.Expr, letter: str) -> nw.Expr:
    """Replace a letter of hex digits by a decimal digit, so that engines need not parse hex."""
    return digits.str.replace_all(letter, str("abcdef".index(letter)), literal=True)


def _contents(large: LargeTable, columns: Sequence[str], share: float, seed: int) -> pl.DataFrame:
    """Draw equal rows in proportion; identifiers, which distinguish nobody here, are blank."""
    content = _without_identifiers(large, columns)
    counted = count_cells(large.frame.select(*content), content)
    keyed = counted.with_columns(content_text(counted, content).alias(KEY))
    hashed = large.engine.with_hash(keyed, KEY, salt_of(seed, "sample"))
    distinct = large.engine.small(hashed.filter(_perhaps(share)).drop(KEY))
    distinct = distinct.sort(HASH, *content, nulls_last=True)
    blank = [pl.lit(None).alias(c) for c in columns if c not in content]
    drawn = np.repeat(np.arange(distinct.height), _copies(distinct, share))
    return distinct.with_columns(*blank)[drawn]


def _copies(counted: pl.DataFrame, share: float) -> NDArray[np.int64]:
    """How many to draw of each hash, by its count: the share, rounded up or down by the hash.

    The hash, read as a number from 0 to 1, is the random draw: n * share is rounded up if its
    fraction is at least that number, so the expected number drawn is n * share.
    """
    chance = np.array([int(text[:_DIGITS], 16) for text in counted[HASH]]) / 16.0**_DIGITS
    copies: NDArray[np.int64] = np.floor(counted[ROWS].to_numpy() * share + 1 - chance).astype(
        np.int64
    )
    return copies


def _perhaps(share: float) -> nw.Expr:
    """Cheap pre-filter of distinct rows for sampling: keeps all of which any row is drawn.

    A row that occurs n times is drawn if its hash, as a number, is at most n * share. Engines only
    compare texts here, so n is rounded up to a power of two; `_copies` decides exactly.
    """
    maybe = nw.col(ROWS) >= nw.lit(ceil(1 / share))  # these are drawn whatever the hash
    level = 1
    while level * share < 1:
        here = (nw.col(ROWS) >= nw.lit(level)) & (nw.col(ROWS) < nw.lit(2 * level))
        maybe = maybe | (here & (nw.col(HASH) <= nw.lit(_hex(2 * level * share))))
        level *= 2
    return maybe


def _hex(share: float) -> str:
    """The text below which a share of all hashes lies; "g" is above every hex digit."""
    return "g" if share >= 1 else f"{int(share * 16**_DIGITS):0{_DIGITS}x}"


def content_text(frame: Frame, columns: Sequence[str]) -> nw.Expr:
    """The cells of each row as one text, the same on every engine; constant without columns.

    Engines format floats differently, so each is split into three whole numbers. Floats that differ
    by less than 2e-19, or lie beyond 4e18, give the same text.
    """
    schema = frame.collect_schema()
    texts = [text for c in columns for text in _texts(nw.col(c), schema[c])]
    if not texts:
        return nw.lit(_NONE)
    return nw.concat_str(*(t.fill_null(_NONE) for t in texts), separator=_APART)


def _texts(cell: nw.Expr, kind: nw.dtypes.DType) -> list[nw.Expr]:
    if kind.is_float():
        number = cell.cast(nw.Float64).clip(-_LARGEST, _LARGEST)
        sign = nw.when(number < 0).then(nw.lit(-1.0)).otherwise(nw.lit(1.0))
        # The sign is taken off first. Then every step is exact: floor and subtraction only remove
        # bits, and products with powers of two only shift them.
        size = number * sign
        whole = size.floor()
        finer = (size - whole) * nw.lit(2.0**31)
        finest = (finer - finer.floor()) * nw.lit(2.0**31)
        numbers = (whole, finer.floor(), finest.floor())
        return [(number * sign).cast(nw.Int64).cast(nw.String) for number in numbers]
    if kind == nw.Boolean:
        return [nw.when(cell).then(nw.lit("1")).otherwise(nw.when(~cell).then(nw.lit("0")))]
    if isinstance(kind, nw.Duration):
        return [cell.cast(nw.Int64).cast(nw.String)]
    if isinstance(kind, nw.Datetime):
        if kind.time_zone is not None:
            cell = cell.cast(nw.Datetime("us"))  # in UTC, the zone of every engine
        parts = ("year", "month", "day", "hour", "minute", "second")
        # Before 1970 Spark's microseconds are negative: the remainder makes them equal.
        micro = (cell.dt.microsecond().cast(nw.Int64) + nw.lit(10**6)) % nw.lit(10**6)
        every = (*(getattr(cell.dt, part)() for part in parts), micro)
        return [part.cast(nw.Int64).cast(nw.String) for part in every]
    return [cell.cast(nw.String)]
