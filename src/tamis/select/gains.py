"""Kernel: what each column would add to a set, in pairs of opposite classes told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tamis.select.patterns import PATTERNS, clear, gather
from tamis.select.pick import pairs_parted


@njit(cache=True, error_model="numpy")
def gains(columns: Any, g: Any) -> Any:
    """The gain of each column over the patterns so far."""
    begin, end, rows = columns
    of_row, row_counts, counts, hits, touched, _, _, state = g
    out = np.empty(begin.size, dtype=np.int64)
    for j in range(begin.size):
        one = rows[begin[j] : end[j]]
        n = gather(one, state[PATTERNS], of_row, row_counts, hits, touched)
        out[j] = pairs_parted(n, counts, hits, touched)
        clear(n, hits, touched)
    return out
