"""Fitting a C4.5 tree to a coded table: grow, place the cuts, collapse, prune, pack.

Each column of a coded table is a line of floats, with NaN for missing. A number stays as it is; a
nominal value becomes its position among the declared values of its column. A table is coded once,
then fitted on any of its rows and columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from tamis.errors import InputError
from tamis.learn.c45.kernels import (
    ATTRIBUTE,
    BRANCHES,
    COUNT,
    FIRST,
    HI,
    LEVELS,
    LO,
    TASK,
    grow_tree,
    prune,
)
from tamis.learn.columns import Coding, Column, Features, frame_of, nominal_names

Levels = tuple[str, ...]


@dataclass(frozen=True)
class ColumnSchema:
    """The columns a table must have: their names, and the declared values of the nominal ones."""

    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    """`None` for a number."""


@dataclass(frozen=True, eq=False)
class C45Table:
    """A coded table: `values` has one line per column.

    Examples
    --------
    >>> import polars as pl
    >>> coded = encode(pl.DataFrame({"age": [31, None], "job": ["judge", "cook"]}))
    >>> coded.schema
    ColumnSchema(names=('age', 'job'), levels=(None, ('cook', 'judge')))
    >>> coded.values
    array([[31., nan],
           [ 1.,  0.]])
    """

    schema: ColumnSchema
    values: np.ndarray
    columns: tuple[Column, ...]
    """The columns the values come from; one shared by several tables is sorted once for all."""

    @property
    def rows(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def order(self) -> np.ndarray:
        """The rows sorted by each numeric column, missing values last, ties in table order.

        The lines of nominal columns are present but meaningless.
        """
        order = np.zeros(self.values.shape, np.int32)
        for line, column, levels in zip(order, self.columns, self.schema.levels):
            if levels is None:
                line[:] = column.order
        return order

    def select(self, columns: Sequence[int]) -> C45Table:
        """The same rows with only these columns, by number."""
        picked = [int(c) for c in columns]
        if picked == list(range(len(self.values))):
            return self
        schema = ColumnSchema(
            tuple(self.schema.names[c] for c in picked),
            tuple(self.schema.levels[c] for c in picked),
        )
        chosen = replace(
            self,
            schema=schema,
            values=np.ascontiguousarray(self.values[picked]),
            columns=tuple(self.columns[c] for c in picked),
        )
        vars(chosen)["order"] = self.order[picked]  # sorted once for all selections
        return chosen


def encode(
    data: Any, nominal: Sequence[int | str] | None = None, schema: ColumnSchema | None = None
) -> C45Table:
    """Code a pandas, polars or pyarrow frame.

    `nominal` columns, by number or name, are nominal although they contain numbers; text,
    categorical and boolean columns of a frame always are. A nominal value that the `schema` to
    expect does not declare is treated as missing.

    The declared values of a polars `Enum` or a pandas `Categorical` are those of its type,
    whether they occur or not; those of any other column are the ones that occur, sorted.
    """
    if isinstance(data, Features):
        features = data.with_nominal(nominal)
        known = tuple(feature.known for feature in features)
        return _filled(ColumnSchema(tuple(features.names), known), features.columns, features.rows)
    frame, declared = frame_of(data)
    if schema is None:
        known = Coding.of(frame, nominal_names(frame.columns, nominal), declared).known
        schema = ColumnSchema(tuple(frame.columns), known)
    elif frame.width != len(schema.names):
        raise InputError(f"expected the {len(schema.names)} columns of the fit, got {frame.width}")
    return _filled(schema, Coding(schema.levels).columns(frame), frame.height)


def _filled(schema: ColumnSchema, columns: Sequence[Column], rows: int) -> C45Table:
    values = np.empty((len(columns), rows))
    for line, column in zip(values, columns):
        line[:] = column.values
        if column.categories is not None:
            line[column.values < 0] = np.nan
    return C45Table(schema, values, tuple(columns))


Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]

SAME_ERRORS = 1e-3  # training errors this close count as equal
MANY_VALUES = 0.3  # a column with this many values per row does not count in the average gain


@dataclass(frozen=True)
class FitSettings:
    """The parameters of a fit, as those of `C45Classifier`."""

    confidence: float
    min_rows: float
    prune: bool
    raise_subtrees: bool
    mdl: bool
    resolution: float


class Data(NamedTuple):
    """The table as the kernels read it."""

    values: Any  # one line per column, missing is NaN
    y: Any  # class of each row
    columns: Any  # for each: declared values or 0, branches, arena line, whether its gain counts


class Plan(NamedTuple):
    """A tree, one entry per node; siblings are adjacent and come after their parent."""

    nodes: Any  # column split on (-1 at a leaf), first child, number of children, span in the
    # arena; also space for a stack of nodes and what to do with them
    cut: Any  # threshold of a split on a number, NaN elsewhere
    mass: Any  # weight of each class


class Arena(NamedTuple):
    """The rows of the nodes and their weights; the last line is scratch space."""

    rows: Any
    weight: Any


class Room(NamedTuple):
    """Scratch space, allocated once per fit."""

    branch: Any  # branch of each row, -1 if its value is missing
    share: Any  # of the known weight in each branch
    table: Any  # weights by value and class, and a line for all values together
    scores: Any  # gain, ratio and cut of each column


def fit_tree(
    coded: C45Table,
    y: np.ndarray,
    classes: int,
    weight: np.ndarray,
    rows: np.ndarray,
    settings: FitSettings,
) -> Arrays:
    """Grow the tree on some rows of a table; `y` and `weight` have an entry for every row."""
    data = _data(coded, y, weight[rows].sum())
    root = np.bincount(y[rows], weights=weight[rows], minlength=classes)
    plan = _placed(_grown(data, coded, root, weight, rows, settings), coded, rows, settings)
    _collapse(plan)
    if settings.prune:
        plan = _pruned(plan, data, weight, rows, settings)
    return _packed(plan)


def _data(coded: C45Table, y: np.ndarray, total: float) -> Data:
    levels = np.array([0 if v is None else len(v) for v in coded.schema.levels], np.int64)
    counted = (levels == 0) | (levels < MANY_VALUES * total)
    # Nominal columns read their rows from arena line 0, numbers from the line sorted by them.
    line = np.where(levels == 0, np.cumsum(levels == 0), 0)
    counted |= not counted.any()
    columns = np.stack([levels, np.maximum(levels, 2), line, counted])
    return Data(read_only(coded.values), read_only(y), columns)


def _grown(
    data: Data,
    coded: C45Table,
    root: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray,
    settings: FitSettings,
) -> Plan:
    sorted_rows = _sorted_rows(coded, np.flatnonzero(data.columns[LEVELS] == 0), rows)
    room = make_room(data, len(root))
    limits = (settings.min_rows, settings.resolution, settings.mdl)
    # Missing values copy rows into several branches, so the space needed is not known beforehand:
    # the kernel gives up when it runs out, and the tree is grown again with more.
    places, nodes = 2 * len(rows), len(rows) + 1000
    while True:
        arena = make_arena(sorted_rows, weight, places)
        plan = make_plan(nodes, root, len(rows))
        used = grow_tree(data, plan, arena, room, limits)
        if used > 0:
            return Plan(*(array[:used] for array in plan))
        places, nodes = 2 * places, 4 * nodes


def _sorted_rows(coded: C45Table, numeric: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The rows as given, then sorted by each numeric column."""
    chosen = np.zeros(coded.rows, bool)
    chosen[rows] = True
    sorted_rows = np.empty((1 + len(numeric), len(rows)), np.uint32)
    sorted_rows[0] = rows
    for k, column in enumerate(numeric):
        order = coded.order[column]
        sorted_rows[1 + k] = order[chosen[order]]
    return sorted_rows


def _placed(plan: Plan, coded: C45Table, rows: np.ndarray, settings: FitSettings) -> Plan:
    """Move each cut down to the largest value in the training rows that is not above it.

    A tolerance of a tenth of the resolution covers midpoints rounded to just below a value.
    """
    cut = plan.cut.copy()
    for column in np.unique(plan.nodes[~np.isnan(cut), ATTRIBUTE]):
        nodes = plan.nodes[:, ATTRIBUTE] == column
        present = np.sort(coded.values[column, rows])
        places = np.searchsorted(present, cut[nodes] + settings.resolution / 10, side="right")
        cut[nodes] = present[places - 1]
    return plan._replace(cut=cut)


def _collapse(plan: Plan) -> None:
    """Turn every subtree that makes no fewer errors on its own rows than a leaf into a leaf."""
    errors = (plan.mass.sum(axis=1) - plan.mass.max(axis=1)).tolist()
    first, count = plan.nodes[:, FIRST].tolist(), plan.nodes[:, COUNT].tolist()
    inner = np.flatnonzero(plan.nodes[:, ATTRIBUTE] >= 0)
    for node in inner[::-1].tolist():  # children come after their parent
        # `fsum` does not depend on the order of the branches.
        below = math.fsum(errors[first[node] : first[node] + count[node]])
        if below >= errors[node] - SAME_ERRORS:
            plan.nodes[node, ATTRIBUTE] = -1
        else:
            errors[node] = below


def _pruned(
    plan: Plan, data: Data, weight: np.ndarray, rows: np.ndarray, settings: FitSettings
) -> Plan:
    room, places = make_room(data, 0), 8 * len(rows)
    z = float(-ndtri(settings.confidence))  # the upper quantile of the normal distribution
    options = (settings.confidence, z, settings.raise_subtrees)
    while True:  # as in `_grown`; a copy, since a run that gives up leaves the tree half pruned
        tree = Plan(*(array.copy() for array in plan))
        arena = make_arena(rows[None], weight, places)
        trial, cost = np.empty_like(tree.mass), np.empty(len(tree.cut))
        if prune(data, tree, arena, room, trial, cost, options):
            return tree
        places *= 2


def _packed(plan: Plan) -> Arrays:
    """Shape, cuts and class weights of the nodes still reachable, renumbered level by level."""
    levels = [np.zeros(1, np.intp)]
    while True:
        inner = levels[-1][plan.nodes[levels[-1], ATTRIBUTE] >= 0]
        if not len(inner):
            break
        levels.append(np.concatenate([np.arange(f, f + n) for f, n in plan.nodes[inner, FIRST:LO]]))
    nodes, cut, mass = (array[np.concatenate(levels)] for array in plan)
    shape = np.ascontiguousarray(nodes[:, :LO])
    leaf = shape[:, 0] < 0
    shape[leaf], cut[leaf] = (-1, 0, 0), np.nan
    shape[:, 1] = np.where(leaf, 0, 1 + np.cumsum(shape[:, 2]) - shape[:, 2])
    return shape, cut, mass


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view, for arrays that a kernel only reads.

    Arrays shared by workers are read-only too, and writable ones would need a second compile.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def make_plan(nodes: int, root: np.ndarray, rows: int) -> Plan:
    """Space for a tree of this many nodes whose root has these class weights and number of rows."""
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
    """Space for splits on any column of a table."""
    columns, rows = data.values.shape
    most = int(data.columns[BRANCHES].max(initial=2))
    return Room(
        branch=np.empty(rows, np.int64),
        share=np.empty(most),
        table=np.empty((most + 1, classes)),
        scores=np.empty((columns, 3)),
    )
