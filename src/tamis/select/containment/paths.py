"""Greedy search for each kind of utility: sums, set functions, models, and a contest.

In a contest, several searches compete on rows whose labels they have not seen.
`greedy_with_absences` also protects against an attacker who knows a few things that a person lacks.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heapify, heappop, heapreplace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.matrix import class_counts, class_numbers, differing_pairs, sparse_columns
from tamis.errors import InputError, listed
from tamis.people import People, PeopleLike
from tamis.risk.containment import absence_anonymity, check_absences
from tamis.select.containment import kernels
from tamis.select.containment.greedy import (
    MODULAR,
    PREDICTIVE,
    SearchTask,
    SetUtility,
    mutual_information,
)
from tamis.select.containment.held_out import (
    HELD_OUT,
    Chooser,
    Contest,
    by_prediction,
    held_out_model,
    split_rows,
)
from tamis.select.containment.itemsets import QUICK_K, maximal
from tamis.select.containment.kernels import Patterns, widen
from tamis.select.containment.selection import (
    Path,
    Selection,
    Step,
    StopRule,
    check_k,
    empty_path,
    first_queue,
    labelled_rows,
)
from tamis.select.containment.several import (
    SCORES,
    ClassGroups,
    ones_by_class,
    parted_pairs,
    pick_majority,
    pick_pairs,
    unlike_pairs,
)
from tamis.select.containment.source import ColumnSource, Projection, join_blocks

GREEDY = ("difference", "hamdist", "information", "cm", "auc")
"""Utilities by which greedy enters the contest."""
ITEMSETS = "itemsets"
"""Name of the other contender: the best of the largest itemsets."""


def choose_columns(task: SearchTask, utility: str | SetUtility) -> Selection:
    """Run the greedy search of a task by any utility."""
    if callable(utility):
        return _by_callable(task, utility)
    if utility in MODULAR:
        return in_turn(task, _scores(task, utility))
    if utility in PREDICTIVE:
        return _by_model(task, utility)
    if utility == "best":
        return _by_contest(task)
    return _by_gain(task, utility) if task.several is None else _by_classes(task, utility)


def _scores(task: SearchTask, utility: str) -> NDArray[np.float64]:
    """Score of each column, for a utility that is a sum over the columns."""
    if task.several is not None:
        classes = np.bincount(task.several[task.known], minlength=int(task.several.max()) + 1)
        return SCORES[utility](ones_by_class(task.table, task.several, task.labelled), classes)
    source = task.source
    return MODULAR[utility](source.labelled, source.ones, task.rows, task.positives)


def in_turn(task: SearchTask, score: NDArray[np.float64]) -> Selection:
    """Offer columns by descending score, each at most once: a sum has one order for all sets."""
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
    """Offer columns in this order, numbered from `first` on the path."""
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
    """Search by a utility of the set for two classes, counting gains by pattern and class."""
    source = task.source
    pairs = differing_pairs(source.labelled, source.ones, task.rows, task.positives)
    order = _ranked(pairs, task.may_fit(source.support) & (pairs > 0))
    kernel, unit, base = kernels.pick_lazily, task.positives * (task.rows - task.positives), 0.0
    if utility == "cm":
        kernel, unit, order = kernels.pick_eagerly, task.rows, np.sort(order)
        base = max(task.positives, task.rows - task.positives) / task.rows
    # Kernels count pairs or rows, whole numbers that compare exactly; `unit` makes shares of them.
    rule = task.rule._replace(least_gain=task.rule.least_gain * unit)
    queue, path = first_queue(order, pairs[order]), empty_path(rule.most, len(pairs))
    g, columns, status = source.start(by_class=True), None, kernels.DONE
    # By `cm` every step counts all columns, so nothing can start before all of them are read.
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


def _by_classes(task: SearchTask, utility: str) -> Selection:
    """Search by a utility of the set for more than two classes."""
    label = task.label
    groups = ClassGroups(task.table, label, task.known)
    classes = groups.counts[0]
    pairs = parted_pairs(ones_by_class(task.table, label, task.labelled), classes)
    order = np.flatnonzero(task.may_fit(task.source.support) & (pairs > 0))
    by_rows = utility == "cm"
    pick, unit = (pick_majority, task.rows) if by_rows else (pick_pairs, unlike_pairs(classes))
    base = groups.in_majority / unit if by_rows else 0.0
    projection = Projection(task.table, task.rule.k, privacy=task.rule.privacy)
    steps, ended = pick(groups, projection, order, unit, task.rule)
    if task.extend and ended and task.rule.least_gain == 0:
        score = _scores(task, "information")
        useful = task.may_fit(task.source.support) & (score > 0)
        useful[projection.features] = False
        for column in _ranked(score, useful).tolist():
            if len(steps) >= task.rule.most:
                break
            rows, parted = groups.gains(column)
            if projection.offer(column):
                groups.split(column)
                gain = (rows if by_rows else parted) / unit
                before = steps[-1].utility if steps else base
                steps.append(Step(column, gain, before + gain, projection.anonymity))
    value = steps[-1].utility if steps else base
    return Selection(tuple(projection.features), projection.anonymity, value, steps=tuple(steps))


def _left(task: SearchTask, source: ColumnSource, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Unchosen columns that are informative about the label, most informative first."""
    score = mutual_information(source.labelled, source.ones, task.rows, task.positives)
    useful = task.may_fit(source.support) & (score > 0)
    useful[chosen] = False
    return _ranked(score, useful)


def _by_callable(task: SearchTask, utility: SetUtility) -> Selection:
    """Search by any set function: each step evaluates every candidate that fits."""
    table = sparse_columns(task.table)
    support = np.diff(table.indptr).astype(np.int64)
    # A column of ones alone tells nothing, whatever the utility says of it.
    useful = task.may_fit(support) & (support < len(task.positive))
    candidates = [int(c) for c in np.flatnonzero(useful)]
    projection = Projection(table, task.rule.k, privacy=task.rule.privacy)
    seen, label = table, task.label
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


def _by_model(task: SearchTask, utility: str) -> Selection:
    """Search by the performance of a model on held-out rows."""
    table = sparse_columns(task.table)
    support = np.diff(table.indptr).astype(np.int64)
    useful = np.flatnonzero(task.may_fit(support) & (support < len(task.positive)))
    parts = split_rows(task.label, task.known, HELD_OUT, task.random_state, task.groups)
    model = held_out_model(table, task.label, *parts, utility, task.model)
    return by_prediction(model, useful, task.rule, extend=task.extend)


def _by_contest(task: SearchTask) -> Selection:
    """Run the contest and return the selection of its winner."""
    rest = (task.known, contenders(task), HELD_OUT, task.random_state, task.groups)
    return Contest(task.table, task.label, *rest).winner()


def contenders(task: SearchTask) -> dict[str, Chooser]:
    """Greedy by several utilities, and the best of the largest itemsets where no limit forbids it.

    Itemsets know only containment and no limits, and are quick to find only for a small k.
    """
    rule = task.rule
    linear = replace(task, model="linear")

    def by(utility: str) -> Chooser:
        # A source of its own, since its counts by class depend on the labels that may be used.
        return lambda rows: choose_columns(replace(linear, labelled=rows, sources=[]), utility)

    choosers = {utility: by(utility) for utility in GREEDY}
    free = not rule.stop and rule.most == task.table.shape[1] and rule.least_gain == 0
    if free and rule.privacy == "containment" and rule.k <= QUICK_K:
        choosers[ITEMSETS] = lambda rows: maximal(task.table, task.label, rule.k, labelled=rows)
    return choosers


def _ranked(score: NDArray[Any], useful: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The useful columns by descending score, the lowest column first among equals."""
    columns = np.flatnonzero(useful)
    columns = columns[np.argsort(-score[columns])]
    # A plain sort is several times faster than a stable one, even with the ties sorted afterwards:
    # rank and column are packed into one number, whose remainder is the column again.
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


def greedy_with_absences(
    X: Any,
    y: Any,
    k: int,
    absences: int,
    *,
    utility: Any = "distcnt",
    extend: bool = True,
    max_features: int | None = None,
    people: PeopleLike = None,
    labelled: Any = None,
) -> Selection:
    """Add features one by one while k people match whatever an attacker knows, absences included.

    Parameters
    ----------
    X, y, k, labelled
        As in `tamis.select.containment.greedy.GreedySearch`; `k` is the anonymity to keep.
    absences : int
        How many things that a person lacks an attacker may know; see
        `tamis.risk.containment.absence_anonymity`.
    utility : str
        `distcnt` or a sum over the features, as in `tamis.select.containment.greedy.greedy`.
    extend : bool
        If nothing gains any more by `distcnt`, go on with what still fits, by mutual information
        with the label.
    max_features : int, optional
    people : People or array, optional
        The person of each row.

    Notes
    -----
    No column raises the anonymity, so one that does not fit never will: each is measured at most
    once, at the cost stated by `absence_anonymity`.

    Examples
    --------
    >>> X = [[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]]
    >>> y = [0, 0, 1, 1, 0, 0]
    >>> greedy_with_absences(X, y, 2, absences=1).features
    (1, 0)
    """
    table = sparse_columns(X)
    label = class_numbers(y, table.shape[0])
    check_absences(absences)
    check_k(k, table.shape[0])
    most = table.shape[1] if max_features is None else max_features
    known = labelled_rows(labelled, label)
    who = People.named(people, table.shape[0])
    search = _AbsenceSearch(table, label, k, absences, most, who, known)
    if utility in MODULAR:
        search.in_turn(search.scores(utility))
    elif utility == "distcnt":
        search.by_gain()
        if extend:
            search.in_turn(search.scores("information"), counted=False)
    else:
        allowed = listed([*MODULAR, "distcnt"])
        raise InputError(f"with absences the utility is one of {allowed}, got {utility!r}")
    return search.selection


class _AbsenceSearch:
    """The features chosen so far, and the groups of rows that are equal in them."""

    def __init__(
        self,
        table: sparse.csc_array,
        label: NDArray[np.intp],
        k: int,
        absences: int,
        most: int,
        people: People,
        known: NDArray[np.bool_] | None = None,
    ) -> None:
        self.table, self.people = table, people
        self.known = np.ones(len(label), bool) if known is None else known
        self.label = label[self.known]
        self.classes = np.bincount(self.label, minlength=int(label.max()) + 1)
        self.k, self.absences, self.most = k, absences, most
        self.steps: list[Step] = []
        self.tried: set[int] = set()
        self.alike = np.zeros(table.shape[0], np.int64)

    @property
    def selection(self) -> Selection:
        if not self.steps:
            return Selection((), self.table.shape[0], 0.0)
        last = self.steps[-1]
        chosen = tuple(step.feature for step in self.steps)
        return Selection(chosen, last.anonymity, last.utility, steps=tuple(self.steps))

    def scores(self, utility: str) -> NDArray[Any]:
        """Score of each column, for a utility that is a sum over the columns."""
        seen = self.table[np.flatnonzero(self.known)]
        if len(self.classes) > 2:
            return SCORES[utility](ones_by_class(seen, self.label), self.classes)
        support, ones = class_counts(seen, self.label == 1)
        return MODULAR[utility](support, ones, len(self.label), int(self.classes[1]))

    def in_turn(self, scores: NDArray[Any], *, counted: bool = True) -> None:
        """Offer columns by descending score; unless `counted`, the gain is in pairs instead."""
        for column in np.argsort(-scores, kind="stable").tolist():
            if scores[column] <= 0 or len(self.steps) >= self.most:
                return
            self._offer(column, float(scores[column]) if counted else self._parted(column))

    def by_gain(self) -> None:
        """Offer the column that tells most pairs of opposite classes apart, again and again.

        A gain never grows, so a column is counted again only when it comes first in the queue.
        """
        queue = [(-self._parted(c), c) for c in range(self.table.shape[1])]
        heapify(queue)
        while queue and len(self.steps) < self.most:
            minus_bound, column = queue[0]
            gain = self._parted(column)
            if gain <= 0 and minus_bound >= 0:
                return
            if gain < -minus_bound:
                heapreplace(queue, (-gain, column))
                continue
            heappop(queue)
            self._offer(column, gain)

    def _offer(self, column: int, gain: float) -> None:
        if column in self.tried:
            return
        self.tried.add(column)
        chosen = [*(step.feature for step in self.steps), column]
        cells = self.table[:, chosen]
        reached = absence_anonymity(cells, self.absences, people=self.people, enough=self.k)
        if reached < self.k:
            return
        before = self.steps[-1].utility if self.steps else 0.0
        self.steps.append(Step(column, gain, before + gain, reached))
        # The group and the new cell packed into one number, then numbered without gaps.
        self.alike = np.unique(2 * self.alike + self._has(column), return_inverse=True)[1]

    def _has(self, column: int) -> NDArray[np.int64]:
        has = np.zeros(self.table.shape[0], np.int64)
        has[self.table.indices[self.table.indptr[column] : self.table.indptr[column + 1]]] = 1
        return has

    def _parted(self, column: int) -> float:
        """Fraction of the pairs of opposite classes that this column would newly tell apart."""
        groups, several = int(self.alike.max()) + 1, len(self.classes)
        # Group, cell and class packed into one number, so that one count gives all three.
        parts = (2 * self.alike + self._has(column))[self.known] * several + self.label
        counts = np.bincount(parts, minlength=2 * several * groups).reshape(groups, 2, several)
        lack, have = counts[:, 0], counts[:, 1]
        pairs = lack.sum(axis=1) * have.sum(axis=1) - (lack * have).sum(axis=1)
        return float(pairs.sum() / unlike_pairs(self.classes))
