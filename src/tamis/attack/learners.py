"""Classifiers by which an attacker guesses a hidden column, as probabilities of its classes.

The look-up takes the classes of the rows nearest to what is known of a person. The others are the
classifiers that `tamis.learn.models` names as attackers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Floats, Integers
from tamis.attack.kernels import NearestRows, pairs
from tamis.attack.scene import as_numbers
from tamis.catalogue.methods import ATTACKERS, MODELS, shown_model
from tamis.evaluate.bits import gains
from tamis.learn.boosting import Boosting, shares
from tamis.learn.coded_table import CodedTable, rows_alike
from tamis.learn.holdout import Predictions, fit_predict
from tamis.learn.models import attackers

LEARNT = 8_000
"""Most training rows of a learner; the look-up uses all rows."""
LOOKUP = "look-up"
SMALL_BOOSTING = shown_model("small")
GUESSING = "guessing"
"""The baseline without a release, which wins where no learner does better."""
LEARNERS = (LOOKUP, SMALL_BOOSTING, *ATTACKERS)
MANY_FITS = [name for name, model in MODELS.items() if model.few_classes_only]
MOST_GROWN = 10
"""Most classes for learners that grow trees for each class: their time grows with the classes."""
BLOCK = 64
"""How many people are compared with all rows at once; more would take more memory."""


@dataclass(frozen=True, eq=False)
class Known:
    """Training rows, the class of each, and the people to predict, in the same columns.

    `ask` has no columns, and so no height, where nothing is known; `people` is its row count.
    """

    learn: pl.DataFrame
    label: Integers
    ask: pl.DataFrame
    people: int
    classes: int
    random_state: int = 0

    def by(self, name: str) -> Floats:
        """Predicted probabilities of one learner for all rows of `ask`."""
        if name == GUESSING or not self.ask.width or not len(self.label):
            return np.tile(shares(self.label, self.classes), (self.people, 1))
        return self._looked_up() if name == LOOKUP else self._learnt(name)

    def _sample(self) -> tuple[pl.DataFrame, Integers]:
        """At most `LEARNT` training rows, then the rows to predict; and the training labels."""
        drawn = np.random.default_rng(self.random_state).permutation(len(self.label))[:LEARNT]
        rows = np.sort(drawn)
        return pl.concat([self.learn[rows], self.ask], how="vertical_relaxed"), self.label[rows]

    def _looked_up(self) -> Floats:
        """Class frequencies among the nearest rows, with the prior added as if it were one row."""
        columns = tuple(self.ask.columns)
        (table, asked), nominal = as_numbers([self.learn, self.ask], columns)
        # Equal rows are equally near: each distinct row is compared once, with its class counts.
        words = np.ascontiguousarray(table.T, dtype=np.float64).view(np.uint64)
        first, place = rows_alike(np.zeros((0, len(table)), dtype=np.uint8), words)
        cells = np.bincount(place * self.classes + self.label, minlength=len(first) * self.classes)
        held = cells.reshape(len(first), self.classes)
        near, prior = NearestRows(table[first], nominal), shares(self.label, self.classes)
        predicted = []
        for start in range(0, len(asked), BLOCK):
            part = asked[start : start + BLOCK]
            hits, _ = near.to(part, np.ones(part.shape, np.bool_))
            whose, row = pairs(hits)
            counts = np.tile(prior, (len(part), 1))
            for c in range(self.classes):
                counts[:, c] += np.bincount(whose, weights=held[row, c], minlength=len(part))
            predicted.append(counts / counts.sum(axis=1, keepdims=True))
        return np.concatenate(predicted)

    def _learnt(self, name: str) -> Floats:
        both, label = self._sample()
        places = np.arange(both.height)
        learn, ask = places[: len(label)], places[len(label) :]
        y = np.concatenate([label, np.full(len(ask), label[0])])
        table = CodedTable.of(both, learn)
        if name == SMALL_BOOSTING:
            return Boosting().probabilities(table, y, learn, ask, classes=self.classes)
        model = next(iter(attackers([name], self.random_state).values()))
        predictions = fit_predict(model, _plain(table, both.columns), y, learn, ask)
        return _of_all(predictions, label, self.classes)


def _plain(table: CodedTable, names: Sequence[str]) -> pl.DataFrame:
    """The codes of a table as a frame: at most 32 values a column, numbers in their order."""
    kinds = [pl.Float64 if ordered else pl.String for ordered in table.ordered]
    columns = zip(names, table.codes, kinds)
    return pl.DataFrame([pl.Series(name, codes).cast(kind) for name, codes, kind in columns])


def _of_all(predictions: Predictions, label: Integers, classes: int) -> Floats:
    """Probabilities of all classes; those absent from training get their smoothed share."""
    prior = shares(label, classes)
    p = np.tile(prior, (len(predictions.predicted), 1))
    proba = predictions.probabilities
    if proba is None:
        hits = predictions.predicted[:, None] == predictions.classes[None, :]
        proba = hits.astype(np.float64)
    seen = np.asarray(predictions.classes, dtype=np.intp)
    p[:, seen] = proba * prior[seen].sum()
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def strongest_learner(
    known: Known,
    truth: Integers,
    baseline: Floats,
    choose: NDArray[np.intp],
    names: Sequence[str] = LEARNERS,
) -> tuple[str, Floats]:
    """The learner that gains most bits on the rows `choose`, and its predictions for all rows.

    `truth` has the true classes, `baseline` the probabilities without a release. At a tie the first
    wins, so the baseline is only beaten by a real gain.
    """
    few = len(np.unique(known.label)) <= MOST_GROWN
    fit = [name for name in names if few or name not in MANY_FITS]
    proba = {GUESSING: baseline} | {name: known.by(name) for name in fit}
    bits = {
        name: gains(p[choose], baseline[choose], truth[choose]).mean() for name, p in proba.items()
    }
    best = max(bits, key=lambda name: float(bits[name]))
    return best, proba[best]
