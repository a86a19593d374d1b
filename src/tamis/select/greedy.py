"""Greedy selection: the best feature that still fits, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError, listed
from tamis.evaluate.separation import differing_pairs
from tamis.select.predictive import PREDICTIVE, HeldOut, Model, by_prediction, split_rows
from tamis.select.projection import Privacy, Projection, check_k, check_privacy
from tamis.select.selection import Selection, Step
from tamis.select.utility import MODULAR
from tamis.zero_one import Binary, sparse_columns, two_classes, zero_one

if TYPE_CHECKING:
    from tamis.select.pick import Rule

OnViolation = Literal["skip", "stop"]
SetUtility = Callable[[Any, Any, Sequence[int]], float]

UTILITIES = (*MODULAR, "distcnt", "cm", *PREDICTIVE)
HELD_OUT = 1 / 3


def greedy(
    X: Any,
    y: Any,
    k: int,
    *,
    utility: str | SetUtility = "distcnt",
    privacy: Privacy = "containment",
    on_violation: OnViolation = "skip",
    drop_rare: bool = False,
    max_features: int | None = None,
    min_gain: float = 0.0,
    model: Model = "linear",
    random_state: int = 0,
    labelled: Any = None,
) -> Selection:
    """Choose features one by one by gain in utility while the anonymity stays at k or above.

    Ties go to the lowest column. A feature that gains nothing is never chosen, so constant
    features are not.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes
    k : int
        The anonymity to keep.
    utility : {"distcnt", "hamdist", "cm", "difference", "information", "likelihood", "auc"} \
            or callable
        Of the set: the share of pairs of opposite classes told apart (`distcnt`), the share of
        rows in the majority class of their group (`cm`; ties by `distcnt`), or the sum over the
        features of the Hamming distance (`hamdist`), of the difference between the classes'
        shares of ones (`difference`), or of the mutual information with the label
        (`information`). `likelihood` and `auc` fit a model on two thirds of the rows and judge
        it on the rest. A callable takes ``(X, y, features)`` and gives a number, larger is
        better; `X` is then CSC and `y` truth values.
    privacy : {"containment", "equality"}
        Whether a row hides among the rows that contain it, or only among equal rows.
    on_violation : {"skip", "stop"}
        At a feature that does not fit: go on with the next, or end there as the paper does.
    drop_rare : bool
        Leave out features of fewer than k ones beforehand. They never fit; with
        ``on_violation="stop"`` the search would end at the first of them.
    max_features : int, optional
        The most features to choose.
    min_gain : float
        A feature is chosen only if it gains more than this.
    model : {"linear", "bayes"}
        The model of `likelihood` and `auc`: logistic regression or naive Bayes.
    random_state : int
        Draws the held-out rows of `likelihood` and `auc`.
    labelled : array of bool, optional
        The rows whose labels may be looked at; the others count for the anonymity only. So a
        choice can be judged honestly on rows that are released too.

    Notes
    -----
    Algorithms 2 and 3 of Zhang et al. (2017), where ``until AC >= k`` must read ``AC < k``.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]
    >>> greedy(X, [1, 1, 1, 0, 0, 0], k=2, utility="hamdist").features
    (0, 1)
    """
    table = zero_one(X)
    positive = two_classes(y, table.shape[0])
    check_k(k, table.shape[0])
    check_privacy(privacy)
    _check_choices(utility, on_violation, max_features, min_gain, model)
    from tamis.select.pick import Rule

    most = table.shape[1] if max_features is None else min(max_features, table.shape[1])
    rule = Rule(int(k), privacy == "equality", on_violation == "stop", most, float(min_gain))
    task = _Task(table, positive, _labelled(labelled, positive), rule, drop_rare)
    if callable(utility):
        return _by_callable(task, utility, privacy)
    if utility in MODULAR:
        return _in_turn(task, utility)
    if utility in PREDICTIVE:
        return _by_model(task, utility, model, privacy, random_state)
    return _by_gain(task, utility)


@dataclass(frozen=True)
class _Task:
    table: Binary
    positive: NDArray[np.bool_]
    labelled: NDArray[np.bool_] | None
    rule: Rule
    drop_rare: bool

    @property
    def rows(self) -> int:
        """Rows that have a label."""
        return len(self.positive) if self.labelled is None else int(self.labelled.sum())

    @property
    def positives(self) -> int:
        known = self.positive if self.labelled is None else self.positive & self.labelled
        return int(known.sum())

    def may_fit(self, support: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which columns to look at: those that cannot fit matter only where they end the search."""
        if self.rule.stop and not self.drop_rare:
            return np.asarray(support > 0)
        return np.asarray(support >= self.rule.k)


def _in_turn(task: _Task, utility: str) -> Selection:
    """Modular utilities: one order for all, so each column is looked at once at most."""
    from tamis.select import pick
    from tamis.select.patterns import widen
    from tamis.select.source import Source

    source = Source.of(task.table, task.positive, task.labelled)
    score = MODULAR[utility](source.labelled, source.ones, task.rows, task.positives)
    order = _ranked(score, task.may_fit(source.support) & (score > task.rule.least_gain))
    g, path = source.start(by_class=False), pick.path(task.rule.most, len(order))
    done = 0
    for columns in source.blocks(order, small=task.rule.stop):
        place, status = 0, pick.WIDEN
        while status == pick.WIDEN:
            g = widen(g)
            place, status = pick.offer_in_turn(columns, place, task.rule, path, done, g)
        done += len(columns.begin)
        if status != pick.MORE:
            break
    chosen = int(g.state[1])
    features = order[path.item[:chosen]]
    return _selection(features, score[features], path.anonymity[:chosen], len(task.positive))


def _by_gain(task: _Task, utility: str) -> Selection:
    """Utilities of the set: gains are counted by pattern and class."""
    from tamis.select import pick
    from tamis.select.patterns import widen
    from tamis.select.source import Source, joined

    source = Source.of(task.table, task.positive, task.labelled)
    pairs = differing_pairs(source.labelled, source.ones, task.rows, task.positives)
    order = _ranked(pairs, task.may_fit(source.support) & (pairs > 0))
    kernel, unit, base = pick.pick_lazily, task.positives * (task.rows - task.positives), 0.0
    if utility == "cm":
        kernel, unit, order = pick.pick_eagerly, task.rows, np.sort(order)
        base = max(task.positives, task.rows - task.positives) / task.rows
    rule = task.rule._replace(least_gain=task.rule.least_gain * unit)
    queue, path = pick.queue(order, pairs[order]), pick.path(rule.most, len(order))
    g, columns = source.start(by_class=True), None
    for block in source.blocks(order, small=utility != "cm"):
        columns, status = joined(columns, block), pick.WIDEN
        if utility == "cm" and len(columns.begin) < len(order):
            continue
        while status == pick.WIDEN:
            g = widen(g)
            status = kernel(columns, rule, path, queue, g)
        if status != pick.MORE:
            break
    chosen = int(g.state[1])
    features, gains = order[path.item[:chosen]], path.gain[:chosen] / unit
    return _selection(features, gains, path.anonymity[:chosen], len(task.positive), base)


def _by_callable(task: _Task, utility: SetUtility, privacy: Privacy) -> Selection:
    """Any set function: every candidate that fits is judged at every step."""
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
    task: _Task, utility: str, model: Model, privacy: Privacy, random_state: int
) -> Selection:
    """Utilities of a model, judged on rows that it was not fitted on."""
    table = sparse_columns(task.table)
    support = np.diff(table.indptr).astype(np.int64)
    useful = np.flatnonzero(task.may_fit(support) & (support < len(task.positive)))
    known = np.ones(len(task.positive), bool) if task.labelled is None else task.labelled
    train, held = split_rows(task.positive, known, HELD_OUT, random_state)
    held_out = HeldOut(table, task.positive, train, held, utility, model)
    rule = task.rule
    return by_prediction(
        held_out,
        useful,
        rule.k,
        privacy,
        stop=rule.stop,
        most=rule.most,
        least_gain=rule.least_gain,
    )


def _ranked(score: NDArray[Any], useful: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The useful columns from the best score down, the lowest column first among equals."""
    columns = np.flatnonzero(useful)
    return columns[np.argsort(-score[columns], kind="stable")]


def _selection(
    features: NDArray[np.int64],
    gains: NDArray[np.float64],
    anonymity: NDArray[np.int64],
    rows: int,
    base: float = 0.0,
) -> Selection:
    utility = base + np.cumsum(gains)
    steps = tuple(
        Step(int(f), float(gain), float(value), int(a))
        for f, gain, value, a in zip(features, gains, utility, anonymity)
    )
    if not steps:
        return Selection((), rows, base)
    last = steps[-1]
    return Selection(tuple(s.feature for s in steps), last.anonymity, last.utility, steps=steps)


def _labelled(labelled: Any, positive: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    if labelled is None:
        return None
    known = np.asarray(labelled)
    if known.dtype != np.bool_ or known.shape != positive.shape:
        raise InputError(
            f"labelled has one truth value for each of the {len(positive)} rows, got "
            f"{known.dtype} of shape {known.shape}"
        )
    if len(np.unique(positive[known])) < 2:
        raise InputError("two classes are needed among the labelled rows")
    return known


def _check_choices(
    utility: Any, on_violation: Any, max_features: int | None, min_gain: float, model: Any
) -> None:
    if not callable(utility) and utility not in UTILITIES:
        raise InputError(f"utility is one of {listed(UTILITIES)} or a function, got {utility!r}")
    if on_violation not in ("skip", "stop"):
        raise InputError(f"on_violation is 'skip' or 'stop', got {on_violation!r}")
    if model not in ("linear", "bayes"):
        raise InputError(f"model is 'linear' or 'bayes', got {model!r}")
    if max_features is not None and max_features < 0:
        raise InputError(f"max_features must be at least 0, got {max_features}")
    if not min_gain >= 0:
        raise InputError(f"min_gain must be at least 0, got {min_gain}")
