"""Selection by the largest maximal itemsets: sets of features that k rows have in common.

The *core* is the part of a table in which large frequent itemsets can lie. An itemset of `size`
columns with support k lies in rows of at least `size` ones and in columns of at least k ones, and
the same holds within the sub-table of these rows and columns, and so on. Moreover, each of its rows
shares `size` ones with k rows, counting itself. The *pool* holds the best itemsets found so far:
by size, then value, then lowest columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.matrix import class_numbers, sparse_columns, sparse_rows
from tamis.errors import check_whole
from tamis.select.containment.improve import Filler
from tamis.select.containment.itemset_kernels import (
    core_parts,
    peel,
    search_by_columns,
    search_by_rows,
)
from tamis.select.containment.selection import Selection, check_k

WIDE = 2
"""If the size sought exceeds this many times k, few rows decide what an itemset contains, and the
search goes by rows."""
QUICK_K = 20
"""Up to this k the largest itemsets are found quickly, and one of them is a good start."""
FEW_ONES = 5000
"""Number of ones below which one search for small sets costs less than several for larger ones."""


def maximal(
    X: Any,
    y: Any,
    k: int,
    *,
    utility: str = "hamdist",
    largest: int = 20,
    extend: bool = True,
    labelled: Any = None,
) -> Selection:
    """Choose the best of the largest maximal itemsets of support k, and what still fits beside it.

    Features that k rows have in common are feasible together. Features without any utility, such
    as constant ones, are left out of the choice.

    Parameters
    ----------
    X, y, k, labelled
        As in `tamis.select.containment.greedy.GreedySearch`; `k` is the anonymity to keep.
    utility : {"hamdist", "distcnt", "cm", "size"}
        Decides among the itemsets: `cm` is the fraction of rows in the majority class of their
        group, as in `greedy`; `size` is the number of columns. After these two, features that
        still fit are added by `hamdist`.
    largest : int
        How many itemsets to compare; ties in size at the last place are broken by `hamdist`, then
        by the lowest columns.
    extend : bool
        Greedily add features that still fit. The paper does not.

    Notes
    -----
    Algorithm 1 of Zhang et al. (2017).

    Examples
    --------
    >>> X = [[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    >>> maximal(X, [1, 1, 0, 0], k=2, extend=False).features
    (0, 1)
    >>> maximal(X, [1, 1, 0, 0], k=2).features
    (0, 1)
    """
    check_whole("largest", largest)
    worth = _SET_WORTH.get(utility)
    filler = Filler(X, y, k, "hamdist" if worth else utility, labelled)
    of_set = None if worth is None else partial(worth, X, y, labelled)
    best = best_itemset(filler, X, k, largest, of_set)
    chosen = filler.selection(filler.fill(best) if extend else filler.offered(best))
    return chosen if of_set is None else _by_sets(chosen, of_set)


def _in_majority(X: Any, y: Any, labelled: Any, columns: Sequence[int]) -> float:
    """Fraction of the labelled rows that are in the majority class of their group."""
    from tamis.risk.kernels import distinct_rows

    rows = sparse_rows(sparse_columns(X)[:, list(columns)])
    known = np.ones(rows.shape[0], bool) if labelled is None else np.asarray(labelled)
    of_row, label = distinct_rows(rows.indptr, rows.indices)[2][known], class_numbers(y)[known]
    classes = int(label.max()) + 1
    counts = np.bincount(of_row * classes + label, minlength=(int(of_row.max()) + 1) * classes)
    return float(counts.reshape(-1, classes).max(axis=1).sum() / len(of_row))


def _size(X: Any, y: Any, labelled: Any, columns: Sequence[int]) -> float:
    return len(columns)


_SET_WORTH: dict[str, Callable[[Any, Any, Any, Sequence[int]], float]] = {
    "cm": _in_majority,
    "size": _size,
}
"""Utilities computed from the whole set; the others are those of `Filler`."""


def _by_sets(chosen: Selection, of_set: Callable[[Sequence[int]], float]) -> Selection:
    """The same path with its utilities computed anew, by a function of the set."""
    steps, before = [], of_set(())
    for i, step in enumerate(chosen.steps):
        utility = of_set(chosen.features[: i + 1])
        steps.append(replace(step, gain=utility - before, utility=utility))
        before = utility
    return replace(chosen, utility=before, steps=tuple(steps))


def best_itemset(
    filler: Filler,
    X: Any,
    k: int,
    largest: int = 20,
    of_set: Callable[[Sequence[int]], float] | None = None,
) -> NDArray[np.int64]:
    """Positions of the best of the largest maximal itemsets, ascending.

    The best is by the utility of the filler, or by `of_set`, a function of column numbers.
    """
    values = np.zeros(sparse_rows(X).shape[1], dtype=np.int64)
    values[filler.candidates] = filler.pairs
    sets = [filler.places(s) for s in largest_itemsets(X, k, largest, values)]
    if of_set is None:
        worth: list[float] = [filler.gains(places)[0] for places in sets]
    else:
        worth = [of_set(filler.candidates[places].tolist()) for places in sets]
    return np.sort(sets[int(np.argmax(worth))] if sets else np.zeros(0, dtype=np.int64))


def largest_itemsets(
    X: Any, k: int, most: int, values: NDArray[np.int64] | None = None
) -> list[tuple[int, ...]]:
    """The largest maximal itemsets of support k, best first.

    An itemset is a set of columns that k rows contain; it is maximal if no column can be added. At
    most `most` are returned. Sets of equal size are ordered by the sum of the `values` of their
    columns, larger first, then by the lowest columns.

    There may be far too many maximal itemsets to list, yet the largest are found quickly, since
    only sets that may still be among the largest are searched. How large these are is not known at
    first, so the search starts with large sizes and tries smaller ones until it has found enough.

    >>> largest_itemsets([[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], k=2, most=3)
    [(0, 1), (2,), (3,)]
    """
    table = sparse_rows(X)
    check_k(k, table.shape[0])
    check_whole("the number of largest itemsets", most)
    frequent = np.flatnonzero(np.bincount(table.indices, minlength=table.shape[1]) >= k)
    table = table[:, frequent]
    worth = np.zeros(len(frequent), dtype=np.int64) if values is None else values[frequent]
    limit = reach(table, k)
    # An itemset of this size needs k rows that reach it: no larger one can exist.
    size = int(np.partition(limit, len(limit) - k)[len(limit) - k])
    pool = empty_pool(most, max(size, 1), worth)
    if table.nnz < FEW_ONES and size:
        size = max(1, size // 5)
    while size > 0 and pool.state[0] < most:
        pool.state[2] = size
        search = search_by_rows if size > WIDE * k else search_by_columns
        left = core(table, limit >= size, k, size)
        if len(left.column):
            search(left, k, pool)
        # Smaller sizes cost more to search, so take a short step if few itemsets are missing.
        size = size * (7 if 3 * pool.state[0] < most else 8) // 10
    return best_itemsets(pool, frequent)


class Core(NamedTuple):
    """A sub-table stored by rows and by items; items are its columns, renumbered rarest first.

    The items of row r, ascending, are `items[starts[r]:starts[r + 1]]`; the rows of an item lie
    likewise in `rows_of` and `starts_of`; `column` has the column number of each item.
    """

    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    starts_of: NDArray[np.int64]
    rows_of: NDArray[np.int32]
    column: NDArray[np.int64]


def core(table: sparse.csr_array, rows: NDArray[np.bool_], k: int, size: int) -> Core:
    """Reduce rows of a 0/1 table to what itemsets of at least `size` columns can lie in."""
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
    ends, by_row, rows_of = core_parts(starts, items, kept, column, starts_of, counts)
    return Core(ends, by_row, starts_of, rows_of, column.astype(np.int64))


def reach(X: sparse.csr_array, k: int) -> NDArray[np.int64]:
    """For each row, an upper bound of the size of itemsets of support k within the row.

    That is its number of ones or, where all pairs of rows are cheap to count (few rows, many rare
    columns), the number of ones that it shares with k rows, counting itself.
    """
    n = X.shape[0]
    pairs = np.square(np.bincount(X.indices).astype(float)).sum()
    # The product of the table with its transpose takes `pairs` additions and `n * n` cells; it is
    # worth a few passes over the table, not more.
    if n * n + pairs > 64 * X.nnz:
        return np.diff(X.indptr).astype(np.int64)
    counts = X.astype(np.int32)
    shared = (counts @ counts.T).toarray()
    return np.partition(shared, n - k, axis=1)[:, n - k].astype(np.int64)


class Pool(NamedTuple):
    """The best itemsets so far, as many as `sizes` has room for; neither they nor their columns
    are in order."""

    sizes: NDArray[np.int64]
    totals: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.int64]
    """The value of each column of the table."""
    marks: NDArray[np.bool_]
    """Scratch space for comparing sets, one entry for each column; all false between uses."""
    state: NDArray[np.int64]
    """The number of itemsets, the place of the worst one, and the smallest size wanted."""


def empty_pool(most: int, longest: int, values: NDArray[np.int64]) -> Pool:
    """A pool with room for `most` itemsets of at most `longest` columns."""
    return Pool(
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, longest), dtype=np.int64),
        values,
        np.zeros(len(values), dtype=np.bool_),
        np.array([0, 0, 1], dtype=np.int64),
    )


def best_itemsets(pool: Pool, numbers: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """The itemsets of a pool, best first, each with its original column numbers, ascending."""
    count = int(pool.state[0])
    columns = numbers[pool.columns[:count]].tolist()
    sizes, totals = pool.sizes[:count].tolist(), pool.totals[:count].tolist()
    sets = [tuple(sorted(held[:size])) for held, size in zip(columns, sizes)]
    order = sorted(range(count), key=lambda i: (-sizes[i], -totals[i], sets[i]))
    return [sets[i] for i in order]
