"""The kernels that deal the rows of a node to its children."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from tamis.learn.c45_arrays import ATTRIBUTE, COUNT, FIRST, HI, LO


@njit(cache=True, error_model="numpy")
def branch_of(value: float, cut: float) -> Any:
    """The branch a value takes, -1 if it is missing; a nominal value is its branch."""
    if math.isnan(value):
        return -1
    if math.isnan(cut):
        return np.int64(value)
    return 1 if value > cut else 0


@njit(cache=True, error_model="numpy")
def deal(
    values: Any,
    y: Any,
    nodes: Any,
    cut: Any,
    mass: Any,
    node: int,
    lines: Any,
    weights: Any,
    to: int,
    branch: Any,
    share: Any,
) -> int:
    """Find each row's branch, each branch's share and span, and the children's class weights.

    The children will lie one after the other from `to`; returns where they end.
    """
    column, rows, weight = values[nodes[node, ATTRIBUTE]], lines[0], weights[0]
    lo, hi = nodes[node, LO], nodes[node, HI]
    first, count = nodes[node, FIRST], nodes[node, COUNT]
    for b in range(count):
        share[b] = 0.0
        nodes[first + b, HI] = 0
        mass[first + b] = 0.0
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
    for b in range(count):
        size = nodes[first + b, HI]
        if share[b] > 0:
            share[b] /= known
            size += unknown
        nodes[first + b, LO] = to
        to += size
        nodes[first + b, HI] = to
    if unknown:
        for i in range(lo, hi):
            row = rows[i]
            if branch[row] < 0:
                for b in range(count):
                    mass[first + b, y[row]] += weight[i] * share[b]
    return to


@njit(cache=True, error_model="numpy")
def move(nodes: Any, node: int, lines: Any, weights: Any, k: int, branch: Any, share: Any) -> None:
    """Put one line of the rows of a node where `deal` said, each branch in the order it had."""
    rows, weight, spare_rows, spare_weight = lines[k], weights[k], lines[-1], weights[-1]
    first, count = nodes[node, FIRST], nodes[node, COUNT]
    start, end = nodes[first, LO], nodes[first + count - 1, HI]
    for b in range(first, first + count):
        nodes[b, HI] = nodes[b, LO]  # grows back to its end as the branch is filled
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
    for i in range(start, end):
        rows[i] = spare_rows[i]
        weight[i] = spare_weight[i]
