"""Kernels of containment: which distinct rows of a 0/1 table contain which, and how many do.

The last two count the people who are left if an attacker also knows what a row lacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from tamis.kernel_cache import njit


def longest_first(masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The order of the masks by number of ones, descending."""
    return np.argsort(64 - np.bitwise_count(masks), kind="stable")


@njit(cache=True)
def least_maximal_mask(masks: Any, weight: Any, order: Any) -> int:
    """The smallest weight of a mask that lies in no other; `order` has the longest first."""
    best = weight[order[0]]  # a longest mask lies in no other
    for i in range(order.size):
        p = order[i]
        if weight[p] >= best:  # whether it is maximal or not, it cannot be smaller
            continue
        inside = False
        # Only masks with more ones can contain it; those of equal length are distinct.
        for j in range(i):
            if masks[p] & ~masks[order[j]] == 0:
                inside = True
                break
        if not inside:
            best = weight[p]
            if best == 1:
                break
    return int(best)


@njit(cache=True)
def sum_over_supersets(cube: Any) -> None:
    """Add to each set of columns the weights of all its supersets, in place.

    One pass per column (the zeta transform): each set without the column gets what is counted for
    the set with it.
    """
    step = 1
    while step < cube.size:
        for low in range(0, cube.size, 2 * step):
            for i in range(low, low + step):
                cube[i] += cube[i + step]
        step *= 2


@njit(cache=True)
def distinct_rows(indptr: Any, indices: Any) -> Any:
    """The first occurrence of each distinct row, its weight, and the distinct row of each row."""
    rows = indptr.size - 1
    size = 16
    while size < 2 * rows:  # a hash table that is at most half full, of a power of two
        size *= 2
    slots = np.full(size, -1, np.int32)
    first, weight = np.empty(rows, np.int64), np.zeros(rows, np.int64)
    of_row = np.empty(rows, np.int32)
    used = 0
    for r in range(rows):
        # The shift brings the well-mixed high bits down to where the slot is taken from.
        mixed = np.uint64(indptr[r + 1] - indptr[r])
        for j in range(indptr[r], indptr[r + 1]):
            mixed = (mixed ^ np.uint64(indices[j])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        s = np.int64(mixed & np.uint64(size - 1))
        while slots[s] >= 0 and not _equal(first[slots[s]], r, indptr, indices):
            s = (s + 1) & (size - 1)
        if slots[s] < 0:
            slots[s] = used
            first[used] = r
            used += 1
        of_row[r] = slots[s]
        weight[slots[s]] += 1
    return first[:used], weight[:used], of_row


@register_jitable
def _equal(a: int, b: int, indptr: Any, indices: Any) -> bool:
    length = indptr[a + 1] - indptr[a]
    if length != indptr[b + 1] - indptr[b]:
        return False
    j = 0
    while j < length and indices[indptr[a] + j] == indices[indptr[b] + j]:
        j += 1
    return bool(j == length)


@register_jitable
def _rarest(r: int, indptr: Any, indices: Any, starts: Any) -> int:
    """The column of the row that the fewest rows have; the row must not be empty."""
    best = indices[indptr[r]]
    for j in range(indptr[r] + 1, indptr[r + 1]):
        c = indices[j]
        if starts[c + 1] - starts[c] < starts[best + 1] - starts[best]:
            best = c
    return int(best)


@register_jitable
def _holds(a: int, b: int, indptr: Any, indices: Any) -> bool:
    """Whether row a has all the ones of row b; both sorted."""
    i, end = indptr[a], indptr[a + 1]
    for j in range(indptr[b], indptr[b + 1]):
        while i < end and indices[i] < indices[j]:
            i += 1
        if i == end or indices[i] != indices[j]:
            return False
        i += 1
    return True


@njit(cache=True)
def weight_of_supersets(indptr: Any, indices: Any, starts: Any, rows: Any, weight: Any) -> Any:
    """For each distinct row, the weight of the rows that contain it, including itself.

    A row that contains it has its rarest column, so only the rows with that column are compared.
    """
    held = weight.copy()
    for r in range(weight.size):
        length = indptr[r + 1] - indptr[r]
        if length == 0:
            held[r] = weight.sum()
            continue
        c = _rarest(r, indptr, indices, starts)
        for i in range(starts[c], starts[c + 1]):
            q = rows[i]
            if indptr[q + 1] - indptr[q] > length and _holds(q, r, indptr, indices):
                held[r] += weight[q]
    return held


@njit(cache=True)
def people_of_supersets(
    indptr: Any, indices: Any, starts: Any, rows: Any, firsts: Any, people: Any, everybody: int
) -> Any:
    """For each distinct row, the number of people with a row that contains it.

    `people[firsts[r] : firsts[r + 1]]` are those who have distinct row r.
    """
    held = np.zeros(indptr.size - 1, np.int64)
    seen = np.full(everybody, -1, np.int64)  # the last distinct row that each person counted for
    for r in range(held.size):
        length = indptr[r + 1] - indptr[r]
        if length == 0:
            held[r] = everybody
            continue
        c = _rarest(r, indptr, indices, starts)
        for i in range(starts[c], starts[c + 1]):
            q = rows[i]
            if indptr[q + 1] - indptr[q] >= length and _holds(q, r, indptr, indices):
                for j in range(firsts[q], firsts[q + 1]):
                    if seen[people[j]] != r:
                        seen[people[j]] = r
                        held[r] += 1
    return held


@njit(cache=True)
def least_maximal_row(indptr: Any, indices: Any, starts: Any, rows: Any, weight: Any) -> int:
    """The smallest weight of a distinct row that lies in no other."""
    # Rows of the greatest length lie in no other: the least of them rules out most rows below.
    longest = 0
    for r in range(weight.size):
        longest = max(longest, indptr[r + 1] - indptr[r])
    best = weight.sum()
    for r in range(weight.size):
        if indptr[r + 1] - indptr[r] == longest:
            best = min(best, weight[r])
    for r in range(weight.size):
        length = indptr[r + 1] - indptr[r]
        if weight[r] >= best or length == 0:
            continue
        c = _rarest(r, indptr, indices, starts)
        inside = False
        for i in range(starts[c], starts[c + 1]):
            q = rows[i]
            if indptr[q + 1] - indptr[q] > length and _holds(q, r, indptr, indices):
                inside = True
                break
        if not inside:
            best = weight[r]
    return int(best)


@njit(cache=True)
def least_with_absences(cells: Any, owner: Any, weight: Any, absences: int, enough: int) -> int:
    """The fewest people left, over all rows and all choices of known absences.

    Stops early below `enough`. `seen` holds the stamp of the last count that included each owner,
    so that counting people with several rows needs no clearing in between.
    """
    many, width = cells.shape
    best = weight.sum()
    seen = np.zeros(len(weight), np.int64)
    stamp = np.zeros(1, np.int64)
    for p in range(many):
        alive = np.zeros(many, np.bool_)
        for q in range(many):
            inside = True
            for c in range(width):
                if cells[p, c] > cells[q, c]:
                    inside = False
                    break
            alive[q] = inside
        free = cells[p] == 0
        best = least_left(cells, owner, weight, alive, free, absences, best, seen, stamp)
        if best < enough:
            break
    return int(best)


@njit(cache=True)
def least_left(
    cells: Any,
    owner: Any,
    weight: Any,
    alive: Any,
    free: Any,
    absences: int,
    best: int,
    seen: Any,
    stamp: Any,
) -> int:
    """The fewest people left by any choice of absences, or `best` if that is less.

    Branch and bound: each branch adds one known absence and keeps the rows without that column.
    """
    many, width = cells.shape
    stamp[0] += 1
    total = 0
    for q in range(many):
        if alive[q] and seen[owner[q]] != stamp[0]:
            seen[owner[q]] = stamp[0]
            total += weight[owner[q]]
    best = min(best, total)
    if absences == 0:
        return best
    # An upper bound of the people that a column rules out: people with several rows may stay by
    # another one.
    gain = np.zeros(width, np.int64)
    for c in range(width):
        if not free[c]:
            continue
        stamp[0] += 1
        for q in range(many):
            if alive[q] and cells[q, c] and seen[owner[q]] != stamp[0]:
                seen[owner[q]] = stamp[0]
                gain[c] += weight[owner[q]]
    for c in np.argsort(-gain):
        # Choices with an earlier column were tried in its branch. In all others each absence rules
        # out at most gain[c] people, since columns come in falling order of gain.
        if gain[c] == 0 or total - absences * gain[c] >= best:
            break
        rest = alive.copy()
        for q in range(many):
            if cells[q, c]:
                rest[q] = False
        best = least_left(cells, owner, weight, rest, free, absences - 1, best, seen, stamp)
    return best
