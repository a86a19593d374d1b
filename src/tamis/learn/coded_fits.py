"""For estimators that code a table once and then fit on any of its rows and columns.

Such an estimator has three methods beside those of scikit-learn::

    code(frame) -> coded
    fit_coded(coded, y, rows=..., columns=...)      y: the labels of all rows of the coded table
    predict_coded(coded, rows=...)

Hundreds of sets of features then share one coding, and whatever was sorted with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from tamis.learn.folds import RowNumbers

if TYPE_CHECKING:
    from typing import Self


def fits_coded(estimator: Any) -> bool:
    """Does an estimator have the three methods?"""
    return all(hasattr(estimator, name) for name in ("code", "fit_coded", "predict_coded"))


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """A coded table, or some columns and rows of it, none of which is copied."""

    coded: Any
    height: int
    columns: tuple[int, ...] = ()
    rows: RowNumbers | None = None

    def matrix(self, features: Sequence[int]) -> CodedColumns:
        return CodedColumns(self.coded, self.height, tuple(features))

    def __getitem__(self, rows: RowNumbers) -> CodedColumns:
        return CodedColumns(self.coded, self.height, self.columns, rows)


class OnCoded(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator fitted and asked through its coded path."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: CodedColumns, y: NDArray[Any]) -> Self:
        labels = np.full(X.height, y[0], y.dtype)  # those of other rows are not looked at
        labels[X.rows] = y
        self.fitted_ = clone(self.estimator)
        self.fitted_.fit_coded(X.coded, labels, rows=X.rows, columns=X.columns)
        self.classes_ = self.fitted_.classes_
        return self

    def predict(self, X: CodedColumns) -> NDArray[Any]:
        labels: NDArray[Any] = self.fitted_.predict_coded(X.coded, rows=X.rows)
        return labels
