"""Models that grow by columns and are evaluated on held-out rows, and a contest between searches.

A model has a score for each row: the log odds of the true class. A column changes the scores of the
rows that have it, and the kernels touch only those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.kernels import take
from tamis.binary.matrix import Binary, class_counts, sparse_columns
from tamis.errors import InputError
from tamis.kernel_cache import njit
from tamis.select.containment.greedy import Model, mutual_information
from tamis.select.containment.selection import Selection, Step, StopRule
from tamis.select.containment.source import Projection

RIDGE = 1.0
"""Weight of the quadratic penalty; scikit-learn's logistic regression has the same by default."""


@dataclass
class HeldOutModel:
    """An additive model that grows by columns and is evaluated on held-out rows.

    `linear` is logistic regression with a small ridge penalty: the weight of a candidate is fitted
    with the others fixed, and all weights are fitted again once it is chosen. `bayes` is naive
    Bayes: the weights of a column come from its counts alone.
    """

    table: sparse.csc_array
    label: NDArray[np.bool_]
    train: NDArray[np.bool_]
    held: NDArray[np.bool_]
    measure: str
    model: Model
    score: NDArray[np.float64] = field(init=False)
    chosen: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        every = np.arange(self.table.shape[1])
        self._columns = take(self.table, every, np.diff(self.table.indptr).astype(np.int64))
        self._weight = np.zeros(len(every))
        share = self.label[self.train].mean()
        self.score = np.full(len(self.label), np.log(share / (1 - share)))
        part = self.table[np.flatnonzero(self.train)]
        rows, positives = int(self.train.sum()), int(self.label[self.train].sum())
        support, ones = class_counts(part, self.label[self.train])
        self.information = mutual_information(support, ones, rows, positives)
        # Laplace's rule keeps the shares off 0 and 1, whose logarithms would be infinite.
        in_true = (ones + 1) / (positives + 2)
        in_false = (support - ones + 1) / (rows - positives + 2)
        self._absent = np.log((1 - in_true) / (1 - in_false))
        self._present = np.log(in_true / in_false)

    def worth(self, score: NDArray[np.float64] | None = None) -> float:
        """AUC, or the mean log-likelihood above that of guessing by the class shares."""
        score, label = (self.score if score is None else score)[self.held], self.label[self.held]
        if self.measure == "auc":
            from scipy.stats import rankdata

            ranks = rankdata(score)
            positives = int(label.sum())
            if not 0 < positives < len(label):  # only one class among the held-out rows
                return 0.5
            # The Mann-Whitney statistic: pairs in which the row of the true class ranks higher.
            above = ranks[label].sum() - positives * (positives + 1) / 2
            return float(above / (positives * (len(label) - positives)))
        share = self.label[self.train].mean()
        base = -np.log(np.where(label, share, 1 - share)).mean()
        return float(base - np.logaddexp(0, np.where(label, -score, score)).mean())

    def gain(self, column: int, now: float) -> float:
        """What the column would add to the worth."""
        # The likelihood is a sum over rows, and the rows without the column keep their terms.
        if self.model == "linear" and self.measure == "likelihood":
            rows, best = self._rows(column), self._best(column)
            saved = loss_saved(rows, self.score, self.label, self.held, best)
            return float(saved / self.held.sum())
        return self.worth(self._with(column)) - now

    def first_gains(self, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Gains of single columns, or their information on the label if those cost too much."""
        if self.model == "linear" and self.measure == "likelihood":
            asked = self._columns._replace(
                begin=self._columns.begin[columns], end=self._columns.end[columns]
            )
            parts = (self.score, self.label, self.train, self.held)
            saved: NDArray[np.float64] = savings(asked, *parts, RIDGE)
            return np.asarray(saved / self.held.sum())
        return self.information[columns]

    def add(self, column: int, refit: bool = True) -> None:
        """Add the column to the model; with `refit`, fit all weights once more."""
        self.score = self._with(column)
        self.chosen.append(column)
        if self.model == "linear":
            self._weight[column] = self._moved
            if refit:
                self._sweep()

    def _sweep(self) -> None:
        rest = (self.score, self.label, self.train, RIDGE)
        order = np.array(self.chosen[::-1], dtype=np.int64)
        sweep(self._columns, order, self._weight, *rest)

    def _rows(self, column: int) -> NDArray[np.int32]:
        rows: NDArray[np.int32]
        rows = self.table.indices[self.table.indptr[column] : self.table.indptr[column + 1]]
        return rows

    def _best(self, column: int) -> float:
        parts = (self._rows(column), self.score, self.label, self.train)
        return float(best_weight(*parts, RIDGE, 0.0))

    def _with(self, column: int) -> NDArray[np.float64]:
        rows = self._rows(column)
        if self.model == "linear":
            score = self.score.copy()
            self._moved = self._best(column)
            score[rows] += self._moved
            return score
        score = np.asarray(self.score + self._absent[column])
        score[rows] += self._present[column] - self._absent[column]
        return score


class OneAgainstRest:
    """One `HeldOutModel` for each class against the rest; their worth is the mean."""

    def __init__(self, table: sparse.csc_array, label: NDArray[np.intp], *rest: Any) -> None:
        self.table = table
        self._models = [HeldOutModel(table, label == c, *rest) for c in range(label.max() + 1)]
        self.information = np.mean([m.information for m in self._models], axis=0)

    def worth(self) -> float:
        return float(np.mean([model.worth() for model in self._models]))

    def gain(self, column: int, now: float) -> float:
        """What the column would add on average; each model starts from its own worth, not `now`."""
        return float(np.mean([m.gain(column, m.worth()) for m in self._models]))

    def first_gains(self, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(np.mean([m.first_gains(columns) for m in self._models], axis=0))

    def add(self, column: int, refit: bool = True) -> None:
        for model in self._models:
            model.add(column, refit)


def held_out_model(
    table: sparse.csc_array, label: NDArray[Any], *rest: Any
) -> HeldOutModel | OneAgainstRest:
    """One model for two classes, else one for each class; `rest` as in `HeldOutModel`."""
    return (HeldOutModel if label.dtype == np.bool_ else OneAgainstRest)(table, label, *rest)


def split_rows(
    label: NDArray[Any],
    known: NDArray[np.bool_],
    share: float,
    seed: int,
    groups: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Split the known rows into training and held-out rows: `share` of each class is held out.

    Unlike `tamis.learn.holdout.held_rows`, which may hold out no row of a rare class, this always
    holds out at least one, since models are compared on all classes. With `groups`, the person of
    each row, people are drawn instead, each in the class of most of their rows. `seed` seeds the
    draw.
    """
    if groups is not None:
        return _split_people(label, known, share, seed, groups)
    rng = np.random.default_rng(seed)
    held = np.zeros(len(label), dtype=bool)
    for value in np.unique(label)[::-1]:  # draws are in a fixed order: of two, the true class first
        members = np.flatnonzero(known & (label == value))
        size = min(max(1, round(share * len(members))), len(members) - 1)
        if size < 1:
            raise InputError(
                "the utilities likelihood, auc and best need at least two rows of each class to "
                f"hold some out, or two people if people have several rows; got {len(members)}"
            )
        held[rng.choice(members, size, replace=False)] = True
    return known & ~held, held


def _split_people(
    label: NDArray[Any],
    known: NDArray[np.bool_],
    share: float,
    seed: int,
    groups: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    from tamis.learn.cv import LabelledPeople

    rows = np.flatnonzero(known)
    people = LabelledPeople.of(label[rows], groups[rows])
    everybody = np.ones(len(people), dtype=bool)
    _, picked = split_rows(people.classes[people.label], everybody, share, seed)
    held = np.zeros(len(label), dtype=bool)
    held[rows[picked[people.of_row]]] = True
    return known & ~held, held


_PATIENCE = 30
"""Candidates in a row that may bring nothing better before a step ends: time against the risk of
missing one whose gain has grown."""


def by_prediction(
    model: HeldOutModel | OneAgainstRest,
    candidates: NDArray[np.int64],
    rule: StopRule,
    *,
    extend: bool,
) -> Selection:
    """Greedy search by the worth on held-out rows, trying candidates with large last gains first.

    Gains may grow here, so old ones are a guide and not a bound: at each step candidates are
    evaluated in the order of their last gains until `_PATIENCE` of them in a row were no better.
    """
    projection = Projection(model.table, rule.k, privacy=rule.privacy)
    last = dict(zip(candidates.tolist(), model.first_gains(candidates).tolist()))
    value, steps = model.worth(), list[Step]()
    while last and len(steps) < rule.most:
        best, gain = _best_candidate(model, projection, last, value, rule.stop)
        if best is None or gain <= rule.least_gain:
            break
        del last[best]
        if not projection.offer(best):
            extend = False
            break
        value = _take(model, projection, best, value, steps)
    if extend and rule.least_gain == 0:
        for column in sorted(last, key=lambda c: (-model.information[c], c)):
            if (
                len(steps) < rule.most
                and model.information[column] > 0
                and projection.offer(column)
            ):
                value = _take(model, projection, column, value, steps)
    return Selection(tuple(projection.features), projection.anonymity, value, steps=tuple(steps))


def _take(
    model: HeldOutModel | OneAgainstRest,
    projection: Projection,
    column: int,
    value: float,
    steps: list[Step],
) -> float:
    """Add a chosen column to the model and record the step; return the new worth."""
    model.add(column)
    worth = model.worth()
    steps.append(Step(column, worth - value, worth, projection.anonymity))
    return worth


def _best_candidate(
    model: HeldOutModel | OneAgainstRest,
    projection: Projection,
    last: dict[int, float],
    value: float,
    stop: bool,
) -> tuple[int | None, float]:
    best, best_gain, since = None, -np.inf, 0
    for column in sorted(last, key=lambda c: (-last[c], c)):
        if since >= _PATIENCE:
            break
        if not stop and not projection.fits(column):
            del last[column]
            continue
        last[column] = model.gain(column, value)
        since += 1
        if last[column] > best_gain or (last[column] == best_gain and column < (best or 0)):
            best, best_gain, since = column, last[column], 0
    return best, best_gain


@register_jitable
def loss(score: float, label: bool) -> float:
    """Negative log-likelihood of a label under a score."""
    # The exponent is never positive, so it cannot overflow.
    margin = score if label else -score
    return float(np.log1p(np.exp(-margin)) if margin > 0 else np.log1p(np.exp(margin)) - margin)


@njit(cache=True)
def best_weight(
    rows: Any, score: Any, label: Any, train: Any, ridge: float, weight: float
) -> float:
    """How far to move the weight of a column from `weight`, by Newton's method on training rows."""
    moved = 0.0
    for _ in range(8):
        slope, bend = -ridge * (weight + moved), ridge
        for r in rows:
            if train[r]:
                chance = 1 / (1 + np.exp(-score[r] - moved))
                slope += label[r] - chance
                bend += chance * (1 - chance)
        # Far from the optimum the curvature is nearly 0, and an unlimited step would overshoot.
        step = min(max(slope / bend, -2.0), 2.0)
        moved += step
        if abs(step) < 1e-3:
            break
    return moved


@njit(cache=True)
def loss_saved(rows: Any, score: Any, label: Any, held: Any, moved: float) -> float:
    """How much the loss of the held-out rows falls when the scores of these rows move."""
    saved = 0.0
    for r in rows:
        if held[r]:
            saved += loss(score[r], label[r]) - loss(score[r] + moved, label[r])
    return saved


@njit(cache=True)
def savings(columns: Any, score: Any, label: Any, train: Any, held: Any, ridge: float) -> Any:
    """For each column, the held-out loss saved at its best weight."""
    saved = np.zeros(columns.begin.size)
    for i in range(columns.begin.size):
        rows = columns.rows[columns.begin[i] : columns.end[i]]
        weight = best_weight(rows, score, label, train, ridge, 0.0)
        saved[i] = loss_saved(rows, score, label, held, weight)
    return saved


@njit(cache=True)
def sweep(
    columns: Any, chosen: Any, weight: Any, score: Any, label: Any, train: Any, ridge: float
) -> None:
    """Refit the intercept and each chosen weight once, in place: one pass of coordinate descent."""
    everyone = np.arange(score.size)
    # The intercept is not penalised; the tiny ridge only keeps the curvature off 0.
    moved = best_weight(everyone, score, label, train, 1e-9, 0.0)
    for r in everyone:
        score[r] += moved
    for i in chosen:
        rows = columns.rows[columns.begin[i] : columns.end[i]]
        moved = best_weight(rows, score, label, train, ridge, weight[i])
        weight[i] += moved
        for r in rows:
            score[r] += moved


HELD_OUT = 1 / 3
"""Fraction of the rows held out to evaluate a model."""
Truths = NDArray[np.bool_]
Chooser = Callable[[Truths], Selection]
"""Chooses columns by the labels of the rows where its argument is true."""
ITERATIONS = 1000
DRAWS = 3
"""Number of hold-out draws: with one, chance decides between similar contenders."""


@dataclass(frozen=True)
class Contest:
    """Searches that choose by the labels of training rows and are compared on held-out rows.

    Each contender sees the training labels alone, so that the contest is fair; then a linear model
    fitted to convergence on the same rows ranks the held-out ones. The winner, by mean AUC over
    the draws, chooses again by all known labels.
    """

    table: Binary
    label: NDArray[Any]
    """Class of each row: a boolean for two classes, else its number."""
    known: Truths
    """Which rows have a label that may be used."""
    contenders: dict[str, Chooser]
    share: float
    """Fraction of the known rows that is held out."""
    seed: int = 0
    """Seed of the first draw; each further draw takes the next number."""
    groups: NDArray[np.int64] | None = None
    """The person of each row: all rows of a person are held out, or none."""

    def winner(self) -> Selection:
        """The selection of the winner; its utility and gains are in AUC on the first draw."""
        results = self.results()
        # Of contenders with the same AUC the first one wins.
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
        """Training and held-out rows of each draw."""
        rest = (self.label, self.known, self.share)
        return [split_rows(*rest, self.seed + i, self.groups) for i in range(DRAWS)]

    @cached_property
    def columns(self) -> sparse.csc_array:
        return sparse_columns(self.table)

    def _auc(self, chosen: Selection, train: Truths, held: Truths) -> float:
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score

        from tamis.learn.models import one_thread

        if not chosen.features:
            return 0.5
        rows = self.columns[:, list(chosen.features)].tocsr().astype(float)
        model = LogisticRegression(C=1 / RIDGE, max_iter=ITERATIONS)
        with one_thread():  # threads cost more than they save on vectors this short
            model.fit(rows[np.flatnonzero(train)], self.label[train])
        score = model.decision_function(rows[np.flatnonzero(held)])
        truth = self.label[held]
        if truth.dtype == np.bool_:
            return float(roc_auc_score(truth, score))
        if score.ndim == 1:  # the training rows are of only two of the classes
            score = np.column_stack([-score, score])
        # One against the rest; a class that no held-out row has, or all have, has no AUC.
        there = [c for c in np.unique(truth) if (truth != c).any()]
        areas = [
            roc_auc_score(truth == c, score[:, place])
            for place, c in enumerate(model.classes_)
            if c in there
        ]
        return float(np.mean(areas)) if areas else 0.5

    def _in_auc(self, chosen: Selection) -> Selection:
        """The same path with its utilities in held-out AUC.

        The last one comes from a model fitted to convergence.
        """
        # Refitting all weights at every step would take time quadratic in the number of features;
        # refitting whenever their number has grown by a tenth keeps it linear.
        draw = self.draws[0]
        model = held_out_model(self.columns, self.label, *draw, "auc", "linear")
        steps, value, last, due = [], model.worth(), self._auc(chosen, *draw), 1
        for i, step in enumerate(chosen.steps, start=1):
            model.add(step.feature, refit=i >= due)
            due = i + max(1, i // 10) if i >= due else due
            worth = model.worth() if i < len(chosen.steps) else last
            steps.append(Step(step.feature, worth - value, worth, step.anonymity))
            value = worth
        return Selection(chosen.features, chosen.anonymity, value, steps=tuple(steps))
