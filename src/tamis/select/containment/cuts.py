"""Kernels: sets of columns that must not be chosen together, found where a point needs them.

A set of columns that some rows have, but fewer than k, is *light*: no feasible set contains it. A
cut says of a group of columns that at most `most` of them can be chosen, since any `most + 1` of
them contain a light set. It starts from a light set and grows by columns that keep this true.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tamis.select.containment.bits import ALL, ones

NODES = 50_000
COMBINATIONS = 400
GROWTH = 10


@njit(cache=True)
def support_of(rows: Any, columns: Any, size: int) -> Any:
    """The rows that have the first `size` of some columns."""
    total = np.int64(0)
    for w in range(rows.shape[1]):
        word = ALL
        for a in range(size):
            word &= rows[columns[a], w]
        total += np.int64(ones(word))
    return total


@njit(cache=True)
def is_light(rows: Any, columns: Any, size: int, k: int) -> bool:
    support = support_of(rows, columns, size)
    return bool(0 < support < k)


@njit(cache=True)
def light_sets(rows: Any, lack: Any, order: Any, k: int, room: float, found: Any) -> int:
    """Write light sets whose columns together lack less than `room` to 1 to `found`; their number.

    Depth-first over the columns, least lack first. Each row of `found` ends with -1.
    """
    # At most all but one column of a light set can be chosen, so shares violate this if what its
    # columns lack to 1 sums to less than 1. Lacks ascend in `order`: if one is too big, so are the
    # rest. A set that no row has is not light and never will be, and a light set need not
    # be extended: the cut of the smaller set is stronger.
    depth, words = found.shape[1] - 1, rows.shape[1]
    held = np.empty((depth + 1, words), dtype=np.uint64)
    for w in range(words):
        held[0, w] = ALL
    place = np.zeros(depth + 1, dtype=np.int64)
    used = np.zeros(depth + 1)
    chosen = np.zeros(depth + 1, dtype=np.int64)
    level, count, nodes = 0, 0, 0
    while level >= 0:
        at = place[level]
        end = at >= len(order) or level >= depth or nodes >= NODES or count >= len(found)
        if end or used[level] + lack[order[at]] >= room:
            level -= 1
            continue
        nodes += 1
        place[level] += 1
        chosen[level] = order[at]
        support = np.int64(0)
        for w in range(words):
            held[level + 1, w] = held[level, w] & rows[order[at], w]
            support += np.int64(ones(held[level + 1, w]))
        if support >= k:
            used[level + 1] = used[level] + lack[order[at]]
            place[level + 1] = at + 1
            level += 1
        elif support > 0:
            for a in range(level + 1):
                found[count, a] = chosen[a]
            found[count, level + 1] = -1
            count += 1
    return count


@njit(cache=True)
def shrink(rows: Any, columns: Any, size: int, k: int) -> int:
    """Remove columns from a light set while it stays light; what is left comes first.

    More rows have fewer columns, so some row has what is left, as it had the whole.
    """
    place = 0
    while place < size:
        column = columns[place]
        columns[place] = columns[size - 1]
        columns[size - 1] = column
        if size > 1 and support_of(rows, columns, size - 1) < k:
            size -= 1
        else:
            columns[size - 1] = columns[place]
            columns[place] = column
            place += 1
    return size


@njit(cache=True)
def grow_cut(rows: Any, group: Any, size: int, order: Any, k: int) -> int:
    """Add columns to a light set so that as many of the group as before still contain one."""
    most = size - 1
    first = size
    for column in order:
        if size == first + GROWTH or size == len(group):
            break
        known = False
        for a in range(size):
            known |= group[a] == column
        if not known and bars(rows, group, size, most, column, k):
            group[size] = column
            size += 1
    return size


@njit(cache=True)
def bars(rows: Any, group: Any, size: int, most: int, column: int, k: int) -> bool:
    """Whether any `most` of a group plus one more column contain a light set."""
    # A choice with a column that forms a light pair with the new one is barred by that pair, so
    # only choices among the others, the free ones, are tried: none where these are too few.
    # Beyond a certain number of choices the answer is no: the cut may be weaker, but never wrong.
    pair = np.empty(2, dtype=np.int64)
    pair[0] = column
    free = np.empty(size, dtype=np.int64)
    frees = 0
    for a in range(size):
        pair[1] = group[a]
        if not is_light(rows, pair, 2, k):
            free[frees] = group[a]
            frees += 1
    if frees < most:
        return True
    members = np.empty(most + 1, dtype=np.int64)
    members[most] = column
    pick = np.arange(most)
    for _ in range(COMBINATIONS):
        for a in range(most):
            members[a] = free[pick[a]]
        if not is_light(rows, members, most + 1, k):
            return False
        a = most - 1
        while a >= 0 and pick[a] == frees - most + a:
            a -= 1
        if a < 0:
            return True
        pick[a] += 1
        for b in range(a + 1, most):
            pick[b] = pick[b - 1] + 1
    return False
