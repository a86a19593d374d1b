"""Kernel: what each column would add to a set, in pairs of opposite classes told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tamis.select.patterns import clear, gather
from tamis.select.pick import pairs_parted


@njit(cache=True)
def gains(columns: Any, g: Any) -> Any:
    """The gain of each column over the patterns so far."""
    out = np.empty(columns.begin.size, dtype=np.int64)
    for j in range(columns.begin.size):
        touched = gather(columns.rows[columns.begin[j] : columns.end[j]], g)
        out[j] = pairs_parted(touched, g)
        clear(touched, g)
    return out
