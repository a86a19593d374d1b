"""Rows drawn by a salted hash: the same on every engine, whatever the order of the rows.

Where identifiers tell people apart, people are drawn, each with all their rows. Otherwise the
contents are counted, and of a content with n rows about the share asked for is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import narwhals as nw
import numpy as np
import polars as pl

from tamis.engine.backend import Frame
from tamis.engine.cells import ROWS, count_cells
from tamis.engine.door import LargeTable
from tamis.table import Roles, Table

HASH = "hash"
_APART, _NONE = "\x1f", "\x1e"
"""What separates cells in the text that is hashed, and what stands for a missing one."""
_LARGEST = 2.0**52
_DIGITS = 12
"""Hex digits of a hash that decide whether a row is drawn."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows drawn from a larger table.

    Parameters
    ----------
    table : Table
    of : int
        The rows of the larger table.
    by : str
        What was drawn: "people", "contents", or "everything" where all rows were taken.
    """

    table: Table
    of: int
    by: str

    def k_for(self, k: int) -> int:
        """The k to search with: as many of the sample as k is of all, but two at least.

        >>> Sample(Table(pl.DataFrame({"a": [0] * 50})), 1000, "contents").k_for(100)
        5
        """
        return k if self.by == "everything" else max(2, ceil(k * self.table.rows / self.of))


def salt_of(seed: int, purpose: str) -> str:
    """A salt that a seed and a purpose determine.

    >>> salt_of(7, "order")
    'tamis 7 order '
    """
    return f"tamis {seed} {purpose} "


def sampled(large: LargeTable, rows: int, seed: int) -> Sample:
    """About so many rows of a large table, with the roles of the whole.

    Parameters
    ----------
    large : LargeTable
    rows : int
    seed : int
        Decides which; it is no secret, since nothing drawn is published.
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
    table = Table(frame, _roles_of(large), unlabelled=large.shape.unlabelled)
    return Sample(table, large.rows, by)


def _roles_of(large: LargeTable) -> Roles:
    """The roles of the whole; a sample cannot tell which identifiers distinguish people."""
    roles = large.shape.roles
    if roles.person is not None or not roles.identifiers:
        return roles
    return replace(roles, person=large.told_apart_by if large.who else ())


def _people(large: LargeTable, columns: Sequence[str], share: float, seed: int) -> pl.DataFrame:
    keyed = large.frame.with_columns(content_text(large.frame, large.who).alias("key"))
    hashed = large.engine.with_hash(keyed, "key", salt_of(seed, "sample"))
    drawn = hashed.filter(hash_below(share)).select(*columns, HASH)
    return large.engine.small(drawn).sort(HASH, *columns, nulls_last=True)


def _contents(large: LargeTable, columns: Sequence[str], share: float, seed: int) -> pl.DataFrame:
    counted = count_cells(large.frame.select(*columns), columns)
    keyed = counted.with_columns(content_text(counted, columns).alias("key"))
    hashed = large.engine.with_hash(keyed, "key", salt_of(seed, "sample"))
    found = large.engine.small(hashed.filter(_perhaps(share)).drop("key"))
    found = found.sort(HASH, *columns, nulls_last=True)
    chance = np.array([int(text[:_DIGITS], 16) for text in found[HASH]]) / 16.0**_DIGITS
    copies = np.floor(found[ROWS].to_numpy() * share + 1 - chance).astype(np.int64)
    return found[np.repeat(np.arange(found.height), copies)]


def _perhaps(share: float) -> nw.Expr:
    """Contents of which a row may be drawn: a bound that needs no arithmetic on hashes."""
    found = nw.col(ROWS) >= nw.lit(ceil(1 / share))
    level = 1
    while level * share < 1:
        here = (nw.col(ROWS) >= nw.lit(level)) & (nw.col(ROWS) < nw.lit(2 * level))
        found = found | (here & (nw.col(HASH) <= nw.lit(_hex(2 * level * share))))
        level *= 2
    return found


def hash_below(share: float) -> nw.Expr:
    """Whether the hash of a row is among the lowest share of all hashes."""
    return nw.col(HASH) < nw.lit(_hex(share))


def _hex(share: float) -> str:
    """The hash below which a share of all hashes lies."""
    return "g" if share >= 1 else f"{int(share * 16**_DIGITS):0{_DIGITS}x}"


def content_text(frame: Frame, columns: Sequence[str]) -> nw.Expr:
    """The cells of each row as one text, the same on every engine.

    Engines write floats in different ways, so these are split into two whole numbers. Different
    floats may come out alike, which does no harm: whoever sorts by a hash of the text sorts by
    the cells afterwards.
    """
    schema = frame.collect_schema()
    texts = [text for c in columns for text in _texts(nw.col(c), schema[c])]
    return nw.concat_str(*(t.fill_null(_NONE) for t in texts), separator=_APART)


def _texts(cell: nw.Expr, kind: nw.dtypes.DType) -> list[nw.Expr]:
    if kind.is_float():
        number = cell.cast(nw.Float64).clip(-_LARGEST, _LARGEST)
        whole = number.floor()
        rest = ((number - whole) * nw.lit(2.0**31)).floor()
        return [part.cast(nw.Int64).cast(nw.String) for part in (whole, rest)]
    if kind == nw.Boolean:
        return [nw.when(cell).then(nw.lit("1")).otherwise(nw.when(~cell).then(nw.lit("0")))]
    if isinstance(kind, nw.Duration):
        return [cell.cast(nw.Int64).cast(nw.String)]
    if isinstance(kind, nw.Datetime):
        if kind.time_zone is not None:
            cell = cell.cast(nw.Datetime("us"))  # in UTC, the zone of every engine
        parts = ("year", "month", "day", "hour", "minute", "second")
        # Spark counts microseconds before 1970 from below.
        micro = (cell.dt.microsecond().cast(nw.Int64) + nw.lit(10**6)) % nw.lit(10**6)
        every = (*(getattr(cell.dt, part)() for part in parts), micro)
        return [part.cast(nw.Int64).cast(nw.String) for part in every]
    return [cell.cast(nw.String)]
