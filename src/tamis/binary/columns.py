"""Kernels: single columns of a 0/1 table, without turning all of a CSR table into CSC."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse


class Columns(NamedTuple):
    """Rows that have some columns: those of column i are ``rows[begin[i]:end[i]]``."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int32]


def take(
    table: sparse.csr_array | sparse.csc_array,
    which: NDArray[np.int64],
    support: NDArray[np.int64],
) -> Columns:
    """The columns `which` in that order; one pass over a CSR table, no copy of a CSC table.

    In a CSR table, columns whose `support` is given as 0 come without rows.
    """
    if table.format == "csc":
        starts = table.indptr.astype(np.int64)
        return Columns(starts[which], starts[which + 1], table.indices)
    end = np.cumsum(support[which])
    begin = end - support[which]
    wanted, place = np.zeros(table.shape[1], np.uint8), np.zeros(table.shape[1], np.int64)
    wanted[which], place[which] = end > begin, begin
    rows = np.empty(int(end[-1]) if len(end) else 0, np.int32)
    if len(rows):
        found = np.empty(table.shape[1] + 1, np.int32)
        _scatter(table.indptr, table.indices, wanted, place, found, rows)
    return Columns(begin, end, rows)


@njit(cache=True, error_model="numpy")
def _scatter(indptr: Any, indices: Any, wanted: Any, place: Any, found: Any, rows: Any) -> None:
    """Write the rows of the wanted columns, each column from its own offset."""
    for r in range(indptr.size - 1):
        # Always written, kept only if wanted: the branch would be unpredictable.
        n = 0
        for c in indices[indptr[r] : indptr[r + 1]]:
            found[n] = c
            n += wanted[c]
        for i in range(n):
            c = found[i]
            rows[place[c]] = r
            place[c] += 1


def counts_by_class(
    table: sparse.csr_array, positive: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ones of each column in all rows and in the true class, in one pass over CSR."""
    counts = np.zeros(table.shape[1], np.int64)
    _count(table.indptr, table.indices, positive, counts)
    return counts & (2**32 - 1), counts >> 32


@njit(cache=True, error_model="numpy")
def _count(indptr: Any, indices: Any, positive: Any, counts: Any) -> None:
    """Count all ones in the low half of a word, and those of the true class in the high half."""
    for r in range(indptr.size - 1):
        one = 1 + (np.int64(positive[r]) << 32)
        for c in indices[indptr[r] : indptr[r + 1]]:
            counts[c] += one
