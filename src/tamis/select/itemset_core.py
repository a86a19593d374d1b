"""The part of a 0/1 table that large frequent itemsets can lie in.

An itemset of `size` columns that k rows hold lies in rows of at least `size` ones and in columns
of at least k ones, and the same is true again of the sub-table of these rows and columns. Besides,
each of its rows shares `size` ones with k rows, itself among them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
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


def core(X: sparse.csr_array, k: int, size: int) -> Core:
    """Reduce a 0/1 table to what itemsets of at least `size` columns and support k need."""
    column = np.arange(X.shape[1])
    while True:
        X = X[np.diff(X.indptr) >= size]
        support = np.bincount(X.indices, minlength=X.shape[1])
        frequent = support >= k
        if frequent.all():
            break
        X = X[:, frequent]
        column = column[frequent]
    rarest_first = np.argsort(support, kind="stable")
    item = np.empty(len(column), dtype=np.int32)
    item[rarest_first] = np.arange(len(column), dtype=np.int32)
    by_row = sparse.csr_array((X.data, item[X.indices], X.indptr), shape=X.shape)
    by_item = by_row.tocsc()
    by_row = by_item.tocsr()  # there and back sorts the items of each row
    return Core(
        by_row.indptr.astype(np.int64),
        by_row.indices.astype(np.int32),
        by_item.indptr.astype(np.int64),
        by_item.indices.astype(np.int32),
        column[rarest_first],
    )


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
