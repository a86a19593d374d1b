"""The cross-validated scores of any set of features: `SubsetScores`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import get_scorer

from tamis.errors import InputError, listed
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.coded_fits import CodedColumns, OnCoded, fits_coded
from tamis.learn.columns import Coding
from tamis.learn.contributions import ContributionCache, Counts, check_walkable
from tamis.learn.encoding import EncodedColumns, Encoding, handles_nominal, ready_for_missing
from tamis.learn.folds import Folds
from tamis.learn.subset_fits import FrameColumns, Result, Scorer, Source, SubsetFits
from tamis.learn.subset_sums import SubsetSums
from tamis.learn.task import Task
from tamis.table import Table

Key = tuple[int, ...]


@dataclass(frozen=True)
class FoldScores:
    """How a set of features did: its score and its rows predicted rightly, fold by fold."""

    features: tuple[str, ...]
    scores: tuple[float, ...]
    correct: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean score over the folds."""
        return float(np.mean(self.scores))

    @property
    def pooled(self) -> int:
        """Rows predicted rightly over all folds: whole numbers, so that ties are ties."""
        return sum(self.correct)


class SubsetScores:
    """Scores any set of features of a table on the same folds, each set once.

    With `AdditiveNaiveBayes` subsets cost additions only; any other classifier is fitted for each
    subset and fold, subsets in parallel. The empty set predicts the majority class of the rows
    trained on.

    Parameters
    ----------
    table : Table or frame of polars, pandas or pyarrow
    estimator : scikit-learn classifier
    target : str, optional
        The column to predict; where it is not named, the target of a `Table`.
    features : sequence of str, optional
        The columns to choose from: by default all features of a `Table`, all but the target of a
        frame.
    cv : int, Folds, array of fold numbers, or scikit-learn splitter, default 10
    groups : array, optional
        The person of each row, whose rows no fold may part; by default those of a `Table`.
    scoring : str or scorer, default "accuracy"
        As in scikit-learn.
    encode : {"auto", "onehot", "ordinal", "none"}, default "auto"
        How a classifier sees nominal columns. `"auto"`: as they are, in a polars frame, where it
        declares that it handles them (its input tags `categorical`, `string` and `allow_nan`, or a
        coded path as in `tamis.learn.coded_fits`), else one-hot. `"none"`: always as
        they are, for a pipeline that encodes them itself. Missing numbers become the median of the
        rows trained on unless the classifier takes NaN.
    n_jobs : int, optional
        Processes, as in joblib; the results are the same for any number.
    random_state : int, default 0
        Draws the folds, and seeds an estimator whose own `random_state` is `None`.
    progress : bool, default False
        Show a bar while subsets are fitted, on a terminal.

    Attributes
    ----------
    features : tuple of str
    folds : Folds

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
            raise InputError(f"encode is one of {listed(get_args(Encoding))}, got {encode!r}")
        task = Task.of(table, target, features, getattr(estimator, "nominal", None))
        self.features = tuple(task.frame.columns)
        if groups is None and isinstance(table, Table):
            groups = table.people
        self.folds = Folds.of(cv, task.y, random_state, groups)
        self._place = {name: i for i, name in enumerate(self.features)}
        self._memory: dict[Key, FoldScores] = {}
        scorer = None if scoring == "accuracy" else get_scorer(scoring)
        estimator = _seeded(estimator, random_state)
        if isinstance(estimator, AdditiveNaiveBayes):
            self._way: SubsetSums | SubsetFits = _sums(estimator, task, self.folds, scorer)
        else:
            source, estimator = _readable(estimator, task, encode, scorer)
            self._way = SubsetFits(
                estimator, source, task.y, self.folds, scorer, n_jobs=n_jobs, progress=progress
            )

    def of(self, features: Iterable[str]) -> FoldScores:
        """The scores of one set of features."""
        return self.many([features])[0]

    def many(self, subsets: Iterable[Iterable[str]]) -> list[FoldScores]:
        """The scores of many sets, in their order; those not seen before in parallel."""
        keys = [self._key(features) for features in subsets]
        new = [key for key in dict.fromkeys(keys) if key not in self._memory]
        if new:
            self._remember(new, self._way.of_all(new))
        return [self._memory[key] for key in keys]

    def drop_ones(self, features: Iterable[str] | None = None) -> dict[str, FoldScores]:
        """The scores without each feature of a set (default: of all) in turn."""
        key = self._key(self.features if features is None else features)
        keys = [tuple(i for i in key if i != gone) for gone in key]
        if isinstance(self._way, SubsetSums):
            self._remember(keys, self._way.results(keys, self._way.cache.drop_ones(key)))
        found = self.many([self._names(k) for k in keys])
        return dict(zip(self._names(key), found))

    def add_ones(self, features: Iterable[str] = ()) -> dict[str, FoldScores]:
        """The scores with each feature that a set lacks."""
        key = self._key(features)
        others = [i for i in range(len(self.features)) if i not in set(key)]
        keys = [tuple(sorted([*key, new])) for new in others]
        if isinstance(self._way, SubsetSums):
            self._remember(keys, self._way.results(keys, self._way.cache.add_ones(key)))
        found = self.many([self._names(k) for k in keys])
        return dict(zip(self._names(others), found))

    def all_subsets(self, features: Iterable[str] | None = None) -> Counts:
        """Rows predicted rightly with every subset of some features (default: of all), by fold.

        Row `mask` is the subset that holds the i-th of the features (in the order of the table)
        for each bit i of `mask`; row 0 is the empty set. Seconds with naive Bayes up to about
        16 features and 45,000 rows; with other classifiers a fit for each subset and fold.
        """
        key = self._key(self.features if features is None else features)
        if isinstance(self._way, SubsetSums):
            return self._way.cache.all_subsets(key)
        check_walkable(key)
        masks = range(2 ** len(key))
        subsets = [[i for bit, i in enumerate(key) if mask >> bit & 1] for mask in masks]
        found = self.many([self._names(subset) for subset in subsets])
        return np.array([scores.correct for scores in found], dtype=np.int64)

    def _remember(self, keys: Sequence[Key], results: Sequence[Result]) -> None:
        for key, (scores, correct) in zip(keys, results):
            self._memory[key] = FoldScores(self._names(key), scores, correct)

    def _names(self, key: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.features[i] for i in key)

    def _key(self, features: Iterable[str]) -> Key:
        if isinstance(features, str):
            raise InputError("a set of features is a list of column names, got one text")
        named = set(features)
        unknown = sorted(named - self._place.keys())
        if unknown:
            raise InputError(
                f"no feature {listed(unknown)}; the features are {listed(self.features, most=30)}"
            )
        return tuple(sorted(self._place[name] for name in named))


def _sums(
    estimator: AdditiveNaiveBayes, task: Task, folds: Folds, scorer: Scorer | None
) -> SubsetSums:
    columns = Coding.of(task.frame).columns(task.frame)
    return SubsetSums(ContributionCache(estimator, columns, task.y, folds), task.y, folds, scorer)


def _readable(
    estimator: Any, task: Task, encode: Encoding, scorer: Scorer | None
) -> tuple[Source, Any]:
    """The features as an estimator can read them, and the estimator made ready for them."""
    if encode == "auto" and scorer is None and fits_coded(estimator):
        return CodedColumns(estimator.code(task.frame), task.frame.height), OnCoded(estimator)
    if encode == "none" or (encode == "auto" and handles_nominal(estimator)):
        return FrameColumns(task.frame), estimator
    columns = Coding.of(task.frame).columns(task.frame)
    how: Literal["onehot", "ordinal"] = "ordinal" if encode == "ordinal" else "onehot"
    return EncodedColumns(columns, task.frame.columns, how), ready_for_missing(estimator)


def _seeded(estimator: Any, random_state: int) -> Any:
    """A copy whose every open seed is set, so that no result depends on who computes it."""
    copy = clone(estimator)
    seeds: dict[str, int | None] = {
        name: random_state
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    if getattr(copy, "nominal", None) is not None:
        seeds["nominal"] = None  # the task has typed those columns, which says it from here on
    return copy.set_params(**seeds)
