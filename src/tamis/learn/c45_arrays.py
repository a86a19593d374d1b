"""What the kernels of C4.5 share: how a tree and the rows of its nodes lie in arrays.

The rows of a node are one span of an arena: the first line of the arena holds them in table
order, every further line in the order of one numeric column, missing values last. The last
child is treated first, so all beyond its span is free and the arena is a stack. A row whose
value is missing goes to every branch with a share of its weight, so each place has a weight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

ATTRIBUTE, FIRST, COUNT = range(3)
GAIN, RATIO, CUT = range(3)

SLACK = 1e-6  # weights and gains nearer than this are equal: sums of shares are not exact

# Python may call the outer kernels only: inner ones have no entry for it, and would crash. What
# is not compiled, nor the checks for division by zero, shortens a first use.
_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}
outer: Any = njit(**_options)
inner: Any = njit(**_options | {"no_cpython_wrapper": True})


class Data(NamedTuple):
    """The table and what a split is judged by."""

    values: Any  # a line a column, missing is NaN
    y: Any  # class of each row
    levels: Any  # number of declared values of each column, 0 for a number
    line: Any  # line of the arena in the order of each numeric column
    counted: Any  # whether a column counts in the average gain
    limits: Any  # least rows a branch, resolution, 1 to charge for the choice of a cut


class Plan(NamedTuple):
    """A tree, one place a node; children are neighbours and stand behind their parent."""

    shape: Any  # column split on (-1 at a leaf), first child, number of children
    cut: Any  # threshold of a split on a number, NaN elsewhere
    mass: Any  # weight of each class


class Room(NamedTuple):
    """Space to work in, allocated once a fit."""

    branch: Any  # of each row, -1 if its value is missing
    share: Any  # of the known weight in each branch
    start: Any  # of each branch's rows
    fill: Any  # of each branch so far
    rows: Any  # one line of the arena while it is rearranged
    weight: Any
    span: Any  # of each node in the arena
    stack: Any  # of nodes
    table: Any  # weights by value and class
    scores: Any  # gain, ratio and cut of each column


def make_room(rows: int, columns: int, most: int, classes: int, places: int, nodes: int) -> Room:
    """Room for a tree with at most so many values a column, places in the arena and nodes."""
    return Room(
        branch=np.empty(rows, np.int64),
        share=np.empty(most),
        start=np.empty(most + 1, np.int64),
        fill=np.empty(most, np.int64),
        rows=np.empty(places, np.int32),
        weight=np.empty(places),
        span=np.zeros((nodes, 2), np.int64),
        stack=np.empty(2 * nodes + 2, np.int64),
        table=np.empty((most, classes)),
        scores=np.empty((3, columns)),
    )
