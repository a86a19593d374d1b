"""Kernels: single columns of a 0/1 table, without turning all of a CSR table into CSC."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse


class Columns(NamedTuple):
    """The rows of some columns: those of column i are ``rows[begin[i]:end[i]]``."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int32]


def take(
    table: sparse.csr_array | sparse.csc_array,
    which: NDArray[np.int64],
    support: NDArray[np.int64],
) -> Columns:
    """The columns `which` in that order; one pass over a CSR table, no copy of a CSC table.

    Of a CSR table, columns whose `support` is given as 0 come without rows.
    """
    if table.format == "csc":
        starts = table.indptr.astype(np.int64)
        return Columns(starts[which], starts[which + 1], table.indices)
    end = np.cumsum(support[which])
    begin = end - support[which]
    slot = np.full(table.shape[1], -1, np.int32)
    wanted = end > begin
    slot[which[wanted]] = np.flatnonzero(wanted)
    rows = np.empty(int(end[-1]) if len(end) else 0, np.int32)
    _scatter(table.indptr, table.indices, slot, begin.copy(), rows)
    return Columns(begin, end, rows)


@njit(cache=True)
def _scatter(indptr: Any, indices: Any, slot: Any, place: Any, rows: Any) -> None:
    for r in range(indptr.size - 1):
        for j in range(indptr[r], indptr[r + 1]):
            s = slot[indices[j]]
            if s >= 0:
                rows[place[s]] = r
                place[s] += 1


@njit(cache=True)
def counts_by_class(indptr: Any, indices: Any, positive: Any, width: int) -> Any:
    """Ones of each column in the false and in the true class, in one pass over CSR."""
    counts = np.zeros((width, 2), np.int64)
    for r in range(indptr.size - 1):
        c = 1 if positive[r] else 0
        for j in range(indptr[r], indptr[r + 1]):
            counts[indices[j], c] += 1
    return counts
