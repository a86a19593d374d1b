"""Kernel: what each column would add to a set, in pairs of opposite classes told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tamis.select.columns import Columns
from tamis.select.patterns import PATTERNS, Patterns, clear, gather
from tamis.select.pick import pairs_parted


def gains(columns: Columns, g: Patterns) -> NDArray[np.int64]:
    """The gain of each column over the patterns so far."""
    out = np.empty(len(columns.begin), dtype=np.int64)
    _gains(columns, g, out)
    return out


@njit(cache=True, error_model="numpy")
def _gains(columns: Any, g: Any, out: Any) -> None:
    begin, end, rows = columns
    of_row, row_counts, counts, hits, touched, _, _, state = g
    for j in range(begin.size):
        one = rows[begin[j] : end[j]]
        n = gather(one, state[PATTERNS], of_row, row_counts, hits, touched)
        out[j] = pairs_parted(n, counts, hits, touched)
        clear(n, hits, touched)
