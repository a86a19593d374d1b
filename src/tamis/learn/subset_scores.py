"""`SubsetScores`: cross-validated scores of any sets of features.

With naive Bayes the contributions of the features are added up. Any other classifier is fitted on
each set and fold, sets in parallel.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer

from tamis.arrays import Ints
from tamis.errors import InputError, listed, listed_as
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.bayes.classifier import log_shares
from tamis.learn.bayes.model import ContributionCache, Units, check_walkable
from tamis.learn.columns import Task
from tamis.learn.cv import Folds
from tamis.learn.models import Encoding, Source, one_thread, readable
from tamis.table import Table

Key = tuple[int, ...]


@dataclass(frozen=True)
class FoldScores:
    """The score of a set of features and its number of correct predictions, fold by fold."""

    features: tuple[str, ...]
    scores: tuple[float, ...]
    correct: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean score over the folds."""
        return float(np.mean(self.scores))

    @property
    def pooled(self) -> int:
        """Correct predictions over all folds; a whole number, so that ties are exact."""
        return sum(self.correct)


class SubsetScores:
    """Scores any set of features of a table on the same folds, each set once.

    With `AdditiveNaiveBayes` subsets cost only additions; any other classifier is fitted for each
    subset and fold, subsets in parallel. The empty set predicts the majority class of the
    training rows.

    Parameters
    ----------
    table : Table, frame of polars, pandas or pyarrow, or Task
        A `Task` names features and labels itself; several scores of one share its coding.
    estimator : scikit-learn classifier
    target : str, optional
        The column to predict; by default the target of a `Table`.
    features : sequence of str, optional
        The columns to choose from; by default all features of a `Table`, or all columns of a frame
        except the target.
    cv : int, Folds, array of fold numbers, or scikit-learn splitter, default 10
    groups : array, optional
        The person of each row, whose rows no fold may split; by default those of a `Table`.
    scoring : str or scorer, default "accuracy"
        As in scikit-learn.
    encode : {"auto", "onehot", "ordinal", "none"}, default "auto"
        How a classifier sees nominal columns. `"auto"`: as they are, in a polars frame, where it
        declares that it handles them (its input tags `categorical`, `string` and `allow_nan`, or a
        coded path as in `tamis.learn.models`), else one-hot. `"none"`: always as
        they are, for a pipeline that encodes them itself. Missing numbers become the median of the
        training rows unless the classifier accepts NaN.
    n_jobs : int, optional
        The number of processes, as in joblib; it does not affect the results.
    random_state : int, default 0
        Draws the folds, and seeds an estimator whose own `random_state` is `None`.
    progress : bool, default False
        Show a bar while subsets are fitted, on a terminal.

    Attributes
    ----------
    features : tuple of str
    folds : Folds
    by_count : bool
        Whether scores are accuracies, so that whole numbers decide ties.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 25, 30, 35, 50, 55, 60, 65], "coin": [0, 1] * 4,
    ...                       "ill": ["no"] * 4 + ["yes"] * 4})
    >>> scores = SubsetScores(frame, AdditiveNaiveBayes(), target="ill", cv=2)
    >>> scores.of(["age"])
    FoldScores(features=('age',), scores=(0.75, 1.0), correct=(3, 4))
    >>> {feature: without.pooled for feature, without in scores.drop_ones().items()}
    {'age': 2, 'coin': 7}
    """

    def __init__(
        self,
        table: Any,
        estimator: Any,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        cv: Any = 10,
        groups: ArrayLike | None = None,
        scoring: str | Scorer = "accuracy",
        encode: Encoding = "auto",
        n_jobs: int | None = None,
        random_state: int = 0,
        progress: bool = False,
    ) -> None:
        if encode not in get_args(Encoding):
            raise InputError(f"encode must be one of {listed(get_args(Encoding))}, got {encode!r}")
        nominal = getattr(estimator, "nominal", None)
        task = Task.of(table, target, features, nominal)
        self.features = tuple(task.features.names)
        if groups is None and isinstance(table, Table):
            groups = table.people.groups
        self.folds = Folds.of(cv, task.y, random_state, groups)
        self._place = {name: i for i, name in enumerate(self.features)}
        self._memory: dict[Key, FoldScores] = {}
        scorer = None if scoring == "accuracy" else get_scorer(scoring)
        self.by_count = scorer is None
        estimator = _seeded(estimator, random_state)
        if isinstance(estimator, AdditiveNaiveBayes):
            learner = estimator.naive_bayes
            cache = ContributionCache(learner, task.features.columns, task.y, self.folds)
            self._way: SubsetSums | SubsetFits = SubsetSums(cache, task.y, self.folds, scorer)
        else:
            source, estimator = readable(
                estimator, task.features, encode, ask=None if scorer else "predict_coded"
            )
            self._way = SubsetFits(
                estimator, source, task.y, self.folds, scorer, n_jobs=n_jobs, progress=progress
            )

    def of(self, features: Iterable[str]) -> FoldScores:
        """The scores of one set of features."""
        return self.many([features])[0]

    def many(self, subsets: Iterable[Iterable[str]]) -> list[FoldScores]:
        """The scores of many sets, in the given order; new ones are computed in parallel."""
        keys = [self._key(features) for features in subsets]
        new = [key for key in dict.fromkeys(keys) if key not in self._memory]
        if new:
            self._remember(new, self._way.of_all(new))
        return [self._memory[key] for key in keys]

    def drop_ones(self, features: Iterable[str] | None = None) -> dict[str, FoldScores]:
        """The scores without each feature of a set (by default all) in turn."""
        key = self._key(self.features if features is None else features)
        keys = [tuple(i for i in key if i != gone) for gone in key]
        if isinstance(self._way, SubsetSums):
            self._remember(keys, self._way.results(keys, self._way.cache.drop_ones(key)))
        found = self.many([self._names(k) for k in keys])
        return dict(zip(self._names(key), found))

    def add_ones(self, features: Iterable[str] = ()) -> dict[str, FoldScores]:
        """The scores with each feature the set lacks added in turn."""
        key = self._key(features)
        others = [i for i in range(len(self.features)) if i not in set(key)]
        keys = [tuple(sorted([*key, new])) for new in others]
        if isinstance(self._way, SubsetSums):
            self._remember(keys, self._way.results(keys, self._way.cache.add_ones(key)))
        found = self.many([self._names(k) for k in keys])
        return dict(zip(self._names(others), found))

    def all_subsets(self, features: Iterable[str] | None = None) -> Ints:
        """Rows predicted correctly with every subset of some features (by default all), by fold.

        Row `mask` is the subset with the i-th of the features (in table order)
        for each bit i set in `mask`; row 0 is the empty set. Seconds with naive Bayes up to about
        16 features and 45,000 rows; other classifiers need a fit for each subset and fold.
        """
        key = self._key(self.features if features is None else features)
        if isinstance(self._way, SubsetSums):
            return self._way.cache.all_subsets(key)
        check_walkable(key)
        masks = range(2 ** len(key))
        subsets = [[i for bit, i in enumerate(key) if mask >> bit & 1] for mask in masks]
        found = self.many([self._names(subset) for subset in subsets])
        return np.array([scores.correct for scores in found], dtype=np.int64)

    def all_scores(self, counts: Ints) -> NDArray[np.float64]:
        """The score of every subset by fold, from the counts that `all_subsets` gave."""
        if self.by_count:
            shares: NDArray[np.float64] = counts / self.folds.sizes
            return shares
        masks = range(len(counts))
        subsets = [[n for bit, n in enumerate(self.features) if mask >> bit & 1] for mask in masks]
        return np.array([found.scores for found in self.many(subsets)])

    def _remember(self, keys: Sequence[Key], results: Sequence[Result]) -> None:
        for key, (scores, correct) in zip(keys, results):
            self._memory[key] = FoldScores(self._names(key), scores, correct)

    def _names(self, key: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.features[i] for i in key)

    def _key(self, features: Iterable[str]) -> Key:
        if isinstance(features, str):
            raise InputError("a set of features must be a list of column names, got a string")
        named = set(features)
        unknown = sorted(named - self._place.keys())
        if unknown:
            raise InputError(
                f"no {listed_as('feature', unknown)}; the features are "
                f"{listed(self.features, most=30)}"
            )
        return tuple(sorted(self._place[name] for name in named))


def _seeded(estimator: Any, random_state: int) -> Any:
    """A copy with every unset seed filled in, so that no result depends on the worker."""
    copy = clone(estimator)
    seeds: dict[str, int | None] = {
        name: random_state
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    if getattr(copy, "nominal", None) is not None:
        seeds["nominal"] = None  # the task has typed those columns, which is enough from here on
    return copy.set_params(**seeds)


Scorer = Callable[[Any, Any, Any], float]
Result = tuple[tuple[float, ...], tuple[int, ...]]
"""The score of each fold, and its rows predicted correctly."""

BATCHES_A_WORKER = 4
"""Few enough that sending the table with each batch is cheap, enough to balance the work."""


@dataclass(frozen=True, eq=False)
class SubsetFits:
    """Everything needed to score sets of features by fitting; `scorer=None` is accuracy."""

    estimator: Any
    source: Source
    y: NDArray[Any]
    folds: Folds
    scorer: Scorer | None = None
    n_jobs: int | None = None
    progress: bool = False

    def of_all(self, subsets: Sequence[Sequence[int]]) -> list[Result]:
        """The results of many sets, in the given order, whatever the number of workers."""
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
        # Without features: the majority class of the training rows, whatever the row.
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
    """Cut the sets into batches of neighbours, of nearly equal size."""
    cuts = np.linspace(0, len(subsets), min(batches, len(subsets)) + 1).astype(int)
    return [subsets[start:end] for start, end in pairwise(cuts)]


def _fit_batch(fits: SubsetFits, subsets: Sequence[Sequence[int]]) -> list[Result]:
    # Threads inside a fit would compete with the other workers and may add in a different order.
    with one_thread():
        return [fits.of(subset) for subset in subsets]


def _shown(results: Iterable[Any], total: int, progress: bool) -> Iterator[Any]:
    """The same results, with a progress bar on stderr if that is a terminal."""
    if not (progress and sys.stderr.isatty()):
        yield from results
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(results, "fitting subsets", total, console=Console(stderr=True))


@dataclass(frozen=True, eq=False)
class SubsetSums:
    """Everything needed to score sets of features by addition; `scorer=None` is accuracy."""

    cache: ContributionCache
    y: NDArray[Any]
    folds: Folds
    scorer: Scorer | None = None

    def of_all(self, subsets: Sequence[Sequence[int]]) -> list[Result]:
        """The results of many sets, in the given order."""
        return self.results(subsets, self.cache.correct(subsets))

    def results(self, subsets: Sequence[Sequence[int]], counts: Ints) -> list[Result]:
        """The results of sets whose correctly predicted rows are known."""
        return [
            (self._scores(subset, correct), tuple(correct.tolist()))
            for subset, correct in zip(subsets, counts)
        ]

    def _scores(self, subset: Sequence[int], correct: NDArray[np.int64]) -> tuple[float, ...]:
        if self.scorer is None:
            return tuple((correct / self.folds.sizes).tolist())
        every = (self.cache.log_scores(subset, fold) for fold in range(len(self.folds)))
        return tuple(
            float(self.scorer(Answers(*scores), np.zeros((len(test), 1)), self.y[test]))
            for scores, test in zip(every, self.folds.tests)
        )


class Answers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose predictions are already known, for scorers to query."""

    def __init__(self, classes: NDArray[Any], units: Units) -> None:
        self.classes = classes
        self.units = units
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[self.units.argmax(axis=0)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.exp(log_shares(self.units))
