"""Maximal frequent itemsets around one item, by sets of items: for few rows and large sets.

A node is a set of items that are in, the items that may still join (open), those that may not
(out, since the sets they belong to are found elsewhere), and the rows that hold all that is in
and enough of the open ones. The next item to branch on is one that the fullest row lacks, so that
after a few branches k rows hold all that is open and the node is done.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tamis.select.bits import NONE, ONE, held_by, held_by_all, lowest, overlap
from tamis.select.itemset_core import around, rows_around, with_room
from tamis.select.itemset_pool import floor, offer, welcome

INSIDE, OPEN, OUT = 0, 1, 2


@njit(cache=True)
def search_by_rows(core: Any, k: Any, pool: Any) -> Any:
    """Offer to the pool each maximal itemset that could enter it."""
    counts = np.zeros(len(core.column), dtype=np.int32)
    local = np.empty(len(core.column), dtype=np.int32)
    support = np.empty(len(core.column), dtype=np.int32)
    for base in range(len(core.column)):
        size = floor(pool)
        rows = rows_around(core, base, size)
        rows, later = around(core, base, rows, k, size, counts, local, support)
        if len(rows) < k:
            continue
        width = earlier_items(core, base, rows, k, counts, local, later)
        sets = cut(core, rows, local[:width], counts)
        column = np.empty(width + 1, dtype=np.int64)
        for a in range(width):
            column[a] = core.column[local[a]]
        column[width] = core.column[base]
        grow(sets, column, later, k, pool)


@njit(cache=True)
def earlier_items(
    core: Any, base: Any, rows: Any, k: Any, counts: Any, local: Any, found: Any
) -> Any:
    """Add to `local` the items rarer than the base that k rows hold; how many it has then.

    `counts` is zero before and after.
    """
    for row in rows:
        for a in range(core.starts[row], core.starts[row + 1]):
            if core.items[a] >= base:
                break
            counts[core.items[a]] += 1
    for row in rows:
        for a in range(core.starts[row], core.starts[row + 1]):
            item = core.items[a]
            if item >= base:
                break
            if counts[item] >= k:
                local[found] = item
                found += 1
            counts[item] = 0
    return found


@njit(cache=True)
def cut(core: Any, rows: Any, local: Any, place: Any) -> Any:
    """The rows as sets of the local items; `place` is zero before and after."""
    sets = np.zeros((len(rows), (len(local) + 63) // 64), dtype=np.uint64)
    for a in range(len(local)):
        place[local[a]] = a + 1
    for a in range(len(rows)):
        for b in range(core.starts[rows[a]], core.starts[rows[a] + 1]):
            at = place[core.items[b]] - 1
            if at >= 0:
                sets[a, at >> 6] |= ONE << np.uint64(at & 63)
    for item in local:
        place[item] = 0
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
        if full >= k:
            harvest(sets, node, rows, n, k, planes, column, found, pool)
            return 0, -1
        held_by_all(sets, rows, n, held)
        if overlap(held, node[OUT]):
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
    if not welcome(pool, found, size):
        return
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
