"""From a coded table to a finished C4.5 tree: grow, place the cuts, collapse, prune, pack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tamis.learn.c45_arrays import Data, Plan, Room, make_room
from tamis.learn.c45_grow import grow
from tamis.learn.c45_prune import collapse, prune
from tamis.learn.c45_table import Coded

MANY_VALUES = 0.3  # a column with this many values a row says nothing about an average gain


@dataclass(frozen=True)
class Settings:
    """The parameters of a fit."""

    confidence: float
    min_rows: float
    prune: bool
    raise_subtrees: bool
    mdl: bool
    resolution: float


def fit_tree(
    coded: Coded,
    y: np.ndarray,
    classes: int,
    weight: np.ndarray,
    rows: np.ndarray,
    settings: Settings,
) -> Plan:
    """The tree of some rows of a table; `y` and `weight` have a place for every row."""
    data = _data(coded, y, weight[rows].sum(), settings)
    root = np.bincount(y[rows], weights=weight[rows], minlength=classes)
    plan = _placed(_grown(data, coded, root, weight, rows), coded, rows, settings)
    if settings.prune:
        collapse(plan.shape, plan.mass, plan.mass.sum(axis=1) - plan.mass.max(axis=1))
        plan = _pruned(plan, data, weight, rows, settings)
    return _packed(plan)


def _data(coded: Coded, y: np.ndarray, total: float, settings: Settings) -> Data:
    levels = np.array([0 if v is None else len(v) for v in coded.schema.levels], np.int64)
    counted = (levels == 0) | (levels < MANY_VALUES * total)
    limits = np.array([settings.min_rows, settings.resolution, float(settings.mdl)])
    line = np.where(levels == 0, np.cumsum(levels == 0), 0)
    return Data(coded.values, y, levels, line, counted | (not counted.any()), limits)


def _room(data: Data, classes: int, places: int, nodes: int) -> Room:
    columns, rows = data.values.shape
    return make_room(rows, columns, int(data.levels.max(initial=2)), classes, places, nodes)


def _grown(
    data: Data, coded: Coded, root: np.ndarray, weight: np.ndarray, rows: np.ndarray
) -> Plan:
    sorted_rows = _sorted_rows(coded, np.flatnonzero(data.levels == 0), rows)
    places, nodes = 2 * len(rows), len(rows) + 1000
    while True:
        order = np.empty((len(sorted_rows), places), np.int32)
        order[:, : len(rows)] = sorted_rows
        share = np.empty(order.shape)
        share[:, : len(rows)] = weight[sorted_rows]
        plan = Plan(
            np.full((nodes, 3), -1, np.int64), np.full(nodes, np.nan), np.empty((nodes, len(root)))
        )
        plan.mass[0] = root
        room = _room(data, len(root), places, nodes)
        used = grow(data, order, share, len(rows), plan, room)
        if used > 0:
            return Plan(*(array[:used] for array in plan))
        places, nodes = 2 * places, 4 * nodes


def _sorted_rows(coded: Coded, numeric: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The rows as given, then in the order of each numeric column."""
    chosen = np.zeros(coded.rows, bool)
    chosen[rows] = True
    sorted_rows = np.empty((1 + len(numeric), len(rows)), np.int32)
    sorted_rows[0] = rows
    for k, column in enumerate(numeric):
        order = coded.order[column]
        sorted_rows[1 + k] = order[chosen[order]]
    return sorted_rows


def _placed(plan: Plan, coded: Coded, rows: np.ndarray, settings: Settings) -> Plan:
    """Move each cut down to the largest value of the training rows that is not above it.

    A tenth of the resolution is allowed for midpoints that rounding put just below a value.
    """
    cut = plan.cut.copy()
    for column in np.unique(plan.shape[~np.isnan(cut), 0]):
        nodes = plan.shape[:, 0] == column
        present = np.sort(coded.values[column, rows])
        places = np.searchsorted(present, cut[nodes] + settings.resolution / 10, side="right")
        cut[nodes] = present[places - 1]
    return plan._replace(cut=cut)


def _pruned(
    plan: Plan, data: Data, weight: np.ndarray, rows: np.ndarray, settings: Settings
) -> Plan:
    nodes, classes = plan.mass.shape
    places = 8 * len(rows)
    while True:
        tree = Plan(*(array.copy() for array in plan))
        order, share = np.empty(places, np.int32), np.empty(places)
        order[: len(rows)], share[: len(rows)] = rows, weight[rows]
        room = _room(data, classes, places, nodes)
        room.span[0] = 0, len(rows)
        z = float(-ndtri(settings.confidence))
        trial, cost = np.empty_like(tree.mass), np.empty(nodes)
        options = (settings.confidence, z, settings.raise_subtrees)
        if prune(data, order, share, tree, trial, cost, room, *options):
            return tree
        places *= 2


def _packed(plan: Plan) -> Plan:
    """Keep the nodes that can still be reached, level by level."""
    levels = [np.zeros(1, np.intp)]
    while True:
        inner = levels[-1][plan.shape[levels[-1], 0] >= 0]
        if not len(inner):
            break
        levels.append(np.concatenate([np.arange(f, f + n) for f, n in plan.shape[inner, 1:]]))
    shape, cut, mass = (array[np.concatenate(levels)] for array in plan)
    leaf = shape[:, 0] < 0
    shape[leaf], cut[leaf] = (-1, 0, 0), np.nan
    shape[:, 1] = np.where(leaf, 0, 1 + np.cumsum(shape[:, 2]) - shape[:, 2])
    return Plan(shape, cut, mass)
