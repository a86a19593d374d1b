"""Maximal frequent itemsets around one item, by sets of rows: for many rows and small sets.

A node is a list of items that are in, the items that may still join (open), those that may not
(out, since the sets they belong to are found elsewhere), and the rows that hold all that is in
and enough of the open ones. The next item to branch on is the one that fewest of the rows hold:
it soon leads to an end, and without it the others are bounded better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tamis.select.bits import ALL, ONE, held_by, held_by_all, lowest, overlap
from tamis.select.itemset_core import around, rows_around, with_room
from tamis.select.itemset_pool import floor, offer, welcome

FULL, ENOUGH = 32, 33
"""Where, behind the counters of `held_by`, sets of rows are kept."""
DONE = -2
FAST = 1 << 16
"""Words of a table of bits that the processor still reads quickly again and again."""
WORDS = 30
"""How many words of bits are counted while one item of a list is."""


@njit(cache=True)
def search_by_columns(core: Any, k: Any, pool: Any) -> Any:
    """Offer to the pool each maximal itemset that could enter it."""
    d = len(core.column)
    counts = np.zeros(d, dtype=np.int32)
    local, inside = np.empty(d, dtype=np.int32), np.empty(d, dtype=np.int32)
    support = np.empty(d, dtype=np.int32)
    rows = np.arange(len(core.starts) - 1, dtype=np.int32)
    planes = np.empty((35, (len(rows) + 63) // 64), dtype=np.uint64)
    words, length = planes.shape[1], len(core.items) / max(len(rows), 1)
    dense = d * words <= min(len(core.items), FAST)
    table = cut(core, -1, rows, np.arange(d if dense else 0, dtype=np.int32), counts)
    for base in range(d):
        size = floor(pool)
        rows = rows_around(core, base, size)
        if dense and (d - base) * words < WORDS * length * len(rows):
            rows, width = around_in(table, base, k, size, local, inside, planes)
        else:
            rows, width = around(core, base, rows, k, size, counts, local, support)
        if len(rows) >= k:
            bits = cut(core, base, rows, local[:width], counts)
            grow(core, base, rows, local[:width], bits, k, counts, pool)


@njit(cache=True)
def around_in(
    table: Any, base: Any, k: Any, size: Any, local: Any, inside: Any, planes: Any
) -> Any:
    """What `around` gives, from the core's items as sets of rows: quicker where these are dense."""
    held = planes[34]
    for w in range(len(held)):
        held[w] = table[base, w]
    for item in range(base + 1, len(table)):
        local[item - base - 1] = item
    opens = local[: len(table) - base - 1]
    left, ins, pick = settle(table, held, opens, inside, 0, size - 1, k, planes)
    if left == 0 and pick != DONE:
        return np.empty(0, dtype=np.int32), 0
    for a in range(ins):
        local[left + a] = inside[a]
    return members(held), left + ins


@njit(cache=True)
def members(held: Any) -> Any:
    """The members of a set, ascending."""
    found = np.empty(overlap(held, held), dtype=np.int32)
    n = 0
    for w in range(len(held)):
        word = held[w]
        while word:
            found[n] = 64 * w + np.int64(lowest(word))
            word &= word - ONE
            n += 1
    return found


@njit(cache=True)
def cut(core: Any, base: Any, rows: Any, local: Any, place: Any) -> Any:
    """The local items, which come after the base, as sets of rows; `place` stays zero."""
    bits = np.zeros((len(local), (len(rows) + 63) // 64), dtype=np.uint64)
    for a in range(len(local)):
        place[local[a]] = a + 1
    for a in range(len(rows)):
        bit = ONE << np.uint64(a & 63)
        for b in range(core.starts[rows[a] + 1] - 1, core.starts[rows[a]] - 1, -1):
            if core.items[b] == base:
                break
            at = place[core.items[b]] - 1
            if at >= 0:
                bits[at, a >> 6] |= bit
    for item in local:
        place[item] = 0
    return bits


@njit(cache=True)
def grow(
    core: Any, base: Any, rows: Any, local: Any, bits: Any, k: Any, counts: Any, pool: Any
) -> Any:
    """Depth-first: take an item in, look below, put it out, and go on without it.

    The open items of all levels lie one after the other, those of a level from `ends[level]`; of
    the items that are in, or out, the first `ins[level]` or `outs[level]` are so at a level.
    """
    width, words = bits.shape
    held = np.empty((width + 2, words), dtype=np.uint64)
    planes = np.empty((34, words), dtype=np.uint64)
    opens = np.empty(4 * width + 4, dtype=np.int32)
    inside = np.empty(width + 1, dtype=np.int32)
    out = np.empty(width + 1, dtype=np.int32)
    choice = np.empty(width + 1, dtype=np.int32)
    ends = np.zeros(width + 3, dtype=np.int64)
    ins = np.zeros(width + 3, dtype=np.int64)
    outs = np.zeros(width + 3, dtype=np.int64)
    for a in range(width):
        opens[a] = a
    for w in range(words):
        held[0, w] = ALL
    held[0, words - 1] >>= np.uint64(64 * words - len(rows))
    ends[1] = width
    level = 0
    while level >= 0:
        start, left, pick = ends[level], 0, -1
        if not covered(bits, held[level], out, outs[level]):
            here = opens[start : ends[level + 1]]
            least = floor(pool) - 1
            left, ins[level], pick = settle(
                bits, held[level], here, inside, ins[level], least, k, planes
            )
            if pick == DONE:
                found = whole(core, base, local, here, left, inside, ins[level])
                harvest(core, rows, planes[FULL], found, k, counts, pool)
                left = 0
        if left == 0:
            level -= 1
            if level >= 0:
                out[outs[level]] = choice[level]
                outs[level] += 1
            continue
        last = start + left - 1
        opens = with_room(opens, last + left)
        choice[level], opens[start + pick] = opens[start + pick], opens[last]
        for a in range(left - 1):
            opens[last + a] = opens[start + a]
        for w in range(words):
            held[level + 1, w] = held[level, w] & bits[choice[level], w]
        inside[ins[level]] = choice[level]
        ends[level + 1], ends[level + 2] = last, last + left - 1
        ins[level + 1], outs[level + 1] = ins[level] + 1, outs[level]
        level += 1


@njit(cache=True)
def covered(bits: Any, held: Any, out: Any, n: Any) -> Any:
    """Whether all rows hold one of the first `n` items that are out."""
    for a in range(n - 1, -1, -1):
        w = 0
        while w < len(held) and not held[w] & ~bits[out[a], w]:
            w += 1
        if w == len(held):
            return True
    return False


@njit(cache=True)
def settle(
    bits: Any, held: Any, opens: Any, inside: Any, ins: Any, least: Any, k: Any, planes: Any
) -> Any:
    """Take out of a node whatever cannot matter, until nothing changes.

    How many open items are left (0 if sets of `least` items cannot be found below), how many items
    are in, and the place of the open item that fewest rows hold. `DONE` in its place: all that is
    in or open is frequent, and the rows that hold it are in `planes[FULL]`.
    """
    left = len(opens)
    full, enough = planes[FULL], planes[ENOUGH]
    total = overlap(held, held)
    while total >= k:
        left, ins, pick = sift(bits, held, total, opens, left, inside, ins, k)
        if left + ins < least:
            break
        before = total
        if least > ins:
            held_by(bits, opens, left, least - ins, planes, enough)
            total = narrow(held, enough)
        held_by_all(bits, opens, left, full)
        if narrow(full, held) >= k:
            return left, ins, DONE
        if total == before:
            return left, ins, pick
    return 0, 0, -1


@njit(cache=True)
def narrow(members: Any, wanted: Any) -> Any:
    """Keep the members that are wanted; how many they are."""
    for w in range(len(members)):
        members[w] &= wanted[w]
    return overlap(members, members)


@njit(cache=True)
def sift(
    bits: Any, held: Any, total: Any, opens: Any, left: Any, inside: Any, ins: Any, k: Any
) -> Any:
    """Keep the open items that k rows hold; those that all rows hold are in.

    How many are open and in, and the place of the open one that fewest rows hold.
    """
    kept, pick, least = 0, -1, total
    for a in range(left):
        support = overlap(bits[opens[a]], held)
        if support == total:
            inside[ins] = opens[a]
            ins += 1
        elif support >= k:
            if support < least:
                least, pick = support, kept
            opens[kept] = opens[a]
            kept += 1
    return kept, ins, pick


@njit(cache=True)
def whole(core: Any, base: Any, local: Any, opens: Any, left: Any, inside: Any, ins: Any) -> Any:
    """The columns of the base and of all that is in or open."""
    found = np.empty(left + ins + 1, dtype=np.int64)
    for a in range(left):
        found[a] = core.column[local[opens[a]]]
    for a in range(ins):
        found[left + a] = core.column[local[inside[a]]]
    found[left + ins] = core.column[base]
    return found


@njit(cache=True)
def harvest(core: Any, rows: Any, holders: Any, found: Any, k: Any, counts: Any, pool: Any) -> Any:
    """Offer columns that some rows hold, unless k of these hold another one too."""
    if not welcome(pool, found, len(found)):
        return
    frequent = 0
    for change in (1, -1):
        for place in members(holders):
            row = rows[place]
            for item in core.items[core.starts[row] : core.starts[row + 1]]:
                counts[item] += change
                frequent += change == 1 and counts[item] == k
    if frequent == len(found):
        offer(pool, found, len(found))
