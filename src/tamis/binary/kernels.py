"""Kernels: single columns of a 0/1 table, and its distinct rows where each is one word of bits.

A CSR table is read in one pass, and never turned into CSC as a whole.

The bits of a word are counted and found with one processor instruction each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic, register_jitable
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.matrix import Binary
from tamis.kernel_cache import njit


class Columns(NamedTuple):
    """Rows that have some columns: those of column i are ``rows[begin[i]:end[i]]``."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int32]


def take(
    table: sparse.csr_array | sparse.csc_array,
    which: NDArray[np.int64],
    support: NDArray[np.int64],
) -> Columns:
    """The columns `which` in that order; one pass over a CSR table, no copy of a CSC table.

    In a CSR table, columns whose `support` is given as 0 come without rows.
    """
    if table.format == "csc":
        starts = table.indptr.astype(np.int64)
        return Columns(starts[which], starts[which + 1], table.indices)
    end = np.cumsum(support[which])
    begin = end - support[which]
    wanted, place = np.zeros(table.shape[1], np.uint8), np.zeros(table.shape[1], np.int64)
    wanted[which], place[which] = end > begin, begin
    rows = np.empty(int(end[-1]) if len(end) else 0, np.int32)
    if len(rows):
        found = np.empty(table.shape[1] + 1, np.int32)
        _scatter(table.indptr, table.indices, wanted, place, found, rows)
    return Columns(begin, end, rows)


@njit(cache=True, error_model="numpy")
def _scatter(indptr: Any, indices: Any, wanted: Any, place: Any, found: Any, rows: Any) -> None:
    """Write the rows of the wanted columns, each column from its own offset."""
    for r in range(indptr.size - 1):
        # Always written, kept only if wanted: the branch would be unpredictable.
        n = 0
        for c in indices[indptr[r] : indptr[r + 1]]:
            found[n] = c
            n += wanted[c]
        for i in range(n):
            c = found[i]
            rows[place[c]] = r
            place[c] += 1


def counts_by_class(
    table: sparse.csr_array, positive: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ones of each column in all rows and in the true class, in one pass over CSR."""
    counts = np.zeros(table.shape[1], np.int64)
    _count(table.indptr, table.indices, positive, counts)
    return counts & (2**32 - 1), counts >> 32


@njit(cache=True, error_model="numpy")
def _count(indptr: Any, indices: Any, positive: Any, counts: Any) -> None:
    """Count all ones in the low half of a word, and those of the true class in the high half."""
    for r in range(indptr.size - 1):
        one = 1 + (np.int64(positive[r]) << 32)
        for c in indices[indptr[r] : indptr[r + 1]]:
            counts[c] += one


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


ONE = np.uint64(1)
NONE = np.uint64(0)
ALL = ~np.uint64(0)


@intrinsic
def _ones(typing_context: Any, word: Any) -> Any:
    """The number of bits set in a word, by the processor's own instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _lowest(typing_context: Any, word: Any) -> Any:
    """The position of the lowest bit set in a nonzero word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


# Numba supplies the first argument of an intrinsic, which its type does not show.
ones: Any = _ones
lowest: Any = _lowest
