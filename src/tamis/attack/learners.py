"""What attackers learn: the probability of each class of a hidden column, by several learners.

One of them looks the person up: the classes of the rows nearest to what is known of them. The
others are the classifiers that `tamis.learn.models` names as attackers.
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
"""The most rows that a learner gets; to look up, an attacker has all."""
LOOKUP = "look-up"
SMALL_BOOSTING = shown_model("small")
GUESSING = "guessing"
"""What is said without a release: an attacker whose learners know no better falls back on it."""
LEARNERS = (LOOKUP, SMALL_BOOSTING, *ATTACKERS)
MANY_FITS = [name for name, model in MODELS.items() if model.few_classes_only]
MOST_GROWN = 10
"""A learner that grows a tree for each class is left to columns of no more classes than this."""
BLOCK = 64


@dataclass(frozen=True, eq=False)
class Known:
    """Rows to learn from, the class of each, and people to ask about, in the same columns.

    `ask` has no columns where nothing is known of a person, so `people` says how many there are.
    """

    learn: pl.DataFrame
    label: Integers
    ask: pl.DataFrame
    people: int
    classes: int
    random_state: int = 0

    def by(self, name: str) -> Floats:
        """The probability of each class for everybody asked about, by one learner."""
        if name == GUESSING or not self.ask.width or not len(self.label):
            return np.tile(shares(self.label, self.classes), (self.people, 1))
        return self._looked_up() if name == LOOKUP else self._learnt(name)

    def _sample(self) -> tuple[pl.DataFrame, Integers]:
        """The rows to learn from, no more than a learner needs, then those asked about."""
        drawn = np.random.default_rng(self.random_state).permutation(len(self.label))[:LEARNT]
        rows = np.sort(drawn)
        return pl.concat([self.learn[rows], self.ask], how="vertical_relaxed"), self.label[rows]

    def _looked_up(self) -> Floats:
        """The classes of the nearest rows, with the weight of one row for those of all."""
        columns = tuple(self.ask.columns)
        (table, asked), nominal = as_numbers([self.learn, self.ask], columns)
        # Rows that are alike are equally near: each distinct one is looked at once.
        words = np.ascontiguousarray(table.T, dtype=np.float64).view(np.uint64)
        first, place = rows_alike(np.zeros((0, len(table)), dtype=np.uint8), words)
        cells = np.bincount(place * self.classes + self.label, minlength=len(first) * self.classes)
        held = cells.reshape(len(first), self.classes)
        near, prior = NearestRows(table[first], nominal), shares(self.label, self.classes)
        said = []
        for start in range(0, len(asked), BLOCK):
            part = asked[start : start + BLOCK]
            hits, _ = near.to(part, np.ones(part.shape, np.bool_))
            whose, row = pairs(hits)
            counts = np.tile(prior, (len(part), 1))
            for c in range(self.classes):
                counts[:, c] += np.bincount(whose, weights=held[row, c], minlength=len(part))
            said.append(counts / counts.sum(axis=1, keepdims=True))
        return np.concatenate(said)

    def _learnt(self, name: str) -> Floats:
        both, label = self._sample()
        places = np.arange(both.height)
        learn, ask = places[: len(label)], places[len(label) :]
        y = np.concatenate([label, np.full(len(ask), label[0])])
        table = CodedTable.of(both, learn)
        if name == SMALL_BOOSTING:
            return Boosting().probabilities(table, y, learn, ask, classes=self.classes)
        model = next(iter(attackers([name], self.random_state).values()))
        found = fit_predict(model, _plain(table, both.columns), y, learn, ask)
        return _of_all(found, label, self.classes)


def _plain(table: CodedTable, names: Sequence[str]) -> pl.DataFrame:
    """At most 32 values a column, numbers in their order: no column is too wide for a learner."""
    kinds = [pl.Float64 if ordered else pl.String for ordered in table.ordered]
    columns = zip(names, table.codes, kinds)
    return pl.DataFrame([pl.Series(name, codes).cast(kind) for name, codes, kind in columns])


def _of_all(found: Predictions, label: Integers, classes: int) -> Floats:
    """Probabilities of all classes; those that were not learnt get their smoothed share."""
    prior = shares(label, classes)
    p = np.tile(prior, (len(found.predicted), 1))
    said = found.probabilities
    if said is None:
        said = (found.predicted[:, None] == found.classes[None, :]).astype(np.float64)
    seen = np.asarray(found.classes, dtype=np.intp)
    p[:, seen] = said * prior[seen].sum()
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def strongest_learner(
    known: Known,
    truth: Integers,
    baseline: Floats,
    choose: NDArray[np.intp],
    names: Sequence[str] = LEARNERS,
) -> tuple[str, Floats]:
    """The learner that gains most bits about the people to choose by, and what it says of all.

    `truth` is the true class of everybody asked about, `baseline` the probabilities without a
    release.
    """
    few = len(np.unique(known.label)) <= MOST_GROWN
    fit = [name for name in names if few or name not in MANY_FITS]
    said = {GUESSING: baseline} | {name: known.by(name) for name in fit}
    bits = {
        name: gains(p[choose], baseline[choose], truth[choose]).mean() for name, p in said.items()
    }
    best = max(bits, key=lambda name: float(bits[name]))
    return best, said[best]
