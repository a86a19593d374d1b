"""Kernels: which rows of a table are nearest to what is known of a person."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


def nearest_rows(asked: Any, known: Any, table: Any, nominal: Any) -> Any:
    """Which rows of the table are nearest to each asked row, and how far they are.

    A cell adds |a - b| where its column holds numbers (scaled to a range of 1), else 0 or 1;
    missing (NaN) is a value of its own. Cells that are not known add nothing, so where nothing is
    known every row is nearest.
    """
    hits, least = np.empty((len(asked), len(table)), dtype=np.bool_), np.empty(len(asked))
    _find_nearest(asked, known, table, nominal, hits, least, np.empty(len(table)))
    return hits, least


@njit(cache=True)
def _find_nearest(
    asked: Any, known: Any, table: Any, nominal: Any, hits: Any, least: Any, apart: Any
) -> None:
    """Fill `hits` and `least`. A row farther than the nearest so far is not read to its end."""
    rows, width = table.shape
    for q in range(len(asked)):
        best = np.inf
        for r in range(rows):
            total = 0.0
            for c in range(width):
                if not known[q, c]:
                    continue
                a = asked[q, c]
                b = table[r, c]
                if a == b:
                    continue
                if np.isnan(a) and np.isnan(b):
                    continue
                if nominal[c] or np.isnan(a) or np.isnan(b):
                    total += 1.0
                else:
                    total += abs(a - b)
                if total > best:
                    break
            apart[r] = total
            if total < best:
                best = total
        for r in range(rows):
            hits[q, r] = apart[r] == best
        least[q] = best
