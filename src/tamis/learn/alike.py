"""Rows that are alike, counted: what learns from rows can then learn from the distinct ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

PRIME = np.uint64(0x9E3779B97F4A7C15)
"""Spreads the codes of a row over a word."""
LOOKED = 500
"""After so many distinct rows it is known whether most rows are distinct."""


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
    rows = codes.shape[1]
    bits = max(1, (2 * rows - 1).bit_length())
    first, place = np.empty((2, rows), dtype=np.int64)
    slots = np.full(1 << bits, -1)
    found = _number(codes, known, np.zeros(rows, dtype=np.uint64), slots, bits, first, place)
    if found < 0:
        every = np.arange(rows)
        return every, every
    return first[:found], place


@njit(cache=True)
def _number(
    codes: Any, known: Any, hashed: Any, slots: Any, bits: int, first: Any, place: Any
) -> int:
    """Number the distinct rows by open addressing; how many, -1 if most rows are."""
    columns, rows = codes.shape
    for c in range(columns):
        for i in range(rows):
            hashed[i] = hashed[i] * PRIME + np.uint64(codes[c, i] + 1)
    for k in range(len(known)):
        for i in range(rows):
            hashed[i] = (hashed[i] ^ (known[k, i] >> np.uint64(32)) ^ known[k, i]) * PRIME
    found = 0
    for i in range(rows):
        slot = np.int64((hashed[i] * PRIME) >> np.uint64(64 - bits))
        while slots[slot] >= 0 and not _same(codes, known, hashed, first[slots[slot]], i):
            slot = (slot + 1) & ((1 << bits) - 1)
        if slots[slot] < 0:
            slots[slot], first[found] = found, i
            found += 1
            if found > LOOKED and 2 * found > i:
                return -1
        place[i] = slots[slot]
    return found


@register_jitable
def _same(codes: Any, known: Any, hashed: Any, one: int, other: int) -> bool:
    same = hashed[one] == hashed[other]
    for c in range(len(codes)):
        same = same and codes[c, one] == codes[c, other]
    for k in range(len(known)):
        same = same and known[k, one] == known[k, other]
    return bool(same)


def labels_counted(place: Any, label: Any, classes: int) -> Any:
    """How many rows each distinct row stands for, by class; the last line counts all of them.

    Of two classes the second alone is counted. Only the first rows have a label, and those that
    are like one of them come first among the distinct ones.

    >>> labels_counted(np.array([0, 1, 0, 2]), np.array([1, 0, 0]), 2).tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    mine = place[: len(label)]
    width = int(mine.max()) + 1
    counts = np.bincount(label * width + mine, minlength=classes * width).reshape(classes, width)
    least = 1 if classes == 2 else 0
    return np.vstack([counts[least:], counts.sum(axis=0)]).astype(np.float64)
