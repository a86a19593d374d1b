"""Cells become numbers here: what is equal, where it lies on an axis, which known value it is.

`coded` says which cells of a column are equal, and codes of several columns are joined and counted;
`as_floats` are points on an axis; `positions` are places among known values. What learns, measures
a risk or counts rules takes its numbers from here.

Apart, on purpose: who is a person (`tamis.people`) and whatever verifies a release, which must not
share a mistake with what chose it; and differential privacy, whose codes are declared beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Codes, Integers
from tamis.table import bare

NARROW = 1 << 20
"""Whole numbers within a range of this width are coded by their distance from the smallest."""
CODE_LIMIT = 1 << 62
"""No code reaches this, so that products of codes stay within 64 bits."""
ROOMY = 4
"""Codes are counted in an array while it has at most this many cells for each row."""


@dataclass(frozen=True, eq=False)
class Coded:
    """One integer for each row, from 0 up to `radix`; equal codes mean equal values."""

    codes: Integers = field(repr=False)
    radix: int


def coded(column: pl.Series) -> Coded:
    """The values of a column as integers, numbers in ascending order, text in order of appearance.

    Missing is the last code: equal to other missing cells, different from every present value.

    Examples
    --------
    >>> coded(pl.Series([7.5, None, 3.0, 7.5])).codes.tolist()
    [1, 2, 0, 1]
    """
    present, width = _present(bare(column))
    if present.null_count():
        present = present.cast(pl.UInt32).fill_null(width)
    return Coded(present.to_numpy().astype(np.min_scalar_type(width)), width + 1)


class CodedFrame:
    """The columns of a frame as codes, each coded when it is first asked for, and once.

    Examples
    --------
    >>> columns = CodedFrame(pl.DataFrame({"age": [31, 47, 31]}))
    >>> columns["age"].codes.tolist(), columns["age"] is columns["age"]
    ([0, 16, 0], True)
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame
        self._known: dict[str, Coded] = {}

    def __getitem__(self, name: str) -> Coded:
        if name not in self._known:
            self._known[name] = coded(self._frame.get_column(name))
        return self._known[name]


def _present(column: pl.Series) -> tuple[pl.Series, int]:
    """Codes of the present values, null where missing, and how many codes there can be."""
    if column.dtype == pl.String:
        # Separate categories: the global ones would number the values of other columns too.
        text = column.cast(pl.Categorical(pl.Categories.random())).to_physical()
        return text, _width(text.max())
    if column.dtype.is_float():
        column = column.fill_nan(None)
    whole = column.cast(pl.UInt8) if column.dtype == pl.Boolean else column.to_physical()
    if whole.dtype.is_integer():
        least: Any = whole.min()
        most: Any = whole.max()
        if least is not None and most - least < NARROW and max(-least, most) < CODE_LIMIT:
            return whole.cast(pl.Int64) - least, _width(most - least)
    ranks = column.rank("dense") - 1
    return ranks, _width(ranks.max())


def _width(highest: Any) -> int:
    """The number of codes up to the highest one; 0 if no value is present."""
    return 0 if highest is None else int(highest) + 1


def joined(left: Coded, right: Coded) -> Coded:
    """One code for each pair of codes, ordered by the left code, then by the right one.

    The right one is a column from `coded`, so that a dense left one leaves room for it.

    Examples
    --------
    >>> joined(Coded(np.array([0, 1, 1]), 2), Coded(np.array([4, 0, 4]), 5)).codes.tolist()
    [4, 5, 9]
    """
    if left.radix * right.radix >= CODE_LIMIT:
        left = dense(left)
    codes = np.multiply(left.codes, right.radix, dtype=np.int64)
    codes += right.codes
    return Coded(codes, left.radix * right.radix)


def dense(column: Coded) -> Coded:
    """The same column with every code in use, in the same order.

    Examples
    --------
    >>> dense(Coded(np.array([7, 2, 7]), 9)).codes.tolist()
    [1, 0, 1]
    """
    if _roomy(column):
        used = np.bincount(column.codes, minlength=column.radix) > 0
        place = np.cumsum(used) - 1
        return Coded(place[column.codes], int(place[-1]) + 1)
    values, codes = np.unique(column.codes, return_inverse=True)
    return Coded(codes, len(values))


def counted(column: Coded) -> tuple[Integers, Integers]:
    """The codes that occur, in order, and how often each does.

    Examples
    --------
    >>> codes, counts = counted(Coded(np.array([7, 2, 7]), 9))
    >>> codes.tolist(), counts.tolist()
    ([2, 7], [1, 2])
    """
    if _roomy(column):
        counts = np.bincount(column.codes, minlength=column.radix)
        codes = np.flatnonzero(counts)
        return codes, counts[codes]
    return np.unique(column.codes, return_counts=True)


def counted_with(column: Coded, weights: Integers) -> Integers:
    """How many rows each code that occurs stands for, where each row stands for one or more.

    >>> counted_with(Coded(np.array([7, 2, 7]), 9), np.array([5, 1, 2])).tolist()
    [1, 7]
    """
    codes = column.codes if _roomy(column) else dense(column).codes
    sums = np.bincount(codes, weights=weights)
    return np.asarray(sums[sums > 0], dtype=np.int64)


def all_stand_for(column: Coded, weights: Integers, least: int) -> bool:
    """Whether each code that occurs stands for so many rows or more, see `counted_with`.

    Where codes have a wide range they share buckets first: one that stands for too few rows has a
    code that does, and most that fail are found so. Only codes that share one are then sorted.

    >>> column = Coded(np.array([7, 2, 7]), 9)
    >>> [all_stand_for(column, np.array([5, 3, 2]), least) for least in (3, 4)]
    [True, False]
    """
    if not _roomy(column):
        place = column.codes % (2 * len(column.codes) + 1)
        sums = np.bincount(place, weights=weights)
        if sums[sums > 0].min() < least:
            return False
        sharing = _sharing(column.codes, place)
        column, weights = Coded(column.codes[sharing], column.radix), weights[sharing]
    return not len(weights) or int(counted_with(column, weights).min()) >= least


def _sharing(codes: Integers, place: Integers) -> NDArray[np.bool_]:
    """Which codes share their place with other ones."""
    last = np.empty(int(place.max()) + 1, dtype=codes.dtype)
    last[place] = codes
    shared = np.zeros(len(last), dtype=np.bool_)
    shared[place[last[place] != codes]] = True
    return np.asarray(shared[place])


class DistinctRows(NamedTuple):
    """The rows that are first of their kind, and how many are of each kind."""

    first: Integers
    counts: Integers


def collapsed(columns: Sequence[Coded]) -> DistinctRows:
    """The distinct rows of some columns: what holds for their classes holds for all rows.

    >>> collapsed([Coded(np.array([0, 1, 0, 0]), 2), Coded(np.array([1, 0, 1, 0]), 2)])
    DistinctRows(first=array([3, 0, 1]), counts=array([1, 2, 1]))
    """
    keys = reduce(joined, columns)
    _, first, counts = np.unique(keys.codes, return_index=True, return_counts=True)
    return DistinctRows(first, counts)


def _roomy(column: Coded) -> bool:
    return column.radix <= ROOMY * len(column.codes)


def as_floats(column: pl.Series) -> NDArray[np.float64]:
    """Cells as points on an axis, NaN where missing; see `undated` for dates.

    >>> as_floats(pl.Series([3, None])).tolist()
    [3.0, nan]
    """
    return undated(bare(column)).cast(pl.Float64).to_numpy()


def undated(column: pl.Series) -> pl.Series:
    """A column of dates as days since 1970, of times as days since midnight; others as they are."""
    name, cells = column.name, bare(column)
    if cells.dtype == pl.Date:
        return cells.to_physical().cast(pl.Float64).alias(name)
    if cells.dtype == pl.Time:
        return (cells.to_physical() / (_DAY * 1000)).alias(name)
    if cells.dtype == pl.Datetime:
        return (cells.dt.epoch("us") / _DAY).alias(name)
    return column


_DAY = 24 * 60 * 60 * 10**6
"""In microseconds."""


def positions(column: pl.Series, values: Sequence[str]) -> Codes:
    """The place of each cell among known values; -1 where it is missing or none of them.

    >>> positions(pl.Series(["judge", None, "cook", "nurse"]), ["cook", "judge"]).tolist()
    [1, -1, 0, -1]
    """
    return bare(as_enum(column, values)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()


def as_enum(column: pl.Series, values: Sequence[str]) -> pl.Series:
    """A column typed by the values it may have; missing where it has another."""
    if isinstance(column.dtype, pl.Enum) and tuple(column.dtype.categories) == tuple(values):
        return column
    return bare(nominal_text(column)).cast(pl.Enum(values), strict=False).alias(column.name)


def nominal_text(column: pl.Series) -> pl.Series:
    """Nominal values as text; a number reads the same whether it is an integer or a float.

    >>> nominal_text(pl.Series([1.0, None, 2.5])).to_list()
    ['1', None, '2.5']
    """
    if not column.dtype.is_numeric():
        return column.cast(pl.String)
    texts = bare(column).cast(pl.Float64).cast(pl.String)
    return texts.str.strip_suffix(".0").alias(column.name)
