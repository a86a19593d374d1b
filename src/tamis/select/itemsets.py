"""Maximal frequent itemsets, large ones only: a branch and bound over columns and rows.

A node is a set of items that are in, the items that may still join (open), those that may not
(out, since the sets they belong to are found elsewhere), and the rows that hold all that is in
and enough of the open ones. Rows bound and steer the search: a set as large as the worst of the
pool must lie in k rows that hold as many items; and the next item to branch on is one that the
fullest row lacks, so that after a few branches k rows hold all that is open and the node is done.

For each item, rarest first, the table is cut down to the item's own rows and to the items that k
of them hold, as sets of bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tamis.select.bits import NONE, ONE, held_by, held_by_all, lowest, overlap
from tamis.select.itemset_pool import floor, offer, welcome

INSIDE, OPEN, OUT = 0, 1, 2


@njit(cache=True)
def search(core: Any, k: Any, pool: Any) -> Any:
    """Offer to the pool each maximal itemset that could enter it."""
    d = len(core.column)
    place = np.zeros(d, dtype=np.int32)
    counts = np.zeros(d, dtype=np.int32)
    local = np.empty(d, dtype=np.int32)
    for base in range(d):
        rows, n = rows_around(core, base, floor(pool))
        if n < k:
            continue
        later = items_around(core, rows, n, base + 1, d, k, counts, local, 0)
        if later + 1 < floor(pool):
            continue
        width = items_around(core, rows, n, 0, base, k, counts, local, later)
        for a in range(width):
            place[local[a]] = a + 1
        sets = cut(core, rows, n, place, width)
        for a in range(width):
            place[local[a]] = 0
            local[a] = core.column[local[a]]
        local[width] = core.column[base]
        grow(sets, local[: width + 1], later, k, pool)


@njit(cache=True)
def rows_around(core: Any, base: Any, need: Any) -> Any:
    """Rows with the base and at least `need - 1` items that are less rare; their number."""
    start, end = core.starts_of[base], core.starts_of[base + 1]
    rows = np.empty(end - start, dtype=np.int32)
    n = 0
    for a in range(start, end):
        row = core.rows_of[a]
        last = core.starts[row + 1] - need
        if last >= core.starts[row] and core.items[last] >= base:
            rows[n] = row
            n += 1
    return rows, n


@njit(cache=True)
def first_from(items: Any, start: Any, end: Any, least: Any) -> Any:
    """The first place in a sorted part that holds at least `least`."""
    while start < end:
        middle = (start + end) // 2
        if items[middle] < least:
            start = middle + 1
        else:
            end = middle
    return start


@njit(cache=True)
def items_around(
    core: Any,
    rows: Any,
    n: Any,
    least: Any,
    below: Any,
    k: Any,
    counts: Any,
    local: Any,
    found: Any,
) -> Any:
    """Add to `local` the items from `least` to `below` that k rows hold; how many it has then.

    `counts` is zero before and after.
    """
    for a in range(n):
        end = core.starts[rows[a] + 1]
        for b in range(first_from(core.items, core.starts[rows[a]], end, least), end):
            if core.items[b] >= below:
                break
            counts[core.items[b]] += 1
    for a in range(n):
        end = core.starts[rows[a] + 1]
        for b in range(first_from(core.items, core.starts[rows[a]], end, least), end):
            item = core.items[b]
            if item >= below:
                break
            if counts[item] >= k:
                local[found] = item
                found += 1
            counts[item] = 0
    return found


@njit(cache=True)
def cut(core: Any, rows: Any, n: Any, place: Any, width: Any) -> Any:
    """The rows as sets of the local items; `place` numbers these from 1, others are 0."""
    sets = np.zeros((n, (width + 63) // 64), dtype=np.uint64)
    for a in range(n):
        for b in range(core.starts[rows[a]], core.starts[rows[a] + 1]):
            at = place[core.items[b]] - 1
            if at >= 0:
                sets[a, at >> 6] |= ONE << np.uint64(at & 63)
    return sets


@njit(cache=True)
def grow(sets: Any, column: Any, later: Any, k: Any, pool: Any) -> Any:
    """Depth-first: take an item in, look below, put it out, and go on without it.

    The last of `column` is in from the start and has no place in the sets. The rows of all
    levels lie one after the other in `rows`, those of a level from `ends[level]`.
    """
    n, words = sets.shape
    width = len(column) - 1
    node = np.zeros((width + 1, 3, words), dtype=np.uint64)
    rows = np.empty(4 * n, dtype=np.int32)
    ends = np.zeros(width + 3, dtype=np.int64)
    choice = np.zeros(width + 1, dtype=np.int64)
    planes = np.empty((33, words), dtype=np.uint64)
    found = np.empty(width + 1, dtype=np.int64)
    for a in range(width):
        node[0, OPEN if a < later else OUT, a >> 6] |= ONE << np.uint64(a & 63)
    for a in range(n):
        rows[a] = a
    ends[1] = n
    level = 0
    while level >= 0:
        here = rows[ends[level] : ends[level + 1]]
        kept, pivot = settle(sets, node[level], here, k, planes, column, found, pool)
        if kept == 0:
            level -= 1
            if level >= 0:
                move(node[level], choice[level], OUT)
            continue
        ends[level + 1] = ends[level] + kept
        rows = with_room(rows, ends[level + 1] + kept)
        choice[level] = first_outside(node[level, OPEN], sets[pivot])
        ends[level + 2] = descend(sets, rows, ends[level], ends[level + 1], choice[level])
        for part in range(3):
            for w in range(words):
                node[level + 1, part, w] = node[level, part, w]
        level += 1
        move(node[level], choice[level - 1], INSIDE)


@njit(cache=True)
def with_room(rows: Any, size: Any) -> Any:
    """The same rows in an array of at least a size."""
    if size <= len(rows):
        return rows
    larger = np.empty(2 * size, dtype=np.int32)
    for a in range(len(rows)):
        larger[a] = rows[a]
    return larger


@njit(cache=True)
def move(node: Any, item: Any, part: Any) -> Any:
    """Move an open item to another part of a node."""
    bit = ONE << np.uint64(item & 63)
    node[OPEN, item >> 6] &= ~bit
    node[part, item >> 6] |= bit


@njit(cache=True)
def first_outside(candidates: Any, row: Any) -> Any:
    """The first candidate that the row does not hold."""
    for w in range(len(row)):
        word = candidates[w] & ~row[w]
        if word:
            return 64 * w + np.int64(lowest(word))
    return -1


@njit(cache=True)
def descend(sets: Any, rows: Any, start: Any, end: Any, item: Any) -> Any:
    """Write behind a level's rows those of them that hold the item; the end of these."""
    kept = end
    for a in range(start, end):
        if sets[rows[a], item >> 6] >> np.uint64(item & 63) & ONE:
            rows[kept] = rows[a]
            kept += 1
    return kept


@njit(cache=True)
def settle(
    sets: Any, node: Any, rows: Any, k: Any, planes: Any, column: Any, found: Any, pool: Any
) -> Any:
    """Take out of a node whatever cannot matter, until nothing changes.

    The number of rows left (0 if there is nothing more to find below) and the row that holds
    most open items, but not all.
    """
    n = len(rows)
    held = planes[32]
    while True:
        size = overlap(node[OPEN], node[OPEN])
        need = floor(pool) - overlap(node[INSIDE], node[INSIDE]) - 1
        if size < need:
            return 0, -1
        n, full, pivot = fullest(sets, node[OPEN], size, rows, n, need)
        if n < k:
            return 0, -1
        if size == need and not welcome(pool, found, whole(node, column, found)):
            return 0, -1
        held_by_all(sets, rows, n, held)
        if overlap(held, node[OUT]):
            return 0, -1
        if full >= k:
            harvest(sets, node, rows, n, k, planes, column, found, pool)
            return 0, -1
        for w in range(len(held)):
            node[INSIDE, w] |= held[w] & node[OPEN, w]
            node[OPEN, w] &= ~held[w]
        absorbed = size - overlap(node[OPEN], node[OPEN])
        held_by(sets, rows, n, k, planes, held)
        for w in range(len(held)):
            node[OPEN, w] &= held[w]
        if overlap(node[OPEN], node[OPEN]) + absorbed == size:
            return n, pivot


@njit(cache=True)
def fullest(sets: Any, candidates: Any, size: Any, rows: Any, n: Any, need: Any) -> Any:
    """Keep the rows with enough open items: how many, how many hold all, the fullest other."""
    kept = full = 0
    most, pivot = -1, -1
    for a in range(n):
        common = overlap(sets[rows[a]], candidates)
        if common < need:
            continue
        rows[kept] = rows[a]
        kept += 1
        if common == size:
            full += 1
        elif common > most:
            most, pivot = common, rows[a]
    return kept, full, pivot


@njit(cache=True)
def whole(node: Any, column: Any, found: Any) -> Any:
    """Write the columns of all that is in or open to `found`; their number."""
    size = 0
    for w in range(node.shape[1]):
        word = node[INSIDE, w] | node[OPEN, w]
        while word:
            found[size] = column[64 * w + np.int64(lowest(word))]
            size += 1
            word &= word - ONE
    found[size] = column[-1]
    return size + 1


@njit(cache=True)
def harvest(
    sets: Any, node: Any, rows: Any, n: Any, k: Any, planes: Any, column: Any, found: Any, pool: Any
) -> Any:
    """Offer all that is in or open, which k rows hold, unless k of these hold another item too."""
    size = whole(node, column, found)
    holders = 0
    for a in range(n):
        if holds(sets[rows[a]], node[OPEN]):
            rows[holders] = rows[a]
            holders += 1
    held_by(sets, rows, holders, k, planes, planes[32])
    if overlap(planes[32], planes[32]) + 1 == size:
        offer(pool, found, size)


@njit(cache=True)
def holds(row: Any, items: Any) -> Any:
    missing = NONE
    for w in range(len(items)):
        missing |= items[w] & ~row[w]
    return missing == NONE
