"""Score sets of features by fitting a classifier on each, fold by fold, sets in parallel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import polars as pl
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tamis.learn.folds import Folds

Scorer = Callable[[Any, Any, Any], float]
Result = tuple[tuple[float, ...], tuple[int, ...]]
"""The score of each fold, and its rows predicted rightly."""

BATCHES_A_WORKER = 4
"""Few enough that sending the table with each costs little, enough to even out the work."""


class Source(Protocol):
    """What a classifier sees of some features: anything that takes row numbers in brackets."""

    def matrix(self, features: Sequence[int]) -> Any: ...


@dataclass(frozen=True, eq=False)
class FrameColumns:
    """Features as they are, in a polars frame."""

    frame: pl.DataFrame

    def matrix(self, features: Sequence[int]) -> pl.DataFrame:
        return self.frame[:, list(features)]


@dataclass(frozen=True, eq=False)
class SubsetFits:
    """All that is needed to score sets of features by fitting; `scorer=None` is accuracy."""

    estimator: Any
    source: Source
    y: NDArray[Any]
    folds: Folds
    scorer: Scorer | None = None
    n_jobs: int | None = None
    progress: bool = False

    def of_all(self, subsets: Sequence[Sequence[int]]) -> list[Result]:
        """The results of many sets, in their order, whatever the number of workers."""
        workers = effective_n_jobs(self.n_jobs)
        parts = _dealt(subsets, BATCHES_A_WORKER * workers if workers > 1 else len(subsets))
        found = Parallel(n_jobs=workers, return_as="generator")(
            delayed(_fit_batch)(self, part) for part in parts
        )
        return [result for batch in _shown(found, len(parts), self.progress) for result in batch]

    def of(self, features: Sequence[int]) -> Result:
        """Fit and test on every fold."""
        empty = len(features) == 0
        data = np.zeros((len(self.y), 1)) if empty else self.source.matrix(features)
        # An answer that does not depend on the row: the majority class of the training rows.
        estimator = DummyClassifier(strategy="prior") if empty else self.estimator
        scored = [self._fold(clone(estimator), data, fold) for fold in range(len(self.folds))]
        return tuple(score for score, _ in scored), tuple(correct for _, correct in scored)

    def _fold(self, estimator: Any, data: Any, fold: int) -> tuple[float, int]:
        train, test = self.folds.train(fold), self.folds.tests[fold]
        estimator.fit(data[train], self.y[train])
        correct = int(np.count_nonzero(estimator.predict(data[test]) == self.y[test]))
        if self.scorer is None:
            return correct / len(test), correct
        return float(self.scorer(estimator, data[test], self.y[test])), correct


def _dealt(subsets: Sequence[Sequence[int]], batches: int) -> list[Sequence[Sequence[int]]]:
    """Neighbouring sets together, in batches of nearly equal size."""
    cuts = np.linspace(0, len(subsets), min(batches, len(subsets)) + 1).astype(int)
    return [subsets[start:end] for start, end in pairwise(cuts)]


def _fit_batch(fits: SubsetFits, subsets: Sequence[Sequence[int]]) -> list[Result]:
    # Threads inside a fit fight those of other fits, and may sum in another order each time.
    with threadpool_limits(limits=1):
        return [fits.of(subset) for subset in subsets]


def _shown(results: Iterable[Any], total: int, progress: bool) -> Iterator[Any]:
    """The same results, with a bar on stderr where that is a terminal."""
    if not (progress and sys.stderr.isatty()):
        yield from results
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(results, "fitting subsets", total, console=Console(stderr=True))
