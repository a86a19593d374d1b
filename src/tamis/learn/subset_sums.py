"""Score sets of features by adding up what naive Bayes says of each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from tamis.learn.bayes import log_shares
from tamis.learn.contributions import ContributionCache, Counts
from tamis.learn.densities import Units
from tamis.learn.folds import Folds
from tamis.learn.subset_fits import Result, Scorer


@dataclass(frozen=True, eq=False)
class SubsetSums:
    """All that is needed to score sets of features by addition; `scorer=None` is accuracy."""

    cache: ContributionCache
    y: NDArray[Any]
    folds: Folds
    scorer: Scorer | None = None

    def of_all(self, subsets: Sequence[Sequence[int]]) -> list[Result]:
        """The results of many sets, in their order."""
        return self.results(subsets, self.cache.correct(subsets))

    def results(self, subsets: Sequence[Sequence[int]], counts: Counts) -> list[Result]:
        """The results of sets whose rows predicted rightly are known."""
        return [
            (self._scores(subset, correct), tuple(correct.tolist()))
            for subset, correct in zip(subsets, counts)
        ]

    def _scores(self, subset: Sequence[int], correct: NDArray[np.int64]) -> tuple[float, ...]:
        if self.scorer is None:
            return tuple((correct / self.folds.sizes).tolist())
        return tuple(
            float(self.scorer(self._answers(subset, fold), np.zeros((len(test), 1)), self.y[test]))
            for fold, test in enumerate(self.folds.tests)
        )

    def _answers(self, subset: Sequence[int], fold: int) -> Answers:
        return Answers(*self.cache.log_scores(subset, fold))


class Answers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier that has answered for its rows already: what a scorer asks."""

    def __init__(self, classes: NDArray[Any], units: Units) -> None:
        self.classes = classes
        self.units = units
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[self.units.argmax(axis=0)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.exp(log_shares(self.units))
