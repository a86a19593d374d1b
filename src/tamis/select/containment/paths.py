"""Greedy paths, one way for each kind of utility: sums, set functions, models, a contest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import Binary, differing_pairs, sparse_columns
from tamis.select.containment.projection import Privacy, Projection
from tamis.select.containment.selection import (
    Path,
    Selection,
    Step,
    StopRule,
    empty_path,
    first_queue,
)
from tamis.select.containment.utilities import (
    MODULAR,
    PREDICTIVE,
    HeldOutModel,
    Model,
    by_prediction,
    mutual_information,
    split_rows,
)

if TYPE_CHECKING:
    from tamis.select.containment.kernels import Patterns
    from tamis.select.containment.source import ColumnSource

SetUtility = Callable[[Any, Any, Sequence[int]], float]

HELD_OUT = 1 / 3
"""The share of rows held out to evaluate a model."""


@dataclass(frozen=True)
class SearchTask:
    """A checked table, its labels, and what ends or bars a choice."""

    table: Binary
    positive: NDArray[np.bool_]
    labelled: NDArray[np.bool_] | None
    rule: StopRule
    drop_rare: bool
    extend: bool
    groups: NDArray[np.int64] | None = None
    sources: list[ColumnSource] = field(default_factory=list)

    @property
    def source(self) -> ColumnSource:
        """The table by column with its counts; read once, whatever k is."""
        from tamis.select.containment.source import ColumnSource

        if not self.sources:
            self.sources.append(ColumnSource.of(self.table, self.positive, self.labelled))
        return self.sources[0]

    @cached_property
    def rows(self) -> int:
        """Rows that have a label."""
        return len(self.positive) if self.labelled is None else int(self.labelled.sum())

    @cached_property
    def positives(self) -> int:
        known = self.positive if self.labelled is None else self.positive & self.labelled
        return int(np.count_nonzero(known))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have a label."""
        return np.ones(len(self.positive), bool) if self.labelled is None else self.labelled

    def may_fit(self, support: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which columns to consider: those that cannot fit matter only if they end the search."""
        if self.rule.stop and not self.drop_rare:
            return np.asarray(support > 0)
        return np.asarray(support >= self.rule.k)


def choose_columns(
    task: SearchTask, utility: str | SetUtility, privacy: Privacy, model: Model, random_state: int
) -> Selection:
    """The greedy path of a task under any utility."""
    if callable(utility):
        return _by_callable(task, utility, privacy)
    if utility in MODULAR:
        return _in_turn(task, utility)
    if utility in PREDICTIVE:
        return _by_model(task, utility, model, privacy, random_state)
    if utility == "best":
        return _by_contest(task, privacy, random_state)
    return _by_gain(task, utility)


def _in_turn(task: SearchTask, utility: str) -> Selection:
    """Modular utilities: one order for all, so each column is considered at most once."""
    source = task.source
    score = MODULAR[utility](source.labelled, source.ones, task.rows, task.positives)
    order = _ranked(score, task.may_fit(source.support) & (score > task.rule.least_gain))
    g, path = source.start(by_class=False), empty_path(task.rule.most, len(order))
    g, _ = _offer(source, order, task.rule, path, 0, g)
    chosen = int(g.state[1])
    features = order[path.item[:chosen]]
    return _selection(features, score[features], path.anonymity[:chosen], len(task.positive))


def _offer(
    source: ColumnSource,
    order: NDArray[np.int64],
    rule: StopRule,
    path: Path,
    first: int,
    g: Patterns,
) -> tuple[Patterns, int]:
    """Offer columns in this order; on the path they are numbered from `first`."""
    from tamis.select.containment import kernels
    from tamis.select.containment.kernels import widen

    status = kernels.MORE
    for columns in source.blocks(order, rule, g):
        place, status = 0, kernels.WIDEN
        while status == kernels.WIDEN:
            g = widen(g)
            place, status = kernels.offer_in_turn(columns, place, rule, path, first, g)
        first += len(columns.begin)
        if status != kernels.MORE:
            break
    return g, status


def _by_gain(task: SearchTask, utility: str) -> Selection:
    """Utilities of the set: gains are counted by pattern and class."""
    from tamis.select.containment import kernels
    from tamis.select.containment.kernels import widen
    from tamis.select.containment.source import join_blocks

    source = task.source
    pairs = differing_pairs(source.labelled, source.ones, task.rows, task.positives)
    order = _ranked(pairs, task.may_fit(source.support) & (pairs > 0))
    kernel, unit, base = kernels.pick_lazily, task.positives * (task.rows - task.positives), 0.0
    if utility == "cm":
        kernel, unit, order = kernels.pick_eagerly, task.rows, np.sort(order)
        base = max(task.positives, task.rows - task.positives) / task.rows
    rule = task.rule._replace(least_gain=task.rule.least_gain * unit)
    queue, path = first_queue(order, pairs[order]), empty_path(rule.most, len(pairs))
    g, columns, status = source.start(by_class=True), None, kernels.DONE
    few = utility != "cm" and not source.small
    for block in source.blocks(order, rule, g, few):
        columns, status = join_blocks(columns, block), kernels.WIDEN
        if utility == "cm" and len(columns.begin) < len(order):
            continue
        while status == kernels.WIDEN:
            g = widen(g)
            status = kernel(columns, rule, path, queue, g)
        if status != kernels.MORE:
            break
    if task.extend and status == kernels.DONE and rule.least_gain == 0:
        left = _left(task, source, order[path.item[: g.state[1]]])
        g, _ = _offer(source, left, rule, path, len(order), g)
        order = np.concatenate([order, left])
    chosen = int(g.state[1])
    features, gains = order[path.item[:chosen]], path.gain[:chosen] / unit
    return _selection(features, gains, path.anonymity[:chosen], len(task.positive), base)


def _left(task: SearchTask, source: ColumnSource, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """The unchosen columns that are informative about the label, the most informative first."""
    score = mutual_information(source.labelled, source.ones, task.rows, task.positives)
    useful = task.may_fit(source.support) & (score > 0)
    useful[chosen] = False
    return _ranked(score, useful)


def _by_callable(task: SearchTask, utility: SetUtility, privacy: Privacy) -> Selection:
    """Any set function: every candidate that fits is evaluated at every step."""
    table = sparse_columns(task.table)
    support = np.diff(table.indptr).astype(np.int64)
    useful = task.may_fit(support) & (support < len(task.positive))
    candidates = [int(c) for c in np.flatnonzero(useful)]
    projection = Projection(table, task.rule.k, privacy=privacy)
    seen, label = table, task.positive
    if task.labelled is not None:
        seen, label = table[np.flatnonzero(task.labelled)], label[task.labelled]
    value, steps = float(utility(seen, label, ())), list[Step]()
    while candidates and len(steps) < task.rule.most:
        if not task.rule.stop:
            candidates = [c for c in candidates if projection.fits(c)]
        worth = [float(utility(seen, label, (*projection.features, c))) for c in candidates]
        if not worth or max(worth) - value <= task.rule.least_gain:
            break
        best = int(np.argmax(worth))
        column = candidates.pop(best)
        if not projection.offer(column):
            break
        steps.append(Step(column, worth[best] - value, worth[best], projection.anonymity))
        value = worth[best]
    return Selection(tuple(projection.features), projection.anonymity, value, steps=tuple(steps))


def _by_model(
    task: SearchTask, utility: str, model: Model, privacy: Privacy, random_state: int
) -> Selection:
    """Utilities of a model, evaluated on rows that it was not fitted on."""
    table = sparse_columns(task.table)
    support = np.diff(table.indptr).astype(np.int64)
    useful = np.flatnonzero(task.may_fit(support) & (support < len(task.positive)))
    train, held = split_rows(task.positive, task.known, HELD_OUT, random_state, task.groups)
    held_out = HeldOutModel(table, task.positive, train, held, utility, model)
    rule = task.rule
    return by_prediction(
        held_out,
        useful,
        rule.k,
        privacy,
        stop=rule.stop,
        most=rule.most,
        least_gain=rule.least_gain,
        extend=task.extend,
    )


def _by_contest(task: SearchTask, privacy: Privacy, random_state: int) -> Selection:
    """The way to choose that wins on held-out rows of this table."""
    from tamis.select.containment.contest import Contest, contenders

    rule = task.rule
    free = not rule.stop and rule.most == task.table.shape[1] and rule.least_gain == 0
    found = contenders(
        task.table,
        task.positive,
        rule.k,
        itemsets=free and privacy == "containment",
        privacy=privacy,
        on_violation="stop" if rule.stop else "skip",
        drop_rare=task.drop_rare,
        extend=task.extend,
        max_features=rule.most,
        min_gain=rule.least_gain,
        random_state=random_state,
    )
    rest = (task.known, found, HELD_OUT, random_state, task.groups)
    return Contest(task.table, task.positive, *rest).winner()


def _ranked(score: NDArray[Any], useful: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The useful columns by descending score, the lowest column first among equals."""
    columns = np.flatnonzero(useful)
    columns = columns[np.argsort(-score[columns])]
    # A plain sort is several times faster than a stable one, even with the ties sorted after it.
    falling, rank = score[columns], np.zeros(len(columns), np.int64)
    np.cumsum(falling[1:] != falling[:-1], out=rank[1:])
    return np.sort(rank * len(score) + columns) % len(score)


def _selection(
    features: NDArray[np.int64],
    gains: NDArray[np.float64],
    anonymity: NDArray[np.int64],
    rows: int,
    base: float = 0.0,
) -> Selection:
    utility = base + np.cumsum(gains)
    paths = (a.tolist() for a in (features, gains, utility, anonymity))
    steps = tuple(Step(*step) for step in zip(*paths))
    if not steps:
        return Selection((), rows, base)
    last = steps[-1]
    return Selection(tuple(s.feature for s in steps), last.anonymity, last.utility, steps=steps)
