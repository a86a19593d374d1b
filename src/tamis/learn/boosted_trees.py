"""`BoostedTrees`: the boosting that measures kept and told, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from tamis.arrays import RowNumbers
from tamis.learn.boosting import Boosting
from tamis.learn.coded_table import CodedTable
from tamis.learn.columns import (
    Coding,
    Column,
    Features,
    estimator_frame,
    frame_of,
    given_labels,
    nominal_names,
)

if TYPE_CHECKING:
    from typing import Self

MOST_LEARNT = 50_000
"""Most training rows: trees of depth three gain nothing from more."""


class BoostedTrees(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Small boosted trees that learn a few columns of a table in milliseconds.

    `fit` only keeps the rows. The trees are grown in `predict`, because the training rows and the
    rows to predict are coded together.

    Parameters
    ----------
    nominal : sequence of int or str, optional
        Columns of numbers, by position or name, that are nominal. In a frame, columns of text,
        categories and booleans always are.

    Attributes
    ----------
    classes_ : array
        The class labels, sorted; ties between classes go to the first.
    n_features_in_ : int
    feature_names_in_ : array of str, if the columns had names.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"job": ["cook", "judge"] * 20})
    >>> model = BoostedTrees().fit(rows, ["no", "yes"] * 20)
    >>> model.predict(pl.DataFrame({"job": ["judge", "cook"]})).tolist()
    ['yes', 'no']
    """

    def __init__(self, *, nominal: Sequence[int | str] | None = None) -> None:
        self.nominal = nominal

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows to learn from.

        Parameters
        ----------
        X : frame of polars, pandas or pyarrow, or array of shape (rows, features)
        y : array of class labels

        Returns
        -------
        self
        """
        frame, declared = estimator_frame(self, X, reset=True, nominal=self.nominal)
        y = given_labels(y)
        check_consistent_length(frame, y)
        self._coding = Coding.of(frame, nominal_names(frame.columns, self.nominal), declared)
        self._learnt = self._coding.columns(frame)
        return self._labelled(y)

    def _labelled(self, y: NDArray[Any]) -> Self:
        self.classes_, self._label = np.unique(y, return_inverse=True)
        return self

    def code(self, X: Any) -> list[Column]:
        """Code a table once, for `fit_coded` on any of its rows and columns."""
        features = X if isinstance(X, Features) else Features.of(frame_of(X)[0])
        return features.with_nominal(self.nominal).columns

    def fit_coded(
        self, coded: Sequence[Column], y: NDArray[Any], rows: RowNumbers, columns: Sequence[int]
    ) -> Self:
        """Learn from some rows and columns of a coded table; `y` has the labels of all rows."""
        self._columns = list(columns)
        self._learnt = [coded[c].take(rows) for c in self._columns]
        self.n_features_in_ = len(self._columns)
        return self._labelled(y[rows])

    def predict_coded(self, coded: Sequence[Column], rows: RowNumbers) -> NDArray[Any]:
        """Predict some rows of the table given to `fit_coded`, from the columns used there."""
        return self.predict_with_proba_coded(coded, rows)[0]

    def predict_with_proba_coded(
        self, coded: Sequence[Column], rows: RowNumbers
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Like `predict_coded`, with the probability of each class besides."""
        shares = self._shares([coded[c].take(rows) for c in self._columns])
        return self.classes_[shares.argmax(axis=1)], shares

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, rows by classes."""
        check_is_fitted(self)
        frame, _ = estimator_frame(self, X, reset=False, nominal=self.nominal)
        return self._shares(self._coding.columns(frame))

    def _shares(self, asked: Sequence[Column]) -> NDArray[np.float64]:
        rows = len(self._label)
        sampled = min(rows, MOST_LEARNT)
        # Evenly spaced, not the first ones: rows may come sorted by what they hold.
        learn = np.arange(sampled) * rows // sampled
        both = [one.then(other) for one, other in zip(self._learnt, asked)]
        ask = np.arange(rows, len(both[0].values))
        table = CodedTable.of_columns(both, learn)
        # The labels of the rows to predict are never read; zeros give the array its length.
        label = np.concatenate([self._label, np.zeros(len(ask), dtype=np.int64)])
        return Boosting().probabilities(table, label, learn, ask, classes=len(self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
