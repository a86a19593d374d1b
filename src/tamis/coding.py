"""Convert cells to numbers: codes of equal values, points on an axis, places among known values.

`coded` tells which cells of a column are equal; codes of several columns can be joined and counted.
`as_floats` gives points on an axis, `positions` places among known values. Models, risk measures
and counts of rules all take their numbers from here.

Two things are deliberately separate: people (`tamis.people`) and verification, which must not share
a mistake with the choice of a release; and differential privacy, whose codes are declared in
advance.
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
"""Integers in a range narrower than this are coded by their distance from the smallest.

It skips sorting them, at the cost of codes that are not all in use.
"""
CODE_LIMIT = 1 << 62
"""Upper bound of codes, so that products of radices stay within 64 bits."""
ROOMY = 4
"""Codes are counted in an array of up to this many cells a row, otherwise by sorting."""


@dataclass(frozen=True, eq=False)
class Coded:
    """One integer for each row, from 0 up to `radix`; equal codes mean equal values."""

    codes: Integers = field(repr=False)
    radix: int


def coded(column: pl.Series) -> Coded:
    """Codes of a column: numbers in ascending order, text in order of appearance.

    Missing cells share the last code, which differs from that of every present value.

    Examples
    --------
    >>> coded(pl.Series([7.5, None, 3.0, 7.5])).codes.tolist()
    [1, 2, 0, 1]
    """
    present, width = _present(bare(column))
    if present.null_count():
        present = present.cast(pl.UInt32).fill_null(width)
    # The narrowest type that holds the codes: many columns stay cached, of all rows.
    return Coded(present.to_numpy().astype(np.min_scalar_type(width)), width + 1)


class CodedFrame:
    """The columns of a frame as codes, each coded on first access and cached.

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
    """Codes of the present values, null where missing, and the number of codes."""
    if column.dtype == pl.String:
        # Categories of its own: polars' global ones would also number values of other columns.
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
    # Floats and wide integers are ranked, so that equal values share a code.
    ranks = column.rank("dense") - 1
    return ranks, _width(ranks.max())


def _width(highest: Any) -> int:
    """The number of codes up to the highest one; 0 if no value is present."""
    return 0 if highest is None else int(highest) + 1


def joined(left: Coded, right: Coded) -> Coded:
    """Codes of pairs, packed as left * right.radix + right, so ordered by left, then right.

    The right column comes from `coded`, so its radix is small enough: a left one that is made dense
    leaves room for it below `CODE_LIMIT`.

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
    """Renumbered codes without gaps, in the same order.

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
    """The codes that occur, ascending, and their counts.

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
    """Sum of weights for each code that occurs; every weight is at least 1.

    >>> counted_with(Coded(np.array([7, 2, 7]), 9), np.array([5, 1, 2])).tolist()
    [1, 7]
    """
    codes = column.codes if _roomy(column) else dense(column).codes
    sums = np.bincount(codes, weights=weights)
    return np.asarray(sums[sums > 0], dtype=np.int64)


def all_stand_for(column: Coded, weights: Integers, least: int) -> bool:
    """Whether every code that occurs has a sum of weights of at least `least`.

    Codes of a wide range are first hashed into buckets. A bucket below `least` proves that some
    code is below it, which settles most failing cases without sorting. Codes alone in a bucket are
    then settled, too; only those that share one are sorted and counted exactly.

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
    """Mask of the codes whose bucket also has other codes."""
    last = np.empty(int(place.max()) + 1, dtype=codes.dtype)
    last[place] = codes
    shared = np.zeros(len(last), dtype=np.bool_)
    shared[place[last[place] != codes]] = True
    return np.asarray(shared[place])


class DistinctRows(NamedTuple):
    """The first row of each distinct combination, and the count of each."""

    first: Integers
    counts: Integers


def collapsed(columns: Sequence[Coded]) -> DistinctRows:
    """The distinct rows of some columns with their counts, to count classes of fewer columns from.

    >>> collapsed([Coded(np.array([0, 1, 0, 0]), 2), Coded(np.array([1, 0, 1, 0]), 2)])
    DistinctRows(first=array([3, 0, 1]), counts=array([1, 2, 1]))
    """
    keys = reduce(joined, columns)
    _, first, counts = np.unique(keys.codes, return_index=True, return_counts=True)
    return DistinctRows(first, counts)


def _roomy(column: Coded) -> bool:
    return column.radix <= ROOMY * len(column.codes)


def as_floats(column: pl.Series) -> NDArray[np.float64]:
    """Cells as floats, NaN where missing; dates as in `undated`.

    >>> as_floats(pl.Series([3, None])).tolist()
    [3.0, nan]
    """
    return undated(bare(column)).cast(pl.Float64).to_numpy()


def undated(column: pl.Series) -> pl.Series:
    """Dates as days since 1970, times as days since midnight; other columns unchanged."""
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
    """The index of each cell among known values; -1 if missing or none of them.

    >>> positions(pl.Series(["judge", None, "cook", "nurse"]), ["cook", "judge"]).tolist()
    [1, -1, 0, -1]
    """
    return bare(as_enum(column, values)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()


def as_enum(column: pl.Series, values: Sequence[str]) -> pl.Series:
    """A column as an enum of known values; other values become missing."""
    if isinstance(column.dtype, pl.Enum) and tuple(column.dtype.categories) == tuple(values):
        return column
    return bare(nominal_text(column)).cast(pl.Enum(values), strict=False).alias(column.name)


def nominal_text(column: pl.Series) -> pl.Series:
    """Nominal values as text; a number has the same text as an integer and as a float.

    >>> nominal_text(pl.Series([1.0, None, 2.5])).to_list()
    ['1', None, '2.5']
    """
    if not column.dtype.is_numeric():
        return column.cast(pl.String)
    texts = bare(column).cast(pl.Float64).cast(pl.String)
    return texts.str.strip_suffix(".0").alias(column.name)
