"""The kernels that cut a grown C4.5 tree back: collapse, leaf for subtree, branch for subtree.

They change the tree in place. A node that is pruned keeps its place; what it no longer points to
is left behind and dropped when the tree is packed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tamis.learn.c45_arrays import ATTRIBUTE, COUNT, FIRST, SLACK, inner, outer
from tamis.learn.c45_deal import deal, move

NO_WORSE = 0.1  # estimated errors this near count as no worse, so the smaller tree wins
SAME_ERRORS = 1e-3  # training errors this near count as equal


@outer
def upper_limit(n: float, errors: float, confidence: float, z: float) -> float:
    """The upper confidence limit of the errors of a leaf, for at least one error."""
    if errors + 0.5 >= n:
        return max(n, errors)
    f = (errors + 0.5) / n
    root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n)


@outer
def estimate(mass: Any, confidence: float, z: float) -> float:
    """The pessimistic errors of a node taken as a leaf."""
    n, majority = 0.0, 0.0
    for c in range(len(mass)):
        n += mass[c]
        majority = max(majority, mass[c])
    errors = n - majority
    if n <= SLACK:
        return 0.0
    if errors >= 1:
        return float(upper_limit(n, errors, confidence, z))
    none = n * (1 - confidence ** (1 / n))
    if errors < SLACK:
        return float(errors + none)
    return float(none + errors * (upper_limit(n, 1.0, confidence, z) - none))


@outer
def collapse(shape: Any, mass: Any, errors: Any) -> None:
    """Make a leaf of every subtree that errs no less on its own rows than a leaf would.

    `errors` comes in as the training errors of each node taken as a leaf.
    """
    for node in range(len(shape) - 1, -1, -1):  # children stand behind their parent
        if shape[node, ATTRIBUTE] < 0:
            continue
        below = 0.0
        for b in range(shape[node, COUNT]):
            below += errors[shape[node, FIRST] + b]
        if below >= errors[node] - SAME_ERRORS:
            shape[node, ATTRIBUTE] = -1
        else:
            errors[node] = below


@inner
def spread(
    data: Any, plan: Any, mass: Any, node: int, rows: Any, weight: Any, to: int, room: Any
) -> bool:
    """Deal the rows of a node to its children from `to` on; False if the arena is full."""
    end = deal(data, plan, mass, node, rows, weight, to, room)
    if end > len(rows):
        return False
    lo, hi = room.span[node, 0], room.span[node, 1]
    move(rows, weight, lo, hi, plan.shape[node, COUNT], end, room)
    return True


@inner
def try_branch(
    data: Any,
    plan: Any,
    trial: Any,
    root: int,
    rows: Any,
    weight: Any,
    room: Any,
    top: int,
    confidence: float,
    z: float,
) -> float:
    """The pessimistic errors of a subtree with the rows of its parent; -1 if the arena is full.

    `trial` has the class weights at `root` and is room for those of the nodes below. The stack
    is free from `top` on.
    """
    total, waiting = 0.0, top
    room.stack[waiting] = root
    while waiting >= top:
        node = room.stack[waiting]
        waiting -= 1
        if plan.shape[node, ATTRIBUTE] < 0:
            total += estimate(trial[node], confidence, z)
            continue
        to = room.span[node, 1] if node == root else room.span[node, 0]
        if not spread(data, plan, trial, node, rows, weight, to, room):
            return -1.0
        for b in range(plan.shape[node, COUNT]):
            waiting += 1
            room.stack[waiting] = plan.shape[node, FIRST] + b
    return total


@inner
def biggest_branch(shape: Any, mass: Any, node: int) -> int:
    """The child with the most weight, the last of equals."""
    best, chosen = -1.0, -1
    for b in range(shape[node, COUNT]):
        child, n = shape[node, FIRST] + b, 0.0
        for c in range(mass.shape[1]):
            n += mass[child, c]
        if n + SLACK >= best:
            best, chosen = n, child
    return chosen


@outer
def prune(
    data: Any,
    rows: Any,
    weight: Any,
    plan: Any,
    trial: Any,
    cost: Any,
    room: Any,
    confidence: float,
    z: float,
    raising: bool,
) -> bool:
    """Prune from the leaves up; False where the arena ran out, and then the tree is half done.

    A node is met twice: as itself before its subtree, as its complement after it. `cost` is room
    for the pessimistic errors of each subtree.
    """
    shape, cut, mass, span, stack = plan.shape, plan.cut, plan.mass, room.span, room.stack
    stack[0] = 0
    waiting, son, as_branch = 1, 0, np.inf
    while waiting:
        waiting -= 1
        node = stack[waiting]
        if node >= 0:
            cost[node] = estimate(mass[node], confidence, z)
            if shape[node, ATTRIBUTE] < 0:
                continue
            if raising and not spread(data, plan, mass, node, rows, weight, span[node, 1], room):
                return False
            stack[waiting] = ~node
            for b in range(shape[node, COUNT]):
                stack[waiting + 1 + b] = shape[node, FIRST] + b
            waiting += 1 + shape[node, COUNT]
            continue
        node = ~node
        as_tree = 0.0
        for b in range(shape[node, COUNT]):
            as_tree += cost[shape[node, FIRST] + b]
        if raising:
            son = biggest_branch(shape, mass, node)
            for c in range(mass.shape[1]):
                trial[son, c] = mass[node, c]
            span[son, 0] = span[node, 0]
            span[son, 1] = span[node, 1]
            as_branch = try_branch(
                data, plan, trial, son, rows, weight, room, waiting, confidence, z
            )
            if as_branch < 0:
                return False
        if cost[node] <= as_tree + NO_WORSE and cost[node] <= as_branch + NO_WORSE:
            shape[node, ATTRIBUTE] = -1
        elif as_branch <= as_tree + NO_WORSE:
            for j in range(3):
                shape[node, j] = shape[son, j]
            cut[node] = cut[son]
            stack[waiting] = node
            waiting += 1
        else:
            cost[node] = as_tree
    return True
