"""The utility of columns, alone or in a predictive model.

Utilities that are sums over the features look at a single 0/1 feature. Those that predict fit a
model on one part of the rows and evaluate it on the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlog1py, xlogy

from tamis.binary.matrix import class_counts, differing_pairs
from tamis.errors import InputError
from tamis.select.containment.projection import Privacy, Projection
from tamis.select.containment.selection import Selection, Step

Model = Literal["linear", "bayes"]
PREDICTIVE = ("likelihood", "auc")
RIDGE = 1.0


@dataclass
class HeldOutModel:
    """An additive model that grows by columns; its worth is measured on held-out rows.

    `linear` is logistic regression with a small ridge: a candidate's weight is fitted with the
    others held still, and all are fitted again once it is chosen. `bayes` is naive Bayes: a
    column's weights come from its counts alone.
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
        from tamis.binary.kernels import take

        every = np.arange(self.table.shape[1])
        self._columns = take(self.table, every, np.diff(self.table.indptr).astype(np.int64))
        self._weight = np.zeros(len(every))
        share = self.label[self.train].mean()
        self.score = np.full(len(self.label), np.log(share / (1 - share)))
        part = self.table[np.flatnonzero(self.train)]
        rows, positives = int(self.train.sum()), int(self.label[self.train].sum())
        support, ones = class_counts(part, self.label[self.train])
        self.information = mutual_information(support, ones, rows, positives)
        in_true = (ones + 1) / (positives + 2)
        in_false = (support - ones + 1) / (rows - positives + 2)
        self._absent = np.log((1 - in_true) / (1 - in_false))
        self._present = np.log(in_true / in_false)

    def worth(self, score: NDArray[np.float64] | None = None) -> float:
        """AUC, or the mean log-likelihood beyond that of the class shares."""
        score, label = (self.score if score is None else score)[self.held], self.label[self.held]
        if self.measure == "auc":
            from scipy.stats import rankdata

            ranks = rankdata(score)
            positives = int(label.sum())
            above = ranks[label].sum() - positives * (positives + 1) / 2
            return float(above / (positives * (len(label) - positives)))
        share = self.label[self.train].mean()
        base = -np.log(np.where(label, share, 1 - share)).mean()
        return float(base - np.logaddexp(0, np.where(label, -score, score)).mean())

    def gain(self, column: int, now: float) -> float:
        """What the column would add to the worth."""
        if self.model == "linear" and self.measure == "likelihood":
            rows, best = self._rows(column), self._best(column)
            saved = self._kernels.loss_saved(rows, self.score, self.label, self.held, best)
            return float(saved / self.held.sum())
        return self.worth(self._with(column)) - now

    def first_gains(self, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Gains of single columns, or information with the label if those are too expensive."""
        if self.model == "linear" and self.measure == "likelihood":
            some = self._columns._replace(
                begin=self._columns.begin[columns], end=self._columns.end[columns]
            )
            parts = (self.score, self.label, self.train, self.held)
            saved: NDArray[np.float64] = self._kernels.savings(some, *parts, RIDGE)
            return np.asarray(saved / self.held.sum())
        return self.information[columns]

    def add(self, column: int, refit: bool = True) -> None:
        """Add the column to the model, and fit the weights of the others once more."""
        self.score = self._with(column)
        self.chosen.append(column)
        if self.model == "linear":
            self._weight[column] = self._moved
            if refit:
                self._sweep()

    def _sweep(self) -> None:
        rest = (self.score, self.label, self.train, RIDGE)
        order = np.array(self.chosen[::-1], dtype=np.int64)
        self._kernels.sweep(self._columns, order, self._weight, *rest)

    @property
    def _kernels(self) -> Any:
        from tamis.select.containment import additive

        return additive

    def _rows(self, column: int) -> NDArray[np.int32]:
        rows: NDArray[np.int32]
        rows = self.table.indices[self.table.indptr[column] : self.table.indptr[column + 1]]
        return rows

    def _best(self, column: int) -> float:
        parts = (self._rows(column), self.score, self.label, self.train)
        return float(self._kernels.best_weight(*parts, RIDGE, 0.0))

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


def split_rows(
    label: NDArray[np.bool_],
    known: NDArray[np.bool_],
    share: float,
    seed: int,
    groups: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which known rows train and which are held out, `share` of each class, drawn with `seed`.

    Unlike `tamis.learn.holdout.held_rows`, which may hold out no row of a rare class, this always
    holds out one: a model is compared on both classes. With `groups`, the person of each row,
    people are drawn by the class of most of their rows.
    """
    if groups is not None:
        return _split_people(label, known, share, seed, groups)
    rng = np.random.default_rng(seed)
    held = np.zeros(len(label), dtype=bool)
    for members in (np.flatnonzero(known & label), np.flatnonzero(known & ~label)):
        size = min(max(1, round(share * len(members))), len(members) - 1)
        if size < 1:
            raise InputError(
                "the utilities likelihood, auc and best need at least two rows of each class to "
                f"hold some out, or two people if people have several rows; got {len(members)}"
            )
        held[rng.choice(members, size, replace=False)] = True
    return known & ~held, held


def _split_people(
    label: NDArray[np.bool_],
    known: NDArray[np.bool_],
    share: float,
    seed: int,
    groups: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    from tamis.learn.cv import People

    rows = np.flatnonzero(known)
    people = People.of(label[rows], groups[rows])
    everybody = np.ones(len(people), dtype=bool)
    _, picked = split_rows(people.classes[people.label], everybody, share, seed)
    held = np.zeros(len(label), dtype=bool)
    held[rows[picked[people.of_row]]] = True
    return known & ~held, held


_PATIENCE = 30


def by_prediction(
    model: HeldOutModel,
    candidates: NDArray[np.int64],
    k: int,
    privacy: Privacy,
    *,
    stop: bool,
    most: int,
    least_gain: float,
    extend: bool = False,
) -> Selection:
    """Greedy on held-out worth, with a lazy list: old gains say what to try first.

    Gains may grow here, so the list is a guide and not exact: at each step candidates are
    weighed in the order of their last gains until `_PATIENCE` of them in a row were no better.
    """
    projection = Projection(model.table, k, privacy=privacy)
    last = dict(zip(candidates.tolist(), model.first_gains(candidates).tolist()))
    value, steps = model.worth(), list[Step]()
    while last and len(steps) < most:
        best, gain = _best_candidate(model, projection, last, value, stop)
        if best is None or gain <= least_gain:
            break
        del last[best]
        if not projection.offer(best):
            extend = False
            break
        value = _take(model, projection, best, value, steps)
    if extend and least_gain == 0:
        for column in sorted(last, key=lambda c: (-model.information[c], c)):
            if len(steps) < most and model.information[column] > 0 and projection.offer(column):
                value = _take(model, projection, column, value, steps)
    return Selection(tuple(projection.features), projection.anonymity, value, steps=tuple(steps))


def _take(
    model: HeldOutModel, projection: Projection, column: int, value: float, steps: list[Step]
) -> float:
    """Add an offered column to the model and record the step; returns the new worth."""
    model.add(column)
    worth = model.worth()
    steps.append(Step(column, worth - value, worth, projection.anonymity))
    return worth


def _best_candidate(
    model: HeldOutModel,
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


Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def hamming(support: Counts, ones: Counts, rows: int, positives: int) -> Floats:
    """The share of pairs of opposite classes in which the feature differs."""
    pairs = differing_pairs(support, ones, rows, positives)
    return pairs / (positives * (rows - positives))


def difference(support: Counts, ones: Counts, rows: int, positives: int) -> Floats:
    """How far apart the shares of ones in the two classes are."""
    apart = np.abs(ones * (rows - positives) - (support - ones) * positives)
    return apart / (positives * (rows - positives))


def mutual_information(support: Counts, ones: Counts, rows: int, positives: int) -> Floats:
    """Mutual information of feature and label, in nats.

    >>> mutual_information(np.array([2, 4]), np.array([2, 2]), 4, 2).round(3).tolist()
    [0.693, 0.0]
    """
    total = np.zeros(len(support))
    for cell, feature, label in (
        (ones, support, positives),
        (support - ones, support, rows - positives),
        (positives - ones, rows - support, positives),
        (rows - positives - support + ones, rows - support, rows - positives),
    ):
        present = cell > 0
        share = cell[present] / rows
        total[present] += share * np.log(cell[present] * rows / (feature[present] * label))
    # Rounded, so that columns of equal worth tie instead of differing in the last bit.
    return np.maximum(np.round(total, 12), 0.0)


def gain_ratio(support: Counts, ones: Counts, rows: int, positives: int) -> Floats:
    """Mutual information of feature and label for each nat of the feature itself.

    >>> gain_ratio(np.array([2, 1]), np.array([2, 1]), 4, 2).round(3).tolist()
    [1.0, 0.384]
    """
    return ratio_to_entropy(mutual_information(support, ones, rows, positives), support, rows)


def ratio_to_entropy(information: Floats, support: Counts, rows: int) -> Floats:
    """Information by the entropy of the feature; 0 of a feature that all rows have, or none."""
    share = support / rows
    varies = (support > 0) & (support < rows)
    entropy = np.where(varies, -(xlogy(share, share) + xlog1py(1 - share, -share)), 1.0)
    return np.asarray(np.round(information / entropy, 12))


MODULAR: dict[str, Callable[[Counts, Counts, int, int], Floats]] = {
    "hamdist": hamming,
    "difference": difference,
    "information": mutual_information,
    "ratio": gain_ratio,
}
