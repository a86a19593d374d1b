"""Columns as small integers, missing being a value of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.table import bare

Ints = NDArray[Any]

NARROW = 1 << 20
"""Whole numbers within a range of this width are coded by their distance from the least."""
LARGEST = 1 << 62
"""No code reaches this, so that products of codes stay within 64 bits."""
ROOMY = 4
"""Codes are counted in an array while it has at most this many cells for each row."""


@dataclass(frozen=True, eq=False)
class Coded:
    """One integer for each row, from 0 up to `radix`; equal codes mean equal values."""

    codes: Ints
    radix: int


def coded(column: pl.Series) -> Coded:
    """The values of a column as integers, numbers in their order, text as it comes.

    Missing is the last code: equal to other missing cells, different from every present value.

    Examples
    --------
    >>> coded(pl.Series([7.5, None, 3.0, 7.5])).codes.tolist()
    [1, 2, 0, 1]
    """
    present, width = _present(bare(column))
    codes = present.cast(pl.UInt32).fill_null(width).to_numpy()
    return Coded(codes.astype(np.min_scalar_type(width)), width + 1)


def _present(column: pl.Series) -> tuple[pl.Series, int]:
    """Codes of the present values, null where missing, and how many codes there can be."""
    if column.dtype == pl.String:
        # Categories of its own: the shared ones would number the values of other columns too.
        text = column.cast(pl.Categorical(pl.Categories.random())).to_physical()
        return text, _width(text.max())
    if column.dtype.is_float():
        column = column.fill_nan(None)
    whole = column.cast(pl.UInt8) if column.dtype == pl.Boolean else column.to_physical()
    if whole.dtype.is_integer():
        least: Any = whole.min()
        most: Any = whole.max()
        if least is not None and most - least < NARROW and max(-least, most) < LARGEST:
            return whole.cast(pl.Int64) - least, _width(most - least)
    ranks = column.rank("dense") - 1
    return ranks, _width(ranks.max())


def _width(highest: Any) -> int:
    """The number of codes up to the highest one, none where nothing is present."""
    return 0 if highest is None else int(highest) + 1


def joined(left: Coded, right: Coded) -> Coded:
    """One code for each pair of codes, ordered by the left code, then by the right one.

    The right one is a column as `coded` gives it, so that a dense left leaves room for it.

    Examples
    --------
    >>> joined(Coded(np.array([0, 1, 1]), 2), Coded(np.array([4, 0, 4]), 5)).codes.tolist()
    [4, 5, 9]
    """
    if left.radix * right.radix >= LARGEST:
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


def counted(column: Coded) -> tuple[Ints, Ints]:
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


def people_of(numbers: Ints) -> Coded:
    """The person of each row, from numbers that have no gaps."""
    return Coded(numbers, int(numbers.max()) + 1)


def people_in(column: Coded, people: Coded) -> Ints:
    """The number of different people behind each code that occurs, in the order of the codes.

    Examples
    --------
    >>> people_in(Coded(np.array([7, 2, 7]), 9), people_of(np.array([0, 1, 0]))).tolist()
    [1, 1]
    """
    pairs, _ = counted(joined(dense(column), people))
    return np.bincount(pairs // people.radix)


def _roomy(column: Coded) -> bool:
    return column.radix <= ROOMY * len(column.codes)
