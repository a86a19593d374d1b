"""The kernels that grow a C4.5 tree: judge every column at a node, split on the best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tamis.learn.c45_arrays import (
    ATTRIBUTE,
    COUNT,
    CUT,
    FIRST,
    GAIN,
    RATIO,
    SLACK,
    inner,
    outer,
)
from tamis.learn.c45_deal import deal, move

NEAR_AVERAGE = 1e-3  # a gain this little below the average still competes


@inner
def plogp(x: float) -> float:
    return x * math.log2(x) if x > SLACK else 0.0


@inner
def judge_number(
    data: Any, column: int, rows: Any, weight: Any, lo: int, hi: int, total: float, room: Any
) -> None:
    """Score the best cut of a numeric column; its gain stays -1 if there is none."""
    values, left, right = data.values[column], room.table[0], room.table[1]
    classes = len(left)
    for c in range(classes):
        left[c] = 0.0
        right[c] = 0.0
    known, end = 0.0, lo
    while end < hi and not math.isnan(values[rows[end]]):
        right[data.y[rows[end]]] += weight[end]
        known += weight[end]
        end += 1
    least = max(data.limits[0], min(25.0, 0.1 * known / classes)) - SLACK
    before = plogp(known)
    for c in range(classes):
        before -= plogp(right[c])
    best, cut, tries, below, best_below = 0.0, -1, 0, 0.0, 0.0
    for i in range(lo, end - 1):
        row = rows[i]
        left[data.y[row]] += weight[i]
        right[data.y[row]] -= weight[i]
        below += weight[i]
        if below < least or values[row] + data.limits[1] >= values[rows[i + 1]]:
            continue
        if known - below < least:
            break
        tries += 1
        after = plogp(below) + plogp(known - below)
        for c in range(classes):
            after -= plogp(left[c]) + plogp(right[c])
        gain = (before - after) / total
        if gain > best + SLACK:
            best, cut, best_below = gain, i, below
    if cut >= 0 and data.limits[2] > 0:
        best -= math.log2(tries) / total
    if cut < 0 or best <= SLACK:
        return
    spread = plogp(total) - plogp(best_below) - plogp(known - best_below) - plogp(total - known)
    low, high = values[rows[cut]], values[rows[cut + 1]]
    middle = (low + high) / 2
    room.scores[GAIN, column] = best
    room.scores[RATIO, column] = best * total / spread
    room.scores[CUT, column] = middle if middle < high else low


@inner
def judge_nominal(
    data: Any, column: int, rows: Any, weight: Any, lo: int, hi: int, total: float, room: Any
) -> None:
    """Score the multiway split of a nominal column; its gain stays -1 if two values lack rows."""
    values, table, levels = data.values[column], room.table, data.levels[column]
    classes = table.shape[1]
    for v in range(levels):
        for c in range(classes):
            table[v, c] = 0.0
    for i in range(lo, hi):
        value = values[rows[i]]
        if not math.isnan(value):
            table[int(value), data.y[rows[i]]] += weight[i]
    known, after, spread, enough = 0.0, 0.0, plogp(total), 0
    for v in range(levels):
        mass = 0.0
        for c in range(classes):
            mass += table[v, c]
            after -= plogp(table[v, c])
        after += plogp(mass)
        spread -= plogp(mass)
        known += mass
        if mass + SLACK >= data.limits[0]:
            enough += 1
    if enough < 2:
        return
    before = plogp(known)
    for c in range(classes):
        mass = 0.0
        for v in range(levels):
            mass += table[v, c]
        before -= plogp(mass)
    spread -= plogp(total - known)
    gain = max(before - after, 0.0)  # rounding may take a useless column below 0
    room.scores[GAIN, column] = gain / total
    room.scores[RATIO, column] = gain / spread


@inner
def best_column(scores: Any, counted: Any) -> int:
    """The best gain ratio among those whose gain is about average or more; -1 if none."""
    total, number = 0.0, 0
    for a in range(len(counted)):
        if scores[GAIN, a] >= 0 and counted[a]:
            total += scores[GAIN, a]
            number += 1
    average = total / number if number else 0.0
    best, chosen = 0.0, -1
    for a in range(len(counted)):
        reached = scores[GAIN, a] >= max(0.0, average - NEAR_AVERAGE)
        if reached and scores[RATIO, a] > best + SLACK:
            best, chosen = scores[RATIO, a], a
    return chosen


@inner
def choose_split(data: Any, rows: Any, weight: Any, lo: int, hi: int, mass: Any, room: Any) -> int:
    """The column to split a node on, -1 where it is pure, small, or nothing gains."""
    total, majority = 0.0, 0.0
    for c in range(len(mass)):
        total += mass[c]
        majority = max(majority, mass[c])
    if total + SLACK < 2 * data.limits[0] or total - majority < SLACK:
        return -1
    for a in range(len(data.levels)):
        room.scores[GAIN, a] = -1.0
        room.scores[CUT, a] = np.nan
        k = data.line[a]
        if data.levels[a] == 0:
            judge_number(data, a, rows[k], weight[k], lo, hi, total, room)
        else:
            judge_nominal(data, a, rows[k], weight[k], lo, hi, total, room)
    return int(best_column(room.scores, data.counted))


@outer
def grow(data: Any, rows: Any, weight: Any, size: int, plan: Any, room: Any) -> int:
    """Grow a tree from its root line; the number of nodes, -1 where nodes or arena ran out."""
    span, stack, shape = room.span, room.stack, plan.shape
    span[0, 0] = 0
    span[0, 1] = size
    stack[0] = 0
    waiting, used = 1, 1
    while waiting:
        waiting -= 1
        node = stack[waiting]
        lo, hi = span[node, 0], span[node, 1]
        chosen = choose_split(data, rows, weight, lo, hi, plan.mass[node], room)
        if chosen < 0:
            continue
        count = max(2, data.levels[chosen])
        if used + count > len(shape):
            return -1
        shape[node, ATTRIBUTE] = chosen
        shape[node, FIRST] = used
        shape[node, COUNT] = count
        plan.cut[node] = room.scores[CUT, chosen]
        end = deal(data, plan, plan.mass, node, rows[0], weight[0], lo, room)
        if end > rows.shape[1]:
            return -1
        for k in range(len(rows)):
            move(rows[k], weight[k], lo, hi, count, end, room)
        for b in range(count):
            if room.share[b] > 0:
                stack[waiting] = used + b
                waiting += 1
        used += count
    return used
