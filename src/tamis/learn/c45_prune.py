"""The kernels that cut a grown C4.5 tree back: leaf for subtree, branch for subtree.

They change the tree in place. A node that is pruned keeps its place; what it no longer points to
is left behind and dropped when the tree is packed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from tamis.learn.c45_arrays import ATTRIBUTE, COUNT, FIRST, HI, LO, SLACK, STACK, TASK
from tamis.learn.c45_deal import deal, move

VISIT, TRY, WEIGH, DECIDE = range(4)  # up to TRY the rows of a node go down

NO_WORSE = 0.1  # estimated errors this near count as no worse, so the smaller tree wins


@njit(cache=True, error_model="numpy")
def estimate(mass: Any, confidence: float, z: float) -> Any:
    """The pessimistic errors of a node taken as a leaf.

    From one error up they are the upper confidence limit of the errors, with none its exact
    value, and in between on the line from none to one.
    """
    n, majority = 0.0, 0.0
    for weight in mass:
        n += weight
        if weight > majority:
            majority = weight
    errors = n - majority
    if n <= SLACK:
        return 0.0
    none = n * (1 - confidence ** (1 / n))
    if errors < SLACK:
        return errors + none
    whole = errors if errors >= 1 else 1.0
    if whole + 0.5 >= n:
        limit = n if n > whole else whole
    else:
        f = (whole + 0.5) / n
        root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        limit = n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n)
    return limit if errors >= 1 else none + errors * (limit - none)


@njit(cache=True, error_model="numpy")
def biggest_branch(nodes: Any, mass: Any, node: int) -> int:
    """The child with the most weight, the last of equals."""
    best, chosen = -1.0, -1
    for b in range(nodes[node, COUNT]):
        child, n = nodes[node, FIRST] + b, 0.0
        for weight in mass[child]:
            n += weight
        if n + SLACK >= best:
            best, chosen = n, child
    return chosen


@njit(cache=True, error_model="numpy")
def decide(nodes: Any, cut: Any, cost: Any, node: int, son: int, as_branch: float) -> bool:
    """Make a node a leaf, or its branch `son`, or leave it; whether it is to be pruned again."""
    as_tree = 0.0
    for b in range(nodes[node, COUNT]):
        as_tree += cost[nodes[node, FIRST] + b]
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


@njit(cache=True, error_model="numpy")
def prune(
    values: Any,
    y: Any,
    plan: Any,
    arena: Any,
    branch: Any,
    share: Any,
    trial: Any,
    cost: Any,
    confidence: float,
    z: float,
    raising: bool,
) -> bool:
    """Prune from the leaves up; False where the arena ran out, and then the tree is half done.

    The stack tells what to do with a node: VISIT it and its subtree, then WEIGH it, that is TRY
    its rows on its biggest branch and then DECIDE. `trial` is room for the class weights in a
    branch that is tried, `cost` for the pessimistic errors of each subtree.
    """
    nodes, cut, mass = plan
    rows, weight = arena
    nodes[0, STACK] = 0
    nodes[0, TASK] = VISIT
    waiting, son, as_branch = 1, 0, np.inf
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
                to = nodes[node, HI] if task == VISIT or node == son else nodes[node, LO]
                held = mass if task == VISIT else trial
                end = deal(values, y, nodes, cut, held, node, rows, weight, to, branch, share)
                if end > rows.shape[1]:
                    return False
                for k in range(len(rows) - 1):
                    move(nodes, node, rows, weight, k, branch, share)
            if task == VISIT:
                nodes[waiting, TASK] = WEIGH  # the node is still there
                waiting += 1
            for b in range(nodes[node, COUNT]):
                nodes[waiting, STACK] = nodes[node, FIRST] + b
                nodes[waiting, TASK] = task
                waiting += 1
            continue
        if task == WEIGH:
            son, as_branch = biggest_branch(nodes, mass, node), np.inf
            if raising and nodes[son, ATTRIBUTE] >= 0:
                as_branch = 0.0
                nodes[son, LO] = nodes[node, LO]
                nodes[son, HI] = nodes[node, HI]
                nodes[waiting, TASK] = DECIDE
                nodes[waiting + 1, STACK] = son
                nodes[waiting + 1, TASK] = TRY
                waiting += 2
                continue
        if decide(nodes, cut, cost, node, son, as_branch):
            nodes[waiting, TASK] = VISIT
            waiting += 1
    return True
