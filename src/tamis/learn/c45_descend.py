"""The kernel that sends rows down a C4.5 tree."""

from __future__ import annotations

from typing import Any

from tamis.compiled import outer
from tamis.learn.c45_arrays import ATTRIBUTE, COUNT, FIRST
from tamis.learn.c45_deal import branch_of


@outer
def descend(
    values: Any,
    rows: Any,
    shape: Any,
    cut: Any,
    mass: Any,
    total: Any,
    stack: Any,
    part: Any,
    out: Any,
) -> None:
    """Add to each line of `out` the class shares of the leaves its row reaches.

    A missing value takes every branch by the share of training weight that went there; a branch
    that no training row took answers with its parent's shares. `stack` and `part` are room for
    the nodes still to visit.
    """
    for i in range(len(rows)):
        stack[0] = 0
        part[0] = 1.0
        waiting = 1
        while waiting:
            waiting -= 1
            node, w = stack[waiting], part[waiting]
            first, child = shape[node, FIRST], node
            if shape[node, ATTRIBUTE] >= 0:
                b = branch_of(values[shape[node, ATTRIBUTE], rows[i]], cut[node])
                if b < 0:
                    for b in range(first, first + shape[node, COUNT]):
                        if total[b] > 0:
                            stack[waiting] = b
                            part[waiting] = w * total[b] / total[node]
                            waiting += 1
                    continue
                child = first + b
            if child == node or total[child] <= 0:
                for c in range(mass.shape[1]):
                    out[i, c] += w * mass[node, c] / total[node]
            else:
                stack[waiting] = child
                part[waiting] = w
                waiting += 1
