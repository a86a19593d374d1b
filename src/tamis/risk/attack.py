"""Attackers: classifiers that guess one column from any set of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.learn.classifiers import classifier
from tamis.learn.intervals import Interval, fold_interval
from tamis.learn.subset_scores import FoldScores, SubsetScores

Attackers = str | Any | Sequence[Any] | Mapping[str, Any] | None
Shares = NDArray[np.float64]

TRIED = ("c45", "nb", "boosting", "neighbours")
"""The attackers that are tried where none is named."""


@dataclass(frozen=True, eq=False)
class Guess:
    """How well the sensitive column is guessed from some features."""

    features: tuple[str, ...]
    attacker: str
    shares: Shares
    """The share of rows guessed rightly in each fold."""
    pooled: int
    """Rows guessed rightly over all folds: whole numbers, so that ties are ties."""

    @property
    def accuracy(self) -> float:
        return float(self.shares.mean())


class Attack:
    """Some attackers who guess one column from any set of features, all on the same folds.

    The attacker takes, for every set of features, whichever of the classifiers guesses best.

    Parameters
    ----------
    scores : mapping of str to SubsetScores
        By name; all with the same features and folds.
    """

    def __init__(self, scores: Mapping[str, SubsetScores]) -> None:
        self._scores = dict(scores)
        first = next(iter(self._scores.values()))
        self.features, self.folds = first.features, first.folds
        self.all = self.strongest(self.features)
        if not self.all.pooled:
            raise InputError(
                "no attacker guesses a single sensitive value from all features, so that there is "
                "nothing to compare with; try other attackers, or fewer classes"
            )
        # No feature at all: the commonest value of the rows trained on, on the same folds.
        self.floor = self._mean(first.of([])) / self.all.accuracy - 1

    def strongest(self, features: Iterable[str]) -> Guess:
        """The best guess from some features; the first attacker among equals."""
        named = tuple(features)
        guesses = [self._guess(who, s.of(named)) for who, s in self._scores.items()]
        return max(guesses, key=lambda guess: guess.pooled)

    def without_each(self) -> dict[str, Guess]:
        """The best guess without each feature in turn."""
        drops = {who: s.drop_ones() for who, s in self._scores.items()}
        return {
            feature: max(
                (self._guess(who, found[feature]) for who, found in drops.items()),
                key=lambda guess: guess.pooled,
            )
            for feature in self.features
        }

    def pbi(self, guess: Guess) -> float:
        """Privacy breach increase of a guess (Definition 1)."""
        return guess.accuracy / self.all.accuracy - 1

    def interval(self, guess: Guess) -> Interval:
        """The interval of the ratio, linear around the means of both accuracies."""
        ratio = guess.accuracy / self.all.accuracy
        apart = (guess.shares - ratio * self.all.shares) / self.all.accuracy
        return fold_interval(ratio - 1 + apart, self.folds)

    def all_subsets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows guessed rightly from every subset by fold, and the number of the attacker.

        Row `mask` of both as in `SubsetScores.all_subsets`.
        """
        counts = np.stack([s.all_subsets() for s in self._scores.values()])
        who = counts.sum(axis=2).argmax(axis=0)
        return counts[who, np.arange(counts.shape[1])], who

    def each(self, features: Iterable[str]) -> dict[str, float]:
        """The breach increase of each attacker, against its own guesses from all features."""
        named = tuple(features)
        return {
            who: self._mean(s.of(named)) / self._mean(s.of(self.features)) - 1
            for who, s in self._scores.items()
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._scores)

    def guess(self, features: tuple[str, ...], correct: Sequence[int], attacker: str) -> Guess:
        """A guess whose rows guessed rightly are known."""
        return Guess(features, attacker, np.asarray(correct) / self.folds.sizes, int(sum(correct)))

    def _guess(self, who: str, found: FoldScores) -> Guess:
        return self.guess(found.features, found.correct, who)

    def _mean(self, found: FoldScores) -> float:
        return float(np.mean(np.asarray(found.correct) / self.folds.sizes))


def named_attackers(attackers: Attackers) -> dict[str, Any]:
    """Attackers by name, from names, classifiers or a mapping.

    >>> named_attackers("nb")
    {'nb': AdditiveNaiveBayes()}
    """
    if isinstance(attackers, str):
        attackers = [name.strip() for name in attackers.split(",")]
    if isinstance(attackers, Mapping):
        found = dict(attackers)
    else:
        many = attackers if isinstance(attackers, list | tuple) else [attackers]
        found = {}
        for one in many:
            name = one if isinstance(one, str) else type(one).__name__
            found[name] = classifier(one) if isinstance(one, str) else one
    if not found:
        raise InputError("name at least one attacker, such as c45 or nb")
    return found
