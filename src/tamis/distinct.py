"""The distinct rows of a narrow 0/1 table, each row as one word of bits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tamis.zero_one import Binary

WORD = 64


class Distinct(NamedTuple):
    """Distinct rows in order of first appearance."""

    mask: NDArray[np.uint64]
    weight: NDArray[np.int64]
    of_row: NDArray[np.int32]


def row_masks(table: Binary) -> NDArray[np.uint64]:
    """Each row of a table of at most 64 columns as bits, the first column lowest."""
    rows, width = table.shape
    if isinstance(table, np.ndarray):
        packed = np.packbits(table, axis=1, bitorder="little")
        words = np.zeros((rows, 8), np.uint8)
        words[:, : packed.shape[1]] = packed
        masks: NDArray[np.uint64] = words.view("<u8")[:, 0].astype(np.uint64, copy=False)
        return masks
    masks = np.zeros(rows, np.uint64)
    if table.format == "csc":
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


@njit(cache=True)
def _join_bits(indptr: Any, indices: Any, masks: Any) -> None:
    for r in range(masks.size):
        for j in range(indptr[r], indptr[r + 1]):
            masks[r] |= np.uint64(1) << np.uint64(indices[j])


@njit(cache=True)
def _number(masks: Any, of_row: Any) -> Any:
    """Number the distinct masks by open addressing; the table doubles while it fills."""
    size = 1 << 10
    slots = np.full(size, -1, np.int32)
    found = np.empty(size, np.uint64)
    used = 0
    for r in range(masks.size):
        if 2 * used >= size:
            size *= 4
            slots = np.full(size, -1, np.int32)
            larger = np.empty(size, np.uint64)
            larger[:used] = found[:used]
            found = larger
            for i in range(used):
                slots[_slot(found[i], slots, found)] = i
        s = _slot(masks[r], slots, found)
        if slots[s] < 0:
            slots[s] = used
            found[used] = masks[r]
            used += 1
        of_row[r] = slots[s]
    return found[:used].copy()


@njit(cache=True)
def _slot(mask: Any, slots: Any, found: Any) -> Any:
    """The place of a mask in the table, or the free place where it belongs."""
    mixed = mask * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    s = np.int64(mixed & np.uint64(slots.size - 1))
    while slots[s] >= 0 and found[slots[s]] != mask:
        s = (s + 1) & (slots.size - 1)
    return s
