"""Selection by the largest sets of features that k rows have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import sparse_rows
from tamis.errors import InputError
from tamis.select.containment.fill import Filler
from tamis.select.containment.projection import check_k
from tamis.select.containment.selection import Selection

WIDE = 2
"""Columns per k rows at which few rows decide what an itemset contains."""
SMALL = 5000
"""Ones below which one search for small sets costs less than several for larger ones."""


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

    Features that k rows have in common are feasible together. Useless features (constant
    ones) are left out of the choice.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes
    k : int
        The anonymity to keep.
    utility : {"hamdist", "distcnt"}
        Decides among the itemsets.
    largest : int
        How many itemsets to look at; ties in size at the cut are broken by `hamdist`, then by
        the lowest columns.
    extend : bool
        Greedily add features that still fit. The paper does not.
    labelled : array of bool, optional
        The rows whose labels may be used, as in `tamis.select.containment.greedy.greedy`.

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
    _check_largest(largest)
    filler = Filler(X, y, k, utility, labelled)
    best = best_itemset(filler, X, k, largest)
    if extend:
        return filler.selection(filler.fill(best))
    return filler.selection(filler.offered(best))


def best_itemset(filler: Filler, X: Any, k: int, largest: int = 20) -> NDArray[np.int64]:
    """The positions of the best of the largest maximal itemsets, in order."""
    values = np.zeros(sparse_rows(X).shape[1], dtype=np.int64)
    values[filler.candidates] = filler.pairs
    sets = [filler.places(s) for s in largest_itemsets(X, k, largest, values)]
    worth = [filler.gains(places)[0] for places in sets]
    return np.sort(sets[int(np.argmax(worth))] if sets else np.zeros(0, dtype=np.int64))


def largest_itemsets(
    X: Any, k: int, most: int, values: NDArray[np.int64] | None = None
) -> list[tuple[int, ...]]:
    """The largest maximal itemsets of support k, best first.

    An itemset is a set of columns that k rows contain; it is maximal if no column can be added.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    k : int
        The smallest number of rows that contain the set.
    most : int
        How many itemsets to return.
    values : array of int, optional
        A value for each column. Sets of equal size are ordered by the sum of their values, larger
        first, then by the lowest columns.

    Notes
    -----
    There may be far too many maximal itemsets to list, yet the largest are found quickly: only sets
    that may still be among the largest are searched. Since these sizes are not known at first,
    the search is run for large sizes and then for smaller ones until enough are found.

    Examples
    --------
    >>> largest_itemsets([[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], k=2, most=3)
    [(0, 1), (2,), (3,)]
    """
    from tamis.select.containment.itemsets import (
        best_itemsets,
        core,
        empty_pool,
        reach,
        search_by_columns,
        search_by_rows,
    )

    table = sparse_rows(X)
    check_k(k, table.shape[0])
    _check_largest(most)
    frequent = np.flatnonzero(np.bincount(table.indices, minlength=table.shape[1]) >= k)
    table = table[:, frequent]
    worth = np.zeros(len(frequent), dtype=np.int64) if values is None else values[frequent]
    limit = reach(table, k)
    size = int(np.partition(limit, len(limit) - k)[len(limit) - k])
    pool = empty_pool(most, max(size, 1), worth)
    if table.nnz < SMALL and size:
        size = max(1, size // 5)
    while size > 0 and pool.state[0] < most:
        pool.state[2] = size
        search = search_by_rows if size > WIDE * k else search_by_columns
        left = core(table, limit >= size, k, size)
        if len(left.column):
            search(left, k, pool)
        size = size * (7 if 3 * pool.state[0] < most else 8) // 10  # few missing: a short step
    return best_itemsets(pool, frequent)


def _check_largest(largest: Any) -> None:
    if isinstance(largest, bool) or not isinstance(largest, (int, np.integer)) or largest < 1:
        raise InputError(f"the number of largest itemsets must be at least 1, got {largest!r}")
