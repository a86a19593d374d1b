"""Kernel: columns that can no longer fit, found without looking at them one by one.

A maximal pattern stays maximal in any column that touches it, so a column that only 1 to k - 1 of
its rows have can never be added. The lightest maximal patterns have few rows, and those rows
rule out most columns of a sparse table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tamis.select.patterns import CHOSEN, PATTERNS, lies_inside

MOST_PATTERNS = 512
MOST_CHECKS = 20_000_000
SHARE_OF_ROWS = 8


@njit(cache=True)
def knock_out(indptr: Any, indices: Any, k: int, alive: Any, g: Any) -> None:
    """Mark columns of a CSR table that do not fit the projection as not alive."""
    if g.state[CHOSEN] == 0:
        return
    rows, begin = _rows_of_light(g)
    counts = np.zeros(alive.size, np.int32)
    seen = np.empty(alive.size, np.int32)
    for m in range(begin.size - 1):
        found = 0
        for r in rows[begin[m] : begin[m + 1]]:
            for j in range(indptr[r], indptr[r + 1]):
                c = indices[j]
                if counts[c] == 0:
                    seen[found] = c
                    found += 1
                counts[c] += 1
        for c in seen[:found]:
            if counts[c] < k:
                alive[c] = False
            counts[c] = 0


@njit(cache=True)
def _rows_of_light(g: Any) -> Any:
    """The rows of some light maximal patterns, pattern by pattern."""
    mark, sizes = _light_maximal(g)
    begin = np.zeros(sizes.size + 1, np.int64)
    begin[1:] = np.cumsum(sizes)
    rows, place = np.empty(begin[-1], np.int32), begin[:-1].copy()
    for r in range(g.of_row.size):
        m = mark[g.of_row[r]]
        if m >= 0:
            rows[place[m]] = r
            place[m] += 1
    return rows, begin


@njit(cache=True)
def _light_maximal(g: Any) -> Any:
    """The numbers given to light maximal patterns, -1 for the others, and their weights."""
    patterns = g.state[PATTERNS]
    for p in range(patterns):
        g.touched[p] = p
    mark = np.full(patterns, -1, np.int32)
    sizes = np.empty(min(patterns, MOST_PATTERNS), np.int64)
    found, rows = 0, 0
    order = np.argsort(g.weight[:patterns])
    for p in order[: max(1, MOST_CHECKS // patterns)]:
        if found == sizes.size or (rows + g.weight[p]) * SHARE_OF_ROWS > g.of_row.size:
            break
        if not lies_inside(p, patterns, g):
            mark[p] = found
            sizes[found] = g.weight[p]
            rows += g.weight[p]
            found += 1
    return mark, sizes[:found]
