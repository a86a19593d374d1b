"""Kernel: columns that can no longer fit, found without looking at them one by one.

A maximal pattern stays maximal in any column that touches it, so a column that only 1 to k - 1 of
its rows have can never be added. The lightest maximal patterns have few rows, and those rows
rule out most columns of a sparse table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from tamis.select.patterns import CHOSEN, PATTERNS, Patterns, lies_inside

MOST_PATTERNS = 512
MOST_CHECKS = 20_000_000
SHARE_OF_ROWS = 8


def knock_out(table: sparse.csr_array, k: int, alive: NDArray[np.bool_], g: Patterns) -> None:
    """Mark columns of a CSR table that do not fit the projection as not alive."""
    patterns = int(g.state[PATTERNS])
    if g.state[CHOSEN] == 0:
        return
    g.touched[:patterns] = np.arange(patterns)
    lightest = np.argsort(g.weight[:patterns], kind="stable")[: max(1, MOST_CHECKS // patterns)]
    mark = np.full(patterns, -1, np.int32)
    _mark_maximal(lightest, patterns, len(g.of_row) // SHARE_OF_ROWS, mark, g)
    of_row = mark[g.of_row]
    rows = np.flatnonzero(of_row >= 0)
    rows = rows[np.argsort(of_row[rows], kind="stable")]
    counts = np.zeros(len(alive), np.int32)
    _rule_out(table.indptr, table.indices, rows, of_row, k, counts, alive)


@njit(cache=True)
def _mark_maximal(lightest: Any, patterns: int, most_rows: int, mark: Any, g: Any) -> None:
    """Number the lightest maximal patterns."""
    found, rows = 0, 0
    for p in lightest:
        if found == MOST_PATTERNS or rows + g.weight[p] > most_rows:
            break
        if not lies_inside(p, patterns, g):
            mark[p] = found
            rows += g.weight[p]
            found += 1


@njit(cache=True)
def _rule_out(
    indptr: Any, indices: Any, rows: Any, of_row: Any, k: int, counts: Any, alive: Any
) -> None:
    """Rows come pattern by pattern: a column had by 1 to k - 1 rows of one is out."""
    i = 0
    while i < rows.size:
        end = i
        while end < rows.size and of_row[rows[end]] == of_row[rows[i]]:
            for c in indices[indptr[rows[end]] : indptr[rows[end] + 1]]:
                counts[c] += 1
            end += 1
        for r in rows[i:end]:
            for c in indices[indptr[r] : indptr[r + 1]]:
                if 0 < counts[c] < k:
                    alive[c] = False
                counts[c] = 0
        i = end
