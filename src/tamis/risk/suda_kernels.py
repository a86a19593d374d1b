"""Kernels of SUDA: the minimal sets of columns that single out a row, by a walk over all sets.

Sets are visited in the order of their bit masks, so that every subset comes before the set. Each
set refines the classes of the one without its lowest column; rows that are unique there already
are dropped, because no larger set is minimal for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from tamis.kernel_cache import njit


@njit(cache=True)
def minimal_uniques(
    codes: Any, missing: Any, owner: Any, weights: Any, choose: Any, offsets: Any, found: Any,
    room: Any,
) -> int:  # fmt: skip
    """Score every row by its minimal unique sets, and count them by size, column and set.

    `codes` has a line for each column, `missing` the code of each column that equals no other cell
    (-1: none). `owner` is the person of a row, -1 if rows of several people were merged into it.
    `choose` has the binomial coefficients, `offsets` the number of sets smaller than each size.
    Results are added to the arrays of `found`, and hits listed as far as these have room; returns
    the number of hits.
    """
    kept, ends, depths, of_codes = room.kept, room.ends, room.depths, room.of_codes
    groups, chosen, following, limit = depths[0], depths[1], depths[2], depths[3]
    most, total, depth = len(weights) - 1, 0, 0
    for row in range(codes.shape[1]):
        kept[0, row] = row
    ends[0, 1], groups[0], limit[0] = codes.shape[1], 1, len(codes)
    while depth >= 0:
        if following[depth] >= limit[depth]:
            depth -= 1
            continue
        column, size = following[depth], depth + 1
        following[depth] += 1
        chosen[depth] = column
        groups[size], singles = _refined(
            codes[column], missing[column], owner, kept[depth], ends[depth], groups[depth],
            kept[size], ends[size], room.single, of_codes[0], of_codes[1], of_codes[2], of_codes[3],
        )  # fmt: skip
        number = offsets[size] + _rank(chosen, size, -1, choose)
        if size < most:
            before = offsets[size - 1] + _rank(chosen, depth, -1, choose)
            _noted(room.unique, room.single, singles, before, number)
        total = _scored(
            room.unique, room.single, singles, chosen, size, choose, offsets, number, weights[size],
            found, total,
        )  # fmt: skip
        if size < most:
            # Only columns below the last one are added, so that each set is made once.
            depth, following[size], limit[size] = size, 0, column
    return total


@register_jitable
def _noted(unique: Any, single: Any, singles: int, before: int, number: int) -> None:
    """Set the bits of the rows that a set makes unique: its own and those of the set it refines."""
    for word in range(unique.shape[1]):
        unique[number, word] = unique[before, word]
    for i in range(singles):
        row = single[i]
        unique[number, row >> 6] |= np.uint64(1) << np.uint64(row & 63)


@register_jitable
def _scored(
    unique: Any, single: Any, singles: int, chosen: Any, size: int, choose: Any, offsets: Any,
    number: int, weight: float, found: Any, total: int,
) -> int:  # fmt: skip
    """Add a set to the scores of those newly unique rows for which it is minimal."""
    for i in range(singles):
        row = single[i]
        if _minimal(unique, row, chosen, size, choose, offsets):
            found.scores[row] += weight
            found.sizes[row, size - 1] += 1
            found.times[number] += 1
            for c in range(size):
                found.shares[row, chosen[c]] += weight
            if total < found.rows.size:
                found.rows[total], found.sets[total] = row, number
            total += 1
    return total


@register_jitable
def _refined(
    codes: Any, missing: int, owner: Any, kept: Any, ends: Any, groups: int, new: Any,
    new_ends: Any, single: Any, count: Any, seen: Any, who: Any, alone: Any,
) -> Any:  # fmt: skip
    """Split groups of rows by a column: rows of a single person go to `single`, others to `new`.

    A counting sort within each group. Parts of which no row has an owner (owner -1) can single out
    nobody any more, and are dropped.
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
                who[code] = place  # reused: from here on the place of the next row with this code
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


@register_jitable
def _rank(chosen: Any, size: int, without: int, choose: Any) -> int:
    """The number of a set among those of its size; `chosen` has its columns in falling order.

    The combinatorial number system: c choose n sets of n columns have only columns below c, so
    they come before all sets whose highest column is c. `without` leaves one place of `chosen` out.
    """
    rank, place = 0, size if without < 0 else size - 1
    for i in range(size):
        if i != without:
            rank += choose[chosen[i], place]
            place -= 1
    return rank


@register_jitable
def _minimal(unique: Any, row: int, chosen: Any, size: int, choose: Any, offsets: Any) -> bool:
    """Whether no subset with one column fewer makes the row unique; then no smaller one does."""
    bit = np.uint64(1) << np.uint64(row & 63)
    for without in range(size):
        number = offsets[size - 1] + _rank(chosen, size, without, choose)
        if unique[number, row >> 6] & bit:
            return False
    return True
