"""The distinct rows of a narrow 0/1 table, each row as one word of bits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from tamis.binary.matrix import Binary

WORD = 64


class Distinct(NamedTuple):
    """Distinct rows in order of first appearance."""

    mask: NDArray[np.uint64]
    weight: NDArray[np.int64]
    of_row: NDArray[np.int32]


def row_masks(table: Binary) -> NDArray[np.uint64]:
    """Each row of a table of at most 64 columns as bits, first column lowest."""
    rows, width = table.shape
    masks = np.zeros(rows, np.uint64)
    if isinstance(table, np.ndarray):
        _join_bytes(table, masks)
    elif table.format == "csc":
        for column in range(width):
            inside = table.indices[table.indptr[column] : table.indptr[column + 1]]
            masks[inside] |= np.uint64(1) << np.uint64(column)
    else:
        _join_bits(table.indptr, table.indices, masks)
    return masks


def distinct_masks(masks: NDArray[np.uint64]) -> Distinct:
    """The distinct masks with their weights."""
    of_row = np.empty(len(masks), np.int32)
    found = _number(masks, of_row)
    return Distinct(found, np.bincount(of_row, minlength=len(found)), of_row)


@njit(cache=True, error_model="numpy")
def _join_bytes(table: Any, masks: Any) -> None:
    for r in range(masks.size):
        word = np.uint64(0)
        for c in range(table.shape[1]):
            word |= np.uint64(table[r, c]) << np.uint64(c)
        masks[r] = word


@njit(cache=True, error_model="numpy")
def _join_bits(indptr: Any, indices: Any, masks: Any) -> None:
    for r in range(masks.size):
        for j in range(indptr[r], indptr[r + 1]):
            masks[r] |= np.uint64(1) << np.uint64(indices[j])


@njit(cache=True, error_model="numpy")
def _number(masks: Any, of_row: Any) -> Any:
    """Number the distinct masks by open addressing; three quarters of the slots stay empty."""
    found, used = np.empty(masks.size, np.uint64), 0
    bits = 12
    slots, keys = np.full(1 << bits, -1, np.int32), np.empty(1 << bits, np.uint64)
    for r in range(masks.size):
        if 4 * used >= slots.size:
            bits += 2
            slots, keys = np.full(1 << bits, -1, np.int32), np.empty(1 << bits, np.uint64)
            for i in range(used):
                s = _slot(found[i], slots, keys, bits)
                slots[s], keys[s] = i, found[i]
        s = _slot(masks[r], slots, keys, bits)
        if slots[s] < 0:
            slots[s], keys[s], found[used] = used, masks[r], masks[r]
            used += 1
        of_row[r] = slots[s]
    return found[:used].copy()


@register_jitable(error_model="numpy")
def _slot(mask: Any, slots: Any, keys: Any, bits: int) -> Any:
    """The slot of a mask, or the free slot where it belongs."""
    s = (mask * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
    while slots[s] >= 0 and keys[s] != mask:
        s = (s + np.uint64(1)) & np.uint64(slots.size - 1)
    return s
