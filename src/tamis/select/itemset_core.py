"""The part of a 0/1 table that large frequent itemsets can lie in.

An itemset of `size` columns that k rows hold lies in rows of at least `size` ones and in columns
of at least k ones, and the same is true again of the sub-table of these rows and columns. Besides,
each of its rows shares `size` ones with k rows, itself among them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse


class Core(NamedTuple):
    """A sub-table, by rows and by items; items are columns renumbered, rarest first.

    The items of row r, ascending, are `items[starts[r]:starts[r + 1]]`; the rows of an item are
    in `rows_of` and `starts_of` likewise; `column` gives the numbers that items had before.
    """

    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    starts_of: NDArray[np.int64]
    rows_of: NDArray[np.int32]
    column: NDArray[np.int64]


def core(table: sparse.csr_array, rows: NDArray[np.bool_], k: int, size: int) -> Core:
    """Reduce some rows of a 0/1 table to what itemsets of at least `size` columns need."""
    starts, items = table.indptr.astype(np.int64), table.indices.astype(np.int32, copy=False)
    d = table.shape[1]
    counts, support = np.zeros(d, dtype=np.int32), np.zeros(d, dtype=np.int32)
    column = np.empty(d, dtype=np.int32)
    kept = np.flatnonzero(rows).astype(np.int32)
    kept, width = peel(starts, items, kept, -1, k, size, counts, column, support)
    rarest_first = np.argsort(support[:width], kind="stable")
    column = column[rarest_first]
    starts_of = np.zeros(width + 1, dtype=np.int64)
    np.cumsum(support[rarest_first], out=starts_of[1:])
    ends, by_row, rows_of = ordered(starts, items, kept, column, starts_of, counts)
    return Core(ends, by_row, starts_of, rows_of, column.astype(np.int64))


@njit(cache=True)
def peel(
    starts: Any,
    items: Any,
    rows: Any,
    base: Any,
    k: Any,
    need: Any,
    counts: Any,
    local: Any,
    support: Any,
) -> Any:
    """The rows that hold `need` of the items after a base that k of these rows hold.

    These items are written to `local`, and how many rows hold each to `support`. Gives the rows,
    which come first in the array, and the number of the items; `counts` is zero before and after.
    """
    if len(rows) < k:
        return rows[:0], 0
    for row in rows:
        tally(starts, items, row, base, counts, 1)
    n, before = len(rows), len(rows) + 1
    while k <= n < before:
        before, n = n, 0
        for row in rows[:before]:
            if holds_enough(starts, items, row, base, counts, k, need):
                rows[n] = row
                n += 1
            else:
                tally(starts, items, row, base, counts, -1)
    width = 0
    for row in rows[:n]:
        for a in range(starts[row + 1] - 1, starts[row] - 1, -1):
            if items[a] <= base:
                break
            if counts[items[a]] >= k:
                local[width] = items[a]
                support[width] = counts[items[a]]
                width += 1
            counts[items[a]] = 0
    return rows[:n], width


@njit(cache=True)
def tally(starts: Any, items: Any, row: Any, base: Any, counts: Any, change: Any) -> Any:
    """Count the items of a row after the base."""
    for a in range(starts[row + 1] - 1, starts[row] - 1, -1):
        if items[a] <= base:
            break
        counts[items[a]] += change


@njit(cache=True)
def holds_enough(
    starts: Any, items: Any, row: Any, base: Any, counts: Any, k: Any, need: Any
) -> Any:
    """Whether a row holds `need` items after the base whose count is k."""
    has = 0
    for a in range(starts[row + 1] - 1, starts[row] - 1, -1):
        if has >= need or items[a] <= base:
            break
        has += counts[items[a]] >= k
    return has >= need


@njit(cache=True)
def ordered(starts: Any, items: Any, rows: Any, column: Any, starts_of: Any, place: Any) -> Any:
    """The parts of a `Core` of some rows and columns that it starts with; `place` is zero."""
    for a in range(len(column)):
        place[column[a]] = a + 1
    ends_of = starts_of[:-1].copy()
    rows_of = np.empty(starts_of[-1], dtype=np.int32)
    ends = np.zeros(len(rows) + 1, dtype=np.int64)
    for a in range(len(rows)):
        ends[a + 1] = ends[a]
        for b in range(starts[rows[a]], starts[rows[a] + 1]):
            item = place[items[b]] - 1
            if item >= 0:
                rows_of[ends_of[item]] = a
                ends_of[item] += 1
                ends[a + 1] += 1
    by_row = np.empty(len(rows_of), dtype=np.int32)
    at = ends[:-1].copy()
    for item in range(len(column)):
        for row in rows_of[starts_of[item] : starts_of[item + 1]]:
            by_row[at[row]] = item
            at[row] += 1
    return ends, by_row, rows_of


@njit(cache=True)
def rows_around(core: Any, base: Any, size: Any) -> Any:
    """Rows that hold the base and at least `size - 1` items that are less rare."""
    rows = np.empty(core.starts_of[base + 1] - core.starts_of[base], dtype=np.int32)
    n = 0
    for row in core.rows_of[core.starts_of[base] : core.starts_of[base + 1]]:
        last = core.starts[row + 1] - size
        if last >= core.starts[row] and core.items[last] >= base:
            rows[n] = row
            n += 1
    return rows[:n]


@njit(cache=True)
def around(
    core: Any, base: Any, rows: Any, k: Any, size: Any, counts: Any, local: Any, support: Any
) -> Any:
    """Peel some rows with the base to what itemsets of a size need whose rarest item it is."""
    return peel(core.starts, core.items, rows, base, k, size - 1, counts, local, support)


@njit(cache=True)
def with_room(numbers: Any, size: Any) -> Any:
    """The same numbers in an array of at least a size."""
    if size <= len(numbers):
        return numbers
    larger = np.empty(2 * size, dtype=np.int32)
    for a in range(len(numbers)):
        larger[a] = numbers[a]
    return larger


def reach(X: sparse.csr_array, k: int) -> NDArray[np.int64]:
    """For each row a size that no itemset of support k within the row can pass.

    That is its number of ones, or, where all pairs of rows are cheap to count (few rows, many
    rare columns), the number of ones that it shares with k rows, itself among them.
    """
    n = X.shape[0]
    pairs = np.square(np.bincount(X.indices).astype(float)).sum()
    if n * n + pairs > 64 * X.nnz:
        return np.diff(X.indptr).astype(np.int64)
    counts = X.astype(np.int32)
    shared = (counts @ counts.T).toarray()
    return np.partition(shared, n - k, axis=1)[:, n - k].astype(np.int64)
