"""A table coded once in one byte a cell, so that learners can use any of its columns directly.

Equal rows can be counted, so that a learner works on the distinct rows alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numba.extending import register_jitable
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.kernel_cache import njit
from tamis.learn.columns import Coding, Column
from tamis.notebook import by_fields

Codes = NDArray[np.uint8]

CODES = 32
"""Most codes of a column: a split, which is a set of codes, then fits into half a 64-bit word."""
MISSING = 0
"""The code of a missing value, in every column."""
HEAVY = 16
"""A number that more than one row in 16 has gets a bin of its own."""
RARE = 5
"""Nominal values of fewer rows than this share one code."""


@dataclass(frozen=True, eq=False)
class CodedTable:
    """The codes of a table's columns, at most 32 a column; code 0 is a missing value.

    Numbers are cut at quantiles and keep their order. Nominal values have a code each, the most
    frequent first; rare values, and those absent from the rows coded by, share code 1.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, None, 47, 31], "job": ["cook"] * 3 + ["judge"]})
    >>> coded = CodedTable.of(frame, rare=2)
    >>> coded.codes.tolist()
    [[1, 0, 2, 1], [2, 2, 2, 1]]
    >>> coded.widths.tolist(), coded.ordered.tolist()
    ([3, 3], [True, False])
    """

    codes: Codes
    """Columns by rows."""
    widths: NDArray[np.int64]
    """Number of codes of each column, missing included."""
    ordered: NDArray[np.bool_]
    """Whether a column's codes, other than the missing one, are ordered."""
    at: NDArray[np.intp] | None = None
    """If only some rows of a large table are coded: each row's position among them. Rows that are
    not coded have a position past the end, so that using one is an error. `None`: all are coded."""

    __repr__ = by_fields

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        rows: NDArray[np.intp] | None = None,
        *,
        only: NDArray[np.intp] | None = None,
        rare: int = RARE,
    ) -> CodedTable:
        """Code the rows of a frame, with bins and frequent values learnt from some of them.

        Parameters
        ----------
        frame : polars.DataFrame
        rows : array of int, optional
            The rows that quantiles and frequent values are taken from. `None`: all.
        only : array of int, optional
            The rows to code, ascending; they must include `rows`. `None`: all.
        rare : int, default 5
            Nominal values of fewer rows share one code.
        """
        if only is not None and len(only) < frame.height:
            at = _places(only, frame.height)
            some = cls.of(frame[only], None if rows is None else at[rows], rare=rare)
            return replace(some, at=at)
        learnt = np.arange(frame.height) if rows is None else np.asarray(rows)
        if len(learnt) == 0:
            raise InputError("a table is coded by one row or more, got none")
        coded = cls.of_columns(Coding.of(frame).columns(frame), learnt, rare)
        return replace(coded, codes=coded.codes.reshape(frame.width, frame.height))

    @classmethod
    def of_columns(
        cls, columns: Sequence[Column], learnt: NDArray[np.intp], rare: int = RARE
    ) -> CodedTable:
        """Code columns, with bins and frequent values taken from the rows `learnt`."""
        pairs = [_coded(column, learnt, rare) for column in columns]
        return cls(
            np.array([codes for codes, _ in pairs], dtype=np.uint8),
            np.array([width for _, width in pairs], dtype=np.int64),
            np.array([column.categories is None for column in columns], dtype=np.bool_),
        )

    @classmethod
    def of_label(
        cls,
        label: NDArray[np.integer[Any]],
        rows: NDArray[np.intp] | None = None,
        only: NDArray[np.intp] | None = None,
    ) -> CodedTable:
        """A label, numbered from 0, as a table of one nominal column; of all rows or `only` some.

        >>> CodedTable.of_label(np.array([1, 0, 1])).codes.tolist()
        [[2, 3, 2]]
        """
        learnt = np.arange(len(label)) if rows is None else rows
        codes, width = nominal_codes(label, int(label.max()) + 1, learnt, rare=1)
        every = cls(codes[None, :], np.array([width]), np.array([False]))
        if only is None or len(only) == len(label):
            return every
        return replace(every, codes=every.codes[:, only], at=_places(only, len(label)))

    def __len__(self) -> int:
        """The number of columns."""
        return len(self.codes)

    @property
    def rows(self) -> int:
        """The number of rows of the table, coded or not."""
        return int(self.codes.shape[1]) if self.at is None else len(self.at)

    @property
    def coded_rows(self) -> NDArray[np.intp]:
        """The rows that are coded, ascending."""
        coded = self.codes.shape[1]
        return np.arange(coded) if self.at is None else np.flatnonzero(self.at < coded)

    def places(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """The positions of some rows in `codes`."""
        return rows if self.at is None else self.at[rows]

    def slice(self, columns: Sequence[int], rows: NDArray[np.intp]) -> CodedTable:
        """Some columns on some rows, in the order given."""
        chosen, at = np.asarray(columns, dtype=np.intp), self.places(rows)
        codes = np.empty((len(chosen), len(at)), dtype=np.uint8)
        for line, column in zip(codes, chosen):  # several times faster than both at once
            line[:] = self.codes[column].take(at)
        return CodedTable(codes, self.widths[chosen], self.ordered[chosen])

    def with_columns(self, others: Mapping[int, CodedTable]) -> CodedTable:
        """The same table with some columns, by number, replaced by tables of one column."""
        codes, widths, ordered = self.codes.copy(), self.widths.copy(), self.ordered.copy()
        for number, other in others.items():
            codes[number], widths[number], ordered[number] = (
                other.codes[0],
                other.widths[0],
                other.ordered[0],
            )
        return replace(self, codes=codes, widths=widths, ordered=ordered)

    def beside(self, *others: CodedTable) -> CodedTable:
        """This table's columns followed by those of others, all of the same coded rows."""
        every = (self, *others)
        return CodedTable(
            np.concatenate([each.codes for each in every]),
            np.concatenate([each.widths for each in every]),
            np.concatenate([each.ordered for each in every]),
            self.at,
        )


def _places(rows: NDArray[np.intp], height: int) -> NDArray[np.intp]:
    """The position of every row of a table among `rows`; past the end for all others."""
    at = np.full(height, len(rows), dtype=np.intp)
    at[rows] = np.arange(len(rows))
    return at


def _coded(column: Column, learnt: NDArray[np.intp], rare: int) -> tuple[Codes, int]:
    if column.categories is None:
        return _number_codes(column.values, learnt)
    return nominal_codes(column.values, column.categories, learnt, rare)


def _number_codes(values: NDArray[Any], learnt: NDArray[np.intp]) -> tuple[Codes, int]:
    seen = values[learnt]
    edges = _edges(seen[~np.isnan(seen)])
    codes = 1 + np.searchsorted(edges, values, side="left")
    return np.where(np.isnan(values), MISSING, codes).astype(np.uint8), len(edges) + 2


def _edges(values: NDArray[Any]) -> NDArray[np.float64]:
    """The largest value of each bin but the last.

    Frequent values get bins of their own, so that a spike (a capital gain of 0) does not use up
    all quantiles. Such a bin may cut a bin of other values in two, so each takes two bins.
    """
    distinct, counts = np.unique(values, return_counts=True)
    most = CODES - 1
    if len(distinct) <= most:
        return np.asarray(distinct[:-1], dtype=np.float64)
    # At most 15 values can be heavy, so of 31 bins at least one is left for the others.
    heavy = counts * HEAVY > len(values)
    light = np.where(heavy, 0, counts)
    # The mid-rank of each value among the light ones, as a fraction.
    place = (np.cumsum(light) - light / 2) / max(light.sum(), 1)
    quantile = np.floor(place * (most - 2 * heavy.sum()))
    cut = (np.diff(quantile) > 0) | heavy[:-1] | heavy[1:]
    return np.asarray(distinct[:-1][cut], dtype=np.float64)


def nominal_codes(
    values: NDArray[Any], categories: int, learnt: NDArray[np.intp], rare: int
) -> tuple[Codes, int]:
    """The code of each row of a nominal column, and the number of codes."""
    # Shifted by one because a missing value is -1; its count is then dropped.
    counts = np.bincount(values[learnt] + 1, minlength=categories + 1)[1:]
    by_count = np.argsort(-counts, kind="stable")[: CODES - 2]
    frequent = by_count[counts[by_count] >= max(rare, 1)]
    code_of = np.ones(categories + 1, dtype=np.uint8)
    code_of[frequent] = 2 + np.arange(len(frequent))
    code_of[-1] = MISSING  # the last entry, which index -1, a missing value, reads
    return code_of[values], 2 + len(frequent)


PRIME = np.uint64(0x9E3779B97F4A7C15)
"""2**64 by the golden ratio, an odd number: products with it are spread over a word's top bits."""
LOOKED = 500
"""Distinct rows to see before giving up because most rows are distinct."""


def rows_alike(codes: Any, known: Any) -> tuple[Any, Any]:
    """The first occurrence of each distinct row, ascending, and the number of every row's.

    If most rows are distinct, merging them saves nothing: it stops early, and each row counts as
    distinct.

    `codes` are columns by rows; `known`, words by rows, must also be equal, bit by bit.

    >>> codes = np.array([[2, 1, 2, 2]], dtype=np.uint8)
    >>> known = np.array([[0, 0, 0, 7]], dtype=np.uint64)
    >>> [each.tolist() for each in rows_alike(codes, known)]
    [[0, 1, 3], [0, 1, 0, 2]]
    """
    rows = codes.shape[1]
    known = np.ascontiguousarray(known)  # one layout: another would be compiled for itself
    bits = max(1, (2 * rows - 1).bit_length())  # the hash table is never more than half full
    first, place = np.empty((2, rows), dtype=np.int64)
    slots = np.full(1 << bits, -1)
    distinct = _number(codes, known, np.zeros(rows, dtype=np.uint64), slots, bits, first, place)
    if distinct < 0:
        every = np.arange(rows)
        return every, every
    return first[:distinct], place


@njit(cache=True)
def _number(
    codes: Any, known: Any, hashed: Any, slots: Any, bits: int, first: Any, place: Any
) -> int:
    """Number the distinct rows in a hash table with linear probing; how many, -1 if it gave up."""
    columns, rows = codes.shape
    for c in range(columns):
        for i in range(rows):
            hashed[i] = hashed[i] * PRIME + np.uint64(codes[c, i] + 1)
    # A product only carries upwards, so the high half of a word is folded into the low one first:
    # floats such as 0.5 and 0.25 differ in their high bits alone.
    for k in range(len(known)):
        for i in range(rows):
            hashed[i] = (hashed[i] ^ (known[k, i] >> np.uint64(32)) ^ known[k, i]) * PRIME
    found = 0
    for i in range(rows):
        slot = np.int64((hashed[i] * PRIME) >> np.uint64(64 - bits))
        while slots[slot] >= 0 and not _same(codes, known, hashed, first[slots[slot]], i):
            slot = (slot + 1) & ((1 << bits) - 1)
        if slots[slot] < 0:
            slots[slot], first[found] = found, i
            found += 1
            if found > LOOKED and 2 * found > i:
                return -1
        place[i] = slots[slot]
    return found


@register_jitable
def _same(codes: Any, known: Any, hashed: Any, one: int, other: int) -> bool:
    same = hashed[one] == hashed[other]
    for c in range(len(codes)):
        same = same and codes[c, one] == codes[c, other]
    for k in range(len(known)):
        same = same and known[k, one] == known[k, other]
    return bool(same)


def labels_counted(place: Any, label: Any, classes: int) -> Any:
    """The training rows that each distinct row stands for, by class; the last line is their total.

    With two classes only the second has a line. The labels are those of the first rows; distinct
    rows are numbered as they occur, so those with a label come first.

    >>> labels_counted(np.array([0, 1, 0, 2]), np.array([1, 0, 0]), 2).tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    mine = place[: len(label)]
    width = int(mine.max()) + 1
    counts = np.bincount(label * width + mine, minlength=classes * width).reshape(classes, width)
    least = 1 if classes == 2 else 0
    return np.vstack([counts[least:], counts.sum(axis=0)]).astype(np.float64)
