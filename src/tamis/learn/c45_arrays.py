"""What the kernels of C4.5 share: how a tree and the rows of its nodes lie in arrays.

The rows of a node are one span of an arena: the first line of the arena holds them in table
order, every further line in the order of one numeric column, missing values last. The last
child is treated first, so all beyond its span is free and the arena is a stack. A row whose
value is missing goes to every branch with a share of its weight, so each place has a weight.

Rows and classes are unsigned: an index that cannot be negative is not checked for it, which makes
a fit a quarter faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ATTRIBUTE, FIRST, COUNT, LO, HI, STACK, TASK = range(7)
LEVELS, BRANCHES, LINE, COUNTED = range(4)
GAIN, RATIO, CUT = range(3)

SLACK = 1e-6  # weights and gains nearer than this are equal: sums of shares are not exact


class Data(NamedTuple):
    """The table."""

    values: Any  # a line a column, missing is NaN
    y: Any  # class of each row
    columns: Any  # of each: declared values or 0, branches, line of the arena, if its gain counts


class Plan(NamedTuple):
    """A tree, one place a node; children are neighbours and stand behind their parent."""

    nodes: Any  # column split on (-1 at a leaf), first child, number of children, span in the
    # arena; and beside them, room for a stack of nodes and what to do with them
    cut: Any  # threshold of a split on a number, NaN elsewhere
    mass: Any  # weight of each class


class Arena(NamedTuple):
    """The rows of the nodes and their weights; the last line is room to rearrange another."""

    rows: Any
    weight: Any


class Room(NamedTuple):
    """Space to work in, allocated once a fit."""

    branch: Any  # of each row, -1 if its value is missing
    share: Any  # of the known weight in each branch
    table: Any  # weights by value and class, and a line for all values together
    scores: Any  # gain, ratio and cut of each column


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that may not be written, for what a kernel only reads.

    Arrays that workers share may not be written either, and a kernel is compiled anew for them.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def make_plan(nodes: int, root: np.ndarray, rows: int) -> Plan:
    """Room for a tree of so many nodes whose root has these class weights and number of rows."""
    plan = Plan(
        np.full((nodes, TASK + 1), -1, np.int64),
        np.full(nodes, np.nan),
        np.empty((nodes, len(root))),
    )
    plan.nodes[0, LO], plan.nodes[0, HI], plan.mass[0] = 0, rows, root
    return plan


def make_arena(lines: np.ndarray, weight: np.ndarray, places: int) -> Arena:
    """An arena that begins with these lines of rows."""
    count, rows = lines.shape
    arena = Arena(np.empty((count + 1, places), np.uint32), np.empty((count + 1, places)))
    arena.rows[:count, :rows] = lines
    arena.weight[:count, :rows] = weight[lines]
    return arena


def make_room(data: Data, classes: int) -> Room:
    """Room for splits on any column of a table."""
    columns, rows = data.values.shape
    most = int(data.columns[BRANCHES].max(initial=2))
    return Room(
        branch=np.empty(rows, np.int64),
        share=np.empty(most),
        table=np.empty((most + 1, classes)),
        scores=np.empty((columns, 3)),
    )
