"""Kernels: columns that can no longer fit, found without looking at them one by one.

The longest pattern that a column touches is maximal among those that it touches. So if only
1 to k - 1 of its rows have the column, the column does not fit, nor ever will. Rows are read from
the longest pattern down, and each column is decided where it first appears: on a sparse table
most columns are ruled out after a few of their rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from tamis.select.containment.kernels import CHOSEN, LENGTH, LOW, PATTERNS, Patterns

UNSEEN = 2**31 - 1
WORTH = 128
"""How many ones may be read to save reading one in a column that does not fit."""
FEW = 2
"""The fewest chosen columns for which enough is ruled out to be worth reading the table."""


def knock_out(
    table: sparse.csr_array,
    support: NDArray[np.int64],
    k: int,
    alive: NDArray[np.bool_],
    g: Patterns,
) -> None:
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
    # A column whose rows all lie in the empty pattern has as many there as before.
    lengths = g.tree[falling, LENGTH]
    ends, lengths = ends[lengths > 0], lengths[lengths > 0]
    first = np.searchsorted(-lengths, -lengths)
    last = np.where(alive, np.int32(UNSEEN), np.int32(-1))
    count = np.zeros(len(alive), np.int32)
    _judge(table.indptr, table.indices, rows, ends, first, k, support, last, count)
    np.greater_equal(last, 0, out=alive)


@njit(cache=True, error_model="numpy")
def _sort_rows(of_row: Any, place: Any, rows: Any) -> None:
    """Group the rows by pattern."""
    for r in range(of_row.size):
        p = of_row[r]
        rows[place[p]] = r
        place[p] += 1


@njit(cache=True, error_model="numpy")
def _judge(
    indptr: Any,
    indices: Any,
    rows: Any,
    ends: Any,
    first: Any,
    k: int,
    support: Any,
    last: Any,
    count: Any,
) -> None:
    """Count the rows of each column in the longest patterns that it touches.

    Pattern i ends at row ``ends[i]``; ``first[i]`` is the first pattern as long as it. In `last`
    is the pattern that a column was last counted in, -1 if a count ended below k. Rows are
    read while the columns not yet seen have enough ones to be worth it.
    """
    begin, unread, unseen = 0, indices.size, 0
    for c in range(last.size):
        unseen += support[c] if last[c] == UNSEEN else 0
    for i in range(ends.size):
        since = first[i]
        if unseen * WORTH <= unread:
            break  # only between patterns: a count below k says nothing before its pattern is read
        for j in range(begin, ends[i]):
            r = rows[j]
            unread -= indptr[r + 1] - indptr[r]
            for c in indices[indptr[r] : indptr[r + 1]]:
                seen = last[c]
                # Out, or counted in a longer pattern: a shorter one may lie inside that one, and
                # then it is not maximal. Patterns of one length never lie inside each other, so
                # each of the longest that a column touches must have k of its rows.
                if seen < since:
                    continue
                if seen == i:
                    count[c] += 1
                elif seen == UNSEEN or count[c] >= k:
                    unseen -= support[c] if seen == UNSEEN else 0
                    last[c], count[c] = i, 1
                else:
                    last[c] = -1
        begin = ends[i]
    for c in range(last.size):
        if last[c] != UNSEEN and count[c] < k:
            last[c] = -1
