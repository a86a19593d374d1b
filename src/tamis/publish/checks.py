"""Measures that check a written release, by different means from those that chose it.

The selection counts row patterns and value codes; here anonymity by containment is read off one
bitmap per column by its definition, and k-anonymity off a grouping of the cells as they are
stored: two cells are equal where their bits are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, listed
from tamis.files import written
from tamis.release import Promise
from tamis.table import bare, only
from tamis.table_file import format_named, read_written, write_table

People = NDArray[np.int64]
"""The person of each row, by number."""
FEW = 20
"""With fewer rows than this, a column may well have no repeated value."""


def measure(promise: Promise, frame: pl.DataFrame, people: People | None = None) -> int:
    """What a written table reaches for a promise, in rows, or in people where these are known."""
    if missing := [c for c in promise.columns if c not in frame.columns]:
        raise CannotMeet(f"a promise is about column {listed(missing)}, which is not in the file")
    if not promise.columns:
        return frame.height if people is None else len(np.unique(people))
    cells = only(frame, promise.columns)
    if promise.name == "containment_anonymity":
        return containment_by_bitmaps(cells, people, promise.absences)
    return equals_by_grouping(cells, people)


def equals_by_grouping(cells: pl.DataFrame, people: People | None = None) -> int:
    """How many rows, or people, have the rarest combination of cells; a missing cell is a value.

    >>> equals_by_grouping(pl.DataFrame({"job": ["cook", "cook", None]}))
    1
    >>> equals_by_grouping(pl.DataFrame({"x": [0.0, -0.0]}))
    1
    >>> equals_by_grouping(pl.DataFrame({"job": ["cook"] * 3}), np.array([4, 4, 7]))
    2
    """
    bits = as_stored(cells)
    whose = np.arange(cells.height) if people is None else people
    crowds = bits.with_columns(whose=pl.Series(whose)).group_by(bits.columns)
    return int(crowds.agg(pl.col("whose").n_unique())["whose"].min())  # type: ignore[arg-type]


def write_counted(
    frame: pl.DataFrame,
    path: Path,
    count: Callable[[pl.DataFrame], int],
    least: int,
    what: str = "k-anonymity",
) -> None:
    """Write a table, which gets its name only where `count` finds enough in it, read again.

    Parameters
    ----------
    frame : polars frame
    path : Path
    count : callable
        What is counted in the rows as they are read.
    least : int
        The k that is promised; 0 counts nothing.
    what : str
        What is counted, for the error.
    """
    with written(path) as draft:
        write_table(frame, draft)
        if least and (reached := count(read_written(draft, format_named(draft)))) < least:
            raise CannotMeet(f"the written table has {what} {reached}, below k = {least}")


def as_stored(cells: pl.DataFrame) -> pl.DataFrame:
    """Cells that are equal only where their bits are; numbered, as names may be patterns."""
    return pl.DataFrame([stored(bare(s)).alias(str(i)) for i, s in enumerate(cells.get_columns())])


_BITS: dict[Any, Any] = {pl.Float16: np.uint16, pl.Float32: np.uint32, pl.Float64: np.uint64}


def stored(cells: pl.Series) -> pl.Series:
    """Cells as whole numbers or bytes: equal where they are stored alike, bit by bit.

    polars treats 0.0 and -0.0 as one value, and every NaN as another.
    """
    if cells.dtype == pl.String:
        return cells.cast(pl.Binary)
    if not cells.dtype.is_float():
        return cells.to_physical()
    bits = cells.fill_null(0).to_numpy().view(_BITS[cells.dtype.base_type()]).astype(np.uint64)
    return pl.Series(bits).zip_with(cells.is_not_null(), pl.Series([None], dtype=pl.UInt64))


def unlike_a_table(frame: pl.DataFrame) -> str:
    """What is wrong with the types of a parquet file, in words; nothing where all are plain."""
    plain = (pl.Boolean, pl.String, pl.Date, pl.Time, pl.Datetime, pl.Duration)
    odd = [c for c, t in frame.schema.items() if not (t.is_numeric() or isinstance(t, plain))]
    if odd:
        return f"column {listed(odd)} holds neither numbers nor texts, booleans or dates"
    return ""


def hidden_in_parquet(path: Path) -> str:
    """What a parquet file reveals besides its rows and the types of its columns, in words."""
    extra = set(pl.read_parquet_metadata(path)) - {"ARROW:schema"}
    return f"the file reveals more than its rows, in {listed(sorted(extra))}" if extra else ""


def without_repeats(frame: pl.DataFrame, numbers: set[str]) -> list[str]:
    """Columns with a different value in every row, such as people's names and numbers.

    Columns of numbers, which may be written as text, count where all are whole.

    >>> without_repeats(pl.DataFrame({"who": [f"P{i}" for i in range(50)]}), set())
    ['who']
    """
    if frame.height < FEW:
        return []
    every = {s.name: bare(s) for s in frame.get_columns() if not s.null_count()}
    alone = {name: cells for name, cells in every.items() if cells.n_unique() == cells.len()}
    return [name for name, cells in alone.items() if name not in numbers or _whole(cells)]


def _whole(cells: pl.Series) -> bool:
    numbers = cells.cast(pl.Float64, strict=False).drop_nulls()
    return bool((numbers == numbers.floor()).all())


def containment_by_bitmaps(
    cells: pl.DataFrame, people: People | None = None, absences: int = 0
) -> int:
    """The least number of rows, or of people with a row, that have all the ones of some row.

    Where absences are known too, the attacker chooses those that leave the fewest.

    Notes
    -----
    AC(D) of Zhang et al. (2017), Definitions 4 to 6, one AND per feature of each distinct row.
    Who is left after absences is found by leaving them out, kind by kind.

    >>> containment_by_bitmaps(pl.DataFrame({"a": ["1", "1", "1"], "b": ["1", "0", "1"]}))
    2
    """
    kinds, of_row = row_kinds(zeros_and_ones(cells))
    counts = np.bincount(of_row, minlength=len(kinds))
    order = np.argsort(of_row, kind="stable")
    numbers = np.arange(len(of_row)) if people is None else people
    whose = None if people is None else np.split(numbers[order], np.cumsum(counts)[:-1])

    def crowd(some: NDArray[np.int64]) -> int:
        if whose is None:
            return int(counts[some].sum())
        return len(np.unique(np.concatenate([whose[i] for i in some]))) if len(some) else 0

    least = len(np.unique(numbers))
    for kind, holders in zip(kinds, holders_of(kinds)):
        least = min(least, crowd(holders))
        if absences:
            lacked = np.flatnonzero(~kind)
            least = _left_out(kinds, holders, lacked, absences, crowd, least)
    return least


def _left_out(
    kinds: NDArray[np.bool_],
    alive: NDArray[np.int64],
    lacked: NDArray[np.int64],
    absences: int,
    crowd: Callable[[NDArray[np.int64]], int],
    least: int,
) -> int:
    """The fewest left of some kinds when those are out that have one of a few lacked columns."""
    here = [(crowd(alive[kinds[alive, column]]), column) for column in lacked.tolist()]
    every = crowd(alive)
    # No choice leaves fewer than if each column took as many as the first, and others than it.
    for place, (out, column) in enumerate(sorted(here, reverse=True)):
        if out == 0 or every - absences * out >= least:
            break
        rest = alive[~kinds[alive, column]]
        least = min(least, crowd(rest))
        if absences > 1:
            further = np.array([c for _, c in sorted(here, reverse=True)[place + 1 :]], np.int64)
            least = _left_out(kinds, rest, further, absences - 1, crowd, least)
    return least


def row_kinds(ones: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The distinct rows, and which of them each row is."""
    packed, of_row = np.unique(np.packbits(ones, axis=1), axis=0, return_inverse=True)
    kinds = np.unpackbits(packed, axis=1, count=ones.shape[1]).astype(np.bool_)
    return kinds, of_row.reshape(-1).astype(np.int64)


def holders_of(kinds: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """For each kind of row the kinds that have all its ones: one AND per column, rarest first.

    >>> [found.tolist() for found in holders_of(np.array([[False, False], [True, True]]))]
    [[0, 1], [1]]
    """
    bitmaps = np.packbits(kinds, axis=0).T.copy()
    everybody = np.packbits(np.ones(len(kinds), dtype=np.bool_))
    support = kinds.sum(axis=0)
    for kind in kinds:
        held = np.flatnonzero(kind)
        rarest_first = bitmaps[held[np.argsort(support[held], kind="stable")]]
        together = np.bitwise_and.reduce([everybody, *rarest_first], axis=0)
        # Few bytes are left of many: only these are unpacked.
        some = np.flatnonzero(together)
        inside = np.flatnonzero(np.unpackbits(together[some]))
        yield 8 * some[inside >> 3] + (inside & 7)


def zeros_and_ones(cells: pl.DataFrame) -> NDArray[np.bool_]:
    """Cells of 0 and 1 as booleans; an error where there are others."""
    columns = {s.name: bare(s).cast(pl.String) for s in cells.get_columns()}
    known = ["0", "1", "true", "false"]
    odd = [name for name, texts in columns.items() if not texts.is_in(known).fill_null(False).all()]
    if odd:
        raise CannotMeet(
            f"anonymity by containment is promised, but column {listed(odd)} holds something "
            "other than 0 and 1"
        )
    ones = [texts.is_in(["1", "true"]).to_numpy() for texts in columns.values()]
    found: NDArray[np.bool_] = np.column_stack(ones)
    return found
