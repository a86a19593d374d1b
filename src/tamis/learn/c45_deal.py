"""The kernels that deal the rows of a node to its children."""

from __future__ import annotations

import math
from typing import Any

from tamis.learn.c45_arrays import ATTRIBUTE, COUNT, FIRST, inner


@inner
def deal(
    data: Any, plan: Any, mass: Any, node: int, rows: Any, weight: Any, to: int, room: Any
) -> int:
    """Find each row's branch, each branch's share and span, and the children's class weights.

    The children will lie one after the other from `to`; returns where they end.
    """
    column = data.values[plan.shape[node, ATTRIBUTE]]
    first, count, cut = plan.shape[node, FIRST], plan.shape[node, COUNT], plan.cut[node]
    lo, hi = room.span[node, 0], room.span[node, 1]
    for b in range(count):
        room.share[b] = 0.0
        room.start[b] = 0
        for c in range(mass.shape[1]):
            mass[first + b, c] = 0.0
    known, unknown = 0.0, 0
    for i in range(lo, hi):
        row = rows[i]
        value = column[row]
        if math.isnan(value):
            room.branch[row] = -1
            unknown += 1
            continue
        b = int(value) if math.isnan(cut) else int(value > cut)
        room.branch[row] = b
        room.start[b] += 1
        room.share[b] += weight[i]
        known += weight[i]
        mass[first + b, data.y[row]] += weight[i]
    for b in range(count):
        room.share[b] = room.share[b] / known if known > 0 else 0.0
        size = room.start[b] + (unknown if room.share[b] > 0 else 0)
        room.start[b] = to
        room.span[first + b, 0] = to
        to += size
        room.span[first + b, 1] = to
    if unknown:
        for i in range(lo, hi):
            if room.branch[rows[i]] < 0:
                for b in range(count):
                    mass[first + b, data.y[rows[i]]] += weight[i] * room.share[b]
    return to


@inner
def move(rows: Any, weight: Any, lo: int, hi: int, count: int, end: int, room: Any) -> None:
    """Put the rows of a span where `deal` said, each branch in the order it had."""
    to = room.start[0]
    for b in range(count):
        room.fill[b] = room.start[b] - to
    for i in range(lo, hi):
        b = room.branch[rows[i]]
        known = b >= 0
        last = b + 1 if known else count
        b = max(b, 0)
        while b < last:
            if known or room.share[b] > 0:
                room.rows[room.fill[b]] = rows[i]
                room.weight[room.fill[b]] = weight[i] if known else weight[i] * room.share[b]
                room.fill[b] += 1
            b += 1
    for i in range(end - to):
        rows[to + i] = room.rows[i]
        weight[to + i] = room.weight[i]
