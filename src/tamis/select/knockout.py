"""Kernels: columns that can no longer fit, found without looking at them one by one.

The longest pattern that a column touches is maximal among those that it touches. So where only
1 to k - 1 of its rows have the column, the column does not fit, nor ever will. Rows are read from
the longest pattern down, and each column is judged where it first appears: on a sparse table
after a few looks at its row, most columns are gone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from tamis.select.patterns import CHOSEN, LENGTH, LOW, PATTERNS, Patterns

UNSEEN = 2**31 - 1
FEW = 2
"""Chosen columns below which too little is ruled out to be worth a look at the table."""


def knock_out(table: sparse.csr_array, k: int, alive: NDArray[np.bool_], g: Patterns) -> None:
    """Mark columns of a CSR table of unweighted rows that do not fit as not alive."""
    if g.state[CHOSEN] < FEW:
        return
    patterns = int(g.state[PATTERNS])
    falling = np.argsort(-g.tree[:patterns, LENGTH], kind="stable")
    weight = g.counts[0, falling] & LOW
    ends = np.cumsum(weight)
    place = np.empty(patterns, np.int64)
    place[falling] = ends - weight
    rows = np.empty(len(g.of_row), np.int32)
    _sort_rows(g.of_row, place, rows)
    lengths = g.tree[falling, LENGTH]
    first = np.searchsorted(-lengths, -lengths)
    judged = np.where(alive, np.int32(UNSEEN), np.int32(-1))
    _judge(table.indptr, table.indices, rows, ends, first, k, judged)
    alive &= judged >= 0


@njit(cache=True, error_model="numpy")
def _sort_rows(of_row: Any, place: Any, rows: Any) -> None:
    """The rows of each pattern to its place."""
    for r in range(of_row.size):
        p = of_row[r]
        rows[place[p]] = r
        place[p] += 1


@njit(cache=True, error_model="numpy")
def _judge(
    indptr: Any, indices: Any, rows: Any, ends: Any, first: Any, k: int, judged: Any
) -> None:
    """Set columns that 1 to k - 1 rows of the longest patterns which they touch have to -1.

    Pattern i ends at row ``ends[i]``; ``first[i]`` is the first pattern as long as it. In
    `judged` a column notes the last pattern that it was counted in.
    """
    count = np.zeros(judged.size, np.int32)
    unseen = np.int64(0)
    for c in range(judged.size):
        unseen += judged[c] == UNSEEN
    begin = 0
    for i in range(ends.size):
        since = first[i]
        if unseen == 0 and since == i:
            break
        for r in rows[begin : ends[i]]:
            for c in indices[indptr[r] : indptr[r + 1]]:
                last = judged[c]
                if last < since:
                    continue
                if last == i:
                    count[c] += 1
                elif last == UNSEEN or count[c] >= k:
                    unseen -= last == UNSEEN
                    judged[c], count[c] = i, 1
                else:
                    judged[c] = -1
        begin = ends[i]
    for c in range(judged.size):
        if judged[c] != UNSEEN and count[c] < k:
            judged[c] = -1
