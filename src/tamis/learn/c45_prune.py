"""The kernels that cut a grown C4.5 tree back: collapse, leaf for subtree, branch for subtree.

They work on the arrays that `c45_grow` describes, in place. A node that is pruned keeps its line;
what it no longer points to is left behind and dropped when the tree is packed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from tamis.learn.c45_grow import ATTRIBUTE, COUNT, FIRST, SLACK, deal, move

NO_WORSE = 0.1  # estimated errors this near count as no worse, so the smaller tree wins
SAME_ERRORS = 1e-3  # training errors this near count as equal


@njit(cache=True)
def extra_errors(n: float, errors: float, confidence: float, z: float) -> float:
    """What to add to the training errors of a leaf to reach their upper confidence limit."""
    if errors < 1:
        none = n * (1 - math.exp(math.log(confidence) / n))
        if errors < SLACK:
            return none
        return none + errors * (extra_errors(n, 1.0, confidence, z) - none)
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    f = (errors + 0.5) / n
    root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * (f + z * z / (2 * n) + z * root) / (1 + z * z / n) - errors


@njit(cache=True)
def leaf_errors(line: Any) -> tuple[float, float]:
    """Weight and training errors of a node taken as a leaf."""
    n, majority = 0.0, 0.0
    for c in range(len(line)):
        n += line[c]
        majority = max(majority, line[c])
    return n, n - majority


@njit(cache=True)
def estimate(line: Any, confidence: float, z: float) -> float:
    """The pessimistic errors of a node taken as a leaf."""
    n, errors = leaf_errors(line)
    return errors + extra_errors(n, errors, confidence, z) if n > SLACK else 0.0


@njit(cache=True)
def collapse(shape: Any, mass: Any, nodes: int) -> None:
    """Make a leaf of every subtree that errs no less on its own rows than a leaf would."""
    errors = np.zeros(nodes)
    for node in range(nodes - 1, -1, -1):  # children stand behind their parent
        _, alone = leaf_errors(mass[node])
        if shape[node, ATTRIBUTE] >= 0:
            for child in range(shape[node, FIRST], shape[node, FIRST] + shape[node, COUNT]):
                errors[node] += errors[child]
            if errors[node] >= alone - SAME_ERRORS:
                shape[node, ATTRIBUTE] = -1
        if shape[node, ATTRIBUTE] < 0:
            errors[node] = alone


@njit(cache=True)
def spread(
    values: Any,
    y: Any,
    shape: Any,
    cut: Any,
    mass: Any,
    node: int,
    rows: Any,
    weight: Any,
    to: int,
    span: Any,
    spare: Any,
) -> int:
    """Deal the rows of a node to its children at `to`; where they end, -1 if the arena is full."""
    branch, share, start, fill, spare_rows, spare_weight = spare
    lo, hi = span[node]
    first, count = shape[node, FIRST], shape[node, COUNT]
    place = deal(values, y, shape, cut, mass, node, rows, weight, lo, hi, branch, share, start)
    if to + place > len(rows):
        return -1
    move(
        rows,
        weight,
        lo,
        hi,
        to,
        branch,
        share,
        start,
        count,
        fill,
        spare_rows,
        spare_weight,
    )
    for b in range(count):
        span[first + b, 0] = to + start[b]
        span[first + b, 1] = to + start[b + 1]
    return to + place


@njit(cache=True)
def try_branch(
    values: Any,
    y: Any,
    shape: Any,
    cut: Any,
    trial: Any,
    root: int,
    rows: Any,
    weight: Any,
    span: Any,
    spare: Any,
    stack: Any,
    top: int,
    confidence: float,
    z: float,
) -> float:
    """The pessimistic errors of a subtree with the rows of `span[root]`; -1 if the arena is full.

    The class weights that its nodes would have are left in `trial`.
    """
    lo, hi = span[root]
    for c in range(trial.shape[1]):
        trial[root, c] = 0.0
    for i in range(lo, hi):
        trial[root, y[rows[i]]] += weight[i]
    total, waiting = 0.0, top
    stack[waiting] = root
    while waiting >= top:
        node = stack[waiting]
        waiting -= 1
        if shape[node, ATTRIBUTE] < 0:
            total += estimate(trial[node], confidence, z)
            continue
        to = span[node, 1] if node == root else span[node, 0]
        if spread(values, y, shape, cut, trial, node, rows, weight, to, span, spare) < 0:
            return -1.0
        for child in range(shape[node, FIRST], shape[node, FIRST] + shape[node, COUNT]):
            waiting += 1
            stack[waiting] = child
    return total


@njit(cache=True)
def biggest_branch(shape: Any, mass: Any, node: int) -> int:
    """The child with the most weight, the last of equals."""
    best, chosen = -1.0, -1
    for child in range(shape[node, FIRST], shape[node, FIRST] + shape[node, COUNT]):
        n, _ = leaf_errors(mass[child])
        if n + SLACK >= best:
            best, chosen = n, child
    return chosen


@njit(cache=True)
def put_in_place(
    shape: Any, cut: Any, mass: Any, trial: Any, node: int, root: int, stack: Any, top: int
) -> None:
    """Replace `node` by the subtree at `root`, with the class weights of the trial."""
    for j in range(shape.shape[1]):
        shape[node, j] = shape[root, j]
    cut[node] = cut[root]
    waiting = top
    stack[waiting] = root
    while waiting >= top:
        here = stack[waiting]
        waiting -= 1
        for c in range(mass.shape[1]):
            mass[here, c] = trial[here, c]
        if shape[here, ATTRIBUTE] >= 0:
            for child in range(shape[here, FIRST], shape[here, FIRST] + shape[here, COUNT]):
                waiting += 1
                stack[waiting] = child


@njit(cache=True)
def prune(
    values: Any,
    y: Any,
    rows: Any,
    weight: Any,
    size: int,
    shape: Any,
    cut: Any,
    mass: Any,
    most: int,
    confidence: float,
    z: float,
    raising: bool,
) -> bool:
    """Prune from the leaves up; False where the arena ran out, and then the tree is half done."""
    nodes = len(shape)
    spare = (
        np.empty(values.shape[1], np.int32),
        np.empty(most),
        np.empty(most + 1, np.int32),
        np.empty(most, np.int32),
        np.empty_like(rows),
        np.empty_like(weight),
    )
    span, stack = np.zeros((nodes, 2), np.int32), np.empty(2 * nodes + 2, np.int32)
    trial, cost = np.empty_like(mass), np.empty(nodes)
    span[0, 1] = size
    stack[0], waiting = 0, 1
    while waiting:
        waiting -= 1
        node = stack[waiting]
        if node >= 0:
            cost[node] = estimate(mass[node], confidence, z)
            if shape[node, ATTRIBUTE] < 0:
                continue
            if raising and spread(
                values, y, shape, cut, trial, node, rows, weight, span[node, 1], span, spare
            ) < 0:
                return False
            stack[waiting] = -node - 1
            for b in range(shape[node, COUNT]):
                stack[waiting + 1 + b] = shape[node, FIRST] + b
            waiting += 1 + shape[node, COUNT]
            continue
        node = -node - 1
        as_leaf, as_tree, as_branch = cost[node], 0.0, np.inf
        for b in range(shape[node, COUNT]):
            as_tree += cost[shape[node, FIRST] + b]
        if raising:
            son = biggest_branch(shape, mass, node)
            span[son, 0], span[son, 1] = span[node]
            as_branch = try_branch(
                values,
                y,
                shape,
                cut,
                trial,
                son,
                rows,
                weight,
                span,
                spare,
                stack,
                waiting,
                confidence,
                z,
            )
            if as_branch < 0:
                return False
        if as_leaf <= as_tree + NO_WORSE and as_leaf <= as_branch + NO_WORSE:
            shape[node, ATTRIBUTE] = -1
        elif as_branch <= as_tree + NO_WORSE:
            put_in_place(shape, cut, mass, trial, node, son, stack, waiting)
            stack[waiting] = node
            waiting += 1
        else:
            cost[node] = as_tree
    return True
