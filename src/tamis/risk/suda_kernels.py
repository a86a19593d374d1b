"""Kernels: the smallest sets of columns that single out a row, by a walk over sets of columns.

Sets are visited in the order of their bit masks, so that every subset comes before the set. Each
set refines the classes of the one without its lowest column; rows that are unique there already
are no longer carried along.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def minimal_uniques(
    codes: Any, radix: int, missing: Any, owner: Any, most: int, weights: Any, choose: Any,
    offsets: Any, found_rows: Any, found_sets: Any,
) -> Any:  # fmt: skip
    """Score every row by its minimal unique sets, and count them by size, column and set.

    `codes` has a line for each column; `missing` the code of each column that equals nothing, or
    -1. `owner` is the person of a row, -1 if rows of several people were merged into it. `choose`
    has the binomial coefficients, `offsets` the number of sets smaller than each size. What is
    found is listed in `found_rows` and `found_sets` as far as they have room.
    """
    columns, rows = codes.shape
    scores, shares = np.zeros(rows), np.zeros((rows, columns))
    sizes, times = np.zeros((rows, most), np.int64), np.zeros(offsets[most + 1], np.int64)
    unique = np.zeros((offsets[most], (rows + 63) // 64), np.uint64)
    kept, ends = np.empty((most + 1, rows), np.int32), np.zeros((most + 1, rows + 1), np.int64)
    groups, chosen, following, limit = np.zeros((4, most + 1), np.int64)
    count, seen, who, alone = np.zeros((4, radix), np.int64)
    single = np.empty(rows, np.int32)
    kept[0], ends[0, 1], groups[0], limit[0] = np.arange(rows), rows, 1, columns
    depth = total = 0
    while depth >= 0:
        if following[depth] >= limit[depth]:
            depth -= 1
            continue
        column, size = following[depth], depth + 1
        following[depth] += 1
        chosen[depth] = column
        groups[size], singles = _refined(
            codes[column], missing[column], owner, kept[depth], ends[depth], groups[depth],
            kept[size], ends[size], single, count, seen, who, alone,
        )  # fmt: skip
        if size < most:
            _noted(unique, single[:singles], chosen, size, choose, offsets)
        total = _scored(
            unique, single[:singles], chosen, size, choose, offsets, weights[size],
            scores, shares, sizes, times, total, found_rows, found_sets,
        )  # fmt: skip
        if size < most:
            depth, following[size], limit[size] = size, 0, column
    return scores, shares, sizes, times, total


@njit(cache=True)
def _noted(unique: Any, single: Any, chosen: Any, size: int, choose: Any, offsets: Any) -> None:
    """Set the bits of the rows that a set makes unique: those of the set before it, and more."""
    number = offsets[size] + _rank(chosen, size, -1, choose)
    unique[number] = unique[offsets[size - 1] + _rank(chosen, size - 1, -1, choose)]
    for row in single:
        unique[number, row >> 6] |= np.uint64(1) << np.uint64(row & 63)


@njit(cache=True)
def _scored(
    unique: Any, single: Any, chosen: Any, size: int, choose: Any, offsets: Any, weight: float,
    scores: Any, shares: Any, sizes: Any, times: Any, total: int, found_rows: Any, found_sets: Any,
) -> int:  # fmt: skip
    """Count a set for those of the rows that no smaller set makes unique."""
    number = offsets[size] + _rank(chosen, size, -1, choose)
    for row in single:
        if _minimal(unique, row, chosen, size, choose, offsets):
            scores[row] += weight
            sizes[row, size - 1] += 1
            times[number] += 1
            for c in range(size):
                shares[row, chosen[c]] += weight
            if total < found_rows.size:
                found_rows[total], found_sets[total] = row, number
            total += 1
    return total


@njit(cache=True)
def _refined(
    codes: Any, missing: int, owner: Any, kept: Any, ends: Any, groups: int, new: Any,
    new_ends: Any, single: Any, count: Any, seen: Any, who: Any, alone: Any,
) -> Any:  # fmt: skip
    """Split groups of rows by a column: rows that one person owns go to `single`, others to `new`.

    Groups without an owned row (owner -1) can single out nobody any more, and are left out.
    """
    made, place, singles = 0, 0, 0
    for group in range(groups):
        low, high = ends[group], ends[group + 1]
        used = 0
        for i in range(low, high):
            row = kept[i]
            code = codes[row]
            if code == missing:
                continue
            if count[code] == 0:
                seen[used] = code
                used += 1
                who[code] = owner[row]
                alone[code] = owner[row] >= 0  # 1: of one person; 0: no row is owned
            elif owner[row] != who[code]:
                alone[code] = -1
            count[code] += 1
        for j in range(used):
            code = seen[j]
            if alone[code] < 0:
                who[code] = place
                place += count[code]
                made += 1
                new_ends[made] = place
            count[code] = 0
        for i in range(low, high):
            row = kept[i]
            code = codes[row]
            if code == missing:
                continue
            if alone[code] == 1:
                single[singles] = row
                singles += 1
            elif alone[code] < 0:
                new[who[code]] = row
                who[code] += 1
    return made, singles


@njit(cache=True)
def _rank(chosen: Any, size: int, without: int, choose: Any) -> int:
    """The number of a set among those of its size; `chosen` has its columns in falling order."""
    rank, place = 0, size if without < 0 else size - 1
    for i in range(size):
        if i != without:
            rank += choose[chosen[i], place]
            place -= 1
    return rank


@njit(cache=True)
def _minimal(unique: Any, row: int, chosen: Any, size: int, choose: Any, offsets: Any) -> bool:
    """Whether a row is unique by no set that lacks one of the columns."""
    bit = np.uint64(1) << np.uint64(row & 63)
    for without in range(size):
        number = offsets[size - 1] + _rank(chosen, size, without, choose)
        if unique[number, row >> 6] & bit:
            return False
    return True
