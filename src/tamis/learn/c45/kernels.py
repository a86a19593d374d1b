"""The kernels of C4.5: distribute rows to branches, grow a tree, prune it.

The rows of a node are one span of an arena: the first line of the arena has them in table
order, each further line in the order of one numeric column, missing values last. The last
child is processed first, so everything beyond its span is free and the arena is a stack. A row
whose value is missing goes to every branch with part of its weight, so each entry has a weight.

Rows and classes are unsigned: an index that cannot be negative needs no sign check, which makes
a fit a quarter faster.

Pruning changes the tree in place: a leaf or a branch replaces a subtree. A pruned node keeps
its index; what it no longer points to is left behind and dropped when the tree is packed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import register_jitable

from tamis.kernel_cache import njit

ATTRIBUTE, FIRST, COUNT, LO, HI, STACK, TASK = range(7)
LEVELS, BRANCHES, LINE, COUNTED = range(4)
GAIN, RATIO, CUT = range(3)

SLACK = 1e-6  # weights and gains closer than this are equal: sums of shares are not exact


@register_jitable(error_model="numpy")
def branch_of(value: float, cut: float) -> Any:
    """The branch a value takes, -1 if it is missing; a nominal value is its branch."""
    if math.isnan(value):
        return -1
    if math.isnan(cut):
        return np.int64(value)
    return 1 if value > cut else 0


@register_jitable(error_model="numpy")
def send_down(
    data: Any, nodes: Any, cut: Any, mass: Any, arena: Any, room: Any, node: int, to: int
) -> bool:
    """Move a node's rows to its children, which follow one another from `to`.

    Their class weights are written to `mass`. False if the arena ran out.
    """
    lines, weights = arena
    branch, share = room.branch, room.share
    end = deal(data, nodes, cut, mass, lines[0], weights[0], node, to, branch, share)
    if end > lines.shape[1]:
        return False
    for k in range(len(lines) - 1):
        move_rows(nodes, node, lines, weights, k, branch, share)
    return True


@register_jitable(error_model="numpy")
def deal(
    data: Any,
    nodes: Any,
    cut: Any,
    mass: Any,
    rows: Any,
    weight: Any,
    node: int,
    to: int,
    branch: Any,
    share: Any,
) -> int:
    """Write each row's branch, each branch's share and span, and the children's class weights.

    The children's spans follow one another from `to`; returns where the last one ends.
    """
    column, y = data.values[nodes[node, ATTRIBUTE]], data.y
    lo, hi = nodes[node, LO], nodes[node, HI]
    first, count = nodes[node, FIRST], nodes[node, COUNT]
    share[:count] = 0.0
    nodes[first : first + count, HI] = 0
    mass[first : first + count] = 0.0
    known, unknown = 0.0, 0
    for i in range(lo, hi):
        row, w = rows[i], weight[i]
        b = branch_of(column[row], cut[node])
        branch[row] = b
        if b < 0:
            unknown += 1
            continue
        nodes[first + b, HI] += 1
        share[b] += w
        known += w
        mass[first + b, y[row]] += w
    to = lay_spans(nodes[first : first + count], share, known, unknown, to)
    if unknown:
        for i in range(lo, hi):
            row = rows[i]
            if branch[row] < 0:
                for b in range(count):
                    mass[first + b, y[row]] += weight[i] * share[b]
    return to


@register_jitable(error_model="numpy")
def lay_spans(children: Any, share: Any, known: float, unknown: int, to: int) -> int:
    """Turn known weights into shares, and row counts into spans from `to`; return their end.

    Rows with a missing value are in every branch that some row with a known value takes.
    """
    for b in range(len(children)):
        size = children[b, HI]
        if share[b] > 0:
            share[b] /= known
            size += unknown
        children[b, LO] = to
        to += size
        children[b, HI] = to
    return to


@register_jitable(error_model="numpy")
def move_rows(
    nodes: Any, node: int, lines: Any, weights: Any, k: int, branch: Any, share: Any
) -> None:
    """Move one line of a node's rows to where `deal` put them, in the same order in each branch."""
    rows, weight, spare_rows, spare_weight = lines[k], weights[k], lines[-1], weights[-1]
    first, count = nodes[node, FIRST], nodes[node, COUNT]
    start, end = nodes[first, LO], nodes[first + count - 1, HI]
    for b in range(first, first + count):
        nodes[b, HI] = nodes[b, LO]  # grows back to the end as the branch is filled
    for i in range(nodes[node, LO], nodes[node, HI]):
        row, w = rows[i], weight[i]
        b = branch[row]
        known = b >= 0
        last = b + 1 if known else count
        b = b if known else 0
        while b < last:
            if known or share[b] > 0:
                to = nodes[first + b, HI]
                spare_rows[to] = row
                spare_weight[to] = w if known else w * share[b]
                nodes[first + b, HI] = to + 1
            b += 1
    # Copied back only now: the children's span may overlap the node's own.
    for i in range(start, end):
        rows[i] = spare_rows[i]
        weight[i] = spare_weight[i]


NEAR_AVERAGE = 1e-3  # a gain this little below the average still competes


@register_jitable(error_model="numpy")
def plogp(x: float) -> float:
    """x log2 x: entropies times weights, so that no class share has to be divided out."""
    return x * math.log2(x) if x > SLACK else 0.0


@register_jitable(error_model="numpy")
def plogp_sum(weights: Any) -> float:
    total = 0.0
    for weight in weights:
        total += plogp(weight)
    return total


@register_jitable(error_model="numpy")
def least_weight(known: float, classes: int, min_rows: float) -> float:
    """Least weight of a branch: a tenth of the mean class weight, within `min_rows` and 25.

    `min_rows` wins where it is above 25.
    """
    least = 0.1 * known / classes
    if least > 25.0:
        least = 25.0
    if least < min_rows:
        least = min_rows
    return least - SLACK


@register_jitable(error_model="numpy")
def middle_of(low: float, high: float) -> float:
    """The midpoint of two neighbouring values, or the lower one if it rounds up to the higher."""
    middle = (low + high) / 2
    return middle if middle < high else low


@register_jitable(error_model="numpy")
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
    table[:2] = 0.0
    left, right = table[0], table[1]
    known, end = 0.0, lo
    while end < hi and not math.isnan(values[rows[end]]):
        w = weight[end]
        right[y[rows[end]]] += w
        known += w
        end += 1
    least = least_weight(known, len(left), min_rows)
    before = plogp(known) - plogp_sum(right)
    best, cut, tries, below, best_below = 0.0, -1, 0, 0.0, 0.0
    for i in range(lo, end - 1):
        row, w = rows[i], weight[i]
        left[y[row]] += w
        right[y[row]] -= w
        below += w
        if below < least or values[row] + resolution >= values[rows[i + 1]]:
            continue
        if known - below < least:  # and the side above only gets lighter
            break
        tries += 1
        after = plogp(below) - plogp_sum(left) + plogp(known - below) - plogp_sum(right)
        gain = (before - after) / total
        if gain > best + SLACK:  # of equal gains, the lowest cut wins: cuts come in ascending order
            best, cut, best_below = gain, i, below
    if cut >= 0 and mdl:  # the cost of saying which of the possible cuts was chosen
        best -= math.log2(tries) / total
    if cut < 0 or best <= SLACK:
        return
    # The split information; rows with a missing value count as a third branch.
    spread = plogp(total) - plogp(best_below) - plogp(known - best_below) - plogp(total - known)
    score[GAIN] = best
    score[RATIO] = best * total / spread
    score[CUT] = middle_of(values[rows[cut]], values[rows[cut + 1]])


@register_jitable(error_model="numpy")
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
    table[: levels + 1] = 0.0  # the last line is for all values together
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
        gain = 0.0  # rounding may take a useless column below zero
    score[GAIN] = gain / total
    score[RATIO] = gain / spread


@register_jitable(error_model="numpy")
def best_column(scores: Any, columns: Any) -> int:
    """The column of best gain ratio among those of at least about average gain; -1 if none.

    The restriction is Quinlan's: a ratio alone favours splits with next to no split information.
    """
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
        # Of equal ratios, the first column wins. Differences below SLACK are ties: weights are
        # sums of shares, whose rounding depends on the order of the rows and must not decide.
        if gain >= 0.0 and gain >= reached and ratio > best + SLACK:
            best, chosen = ratio, a
    return chosen


@register_jitable(error_model="numpy")
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


@register_jitable(error_model="numpy")
def judge_columns(
    data: Any, arena: Any, room: Any, limits: Any, lo: int, hi: int, total: float
) -> None:
    """Score the split of a node on each column; the node has the rows from `lo` to `hi`."""
    min_rows, resolution, mdl = limits
    table, y = room.table, data.y
    for a in range(len(data.values)):
        levels, k = data.columns[LEVELS, a], data.columns[LINE, a]
        column, rows, weight = data.values[a], arena.rows[k], arena.weight[k]
        score = room.scores[a]
        score[GAIN] = -1.0
        score[CUT] = np.nan
        if levels:
            judge_nominal(column, y, rows, weight, lo, hi, total, min_rows, levels, table, score)
        else:
            judge_number(
                column, y, rows, weight, lo, hi, total, min_rows, resolution, mdl, table, score
            )


@njit(cache=True, error_model="numpy")
def grow_tree(data: Any, plan: Any, arena: Any, room: Any, limits: Any) -> int:
    """Grow a tree from its root line; returns the number of nodes, -1 if nodes or arena ran out."""
    nodes, cut, mass = plan
    nodes[0, STACK] = 0
    waiting, used = 1, 1
    while waiting:
        waiting -= 1
        node = nodes[waiting, STACK]
        lo, hi = nodes[node, LO], nodes[node, HI]
        total = weight_to_split(mass[node], limits[0])
        if total == 0.0:
            continue
        judge_columns(data, arena, room, limits, lo, hi, total)
        chosen = best_column(room.scores, data.columns)
        if chosen < 0:
            continue
        count = data.columns[BRANCHES, chosen]
        if used + count > len(nodes):
            return -1
        nodes[node, ATTRIBUTE] = chosen
        nodes[node, FIRST] = used
        nodes[node, COUNT] = count
        cut[node] = room.scores[chosen, CUT]
        if not send_down(data, nodes, cut, mass, arena, room, node, lo):
            return -1
        # The last child pushed is processed first, as the arena needs it.
        for b in range(count):
            nodes[waiting, STACK] = used + b
            waiting += 1
        used += count
    return used


VISIT, TRY, WEIGH, DECIDE = range(4)  # up to TRY the rows of a node go down

NO_WORSE = 0.1  # estimated errors this close count as no worse, so the smaller tree wins


@register_jitable(error_model="numpy")
def estimate(mass: Any, confidence: float, z: float) -> Any:
    """The pessimistic errors of a node taken as a leaf.

    From one error up this is the upper confidence limit of the errors, with none its exact
    value, and in between a linear interpolation from none to one.
    """
    n, majority = 0.0, 0.0
    for weight in mass:
        n += weight
        if weight > majority:
            majority = weight
    errors = n - majority
    if n <= SLACK:
        return 0.0
    # With no error seen, the rate whose probability of giving none in n rows is `confidence`.
    none = n * (1 - confidence ** (1 / n))
    if errors < SLACK:
        return errors + none
    whole = errors if errors >= 1 else 1.0
    if whole + 0.5 >= n:
        limit = n if n > whole else whole
    else:
        # Wilson's upper limit of a proportion, with half an error added for continuity.
        f = (whole + 0.5) / n
        root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        limit = n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n)
    return limit if errors >= 1 else none + errors * (limit - none)


@register_jitable(error_model="numpy")
def biggest_branch(nodes: Any, mass: Any, node: int) -> int:
    """The child with the most weight; the last of equals."""
    best, chosen = -1.0, -1
    for b in range(nodes[node, COUNT]):
        child, n = nodes[node, FIRST] + b, 0.0
        for weight in mass[child]:
            n += weight
        if n + SLACK >= best:  # J48 raises the last of equal branches
            best, chosen = n, child
    return chosen


@register_jitable(error_model="numpy")
def decide_node(nodes: Any, cut: Any, cost: Any, node: int, son: int, as_branch: float) -> bool:
    """Turn a node into a leaf or its branch `son`, or keep it; return whether to prune it again."""
    as_tree = 0.0
    for b in range(nodes[node, COUNT]):
        as_tree += cost[nodes[node, FIRST] + b]
    # In a tie the smaller tree wins: a leaf before the branch, the branch before the subtree.
    if cost[node] <= as_tree + NO_WORSE and cost[node] <= as_branch + NO_WORSE:
        nodes[node, ATTRIBUTE] = -1
        return False
    if as_branch > as_tree + NO_WORSE:
        cost[node] = as_tree
        return False
    nodes[node, ATTRIBUTE] = nodes[son, ATTRIBUTE]
    nodes[node, FIRST] = nodes[son, FIRST]
    nodes[node, COUNT] = nodes[son, COUNT]
    cut[node] = cut[son]
    return True


@register_jitable(error_model="numpy")
def push(nodes: Any, waiting: int, node: int, task: int) -> int:
    """Put a node and its next task on the stack; return the new height of the stack."""
    nodes[waiting, STACK] = node
    nodes[waiting, TASK] = task
    return waiting + 1


@njit(cache=True, error_model="numpy")
def prune(data: Any, plan: Any, arena: Any, room: Any, trial: Any, cost: Any, options: Any) -> bool:
    """Prune from the leaves up; False if the arena ran out, which leaves the tree half pruned.

    The stack says what to do with a node: VISIT it and its subtree, then WEIGH it, that is, TRY
    its rows on its biggest branch and then DECIDE. `trial` is space for the class weights in a
    branch that is tried, `cost` for the pessimistic errors of each subtree.
    """
    nodes, cut, mass = plan
    confidence, z, raising = options
    waiting, son, as_branch = push(nodes, 0, 0, VISIT), 0, np.inf
    while waiting:
        waiting -= 1
        node, task = nodes[waiting, STACK], nodes[waiting, TASK]
        leaf = nodes[node, ATTRIBUTE] < 0
        if task <= TRY:
            if task == VISIT:
                cost[node] = estimate(mass[node], confidence, z)
            elif leaf:
                as_branch += estimate(trial[node], confidence, z)
            if leaf:
                continue
            if raising:
                # A visited node is weighed later and needs its rows, so its children's go after
                # them. So do those of the branch being tried, which borrows the node's rows;
                # below that branch nothing needs them again, and they are dealt in place.
                to = nodes[node, HI] if task == VISIT or node == son else nodes[node, LO]
                held = mass if task == VISIT else trial
                if not send_down(data, nodes, cut, held, arena, room, node, to):
                    return False
            if task == VISIT:
                waiting = push(nodes, waiting, node, WEIGH)
            for b in range(nodes[node, COUNT]):
                waiting = push(nodes, waiting, nodes[node, FIRST] + b, task)
            continue
        if task == WEIGH:
            son, as_branch = biggest_branch(nodes, mass, node), np.inf
            if raising and nodes[son, ATTRIBUTE] >= 0:
                as_branch = 0.0
                nodes[son, LO], nodes[son, HI] = nodes[node, LO], nodes[node, HI]
                waiting = push(nodes, waiting, node, DECIDE)
                waiting = push(nodes, waiting, son, TRY)
                continue
        if decide_node(nodes, cut, cost, node, son, as_branch):
            waiting = push(nodes, waiting, node, VISIT)
    return True
