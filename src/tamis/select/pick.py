"""Kernels of greedy: offer columns in a fixed order, or pick the one of largest gain each time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tamis.select.patterns import (
    ANONYMITY,
    CHOSEN,
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
    heap: NDArray[np.int32]
    state: NDArray[np.int64]


def path(most: int, items: int) -> Path:
    """Room for a path of choices."""
    room = min(most, items)
    return Path(np.zeros(room, np.int32), np.zeros(room, np.int64), np.zeros(room, np.int64))


def queue(column: NDArray[np.int64], bound: NDArray[np.int64]) -> Queue:
    """Candidates in the order of their first gains, which are upper bounds."""
    items = len(column)
    heap, stamp = np.zeros(items, np.int32), np.zeros(items, np.int32)
    return Queue(column, bound.copy(), stamp, heap, np.zeros(2, np.int64))


@njit(cache=True)
def offer_in_turn(columns: Any, begin: int, rule: Any, path: Any, first: int, g: Any) -> Any:
    """Offer columns `begin` on; item numbers count from `first`. Where it stands, and why."""
    for j in range(begin, columns.begin.size):
        chosen = g.state[CHOSEN]
        if chosen >= rule.most:
            return j, DONE
        if chosen >= 64 * g.mask.shape[1]:
            return j, WIDEN
        rows = columns.rows[columns.begin[j] : columns.end[j]]
        if rows.size == 0:
            continue
        if offer(rows, rule.k, rule.equality, g):
            path.item[chosen] = first + j
            path.anonymity[chosen] = g.state[ANONYMITY]
        elif rule.stop:
            return j, STOPPED
    return columns.begin.size, MORE


@njit(cache=True)
def pairs_parted(touched: int, g: Any) -> Any:
    """Pairs of opposite classes, alike so far, that the gathered column tells apart."""
    pairs = np.int64(0)
    for i in range(touched):
        p = g.touched[i]
        others, ones = g.hits_classes[p, 0], g.hits_classes[p, 1]
        pairs += ones * (g.classes[p, 0] - others) + others * (g.classes[p, 1] - ones)
    return pairs


@njit(cache=True)
def minority_left(touched: int, g: Any) -> Any:
    """Rows that leave the minority of their group when the gathered column splits it."""
    rows = np.int64(0)
    for i in range(touched):
        p = g.touched[i]
        others, ones = g.hits_classes[p, 0], g.hits_classes[p, 1]
        all_others, all_ones = g.classes[p, 0], g.classes[p, 1]
        rows += min(all_ones, all_others)
        rows -= min(ones, others) + min(all_ones - ones, all_others - others)
    return rows


@njit(cache=True)
def _before(a: int, b: int, q: Any) -> bool:
    if q.gain[a] != q.gain[b]:
        return bool(q.gain[a] > q.gain[b])
    return bool(q.column[a] < q.column[b])


@njit(cache=True)
def _push(item: int, q: Any) -> None:
    i = q.state[HEAP]
    q.state[HEAP] += 1
    while i > 0 and _before(item, q.heap[(i - 1) // 2], q):
        q.heap[i] = q.heap[(i - 1) // 2]
        i = (i - 1) // 2
    q.heap[i] = item


@njit(cache=True)
def _pop(q: Any) -> Any:
    top = q.heap[0]
    q.state[HEAP] -= 1
    size = q.state[HEAP]
    last = q.heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _before(q.heap[child + 1], q.heap[child], q):
            child += 1
        if _before(last, q.heap[child], q):
            break
        q.heap[i] = q.heap[child]
        i = child
    q.heap[i] = last
    return np.int64(top)


@njit(cache=True)
def _weigh(item: int, rows: Any, rule: Any, q: Any, g: Any) -> None:
    """Count the gain anew and put the item back, unless it does not fit and never will."""
    touched = gather(rows, g)
    if rule.stop or anonymity_within(touched, rule.k, rule.k, rule.equality, g) >= rule.k:
        q.gain[item] = pairs_parted(touched, g)
        q.stamp[item] = g.state[CHOSEN]
        _push(item, q)
    clear(touched, g)


@njit(cache=True)
def _accept(item: int, gain: int, rows: Any, rule: Any, path: Any, g: Any) -> bool:
    chosen = g.state[CHOSEN]
    if not offer(rows, rule.k, rule.equality, g):
        return False
    path.item[chosen] = item
    path.gain[chosen] = gain
    path.anonymity[chosen] = g.state[ANONYMITY]
    return True


@njit(cache=True)
def pick_lazily(columns: Any, rule: Any, path: Any, q: Any, g: Any) -> int:
    """Choose by largest gain in pairs; a gain only falls, so an old one is an upper bound."""
    while True:
        if g.state[CHOSEN] >= rule.most:
            return DONE
        if g.state[CHOSEN] >= 64 * g.mask.shape[1]:
            return WIDEN
        fresh = q.state[FRESH]
        waiting = fresh < q.column.size
        if q.state[HEAP] == 0 and not waiting:
            return DONE
        if waiting and (q.state[HEAP] == 0 or _before(fresh, q.heap[0], q)):
            if fresh >= columns.begin.size:
                return MORE
            item, known = fresh, False
            q.state[FRESH] += 1
        else:
            item = _pop(q)
            known = q.stamp[item] == g.state[CHOSEN]
        if q.gain[item] <= rule.least_gain:
            return DONE
        rows = columns.rows[columns.begin[item] : columns.end[item]]
        if rows.size == 0:
            continue
        if not known:
            _weigh(item, rows, rule, q, g)
        elif not _accept(item, q.gain[item], rows, rule, path, g) and rule.stop:
            return STOPPED


@njit(cache=True)
def _weigh_all(columns: Any, rule: Any, q: Any, g: Any) -> Any:
    """The candidate by largest fall of the minority, then most pairs told apart, then column."""
    best, best_rows, best_pairs = -1, -1, -1
    for item in range(q.column.size):
        if q.stamp[item] < 0:
            continue
        touched = gather(columns.rows[columns.begin[item] : columns.end[item]], g)
        rows, pairs = minority_left(touched, g), pairs_parted(touched, g)
        gains = pairs > 0 if rule.least_gain == 0 else rows > rule.least_gain
        if gains and (rows > best_rows or (rows == best_rows and pairs > best_pairs)):
            least = anonymity_within(touched, rule.k, rule.k, rule.equality, g)
            if rule.stop or least >= rule.k:
                best, best_rows, best_pairs = item, rows, pairs
            else:
                q.stamp[item] = -1
        clear(touched, g)
    return best, best_rows


@njit(cache=True)
def pick_eagerly(columns: Any, rule: Any, path: Any, q: Any, g: Any) -> int:
    """Choose by fall of the minority; its gains may grow, so all are counted each time."""
    while g.state[CHOSEN] < rule.most:
        if g.state[CHOSEN] >= 64 * g.mask.shape[1]:
            return WIDEN
        best, gain = _weigh_all(columns, rule, q, g)
        if best < 0:
            return DONE
        q.stamp[best] = -1
        rows = columns.rows[columns.begin[best] : columns.end[best]]
        if not _accept(best, gain, rows, rule, path, g):
            return STOPPED
    return DONE
