"""The kernels that grow a C4.5 tree: judge every column at a node, split on the best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from tamis.learn.c45_arrays import (
    ATTRIBUTE,
    BRANCHES,
    COUNT,
    COUNTED,
    CUT,
    FIRST,
    GAIN,
    HI,
    LEVELS,
    LINE,
    LO,
    RATIO,
    SLACK,
    STACK,
)
from tamis.learn.c45_deal import deal, move

NEAR_AVERAGE = 1e-3  # a gain this little below the average still competes


@njit(cache=True, error_model="numpy")
def plogp(x: float) -> float:
    return x * math.log2(x) if x > SLACK else 0.0


@njit(cache=True, error_model="numpy")
def plogp_sum(weights: Any) -> float:
    total = 0.0
    for weight in weights:
        total += plogp(weight)
    return total


@njit(cache=True, error_model="numpy")
def judge_number(
    values: Any,
    y: Any,
    rows: Any,
    weight: Any,
    lo: int,
    hi: int,
    total: float,
    min_rows: float,
    resolution: float,
    mdl: bool,
    table: Any,
    score: Any,
) -> None:
    """Score the best cut of a numeric column; its gain stays -1 if there is none."""
    left, right = table[0], table[1]
    table[0] = 0.0
    table[1] = 0.0
    known, end = 0.0, lo
    while end < hi and not math.isnan(values[rows[end]]):
        w = weight[end]
        right[y[rows[end]]] += w
        known += w
        end += 1
    least = 0.1 * known / len(left)
    if least > 25.0:
        least = 25.0
    if least < min_rows:
        least = min_rows
    least -= SLACK
    before = plogp(known) - plogp_sum(right)
    best, cut, tries, below, best_below = 0.0, -1, 0, 0.0, 0.0
    for i in range(lo, end - 1):
        row, w = rows[i], weight[i]
        left[y[row]] += w
        right[y[row]] -= w
        below += w
        if below < least or values[row] + resolution >= values[rows[i + 1]]:
            continue
        if known - below < least:
            break
        tries += 1
        after = plogp(below) - plogp_sum(left) + plogp(known - below) - plogp_sum(right)
        gain = (before - after) / total
        if gain > best + SLACK:
            best, cut, best_below = gain, i, below
    if cut >= 0 and mdl:
        best -= math.log2(tries) / total
    if cut < 0 or best <= SLACK:
        return
    spread = plogp(total) - plogp(best_below) - plogp(known - best_below) - plogp(total - known)
    low, high = values[rows[cut]], values[rows[cut + 1]]
    middle = (low + high) / 2
    score[GAIN] = best
    score[RATIO] = best * total / spread
    score[CUT] = middle if middle < high else low


@njit(cache=True, error_model="numpy")
def judge_nominal(
    values: Any,
    y: Any,
    rows: Any,
    weight: Any,
    lo: int,
    hi: int,
    total: float,
    min_rows: float,
    levels: int,
    table: Any,
    score: Any,
) -> None:
    """Score the multiway split of a nominal column; its gain stays -1 if two values lack rows."""
    table[: levels + 1] = 0.0  # the last line for all values together
    for i in range(lo, hi):
        row = rows[i]
        value = values[row]
        if not math.isnan(value):
            table[np.int64(value), y[row]] += weight[i]
    known, after, spread, enough = 0.0, 0.0, plogp(total), 0
    for v in range(levels):
        mass = 0.0
        for c in range(table.shape[1]):
            mass += table[v, c]
            table[levels, c] += table[v, c]
        share = plogp(mass)
        after += share - plogp_sum(table[v])
        spread -= share
        known += mass
        if mass + SLACK >= min_rows:
            enough += 1
    if enough < 2:
        return
    spread -= plogp(total - known)
    gain = plogp(known) - plogp_sum(table[levels]) - after
    if gain < 0.0:
        gain = 0.0  # rounding may take a useless column below
    score[GAIN] = gain / total
    score[RATIO] = gain / spread


@njit(cache=True, error_model="numpy")
def best_column(scores: Any, columns: Any) -> int:
    """The best gain ratio among those whose gain is about average or more; -1 if none."""
    total, number = 0.0, 0
    for a in range(len(scores)):
        gain = scores[a, GAIN]
        if gain >= 0.0 and columns[COUNTED, a]:
            total += gain
            number += 1
    reached = total / number - NEAR_AVERAGE if number else 0.0
    best, chosen = 0.0, -1
    for a in range(len(scores)):
        gain, ratio = scores[a, GAIN], scores[a, RATIO]
        if gain >= 0.0 and gain >= reached and ratio > best + SLACK:
            best, chosen = ratio, a
    return chosen


@njit(cache=True, error_model="numpy")
def weight_to_split(mass: Any, min_rows: float) -> float:
    """The weight of a node, 0 where it is pure or too small to split."""
    total, majority = 0.0, 0.0
    for weight in mass:
        total += weight
        if weight > majority:
            majority = weight
    if total + SLACK < 2 * min_rows or total - majority < SLACK:
        return 0.0
    return total


@njit(cache=True, error_model="numpy")
def grow(data: Any, plan: Any, arena: Any, room: Any, limits: Any) -> int:
    """Grow a tree from its root line; the number of nodes, -1 where nodes or arena ran out."""
    values, y, columns = data
    nodes, cut, mass = plan
    rows, weight = arena
    branch, share, table, scores = room
    min_rows, resolution, mdl = limits
    nodes[0, STACK] = 0
    waiting, used = 1, 1
    while waiting:
        waiting -= 1
        node = nodes[waiting, STACK]
        lo, hi = nodes[node, LO], nodes[node, HI]
        total = weight_to_split(mass[node], min_rows)
        if total == 0.0:
            continue
        for a in range(len(values)):
            levels, k = columns[LEVELS, a], columns[LINE, a]
            column, order, held, score = values[a], rows[k], weight[k], scores[a]
            score[GAIN] = -1.0
            score[CUT] = np.nan
            if levels:
                judge_nominal(column, y, order, held, lo, hi, total, min_rows, levels, table, score)
            else:
                judge_number(
                    column, y, order, held, lo, hi, total, min_rows, resolution, mdl, table, score
                )
        chosen = best_column(scores, columns)
        if chosen < 0:
            continue
        count = columns[BRANCHES, chosen]
        if used + count > len(nodes):
            return -1
        nodes[node, ATTRIBUTE] = chosen
        nodes[node, FIRST] = used
        nodes[node, COUNT] = count
        cut[node] = scores[chosen, CUT]
        end = deal(values, y, nodes, cut, mass, node, rows, weight, lo, branch, share)
        if end > rows.shape[1]:
            return -1
        for k in range(len(rows) - 1):
            move(nodes, node, rows, weight, k, branch, share)
        for b in range(count):
            nodes[waiting, STACK] = used + b
            waiting += 1
        used += count
    return used
