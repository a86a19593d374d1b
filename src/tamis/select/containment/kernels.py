"""Kernels: rows grouped by their pattern on a growing set of columns, and greedy steps on them.

A *pattern* is the set of chosen columns that a row has. Each row stores the number of its pattern;
each pattern stores its columns as bits and how many rows have it (its weight). Adding a column
*touches* only the patterns of the rows that have it. The anonymity by containment stays at k or
above if every *maximal* touched pattern weighs at least k: a pattern inside another one is
contained in all rows of that other one too.

Counts of all rows and of rows of the true class share one word, so one addition counts a row.
Greedy either offers columns in a fixed order or picks the column with the largest gain each time.
Its stopping rule, path and queue are records of `tamis.select.containment.selection`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from tamis.binary.kernels import Columns
from tamis.kernel_cache import njit

# Positions in `Patterns.state`, and columns of `Patterns.tree`: plain arrays, since a kernel
# changes their entries in place.
PATTERNS, CHOSEN, ANONYMITY = 0, 1, 2
LENGTH, ABOVE, CHILD = 0, 1, 2
# A word counts all rows in its low half and rows of the true class in its high half. A table has
# fewer than 2**31 rows, so neither half of a sum overflows; and since a part never counts more
# than its whole, neither half of a difference borrows. Sums and differences are right in both.
HALF = 32
LOW = (1 << HALF) - 1


class Patterns(NamedTuple):
    """The arrays of a growing projection; all but `mask` keep their size.

    A count has the number of rows in its low half and the number of rows of the true class in its
    high half. Where some rows have no label, a second line of each array counts those.
    """

    of_row: NDArray[np.int32]
    row_counts: NDArray[np.int64]
    """The count of each row (of each distinct row: all its copies), or one count for all rows."""
    counts: NDArray[np.int64]
    hits: NDArray[np.int64]
    """Counts of the gathered column, 0 for the patterns that it does not touch."""
    touched: NDArray[np.int32]
    tree: NDArray[np.int32]
    """For each pattern: `LENGTH`, its number of columns; `ABOVE`, a longer pattern known to contain
    all its columns, or -1; `CHILD`, the pattern that its rows with the new column move to."""
    mask: NDArray[np.uint64]
    state: NDArray[np.int64]
    """Patterns in use, columns chosen, anonymity."""


def packed(weight: Any, ones: Any, hidden: Any = None) -> NDArray[np.int64]:
    """Packed counts from counts of all rows, of the true class and of rows without a label."""
    lines = [np.asarray(weight, np.int64) + (np.asarray(ones, np.int64) << HALF)]
    return np.stack(lines if hidden is None else [*lines, np.asarray(hidden, np.int64)])


def start(rows: int, row_counts: NDArray[np.int64] | None = None) -> Patterns:
    """Put all rows into one empty pattern; untouched pages of these arrays cost no memory."""
    total: Any = rows
    if row_counts is None:
        row_counts = np.ones((1, 1), np.int64)
    else:
        total = row_counts.sum(axis=1)
    n, lines = max(rows, 1), len(row_counts)
    counts, tree = np.zeros((lines, n), np.int64), np.zeros((n, 3), np.int32)
    counts[:, 0] = total
    tree[0, ABOVE] = -1
    return Patterns(
        of_row=np.zeros(rows, np.int32),
        row_counts=row_counts,
        counts=counts,
        hits=np.zeros((lines, n), np.int64),
        touched=np.empty(n + 1, np.int32),
        tree=tree,
        mask=np.zeros((n, 1), np.uint64),
        state=np.array([1, 0, counts[0, 0] & LOW], np.int64),
    )


def widen(g: Patterns) -> Patterns:
    """Double the words of the masks if their bits are used up."""
    if g.state[CHOSEN] < 64 * g.mask.shape[1]:
        return g
    used, words = int(g.state[PATTERNS]), g.mask.shape[1]
    mask = np.zeros((len(g.mask), 2 * words), np.uint64)
    mask[:used, :words] = g.mask[:used]
    return g._replace(mask=mask)


@register_jitable(error_model="numpy")
def gather(rows: Any, patterns: int, of_row: Any, row_counts: Any, hits: Any, touched: Any) -> int:
    """Count the rows of a column by pattern; return the number of patterns touched."""
    # Row numbers are masked: -1 keeps each number, 0 maps all to 0 where one count serves all rows.
    n, row_mask = 0, -1 if row_counts.shape[1] > 1 else 0
    # Each row counts at least 1 in the low half, so a pattern is touched if its hits are not 0.
    # With fewer patterns than rows, one pass over the patterns afterwards costs less than asking
    # at every row whether its pattern is new.
    if patterns < rows.size:
        for r in rows:
            hits[0, of_row[r]] += row_counts[0, r & row_mask]
        for p in range(patterns):
            # Written always, kept only if touched: a branch here would be unpredictable.
            touched[n] = p
            n += hits[0, p] != 0
    else:
        for r in rows:
            p = of_row[r]
            before = hits[0, p]
            touched[n] = p
            n += before == 0
            hits[0, p] = before + row_counts[0, r & row_mask]
    if hits.shape[0] == 2:
        for r in rows:
            hits[1, of_row[r]] += row_counts[1, r]
    return n


@register_jitable(error_model="numpy")
def clear(n: int, hits: Any, touched: Any) -> None:
    """Reset the counts of the last `gather`, which touched `n` patterns."""
    for line in range(hits.shape[0]):
        for i in range(n):
            hits[line, touched[i]] = 0


@register_jitable(error_model="numpy")
def _find_above(p: int, n: int, touched: Any, tree: Any, mask: Any) -> Any:
    """A touched pattern that contains all columns of `p` and more, or -1."""
    words, first, length = mask.shape[1], mask[p, 0], tree[p, LENGTH]
    for i in range(n):
        q = touched[i]
        # The first word and the length rule out most pairs before the other words are read.
        if first & ~mask[q, 0] or tree[q, LENGTH] <= length:
            continue
        w = 1
        while w < words and not mask[p, w] & ~mask[q, w]:
            w += 1
        if w == words:
            return q
    return -1


@register_jitable(error_model="numpy")
def _lightest_longest(n: int, hits: Any, touched: Any, tree: Any) -> int:
    """The smallest weight among the longest touched patterns, which are surely maximal."""
    longest, least = -1, 0
    for i in range(n):
        p = touched[i]
        length, weight = tree[p, LENGTH], hits[0, p] & LOW
        if length > longest or (length == longest and weight < least):
            longest, least = length, weight
    return least


@register_jitable(error_model="numpy")
def _lightest_part(n: int, counts: Any, hits: Any, touched: Any) -> Any:
    """The smallest group after the split: touched rows, or what is left of their pattern."""
    # Under equality the column splits each touched pattern in two, and both parts must weigh k.
    # A rest of 0 is no part: the whole pattern has the column.
    least = hits[0, touched[0]] & LOW
    for i in range(n):
        p = touched[i]
        weight, left = hits[0, p] & LOW, (counts[0, p] - hits[0, p]) & LOW
        if 0 < left < weight:
            weight = left
        if weight < least:
            least = weight
    return least


@register_jitable(error_model="numpy")
def anonymity_within(
    n: int,
    limit: int,
    k: int,
    equality: bool,
    counts: Any,
    hits: Any,
    touched: Any,
    tree: Any,
    mask: Any,
) -> Any:
    """The smaller of `limit` and the anonymity of the touched patterns; below k, only roughly."""
    if n == 0:
        return limit
    if equality:
        return min(limit, _lightest_part(n, counts, hits, touched))
    # The crowd of a pattern is all rows that contain it. A pattern inside another touched one has
    # that one's crowd in its own, so it is never the lightest: only maximal ones count, and the
    # crowd of a maximal one is its own rows.
    # A pattern no lighter than the lightest so far can be skipped. A pattern found above is
    # remembered, and stays above since patterns only gain columns. If the new column does not
    # touch it, whatever lies above that one lies above this one too.
    least = min(limit, _lightest_longest(n, hits, touched, tree))
    for i in range(n):
        if least < k:
            break
        p = touched[i]
        weight = hits[0, p] & LOW
        if weight >= least:
            continue
        above = tree[p, ABOVE]
        while above >= 0 and hits[0, above] == 0:
            above = tree[above, ABOVE]
        if above < 0:
            above = _find_above(p, n, touched, tree, mask)
        if above < 0:
            least = weight
        tree[p, ABOVE] = above
    return least


@register_jitable(error_model="numpy")
def _part(
    n: int, bit: int, new: int, counts: Any, hits: Any, touched: Any, tree: Any, mask: Any
) -> int:
    """Move the gathered rows to patterns that also have column `bit`; return the new count."""
    word, flag = bit // 64, np.uint64(1) << np.uint64(bit % 64)
    for i in range(n):
        p = touched[i]
        # If all rows of a pattern have the column, the pattern itself gains it.
        q = p
        if hits[0, p] != counts[0, p]:
            q = new
            new += 1
            for w in range(word + 1):
                mask[q, w] = mask[p, w]
            tree[q, LENGTH] = tree[p, LENGTH]
            for line in range(hits.shape[0]):
                counts[line, q] = hits[line, p]
                counts[line, p] -= hits[line, p]
        mask[q, word] |= flag
        tree[q, LENGTH] += 1
        tree[p, CHILD] = q
    # In a second pass, when every child is known: if the pattern above was touched too, its child
    # lies above this child. Otherwise the one above lacks the new column, and none is known.
    for i in range(n):
        p = touched[i]
        above = tree[p, ABOVE]
        joins = above >= 0 and hits[0, above] > 0
        tree[tree[p, CHILD], ABOVE] = tree[above, CHILD] if joins else -1
    return new


@njit(cache=True, error_model="numpy")
def offer_column(rows: Any, k: int, equality: bool, g: Any) -> bool:
    """Add the column of these rows if the anonymity stays at k or above; return whether it did."""
    of_row, row_counts, counts, hits, touched, tree, mask, state = g
    n = gather(rows, state[PATTERNS], of_row, row_counts, hits, touched)
    limit = state[ANONYMITY]
    anonymity = anonymity_within(n, limit, k, equality, counts, hits, touched, tree, mask)
    if anonymity >= k:
        new = _part(n, state[CHOSEN], state[PATTERNS], counts, hits, touched, tree, mask)
        for r in rows:
            of_row[r] = tree[of_row[r], CHILD]
        state[PATTERNS], state[ANONYMITY] = new, anonymity
        state[CHOSEN] += 1
    clear(n, hits, touched)
    return bool(anonymity >= k)


@njit(cache=True, error_model="numpy")
def fits(rows: Any, k: int, equality: bool, g: Any) -> bool:
    """Whether the column of these rows can be added at anonymity k."""
    of_row, row_counts, counts, hits, touched, tree, mask, state = g
    n = gather(rows, state[PATTERNS], of_row, row_counts, hits, touched)
    least = anonymity_within(n, k, k, equality, counts, hits, touched, tree, mask)
    clear(n, hits, touched)
    return bool(least >= k)


# Why a kernel returned: nothing is left to gain; a column that does not fit ended the search; the
# masks need more bits; the columns at hand are used up, and the caller may have more.
DONE, STOPPED, WIDEN, MORE = 0, 1, 2, 3
# Positions in `Queue.state`: the size of the heap, and the first item that was never in it.
HEAP, FRESH = 0, 1


@njit(cache=True, error_model="numpy")
def offer_in_turn(columns: Any, place: int, rule: Any, path: Any, first: int, g: Any) -> Any:
    """Offer columns from `place` on, numbered from `first`; return where it stopped, and why."""
    begin, end, rows = columns
    mask, state = g.mask, g.state
    for j in range(place, begin.size):
        chosen = state[CHOSEN]
        if chosen >= rule.most:
            return j, DONE
        if chosen >= 64 * mask.shape[1]:
            return j, WIDEN
        if begin[j] == end[j]:
            continue
        one = rows[begin[j] : end[j]]
        if offer_column(one, rule.k, rule.equality, g):
            path.item[chosen] = first + j
            path.anonymity[chosen] = state[ANONYMITY]
        elif rule.stop:
            return j, STOPPED
    return begin.size, MORE


@register_jitable(error_model="numpy")
def _classes(counts: Any, p: int) -> Any:
    """Rows of the false and of the true class in a packed count; unlabelled rows are in neither."""
    both = counts[0, p]
    hidden = counts[1, p] if counts.shape[0] == 2 else 0
    return (both & LOW) - (both >> HALF) - hidden, both >> HALF


@register_jitable(error_model="numpy")
def pairs_parted(n: int, counts: Any, hits: Any, touched: Any) -> Any:
    """Pairs of rows of opposite classes, equal so far, that the gathered column tells apart."""
    # Rows of different patterns differ already, so only pairs within a pattern count: one row with
    # the column, and one of the opposite class without it.
    pairs = np.int64(0)
    for i in range(n):
        others, ones = _classes(hits, touched[i])
        all_others, all_ones = _classes(counts, touched[i])
        pairs += ones * (all_others - others) + others * (all_ones - ones)
    return pairs


@register_jitable(error_model="numpy")
def minority_left(n: int, counts: Any, hits: Any, touched: Any) -> Any:
    """How many fewer rows are in the minority of their group once the gathered column splits it."""
    rows = np.int64(0)
    for i in range(n):
        others, ones = _classes(hits, touched[i])
        all_others, all_ones = _classes(counts, touched[i])
        rows += min(all_ones, all_others)
        rows -= min(ones, others) + min(all_ones - ones, all_others - others)
    return rows


@register_jitable(error_model="numpy")
def _before(a: int, b: int, column: Any, gain: Any) -> bool:
    if gain[a] != gain[b]:
        return bool(gain[a] > gain[b])
    return bool(column[a] < column[b])


@register_jitable(error_model="numpy")
def _push(item: int, size: int, heap: Any, column: Any, gain: Any) -> None:
    i = size
    while i > 0 and _before(item, heap[(i - 1) // 2], column, gain):
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = item


@register_jitable(error_model="numpy")
def _pop(size: int, heap: Any, column: Any, gain: Any) -> None:
    """Pop the first item of a heap; `size` counts those left."""
    last = heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _before(heap[child + 1], heap[child], column, gain):
            child += 1
        if _before(last, heap[child], column, gain):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = last


@register_jitable(error_model="numpy")
def _weigh(rows: Any, rule: Any, g: Any) -> Any:
    """The gain of a column in pairs; -1 if it does not fit, now and therefore ever."""
    of_row, row_counts, counts, hits, touched, tree, mask, state = g
    k, pairs = rule.k, np.int64(-1)
    n = gather(rows, state[PATTERNS], of_row, row_counts, hits, touched)
    # Where a column that does not fit ends the search, it must do so when its turn comes, not now.
    fits = rule.stop
    if not fits:
        fits = anonymity_within(n, k, k, rule.equality, counts, hits, touched, tree, mask) >= k
    if fits:
        pairs = pairs_parted(n, counts, hits, touched)
    clear(n, hits, touched)
    return pairs


@njit(cache=True, error_model="numpy")
def pick_lazily(columns: Any, rule: Any, path: Any, q: Any, g: Any) -> int:
    """Pick the column with the largest gain in pairs, again and again, by lazy evaluation.

    Pairs told apart stay so, so a gain only falls, and an earlier one is an upper bound.
    """
    begin, end, rows = columns
    column, gain, stamp, heap, places = q
    state, width = g.state, g.mask.shape[1]
    while state[CHOSEN] < rule.most:
        chosen, size, fresh = state[CHOSEN], places[HEAP], places[FRESH]
        if chosen >= 64 * width:
            return WIDEN
        waiting = fresh < column.size
        if size == 0 and not waiting:
            return DONE
        # Items from `fresh` on are sorted by their first bounds, so the first stands for them all:
        # the heap holds only items whose gain was counted at least once.
        if waiting and (size == 0 or _before(fresh, heap[0], column, gain)):
            if fresh >= begin.size:
                return MORE
            item, known = fresh, False
            places[FRESH] += 1
        else:
            item = heap[0]
            size -= 1
            _pop(size, heap, column, gain)
            # The others gain at most their entry in the heap, so an item that comes first with a
            # gain counted on the present set is the best; the lowest column wins ties.
            known = stamp[item] == chosen
        places[HEAP] = size
        if gain[item] <= rule.least_gain:
            return DONE
        if begin[item] == end[item]:
            continue
        one = rows[begin[item] : end[item]]
        if not known:
            gain[item], stamp[item] = _weigh(one, rule, g), chosen
            if gain[item] >= 0:
                _push(item, size, heap, column, gain)
                places[HEAP] += 1
        elif offer_column(one, rule.k, rule.equality, g):
            path.item[chosen], path.gain[chosen] = item, gain[item]
            path.anonymity[chosen] = state[ANONYMITY]
        elif rule.stop:
            return STOPPED
    return DONE


@register_jitable(error_model="numpy")
def _weigh_all(columns: Any, rule: Any, stamp: Any, g: Any) -> Any:
    """The candidate that lowers the minority most (ties: most pairs, lowest column), and by what.

    Candidates that do not fit are marked as out, unless such a column ends the search.
    """
    begin, end, rows = columns
    of_row, row_counts, counts, hits, touched, tree, mask, state = g
    k, best, most_rows, most_pairs = rule.k, -1, -1, -1
    for item in range(begin.size):
        if stamp[item] < 0:
            continue
        one = rows[begin[item] : end[item]]
        n = gather(one, state[PATTERNS], of_row, row_counts, hits, touched)
        left = minority_left(n, counts, hits, touched)
        pairs = pairs_parted(n, counts, hits, touched)
        # Without a least gain, telling pairs apart is gain enough: a split that leaves every
        # majority as it is may still let the next column change one.
        gains = pairs > 0 if rule.least_gain == 0 else left > rule.least_gain
        if gains and (left > most_rows or (left == most_rows and pairs > most_pairs)):
            least = anonymity_within(n, k, k, rule.equality, counts, hits, touched, tree, mask)
            if rule.stop or least >= k:
                best, most_rows, most_pairs = item, left, pairs
            else:
                stamp[item] = -1
        clear(n, hits, touched)
    return best, most_rows


@njit(cache=True, error_model="numpy")
def pick_eagerly(columns: Any, rule: Any, path: Any, q: Any, g: Any) -> int:
    """Pick the column that lowers the minority most, again and again.

    These gains may grow with the set, so no earlier one is a bound: all are counted at each step.
    """
    begin, end, rows = columns
    mask, state = g.mask, g.state
    while state[CHOSEN] < rule.most:
        chosen = state[CHOSEN]
        if chosen >= 64 * mask.shape[1]:
            return WIDEN
        best, gain = _weigh_all(columns, rule, q.stamp, g)
        if best < 0:
            return DONE
        q.stamp[best] = -1
        one = rows[begin[best] : end[best]]
        if not offer_column(one, rule.k, rule.equality, g):
            return STOPPED
        path.item[chosen], path.gain[chosen] = best, gain
        path.anonymity[chosen] = state[ANONYMITY]
    return DONE


def pair_gains(columns: Columns, g: Patterns) -> NDArray[np.int64]:
    """Gain of each column in pairs, given the patterns so far."""
    out = np.empty(len(columns.begin), dtype=np.int64)
    _gains(columns, g, out)
    return out


@njit(cache=True, error_model="numpy")
def _gains(columns: Any, g: Any, out: Any) -> None:
    begin, end, rows = columns
    of_row, row_counts, counts, hits, touched, _, _, state = g
    for j in range(begin.size):
        one = rows[begin[j] : end[j]]
        n = gather(one, state[PATTERNS], of_row, row_counts, hits, touched)
        out[j] = pairs_parted(n, counts, hits, touched)
        clear(n, hits, touched)
