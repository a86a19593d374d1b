"""Rows that are alike, counted: what learns from rows can then learn from the distinct ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

PRIME = np.uint64(0x9E3779B97F4A7C15)
"""Spreads the codes of a row over a word."""
LOOKED = 500
"""After so many distinct rows it is known whether most rows are distinct."""


@njit(cache=True)
def rows_alike(codes: Any, known: Any) -> tuple[Any, Any]:
    """The first row of each distinct one, in the order of rows, and the number of every row's.

    Where most rows are distinct counting them saves nothing, so it ends: each row is then its own.

    Parameters
    ----------
    codes : array of uint8, columns by rows
    known : array of uint64, words by rows
        What rows must be alike in besides, bit by bit.

    Examples
    --------
    >>> codes = np.array([[2, 1, 2, 2]], dtype=np.uint8)
    >>> known = np.array([[0, 0, 0, 7]], dtype=np.uint64)
    >>> [each.tolist() for each in rows_alike(codes, known)]
    [[0, 1, 3], [0, 1, 0, 2]]
    """
    columns, rows = codes.shape
    hashed = np.zeros(rows, dtype=np.uint64)
    for c in range(columns):
        for i in range(rows):
            hashed[i] = hashed[i] * PRIME + np.uint64(codes[c, i] + 1)
    for k in range(len(known)):
        for i in range(rows):
            hashed[i] = (hashed[i] ^ (known[k, i] >> np.uint64(32)) ^ known[k, i]) * PRIME
    bits = 1
    while (1 << bits) < 2 * rows:
        bits += 1
    slots = np.full(1 << bits, -1, dtype=np.int64)
    first = np.empty(rows, dtype=np.int64)
    place = np.empty(rows, dtype=np.int64)
    found = 0
    for i in range(rows):
        slot = np.int64((hashed[i] * PRIME) >> np.uint64(64 - bits))
        while slots[slot] >= 0 and not _same(codes, known, hashed, first[slots[slot]], i):
            slot = (slot + 1) & ((1 << bits) - 1)
        if slots[slot] < 0:
            slots[slot], first[found] = found, i
            found += 1
            if found > LOOKED and 2 * found > i:
                every = np.arange(rows)
                return every, every
        place[i] = slots[slot]
    return first[:found], place


@njit(cache=True)
def _same(codes: Any, known: Any, hashed: Any, one: int, other: int) -> bool:
    same = hashed[one] == hashed[other]
    for c in range(len(codes)):
        same = same and codes[c, one] == codes[c, other]
    for k in range(len(known)):
        same = same and known[k, one] == known[k, other]
    return bool(same)


@njit(cache=True)
def labels_counted(place: Any, label: Any, classes: int) -> Any:
    """How many rows each distinct row stands for, by class; the last line counts all of them.

    Of two classes the second alone is counted. Only the first rows have a label, and those that
    are like one of them come first among the distinct ones.

    >>> labels_counted(np.array([0, 1, 0, 2]), np.array([1, 0, 0]), 2).tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    least = 1 if classes == 2 else 0
    hits = np.zeros((classes - least + 1, place[: len(label)].max() + 1))
    for i in range(len(label)):
        hits[-1, place[i]] += 1.0
        if label[i] >= least:
            hits[label[i] - least, place[i]] += 1.0
    return hits
