"""Kernels: branch and bound over the core of a table, for `tamis.select.containment.itemsets`.

Two searches explore the itemsets around one item of the core (the *base*, the rarest item of the
set) after the other. A node of either has the items that are *in* the set, those that may still
join (*open*), those that may not (*out*, since the sets with them are found elsewhere), and the
rows that contain all items that are in and enough open ones.

*By rows*, each row is a set of items: for few rows and large sets. It branches on an item that the
fullest row lacks, so that after a few branches k rows contain all open items and the node is done.
*By columns*, each item is a set of rows: for many rows and small sets. It branches on the item that
fewest of the rows contain: with it the node soon ends, and without it the bound on the others is
tighter.

Sets are arrays of 64-bit words. Both searches shrink the core and fill the pool with the same
kernels, so this is one file, and a long one: Numba's cache of a kernel does not notice changes in
another file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from tamis.binary.kernels import ALL, NONE, ONE, lowest, ones
from tamis.kernel_cache import njit


@register_jitable
def overlap(one: Any, other: Any) -> Any:
    """The number of members that two sets share."""
    total = NONE
    for w in range(len(one)):
        total += ones(one[w] & other[w])
    return np.int64(total)


@register_jitable
def held_by(sets: Any, chosen: Any, n: Any, least: Any, planes: Any, out: Any) -> Any:
    """Write to `out` the members that at least `least` of some sets contain.

    The sets are the first `n` of `chosen`. Members are counted 64 at a time: plane i holds bit i of
    the counters of all members, so one addition with carry advances a whole word of counters.
    """
    # A counter of `depth` bits that starts at 2**depth - least carries out of its top bit at the
    # member's `least`-th set. From then on the member is in `out` and is no longer counted, so
    # its counter cannot wrap around.
    depth = 0
    while 1 << depth < least:
        depth += 1
    for w in range(len(out)):
        out[w] = NONE
        for level in range(depth):
            planes[level, w] = ALL if ((1 << depth) - least) >> level & 1 else NONE
    for a in range(n):
        bits = sets[chosen[a]]
        for w in range(len(out)):
            carry = bits[w] & ~out[w]
            level = 0
            while carry and level < depth:
                planes[level, w], carry = planes[level, w] ^ carry, planes[level, w] & carry
                level += 1
            out[w] |= carry


@register_jitable
def held_by_all(sets: Any, chosen: Any, n: Any, out: Any) -> Any:
    """Write to `out` the members that all of the first `n` chosen sets contain."""
    for w in range(len(out)):
        out[w] = ALL
    for a in range(n):
        bits = sets[chosen[a]]
        for w in range(len(out)):
            out[w] &= bits[w]


@njit(cache=True)
def peel(
    starts: Any,
    items: Any,
    rows: Any,
    base: Any,
    k: Any,
    need: Any,
    counts: Any,
    local: Any,
    support: Any,
) -> Any:
    """Remove rows with too few frequent items and items in too few rows, until nothing changes.

    Of the items after `base`, those that k of the rows contain remain, and the rows that contain
    `need` of these. The items are written to `local`, the number of rows with each to `support`.
    Returns the rows, moved to the front of the array, and the number of items; `counts` is all
    zero before and after.
    """
    if len(rows) < k:
        return rows[:0], 0
    for row in rows:
        tally(starts, items, row, base, counts, 1)
    n, before = len(rows), len(rows) + 1
    while k <= n < before:
        before, n = n, 0
        for row in rows[:before]:
            if holds_enough(starts, items, row, base, counts, k, need):
                rows[n] = row
                n += 1
            else:
                tally(starts, items, row, base, counts, -1)
    width = 0
    # Clearing a count when its item is first met lists each item once and leaves all counts zero.
    for row in rows[:n]:
        for a in range(starts[row + 1] - 1, starts[row] - 1, -1):
            if items[a] <= base:
                break
            if counts[items[a]] >= k:
                local[width] = items[a]
                support[width] = counts[items[a]]
                width += 1
            counts[items[a]] = 0
    return rows[:n], width


@register_jitable
def tally(starts: Any, items: Any, row: Any, base: Any, counts: Any, change: Any) -> Any:
    """Add `change` to the counts of a row's items after the base."""
    for a in range(starts[row + 1] - 1, starts[row] - 1, -1):
        if items[a] <= base:
            break
        counts[items[a]] += change


@register_jitable
def holds_enough(
    starts: Any, items: Any, row: Any, base: Any, counts: Any, k: Any, need: Any
) -> Any:
    """Whether a row contains `need` items after the base that have a count of at least k."""
    has = 0
    for a in range(starts[row + 1] - 1, starts[row] - 1, -1):
        if has >= need or items[a] <= base:
            break
        has += counts[items[a]] >= k
    return has >= need


@njit(cache=True)
def core_parts(starts: Any, items: Any, rows: Any, column: Any, starts_of: Any, place: Any) -> Any:
    """The row ends, items by row and rows by item of a `Core`; `place` is zero at the start."""
    for a in range(len(column)):
        place[column[a]] = a + 1  # 0 stays the mark of columns outside the core
    ends_of = starts_of[:-1].copy()
    rows_of = np.empty(starts_of[-1], dtype=np.int32)
    ends = np.zeros(len(rows) + 1, dtype=np.int64)
    for a in range(len(rows)):
        ends[a + 1] = ends[a]
        for b in range(starts[rows[a]], starts[rows[a] + 1]):
            item = place[items[b]] - 1
            if item >= 0:
                rows_of[ends_of[item]] = a
                ends_of[item] += 1
                ends[a + 1] += 1
    # Filled item by item, so that the items of each row ascend in their new numbers.
    by_row = np.empty(len(rows_of), dtype=np.int32)
    at = ends[:-1].copy()
    for item in range(len(column)):
        for row in rows_of[starts_of[item] : starts_of[item + 1]]:
            by_row[at[row]] = item
            at[row] += 1
    return ends, by_row, rows_of


@register_jitable
def rows_around(core: Any, base: Any, size: Any) -> Any:
    """The rows that contain the base and at least `size - 1` items after it."""
    rows = np.empty(core.starts_of[base + 1] - core.starts_of[base], dtype=np.int32)
    n = 0
    for row in core.rows_of[core.starts_of[base] : core.starts_of[base + 1]]:
        # Items ascend, so the row has `size` items from the base on if and only if the one in the
        # `size`-th place from the end is not before the base.
        last = core.starts[row + 1] - size
        if last >= core.starts[row] and core.items[last] >= base:
            rows[n] = row
            n += 1
    return rows[:n]


@register_jitable
def peel_around(
    core: Any, base: Any, rows: Any, k: Any, size: Any, counts: Any, local: Any, support: Any
) -> Any:
    """Reduce rows with the base to what itemsets of a given size around it can lie in."""
    return peel(core.starts, core.items, rows, base, k, size - 1, counts, local, support)


@register_jitable
def with_room(numbers: Any, size: Any) -> Any:
    """The same numbers in an array of at least a given size, grown twofold."""
    if size <= len(numbers):
        return numbers
    larger = np.empty(2 * size, dtype=np.int32)
    for a in range(len(numbers)):
        larger[a] = numbers[a]
    return larger


@register_jitable
def floor(pool: Any) -> Any:
    """The smallest size that may still enter the pool."""
    return pool.sizes[pool.state[1]] if pool.state[0] == len(pool.sizes) else pool.state[2]


@register_jitable
def total_value(pool: Any, columns: Any, size: Any) -> Any:
    total = 0
    for a in range(size):
        total += pool.values[columns[a]]
    return total


@register_jitable
def lowest_outside(pool: Any, columns: Any, others: Any, size: Any) -> Any:
    """The lowest column of one set that the other lacks, or a number above all columns."""
    for a in range(size):
        pool.marks[others[a]] = True
    first = len(pool.marks)
    for a in range(size):
        if columns[a] < first and not pool.marks[columns[a]]:
            first = columns[a]
    for a in range(size):
        pool.marks[others[a]] = False
    return first


@register_jitable
def better(pool: Any, columns: Any, size: Any, total: Any, i: Any) -> Any:
    """Positive if a set ranks before the pool's itemset `i`, 0 if it is the same, else negative."""
    if size != pool.sizes[i]:
        return size - pool.sizes[i]
    if total != pool.totals[i]:
        return total - pool.totals[i]
    # Of two sets of one size, the first in lexicographic order has the lowest column not shared.
    mine = lowest_outside(pool, columns, pool.columns[i], size)
    return lowest_outside(pool, pool.columns[i], columns, size) - mine


@register_jitable
def welcome(pool: Any, columns: Any, size: Any) -> Any:
    """Whether a set would enter the pool if it were frequent and not yet there."""
    if pool.state[0] < len(pool.sizes):
        return True
    return better(pool, columns, size, total_value(pool, columns, size), pool.state[1]) > 0


@register_jitable
def offer_itemset(pool: Any, columns: Any, size: Any) -> Any:
    """Add a maximal itemset to the pool, unless it is there or no better than the worst."""
    total = total_value(pool, columns, size)
    for i in range(pool.state[0]):
        if better(pool, columns, size, total, i) == 0:
            return
    if not welcome(pool, columns, size):
        return
    place = pool.state[1]
    if pool.state[0] < len(pool.sizes):
        place = pool.state[0]
        pool.state[0] += 1
    pool.sizes[place] = size
    pool.totals[place] = total
    for a in range(size):
        pool.columns[place, a] = columns[a]
    # The pool is small (20 itemsets by default), so its worst itemset is simply looked for again.
    pool.state[1] = 0
    for i in range(1, pool.state[0]):
        worst = pool.state[1]
        if better(pool, pool.columns[worst], pool.sizes[worst], pool.totals[worst], i) > 0:
            pool.state[1] = i


# The parts of a node of the search by rows, each a set of items.
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
        rows, later = peel_around(core, base, rows, k, size, counts, local, support)
        if len(rows) < k:
            continue
        # Each set is searched around its rarest item, so items before the base are out. They are
        # kept to recognise sets that are not maximal: those that could take in one of them.
        width = earlier_items(core, base, rows, k, counts, local, later)
        sets = cut_rows(core, rows, local[:width], counts)
        column = np.empty(width + 1, dtype=np.int64)
        for a in range(width):
            column[a] = core.column[local[a]]
        column[width] = core.column[base]
        grow_rows(sets, column, later, k, pool)


@register_jitable
def earlier_items(
    core: Any, base: Any, rows: Any, k: Any, counts: Any, local: Any, width: Any
) -> Any:
    """Add to `local` the items rarer than the base that k rows contain; its new size.

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
                local[width] = item
                width += 1
            counts[item] = 0
    return width


@register_jitable
def cut_rows(core: Any, rows: Any, local: Any, place: Any) -> Any:
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


@register_jitable
def grow_rows(sets: Any, column: Any, later: Any, k: Any, pool: Any) -> Any:
    """Depth-first search: add an item, search below, remove it, and go on without it.

    The last of `column` is the base, which is in from the start and has no bit in the sets. The
    rows of all levels lie one after the other in `rows`, those of a level from `ends[level]`.
    """
    # No recursion: arrays with an entry for each level are the stack.
    n, words = sets.shape
    width = len(column) - 1
    node = np.zeros((width + 1, 3, words), dtype=np.uint64)
    rows = np.empty(4 * n, dtype=np.int32)
    ends = np.zeros(width + 3, dtype=np.int64)
    choice = np.zeros(width + 1, dtype=np.int64)
    planes = np.empty((33, words), dtype=np.uint64)
    itemset = np.empty(width + 1, dtype=np.int64)
    for a in range(width):
        node[0, OPEN if a < later else OUT, a >> 6] |= ONE << np.uint64(a & 63)
    for a in range(n):
        rows[a] = a
    ends[1] = n
    level = 0
    while level >= 0:
        here = rows[ends[level] : ends[level + 1]]
        kept, pivot = settle_rows(sets, node[level], here, k, planes, column, itemset, pool)
        if kept == 0:
            # Back at the parent, all sets with its chosen item have been searched: go on without.
            level -= 1
            if level >= 0:
                move_item(node[level], choice[level], OUT)
            continue
        ends[level + 1] = ends[level] + kept
        rows = with_room(rows, ends[level + 1] + kept)
        choice[level] = first_outside(node[level, OPEN], sets[pivot])
        ends[level + 2] = descend(sets, rows, ends[level], ends[level + 1], choice[level])
        for part in range(3):
            for w in range(words):
                node[level + 1, part, w] = node[level, part, w]
        level += 1
        move_item(node[level], choice[level - 1], INSIDE)


@register_jitable
def move_item(node: Any, item: Any, part: Any) -> Any:
    """Move an open item to `part` of a node."""
    bit = ONE << np.uint64(item & 63)
    node[OPEN, item >> 6] &= ~bit
    node[part, item >> 6] |= bit


@register_jitable
def first_outside(candidates: Any, row: Any) -> Any:
    """The first candidate that the row does not contain, or -1."""
    for w in range(len(row)):
        word = candidates[w] & ~row[w]
        if word:
            return 64 * w + np.int64(lowest(word))
    return -1


@register_jitable
def descend(sets: Any, rows: Any, start: Any, end: Any, item: Any) -> Any:
    """Copy the rows of a level that contain the item behind that level's rows; return their end."""
    kept = end
    for a in range(start, end):
        if sets[rows[a], item >> 6] >> np.uint64(item & 63) & ONE:
            rows[kept] = rows[a]
            kept += 1
    return kept


@register_jitable
def settle_rows(
    sets: Any, node: Any, rows: Any, k: Any, planes: Any, column: Any, itemset: Any, pool: Any
) -> Any:
    """Remove from a node of the search by rows whatever cannot matter, until nothing changes.

    Returns the number of rows left (0 if there is nothing more to find below) and the row with the
    most open items among those that lack one.

    Every set below a node lies within the items that are in or open. So if these are too few, or a
    row has too few of them, no set there is large enough for the pool. If k rows contain all open
    items, the whole is frequent and nothing below is larger. If all rows contain an item that is
    out, every set below could take it in, so none is maximal. If all rows contain an open item, it
    goes in, since no set without it is maximal. Items that fewer than k rows contain cannot join.
    """
    n = len(rows)
    # Counters up to k, a number of rows, have at most 31 bits: plane 32 is free.
    held = planes[32]
    while True:
        size = overlap(node[OPEN], node[OPEN])
        need = floor(pool) - overlap(node[INSIDE], node[INSIDE]) - 1  # 1 is the base
        if size < need:
            return 0, -1
        n, full, pivot = fullest(sets, node[OPEN], size, rows, n, need)
        if n < k:
            return 0, -1
        if full >= k:
            harvest_rows(sets, node, rows, n, k, planes, column, itemset, pool)
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


@register_jitable
def fullest(sets: Any, candidates: Any, size: Any, rows: Any, n: Any, need: Any) -> Any:
    """Keep the rows with `need` open items; how many they are, how many of them contain all open
    items, and which of the others contains most."""
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


@register_jitable
def whole_rows(node: Any, column: Any, itemset: Any) -> Any:
    """Write the columns of the base and of all items in or open to `itemset`; their number."""
    size = 0
    for w in range(node.shape[1]):
        word = node[INSIDE, w] | node[OPEN, w]
        while word:
            itemset[size] = column[64 * w + np.int64(lowest(word))]
            size += 1
            word &= word - ONE
    itemset[size] = column[-1]
    return size + 1


@register_jitable
def harvest_rows(
    sets: Any,
    node: Any,
    rows: Any,
    n: Any,
    k: Any,
    planes: Any,
    column: Any,
    itemset: Any,
    pool: Any,
) -> Any:
    """Offer the set of all items in or open, which k rows contain, if it is maximal.

    It is not if k of these rows contain another item too.
    """
    size = whole_rows(node, column, itemset)
    if not welcome(pool, itemset, size):
        return
    holders = 0
    for a in range(n):
        if holds_all(sets[rows[a]], node[OPEN]):
            rows[holders] = rows[a]
            holders += 1
    held_by(sets, rows, holders, k, planes, planes[32])
    if overlap(planes[32], planes[32]) + 1 == size:
        offer_itemset(pool, itemset, size)


@register_jitable
def holds_all(row: Any, items: Any) -> Any:
    missing = NONE
    for w in range(len(items)):
        missing |= items[w] & ~row[w]
    return missing == NONE


FULL, ENOUGH = 32, 33
"""Places of two sets of rows in `planes`, behind the counters of `held_by`."""
DONE = -2
"""Instead of an item to branch on: the node is itself an itemset; -1: nothing lies below it."""
FAST = 1 << 16
"""Size in words up to which a table of bits stays in cache."""
WORDS = 30
"""How many words of bits are counted in the time that one item of a list takes."""


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
    # All items as sets of rows, where these take no more room than the lists and stay in cache.
    dense = d * words <= min(len(core.items), FAST)
    table = cut_columns(core, -1, rows, np.arange(d if dense else 0, dtype=np.int32), counts)
    for base in range(d):
        size = floor(pool)
        rows = rows_around(core, base, size)
        if dense and (d - base) * words < WORDS * length * len(rows):
            rows, width = around_in(table, base, k, size, local, inside, planes)
        else:
            rows, width = peel_around(core, base, rows, k, size, counts, local, support)
        if len(rows) >= k:
            bits = cut_columns(core, base, rows, local[:width], counts)
            grow_columns(core, base, rows, local[:width], bits, k, counts, pool)


@register_jitable
def around_in(
    table: Any, base: Any, k: Any, size: Any, local: Any, inside: Any, planes: Any
) -> Any:
    """The result of `peel_around`, from the items of the core as sets of rows: faster if dense."""
    held = planes[34]
    for w in range(len(held)):
        held[w] = table[base, w]
    for item in range(base + 1, len(table)):
        local[item - base - 1] = item
    opens = local[: len(table) - base - 1]
    left, ins, pick = settle_columns(table, held, opens, inside, 0, size - 1, k, planes)
    if left == 0 and pick != DONE:
        return np.empty(0, dtype=np.int32), 0
    for a in range(ins):
        local[left + a] = inside[a]
    return members(held), left + ins


@register_jitable
def members(held: Any) -> Any:
    """The members of a set, ascending."""
    numbers = np.empty(overlap(held, held), dtype=np.int32)
    n = 0
    for w in range(len(held)):
        word = held[w]
        while word:
            numbers[n] = 64 * w + np.int64(lowest(word))
            word &= word - ONE
            n += 1
    return numbers


@register_jitable
def cut_columns(core: Any, base: Any, rows: Any, local: Any, place: Any) -> Any:
    """The local items, all after the base, as sets of rows; `place` is zero before and after."""
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


@register_jitable
def grow_columns(
    core: Any, base: Any, rows: Any, local: Any, bits: Any, k: Any, counts: Any, pool: Any
) -> Any:
    """Depth-first search: add an item, search below, remove it, and go on without it.

    The open items of all levels lie one after the other, those of a level from `ends[level]`. Of
    the items in `inside` and in `out`, the first `ins[level]` and `outs[level]` hold at a level.
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
    held[0, words - 1] >>= np.uint64(64 * words - len(rows))  # no bits beyond the last row
    ends[1] = width
    level = 0
    while level >= 0:
        start, left, pick = ends[level], 0, -1
        if not covered(bits, held[level], out, outs[level]):
            here = opens[start : ends[level + 1]]
            least = floor(pool) - 1
            left, ins[level], pick = settle_columns(
                bits, held[level], here, inside, ins[level], least, k, planes
            )
            if pick == DONE:
                itemset = whole_columns(core, base, local, here, left, inside, ins[level])
                harvest_columns(core, rows, planes[FULL], itemset, k, counts, pool)
                left = 0
        if left == 0:
            level -= 1
            if level >= 0:
                out[outs[level]] = choice[level]
                outs[level] += 1
            continue
        # The last open item takes the place of the chosen one: this level's list is one shorter
        # when the search comes back to it, and the child's list starts right behind, at `last`.
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


@register_jitable
def covered(bits: Any, held: Any, out: Any, n: Any) -> Any:
    """Whether all rows contain one of the first `n` items that are out.

    Then every set below could take in that item, so none is maximal.
    """
    for a in range(n - 1, -1, -1):
        w = 0
        while w < len(held) and not held[w] & ~bits[out[a], w]:
            w += 1
        if w == len(held):
            return True
    return False


@register_jitable
def settle_columns(
    bits: Any, held: Any, opens: Any, inside: Any, ins: Any, least: Any, k: Any, planes: Any
) -> Any:
    """Remove from a node of the search by columns whatever cannot matter, until nothing changes.

    Returns how many open items are left (0 if no set of `least` items lies below), how many items
    are in, and the position of the open item that fewest rows contain. The position is `DONE` if
    all items in or open are frequent together; the rows that contain them are in `planes[FULL]`.
    """
    left = len(opens)
    full, enough = planes[FULL], planes[ENOUGH]
    total = overlap(held, held)
    while total >= k:
        left, ins, pick = sift(bits, held, total, opens, left, inside, ins, k)
        if left + ins < least:
            break
        before = total
        # Only rows with enough open items can contain a set that is large enough.
        if least > ins:
            held_by(bits, opens, left, least - ins, planes, enough)
            total = narrow(held, enough)
        held_by_all(bits, opens, left, full)
        if narrow(full, held) >= k:
            return left, ins, DONE
        if total == before:
            return left, ins, pick
    return 0, 0, -1


@register_jitable
def narrow(members: Any, wanted: Any) -> Any:
    """Keep only the wanted members; return how many they are."""
    for w in range(len(members)):
        members[w] &= wanted[w]
    return overlap(members, members)


@register_jitable
def sift(
    bits: Any, held: Any, total: Any, opens: Any, left: Any, inside: Any, ins: Any, k: Any
) -> Any:
    """Keep the open items that k rows contain; move those that all rows contain into the set.

    Returns how many items are open and in, and the position of the open item that fewest rows
    contain.
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


@register_jitable
def whole_columns(
    core: Any, base: Any, local: Any, opens: Any, left: Any, inside: Any, ins: Any
) -> Any:
    """The columns of the base and of all items in or open."""
    itemset = np.empty(left + ins + 1, dtype=np.int64)
    for a in range(left):
        itemset[a] = core.column[local[opens[a]]]
    for a in range(ins):
        itemset[left + a] = core.column[local[inside[a]]]
    itemset[left + ins] = core.column[base]
    return itemset


@register_jitable
def harvest_columns(
    core: Any, rows: Any, holders: Any, itemset: Any, k: Any, counts: Any, pool: Any
) -> Any:
    """Offer columns that the rows `holders` contain, unless k of these contain another one too."""
    if not welcome(pool, itemset, len(itemset)):
        return
    # Counted over all items of the core, the rarer ones too; the second pass clears the counts.
    frequent = 0
    for change in (1, -1):
        for place in members(holders):
            row = rows[place]
            for item in core.items[core.starts[row] : core.starts[row + 1]]:
                counts[item] += change
                frequent += change == 1 and counts[item] == k
    if frequent == len(itemset):
        offer_itemset(pool, itemset, len(itemset))
