"""Kernels of greedy: offer columns in a fixed order, or pick the one of largest gain each time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tamis.select.patterns import (
    ANONYMITY,
    CHOSEN,
    HALF,
    LOW,
    PATTERNS,
    anonymity_within,
    clear,
    gather,
    offer,
)

DONE, STOPPED, WIDEN, MORE = 0, 1, 2, 3
HEAP, FRESH = 0, 1


class Rule(NamedTuple):
    """What ends or bars a choice."""

    k: int
    equality: bool
    stop: bool
    most: int
    least_gain: float
    """In the unit of the counts; a gain must be above it."""


class Path(NamedTuple):
    """The choices so far, by their place in the queue."""

    item: NDArray[np.int32]
    gain: NDArray[np.int64]
    anonymity: NDArray[np.int64]


class Queue(NamedTuple):
    """Candidates by the last known gain; those from `FRESH` on still wait in their first order."""

    column: NDArray[np.int64]
    gain: NDArray[np.int64]
    stamp: NDArray[np.int32]
    """How many columns were chosen when the gain was counted; -1: the item is out."""
    heap: NDArray[np.int64]
    state: NDArray[np.int64]


def path(most: int, items: int) -> Path:
    """Room for a path of choices."""
    room = min(most, items)
    return Path(np.zeros(room, np.int32), np.zeros(room, np.int64), np.zeros(room, np.int64))


def queue(column: NDArray[np.int64], bound: NDArray[np.int64]) -> Queue:
    """Candidates in the order of their first gains, which are upper bounds."""
    items = len(column)
    heap, stamp = np.zeros(items, np.int64), np.zeros(items, np.int32)
    return Queue(column, bound.copy(), stamp, heap, np.zeros(2, np.int64))


@njit(cache=True, error_model="numpy")
def offer_in_turn(columns: Any, place: int, rule: Any, path: Any, first: int, g: Any) -> Any:
    """Offer columns `place` on; item numbers count from `first`. Where it stands, and why."""
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
        if offer(one, rule.k, rule.equality, g):
            path.item[chosen] = first + j
            path.anonymity[chosen] = state[ANONYMITY]
        elif rule.stop:
            return j, STOPPED
    return begin.size, MORE


@njit(cache=True, error_model="numpy")
def _classes(counts: Any, p: int) -> Any:
    """Rows of the false and of the true class that a pattern counts."""
    both = counts[0, p]
    hidden = counts[1, p] if counts.shape[0] == 2 else 0
    return (both & LOW) - (both >> HALF) - hidden, both >> HALF


@njit(cache=True, error_model="numpy")
def pairs_parted(n: int, counts: Any, hits: Any, touched: Any) -> Any:
    """Pairs of opposite classes, alike so far, that the gathered column tells apart."""
    pairs = np.int64(0)
    for i in range(n):
        others, ones = _classes(hits, touched[i])
        all_others, all_ones = _classes(counts, touched[i])
        pairs += ones * (all_others - others) + others * (all_ones - ones)
    return pairs


@njit(cache=True, error_model="numpy")
def minority_left(n: int, counts: Any, hits: Any, touched: Any) -> Any:
    """Rows that leave the minority of their group when the gathered column splits it."""
    rows = np.int64(0)
    for i in range(n):
        others, ones = _classes(hits, touched[i])
        all_others, all_ones = _classes(counts, touched[i])
        rows += min(all_ones, all_others)
        rows -= min(ones, others) + min(all_ones - ones, all_others - others)
    return rows


@njit(cache=True, error_model="numpy")
def _before(a: int, b: int, column: Any, gain: Any) -> bool:
    if gain[a] != gain[b]:
        return bool(gain[a] > gain[b])
    return bool(column[a] < column[b])


@njit(cache=True, error_model="numpy")
def _push(item: int, size: int, heap: Any, column: Any, gain: Any) -> None:
    i = size
    while i > 0 and _before(item, heap[(i - 1) // 2], column, gain):
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = item


@njit(cache=True, error_model="numpy")
def _pop(size: int, heap: Any, column: Any, gain: Any) -> None:
    """Take the first item out of a heap; `size` counts those left."""
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


@njit(cache=True, error_model="numpy")
def _weigh(rows: Any, rule: Any, g: Any) -> Any:
    """What a column would gain in pairs; -1 where it does not fit, and so never will."""
    of_row, row_counts, counts, hits, touched, tree, mask, state = g
    k, pairs = rule.k, np.int64(-1)
    n = gather(rows, state[PATTERNS], of_row, row_counts, hits, touched)
    # Where a column that does not fit stops the search, it must come to its turn.
    fits = rule.stop
    if not fits:
        fits = anonymity_within(n, k, k, rule.equality, counts, hits, touched, tree, mask) >= k
    if fits:
        pairs = pairs_parted(n, counts, hits, touched)
    clear(n, hits, touched)
    return pairs


@njit(cache=True, error_model="numpy")
def pick_lazily(columns: Any, rule: Any, path: Any, q: Any, g: Any) -> int:
    """Choose by largest gain in pairs; a gain only falls, so an old one is an upper bound."""
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
        if waiting and (size == 0 or _before(fresh, heap[0], column, gain)):
            if fresh >= begin.size:
                return MORE
            item, known = fresh, False
            places[FRESH] += 1
        else:
            item = heap[0]
            size -= 1
            _pop(size, heap, column, gain)
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
        elif offer(one, rule.k, rule.equality, g):
            path.item[chosen], path.gain[chosen] = item, gain[item]
            path.anonymity[chosen] = state[ANONYMITY]
        elif rule.stop:
            return STOPPED
    return DONE


@njit(cache=True, error_model="numpy")
def _weigh_all(columns: Any, rule: Any, stamp: Any, g: Any) -> Any:
    """The candidate by largest fall of the minority, then most pairs told apart, then column."""
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
    """Choose by fall of the minority; its gains may grow, so all are counted each time."""
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
        if not offer(one, rule.k, rule.equality, g):
            return STOPPED
        path.item[chosen], path.gain[chosen] = best, gain
        path.anonymity[chosen] = state[ANONYMITY]
    return DONE
