"""Greedy paths, one way for each kind of utility: sums, set functions, models, a contest.

In a contest, several ways to choose compete on rows that they have not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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
    RIDGE,
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
Truths = NDArray[np.bool_]
Chooser = Callable[[Truths], Selection]
"""Chooses by the labels of some rows, those that are true."""

GREEDY = ("difference", "hamdist", "information", "cm", "auc")
"""The utilities that compete, each as greedy uses it."""
ITEMSETS = "itemsets"
"""The way that competes with them: the largest itemsets."""
FEW = 20
"""Up to this k the largest itemsets are found quickly."""
ITERATIONS = 1000
DRAWS = 3
"""How often rows are held out: one draw leaves contenders that are alike to chance."""


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
    return in_turn(task, MODULAR[utility](source.labelled, source.ones, task.rows, task.positives))


def in_turn(task: SearchTask, score: NDArray[np.float64]) -> Selection:
    """Columns offered by descending score, each taken where the anonymity allows it."""
    source = task.source
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


@dataclass(frozen=True)
class Contest:
    """Contenders that choose by the labels of one part of the rows and are tested on the rest.

    Each chooses by the training labels alone, so that the contest is fair, and a linear model
    fitted to convergence on the same rows ranks the held-out ones. The winner, by mean AUC over
    the draws, then chooses again by all known labels.

    Parameters
    ----------
    table : 0/1 array or sparse array
    positive : array of bool
    known : array of bool
        Which rows have a label that may be used.
    contenders : mapping of name to chooser
    share : float
        The share of the known rows to hold out.
    seed : int
        Draws them, and with the next numbers the further draws.
    groups : array of int, optional
        The person of each row: all rows of a person are held out, or none.
    """

    table: Binary
    positive: Truths
    known: Truths
    contenders: dict[str, Chooser]
    share: float
    seed: int = 0
    groups: NDArray[np.int64] | None = None

    def winner(self) -> Selection:
        """What the winner chooses; its utility and gains are the AUC of the first draw."""
        results = self.results()
        best = max(results, key=results.__getitem__)
        return self._in_auc(self.contenders[best](self.known))

    def results(self) -> dict[str, float]:
        """The mean AUC of each contender over the draws."""
        return {
            name: float(np.mean([self._auc(choose(draw[0]), *draw) for draw in self.draws]))
            for name, choose in self.contenders.items()
        }

    @cached_property
    def draws(self) -> list[tuple[Truths, Truths]]:
        """Training and held-out rows, several times."""
        rest = (self.positive, self.known, self.share)
        return [split_rows(*rest, self.seed + i, self.groups) for i in range(DRAWS)]

    @cached_property
    def columns(self) -> sparse.csc_array:
        return sparse_columns(self.table)

    def _auc(self, found: Selection, train: Truths, held: Truths) -> float:
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score

        from tamis.learn.models import one_thread

        if not found.features:
            return 0.5
        rows = self.columns[:, list(found.features)].tocsr().astype(float)
        model = LogisticRegression(C=1 / RIDGE, max_iter=ITERATIONS)
        with one_thread():  # threads cost more than they save on vectors this short
            model.fit(rows[np.flatnonzero(train)], self.positive[train])
        score = model.decision_function(rows[np.flatnonzero(held)])
        return float(roc_auc_score(self.positive[held], score))

    def _in_auc(self, found: Selection) -> Selection:
        """The same path, expressed in held-out AUC; the last is that of a model fitted anew."""
        draw = self.draws[0]
        model = HeldOutModel(self.columns, self.positive, *draw, "auc", "linear")
        steps, value, last, due = [], model.worth(), self._auc(found, *draw), 1
        for i, step in enumerate(found.steps, start=1):
            model.add(step.feature, refit=i >= due)
            due = i + max(1, i // 10) if i >= due else due
            worth = model.worth() if i < len(found.steps) else last
            steps.append(Step(step.feature, worth - value, worth, step.anonymity))
            value = worth
        return Selection(found.features, found.anonymity, value, steps=tuple(steps))


def contenders(
    table: Binary, positive: Truths, k: int, *, itemsets: bool, **choices: Any
) -> dict[str, Chooser]:
    """Greedy by several utilities, and the best of the largest itemsets, filled up.

    Parameters
    ----------
    table, positive, k
    itemsets : bool
        Whether sets that are not found by greedy may compete.
    **choices
        Of `tamis.select.containment.greedy.greedy`.
    """
    from tamis.select.containment.greedy import greedy
    from tamis.select.containment.itemsets import maximal

    def by(utility: str) -> Chooser:
        return lambda rows: greedy(table, positive, k, utility=utility, labelled=rows, **choices)

    found = {utility: by(utility) for utility in GREEDY}
    if itemsets and k <= FEW:
        found[ITEMSETS] = lambda rows: maximal(table, positive, k, labelled=rows)
    return found
