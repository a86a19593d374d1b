"""Kernels: columns of a 0/1 table, and its distinct rows if each fits into one 64-bit word.

A CSR table is read in one pass and never converted to CSC as a whole, which would double the
memory. Bits of a word are counted and found with one processor instruction each.
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
    """The rows of each of some columns; those of column i are ``rows[begin[i]:end[i]]``."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int32]


def take(
    table: sparse.csr_array | sparse.csc_array,
    which: NDArray[np.int64],
    support: NDArray[np.int64],
) -> Columns:
    """Read the columns `which`, in that order: one pass over a CSR table, no copy of a CSC table.

    Columns of a CSR table whose `support` is given as 0 come without rows.
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
        buffer = np.empty(table.shape[1] + 1, np.int32)
        _scatter(table.indptr, table.indices, wanted, place, buffer, rows)
    return Columns(begin, end, rows)


@njit(cache=True, error_model="numpy")
def _scatter(indptr: Any, indices: Any, wanted: Any, place: Any, buffer: Any, rows: Any) -> None:
    """Write the rows of the wanted columns, each column from its own offset in `place`."""
    for r in range(indptr.size - 1):
        # Written always, kept only if wanted: a branch here would be unpredictable. The buffer has
        # one cell more than there are columns for the last write that is not kept.
        n = 0
        for c in indices[indptr[r] : indptr[r + 1]]:
            buffer[n] = c
            n += wanted[c]
        for i in range(n):
            c = buffer[i]
            rows[place[c]] = r
            place[c] += 1


def counts_by_class(
    table: sparse.csr_array, positive: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ones of each column in all rows and in the true class, in one pass over a CSR table."""
    counts = np.zeros(table.shape[1], np.int64)
    _count(table.indptr, table.indices, positive, counts)
    return counts & (2**32 - 1), counts >> 32


@njit(cache=True, error_model="numpy")
def _count(indptr: Any, indices: Any, positive: Any, counts: Any) -> None:
    """Count all ones in the low half of a word, and those of the true class in the high half.

    A table has fewer than 2**31 rows, so the low half never carries into the high one.
    """
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
    """Each row of a table of at most 64 columns as a word, with the first column lowest."""
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
    """The distinct masks, the number of rows with each, and the mask of each row."""
    of_row = np.empty(len(masks), np.int32)
    distinct = _number(masks, of_row)
    return Distinct(distinct, np.bincount(of_row, minlength=len(distinct)), of_row)


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
    """Number the distinct masks with a hash table by open addressing; return them in order.

    Three quarters of the slots stay empty, so that a search seldom takes more than one step.
    """
    distinct, used = np.empty(masks.size, np.uint64), 0
    bits = 12
    slots, keys = np.full(1 << bits, -1, np.int32), np.empty(1 << bits, np.uint64)
    for r in range(masks.size):
        if 4 * used >= slots.size:  # a table four times as large, filled again
            bits += 2
            slots, keys = np.full(1 << bits, -1, np.int32), np.empty(1 << bits, np.uint64)
            for i in range(used):
                s = _slot(distinct[i], slots, keys, bits)
                slots[s], keys[s] = i, distinct[i]
        s = _slot(masks[r], slots, keys, bits)
        if slots[s] < 0:
            slots[s], keys[s], distinct[used] = used, masks[r], masks[r]
            used += 1
        of_row[r] = slots[s]
    return distinct[:used].copy()


@register_jitable(error_model="numpy")
def _slot(mask: Any, slots: Any, keys: Any, bits: int) -> Any:
    """The slot of a mask, or the free slot where it belongs."""
    # Fibonacci hashing: the multiplier is 2**64 over the golden ratio, which spreads masks that
    # differ in few bits over the upper bits of the product; then linear probing.
    s = (mask * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
    while slots[s] >= 0 and keys[s] != mask:
        s = (s + np.uint64(1)) & np.uint64(slots.size - 1)
    return s


ONE = np.uint64(1)
NONE = np.uint64(0)
ALL = ~np.uint64(0)


@intrinsic
def _ones(typing_context: Any, word: Any) -> Any:
    """The number of bits set in a word, by one instruction of the processor."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _lowest(typing_context: Any, word: Any) -> Any:
    """The position of the lowest bit set in a nonzero word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # True promises that the word is not 0, for which the result would be undefined.
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


# Numba supplies the first argument of an intrinsic, which its type does not show.
ones: Any = _ones
lowest: Any = _lowest
