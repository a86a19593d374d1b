"""The kernels that grow a C4.5 tree: choose a split, deal the rows to its branches.

A tree is three arrays. `shape` has one line of integers a node: the attribute it splits on (-1
for a leaf), its first child (children are neighbours) and their number. `cut` has the threshold
of a split on a number, NaN at all other nodes. `mass` has the weight of each class at each node.

The rows of a node are one span of an arena: the first line of the arena holds them in table
order, every further line in the order of one numeric column, missing values last. The last
child is grown first, so all beyond its span is free and the arena is a stack. A row whose value
is missing goes to every branch with a share of its weight, so each place has its own weight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

ATTRIBUTE, FIRST, COUNT = range(3)

SLACK = 1e-6  # weights and gains nearer than this are equal: sums of shares are not exact
NEAR_AVERAGE = 1e-3  # a gain this little below the average still competes


@njit(cache=True)
def plogp(x: float) -> float:
    return x * math.log2(x) if x > SLACK else 0.0


@njit(cache=True)
def best_cut(
    column: Any,
    y: Any,
    rows: Any,
    weight: Any,
    lo: int,
    hi: int,
    total: float,
    settings: Any,
    left: Any,
    right: Any,
    found: Any,
) -> float:
    """The best cut of a numeric column, NaN if none; `found` = gain, ratio."""
    min_rows, resolution, mdl = settings[0], settings[1], settings[2]
    classes = len(left)
    for c in range(classes):
        left[c] = 0.0
        right[c] = 0.0
    known = 0.0
    end = lo
    while end < hi and not math.isnan(column[rows[end]]):
        right[y[rows[end]]] += weight[end]
        known += weight[end]
        end += 1
    least = max(min_rows, min(25.0, 0.1 * known / classes))
    if known + SLACK < 2 * least:
        return np.nan
    before = plogp(known)
    for c in range(classes):
        before -= plogp(right[c])
    best, cut, tries, below = 0.0, -1, 0, 0.0
    best_below = 0.0
    for i in range(lo, end - 1):
        row = rows[i]
        left[y[row]] += weight[i]
        right[y[row]] -= weight[i]
        below += weight[i]
        if column[row] + resolution >= column[rows[i + 1]]:
            continue
        if below + SLACK < least:
            continue
        if known - below + SLACK < least:
            break
        tries += 1
        after = plogp(below) + plogp(known - below)
        for c in range(classes):
            after -= plogp(left[c]) + plogp(right[c])
        gain = (before - after) / total
        if gain > best + SLACK:
            best, cut, best_below = gain, i, below
    if cut < 0:
        return np.nan
    if mdl > 0:
        best -= math.log2(tries) / total
    if best <= SLACK:
        return np.nan
    spread = plogp(total) - plogp(best_below) - plogp(known - best_below) - plogp(total - known)
    found[0] = best
    found[1] = best / (spread / total)
    low, high = column[rows[cut]], column[rows[cut + 1]]
    middle = low + (high - low) / 2
    return middle if middle < high else low


@njit(cache=True)
def nominal_gain(
    column: Any,
    y: Any,
    rows: Any,
    weight: Any,
    lo: int,
    hi: int,
    total: float,
    min_rows: float,
    table: Any,
    levels: int,
    found: Any,
) -> bool:
    """Whether two values have rows enough; `found` = gain, ratio of the multiway split."""
    classes = table.shape[1]
    for v in range(levels):
        for c in range(classes):
            table[v, c] = 0.0
    for i in range(lo, hi):
        value = column[rows[i]]
        if not math.isnan(value):
            table[int(value), y[rows[i]]] += weight[i]
    known, after, spread, enough = 0.0, 0.0, plogp(total), 0
    for v in range(levels):
        mass = 0.0
        for c in range(classes):
            mass += table[v, c]
            after -= plogp(table[v, c])
        after += plogp(mass)
        spread -= plogp(mass)
        known += mass
        if mass + SLACK >= min_rows:
            enough += 1
    if enough < 2:
        return False
    before = plogp(known)
    for c in range(classes):
        mass = 0.0
        for v in range(levels):
            mass += table[v, c]
        before -= plogp(mass)
    spread -= plogp(total - known)
    found[0] = (before - after) / total
    found[1] = found[0] / (spread / total) if spread > SLACK else 0.0
    return True


@njit(cache=True)
def best_attribute(gains: Any, ratios: Any, counted: Any) -> int:
    """The best gain ratio among those whose gain is about average or more; -1 if none."""
    total, number = 0.0, 0
    for a in range(len(gains)):
        if gains[a] >= 0 and counted[a]:
            total += gains[a]
            number += 1
    average = total / number if number else 0.0
    best, chosen = 0.0, -1
    for a in range(len(gains)):
        if gains[a] >= 0 and gains[a] >= average - NEAR_AVERAGE and ratios[a] > best + SLACK:
            best, chosen = ratios[a], a
    return chosen


@njit(cache=True)
def deal(
    values: Any,
    y: Any,
    shape: Any,
    cut: Any,
    mass: Any,
    node: int,
    rows: Any,
    weight: Any,
    lo: int,
    hi: int,
    branch: Any,
    share: Any,
    start: Any,
) -> int:
    """Find each row's branch, each branch's share and place, and the children's class weights.

    Returns how many places all children together need.
    """
    column = values[shape[node, ATTRIBUTE]]
    first, count, limit = shape[node, FIRST], shape[node, COUNT], cut[node]
    nominal = math.isnan(limit)
    for b in range(count):
        share[b] = 0.0
        start[b] = 0
        for c in range(mass.shape[1]):
            mass[first + b, c] = 0.0
    known, unknown = 0.0, 0
    for i in range(lo, hi):
        row = rows[i]
        value = column[row]
        if math.isnan(value):
            branch[row] = -1
            unknown += 1
            continue
        b = int(value) if nominal else int(value > limit)
        branch[row] = b
        start[b] += 1
        share[b] += weight[i]
        known += weight[i]
        mass[first + b, y[row]] += weight[i]
    place = 0
    for b in range(count):
        share[b] = share[b] / known if known > 0 else 0.0
        size = start[b] + (unknown if share[b] > 0 else 0)
        start[b] = place
        place += size
    start[count] = place
    if unknown:
        for i in range(lo, hi):
            if branch[rows[i]] < 0:
                for b in range(count):
                    mass[first + b, y[rows[i]]] += weight[i] * share[b]
    return place


@njit(cache=True)
def move(
    rows: Any,
    weight: Any,
    lo: int,
    hi: int,
    to: int,
    branch: Any,
    share: Any,
    start: Any,
    count: int,
    fill: Any,
    spare_rows: Any,
    spare_weight: Any,
) -> None:
    """Put the rows of a span branch by branch at `to`, each branch in the order it had."""
    for b in range(count):
        fill[b] = start[b]
    for i in range(lo, hi):
        row = rows[i]
        b = branch[row]
        if b >= 0:
            spare_rows[fill[b]] = row
            spare_weight[fill[b]] = weight[i]
            fill[b] += 1
        else:
            for b in range(count):
                if share[b] > 0:
                    spare_rows[fill[b]] = row
                    spare_weight[fill[b]] = weight[i] * share[b]
                    fill[b] += 1
    for i in range(start[count]):
        rows[to + i] = spare_rows[i]
        weight[to + i] = spare_weight[i]


@njit(cache=True)
def choose_split(
    values: Any,
    levels: Any,
    line: Any,
    counted: Any,
    y: Any,
    rows: Any,
    weight: Any,
    lo: int,
    hi: int,
    total: float,
    settings: Any,
    table: Any,
    gains: Any,
    ratios: Any,
    cuts: Any,
    found: Any,
) -> int:
    """The attribute to split a node on, -1 if none helps; `cuts` = the best cut of each number."""
    left, right = table[0], table[1]
    for a in range(len(levels)):
        gains[a] = -1.0
        cuts[a] = np.nan
        if levels[a] == 0:
            k = line[a]
            cuts[a] = best_cut(
                values[a], y, rows[k], weight[k], lo, hi, total, settings, left, right, found
            )
            useful = not math.isnan(cuts[a])
        else:
            useful = nominal_gain(
                values[a],
                y,
                rows[0],
                weight[0],
                lo,
                hi,
                total,
                settings[0],
                table,
                levels[a],
                found,
            )
        if useful:
            gains[a] = found[0]
            ratios[a] = found[1]
    return best_attribute(gains, ratios, counted)


@njit(cache=True)
def grow(
    values: Any,
    levels: Any,
    line: Any,
    counted: Any,
    y: Any,
    rows: Any,
    weight: Any,
    size: int,
    settings: Any,
    shape: Any,
    cut: Any,
    mass: Any,
) -> int:
    """Grow a tree into the three arrays; the number of nodes, -1 where nodes or arena ran out."""
    capacity, classes = mass.shape
    most = 2
    for a in range(len(levels)):
        most = max(most, levels[a])
    branch = np.empty(values.shape[1], np.int32)
    share, table, found = np.empty(most), np.empty((most, classes)), np.empty(2)
    start, fill = np.empty(most + 1, np.int32), np.empty(most, np.int32)
    gains, ratios, cuts = np.empty(len(levels)), np.empty(len(levels)), np.empty(len(levels))
    spare_rows, spare_weight = np.empty_like(rows[0]), np.empty_like(weight[0])
    span, stack = np.empty((capacity, 2), np.int32), np.empty(capacity, np.int32)
    for c in range(classes):
        mass[0, c] = 0.0
    for i in range(size):
        mass[0, y[rows[0, i]]] += weight[0, i]
    shape[0, ATTRIBUTE] = -1
    span[0, 0], span[0, 1] = 0, size
    stack[0], waiting, used = 0, 1, 1
    while waiting:
        waiting -= 1
        node = stack[waiting]
        lo, hi = span[node]
        total, majority = 0.0, 0.0
        for c in range(classes):
            total += mass[node, c]
            majority = max(majority, mass[node, c])
        if total + SLACK < 2 * settings[0] or total - majority < SLACK:
            continue
        chosen = choose_split(
            values,
            levels,
            line,
            counted,
            y,
            rows,
            weight,
            lo,
            hi,
            total,
            settings,
            table,
            gains,
            ratios,
            cuts,
            found,
        )
        if chosen < 0:
            continue
        count = 2 if levels[chosen] == 0 else levels[chosen]
        if used + count > capacity:
            return -1
        shape[node, ATTRIBUTE] = chosen
        shape[node, FIRST] = used
        shape[node, COUNT] = count
        cut[node] = cuts[chosen]
        place = deal(
            values, y, shape, cut, mass, node, rows[0], weight[0], lo, hi, branch, share, start
        )
        if lo + place > rows.shape[1]:
            return -1
        for k in range(len(rows)):
            move(
                rows[k],
                weight[k],
                lo,
                hi,
                lo,
                branch,
                share,
                start,
                count,
                fill,
                spare_rows,
                spare_weight,
            )
        for b in range(count):
            child = used + b
            shape[child, ATTRIBUTE] = -1
            span[child, 0], span[child, 1] = lo + start[b], lo + start[b + 1]
            if share[b] > 0:
                stack[waiting] = child
                waiting += 1
        used += count
    return used
