"""Features as an estimator can read them, fitted and asked once.

Our own classifiers read coded columns, those that say so read frames with nominal columns, all
others read columns one-hot. An estimator that reads coded columns fits on any rows and columns of
a table that was coded once, with whatever was sorted with it. It has, beside the methods of
scikit-learn::

    code(features) -> coded                         of `tamis.learn.columns.Features`
    fit_coded(coded, y, rows=..., columns=...)      y: the labels of all rows of the coded table
    predict_coded(coded, rows=...) -> labels
    predict_with_proba_coded(coded, rows=...)       labels and probabilities from one pass; without
                                                    it, held-out rows are asked about by frames
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from tamis.learn.columns import (
    EncodedColumns,
    Encoding,
    Features,
    handles_nominal,
    ready_for_missing,
)

if TYPE_CHECKING:
    from typing import Self

RowNumbers = NDArray[np.intp]
Shares = NDArray[np.float64]

BY_LARGEST = frozenset({"DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier"})
"""Classifiers of scikit-learn whose label is the first class of the largest probability."""
BY_SCORE = frozenset({"HistGradientBoostingClassifier", "LogisticRegression"})
"""Those whose label is the class of the largest score, of which probabilities are roundings."""


class Source(Protocol):
    """What a classifier sees of some features: anything that takes row numbers in brackets."""

    def matrix(self, features: Sequence[int]) -> Any: ...


def readable(
    estimator: Any,
    features: Features,
    encode: Encoding = "auto",
    *,
    ask: Literal["predict_coded", "predict_with_proba_coded"] | None = None,
) -> tuple[Source, Any]:
    """The features as an estimator can read them, and the estimator made ready for them.

    Parameters
    ----------
    estimator : scikit-learn classifier
    features : Features
    encode : {"auto", "onehot", "ordinal", "none"}
        As in `SubsetScores`.
    ask : str, optional
        The method of the coded path that will be called; `None`: that path is not taken.
    """
    if encode == "auto" and ask is not None and fits_coded(estimator, ask):
        return CodedColumns(estimator.code(features), features.rows), OnCoded(estimator)
    if encode == "none" or (encode == "auto" and _takes_frames(estimator)):
        return FrameColumns(features.frame), estimator
    how: Literal["onehot", "ordinal"] = "ordinal" if encode == "ordinal" else "onehot"
    return EncodedColumns(features.columns, features.names, how), ready_for_missing(estimator)


def fits_coded(estimator: Any, ask: str = "predict_coded") -> bool:
    """Does an estimator have the methods of the coded path?"""
    return all(hasattr(estimator, name) for name in ("code", "fit_coded", ask))


def _takes_frames(estimator: Any) -> bool:
    return handles_nominal(estimator) or hasattr(estimator, "fit_coded")


def answers(model: Any, data: Any) -> tuple[NDArray[Any], Shares | None]:
    """The labels and, where the model has any, the probabilities of some rows, asked for once.

    How a label follows from probabilities is the model's own rule. Where that is not known, the
    model is asked for both.
    """
    if isinstance(model, OnCoded):
        return model.answers(data)
    if not hasattr(model, "predict_proba"):
        return model.predict(data), None
    rule = _rule(model)
    shares = model.predict_proba(data)
    if rule not in BY_LARGEST | BY_SCORE:
        return model.predict(data), shares
    labels = np.asarray(model.classes_)[shares.argmax(axis=1)]
    if rule in BY_SCORE:
        # Scores that differ may round to equal probabilities: there the model decides.
        tied = np.flatnonzero((shares == shares.max(axis=1, keepdims=True)).sum(axis=1) > 1)
        if len(tied):
            labels[tied] = model.predict(data[tied])
    return labels, shares


def _rule(model: Any) -> str:
    """The class of scikit-learn that decides, at the end of pipelines within pipelines."""
    while hasattr(model, "steps"):
        model = model[-1]
    kind = type(model)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else ""


@dataclass(frozen=True, eq=False)
class FrameColumns:
    """Features as they are, in a polars frame."""

    frame: pl.DataFrame

    def matrix(self, features: Sequence[int]) -> pl.DataFrame:
        return self.frame[:, list(features)]


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

    def answers(self, X: CodedColumns) -> tuple[NDArray[Any], Shares]:
        """Labels and probabilities."""
        found: tuple[NDArray[Any], Shares]
        found = self.fitted_.predict_with_proba_coded(X.coded, rows=X.rows)
        return found
