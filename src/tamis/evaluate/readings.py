"""Further readings of the secret, in the same bits and on the same rows as kept and told.

Told is the worst of all readings that were measured. Every set is read by the small boosting. A
release is read in further ways: by looking up rows that are equal in it, and from the guesses of
attackers and slow learners, weighed by how often such guesses were right before. The reading with
the largest gain counts (`most_telling`), also for every release with more columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Floats, Integers
from tamis.evaluate.bits import Gains, gains, mean
from tamis.learn.holdout import Predictions
from tamis.people import PeopleLike

KNOWN = 2.0
"""Pseudo-count of the prior in a lookup: it weighs as much as this many equal rows."""
LUCK_ERRORS = 3.0
"""Standard errors by which a further reading must gain: the luckiest of many is no attack."""
BINS = 10
"""Quantile bins of how sure an attacker is."""


def looked_up(
    learnt: Integers, label: Integers, asked: Integers, known: Floats, truth: Integers
) -> Floats:
    """Gain of each test row by looking up the labels of equal training rows.

    `learnt` and `label` are the groups and the classes of the training rows; `asked`, `known` and
    `truth` are the groups, the prior probabilities and the classes of the test rows.

    >>> alike = np.array([0] * 8 + [1] * 8)
    >>> looked_up(alike, alike, np.array([0, 1, 2]), np.full((3, 2), 0.5), np.array([0, 1, 1])).round(2)
    array([0.85, 0.85, 0.  ])
    """  # noqa: E501
    classes, groups = known.shape[1], 1 + int(max(learnt.max(initial=0), asked.max(initial=0)))
    cells = np.bincount(learnt * classes + label, minlength=groups * classes)
    counts = cells.reshape(groups, classes)[asked]
    proba = (counts + KNOWN * known) / (counts.sum(axis=1, keepdims=True) + KNOWN)
    return gains(proba, known, truth)


def guess_groups(predictions: Predictions, learnt: NDArray[np.intp]) -> list[Integers]:
    """Groups of rows with the same guess: by the class guessed, then also by its certainty.

    Certainty is in tenths, by quantiles of the rows `learnt`: the probability of the guessed class,
    and that of the class which the attacker holds least likely overall.
    """
    named = np.unique(predictions.predicted, return_inverse=True)[1].astype(np.int64)
    if predictions.probabilities is None:
        return [named]
    proba, surely = predictions.probabilities, named
    for likely in (proba.max(axis=1), proba[:, proba.mean(axis=0).argmin()]):
        cuts = np.unique(np.quantile(likely[learnt], np.arange(1, BINS) / BINS))
        surely = surely * BINS + np.searchsorted(cuts, likely, side="right")
    return [named, np.unique(surely, return_inverse=True)[1].astype(np.int64)]


def most_telling(one: Gains, others: Iterable[Gains], people: PeopleLike = None) -> Gains:
    """The reading of a release with the largest mean gain.

    The first is that of the boosting, which every release has; another one counts only if its gain
    is clear.

    >>> most_telling(np.zeros(4), [np.full(4, 0.1), np.full(4, -0.1)]).tolist()
    [0.1, 0.1, 0.1, 0.1]
    """
    best, most = one, float(np.mean(one, dtype=np.float64))
    for other in others:
        gained = mean(other, people)
        if gained.value > most and gained.is_above(LUCK_ERRORS):
            best, most = other, gained.value
    return best
