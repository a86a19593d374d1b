"""What other attackers read of the secret, in the same bits and of the same rows as kept and told.

Told is the worst of all that was measured. The small boosting gives the bits of every set; of a
release there are more readings: rows that are alike in what is released are looked up, and what an
attacker guessed, or a slow learner said, is taken at its word as far as it was right before. The
reading that gains most is that of the release (`most_telling`); who has more columns has it, too.
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
"""The rows that what is known of a person weighs as much as, beside those that are alike."""
LUCK_ERRORS = 3.0
"""The standard errors by which one reading of many must gain: the luckiest of them is no attack."""
BINS = 10
"""How finely it is looked at how sure an attacker is."""


def looked_up(
    learnt: Integers, label: Integers, asked: Integers, known: Floats, truth: Integers
) -> Floats:
    """What is gained about rows by looking up those that are alike: one value for each asked row.

    `learnt` and `label` are the groups and the classes of the rows that are looked up, `asked`,
    `known` and `truth` the groups, what is known without a release, and the classes of the others.

    >>> alike = np.array([0] * 8 + [1] * 8)
    >>> looked_up(alike, alike, np.array([0, 1, 2]), np.full((3, 2), 0.5), np.array([0, 1, 1])).round(2)
    array([0.85, 0.85, 0.  ])
    """  # noqa: E501
    classes, groups = known.shape[1], 1 + int(max(learnt.max(initial=0), asked.max(initial=0)))
    cells = np.bincount(learnt * classes + label, minlength=groups * classes)
    counts = cells.reshape(groups, classes)[asked]
    said = (counts + KNOWN * known) / (counts.sum(axis=1, keepdims=True) + KNOWN)
    return gains(said, known, truth)


def guess_groups(predictions: Predictions, learnt: NDArray[np.intp]) -> list[Integers]:
    """Rows of which an attacker says the same: which class, then also about how surely.

    How sure is compared with the rows `learnt`, in tenths.
    """
    named = np.unique(predictions.predicted, return_inverse=True)[1].astype(np.int64)
    if predictions.probabilities is None:
        return [named]
    said, surely = predictions.probabilities, named
    for likely in (said.max(axis=1), said[:, said.mean(axis=0).argmin()]):
        cuts = np.unique(np.quantile(likely[learnt], np.arange(1, BINS) / BINS))
        surely = surely * BINS + np.searchsorted(cuts, likely, side="right")
    return [named, np.unique(surely, return_inverse=True)[1].astype(np.int64)]


def most_telling(one: Gains, others: Iterable[Gains], people: PeopleLike = None) -> Gains:
    """Of several readings of a release the one that gains most on average.

    The first is that of the boosting, which is asked of all releases; another one counts where it
    gains clearly.

    >>> most_telling(np.zeros(4), [np.full(4, 0.1), np.full(4, -0.1)]).tolist()
    [0.1, 0.1, 0.1, 0.1]
    """
    best, most = one, float(np.mean(one, dtype=np.float64))
    for other in others:
        found = mean(other, people)
        if found.value > most and found.is_above(LUCK_ERRORS):
            best, most = other, found.value
    return best
