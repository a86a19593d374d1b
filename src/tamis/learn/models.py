"""Classifiers by name, as recipients and attackers would train them: seeded, on one thread.

Each gets the features in the best form that it can read. Our own classifiers read coded columns,
those whose input tags say so read frames with nominal columns, and all others read one-hot
columns. An estimator that reads coded columns can be fitted on any rows and columns of a table
that was coded, and sorted, once. Beside the methods of scikit-learn it has::

    code(features) -> coded                         of `tamis.learn.columns.Features`
    fit_coded(coded, y, rows=..., columns=...)      y: the labels of all rows of the coded table
    predict_coded(coded, rows=...) -> labels
    predict_with_proba_coded(coded, rows=...)       labels and probabilities from one pass; without
                                                    it, held-out rows are asked about by frames
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import RowNumbers
from tamis.catalogue.methods import ATTACKERS, MODELS, shown_model
from tamis.errors import InputError
from tamis.learn.columns import Column, Features

if TYPE_CHECKING:
    from typing import Self


def classifier(name: str) -> Any:
    """A classifier with its default settings.

    >>> classifier("nb")
    AdditiveNaiveBayes()
    """
    if name not in MODELS:
        raise InputError(f"unknown classifier {name!r}; choose one of {', '.join(MODELS)}")
    about = MODELS[name]
    module, _, made = about.home.partition(":")
    model = getattr(import_module(module), made)(**about.options)
    if not about.scaled:
        return model
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def seeded(name: str, random_state: int) -> Any:
    """A classifier by its short name, all of whose draws come from the seed.

    >>> seeded("forest", 3).random_state
    3
    """
    model = classifier(name)
    own = [key for key in model.get_params() if key.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(own, random_state))


def attackers(names: Iterable[str] = ATTACKERS, random_state: int = 0) -> dict[str, Any]:
    """Seeded attackers, keyed by the names shown to readers."""
    return {shown_model(name): seeded(name, random_state) for name in names}


def one_thread() -> AbstractContextManager[Any]:
    """A context in which linear algebra libraries use one thread, so that sums keep their order.

    Finding these libraries takes longer than many fits, so the result is cached until another
    module is imported.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    limit: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _libraries(imported: int) -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


Encoding = Literal["auto", "onehot", "ordinal", "none"]
MOST_ENCODED_BYTES = 2**30
"""The most bytes that the encoded columns of a table may take."""


def handles_nominal(estimator: Any) -> bool:
    """Whether an estimator takes frames with nominal columns and missing values as they are.

    Such an estimator declares the input tags `categorical`, `string` and `allow_nan`.
    """
    from sklearn.utils import get_tags

    tags = get_tags(estimator).input_tags
    return bool(tags.categorical and tags.string and tags.allow_nan)


def ready_for_missing(estimator: Any) -> Any:
    """The estimator, preceded by a median imputer fitted on training rows if it needs one."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.utils import get_tags

    if get_tags(estimator).input_tags.allow_nan:
        return estimator
    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), estimator)


class EncodedColumns:
    """Each feature as one or more columns of float64.

    Numbers stay as they are, NaN for missing. A nominal column becomes one column of 0 and 1 for
    each category, and one for missing if anything is missing (`"onehot"`), or one column of
    codes in the order of the categories, -1 for missing (`"ordinal"`).

    Examples
    --------
    >>> job = Column(np.array([0, 1, -1]), categories=2)
    >>> age = Column(np.array([31.0, 47.0, np.nan]))
    >>> EncodedColumns([job, age], ["job", "age"], "onehot").matrix([0, 1]).tolist()
    [[1.0, 0.0, 0.0, 31.0], [0.0, 1.0, 0.0, 47.0], [0.0, 0.0, 1.0, nan]]
    """

    def __init__(
        self, columns: Sequence[Column], names: Sequence[str], how: Literal["onehot", "ordinal"]
    ) -> None:
        if how == "onehot":
            _refuse_giant(columns, names)
            self._parts = [column.onehot for column in columns]
        else:
            self._parts = [column.values.astype(np.float64)[:, None] for column in columns]

    def matrix(self, features: Sequence[int]) -> NDArray[np.float64]:
        """Some features side by side."""
        return np.hstack([self._parts[i] for i in features])


def _refuse_giant(columns: Sequence[Column], names: Sequence[str]) -> None:
    widths = [column.categories or 1 for column in columns]
    if 8 * len(columns[0].values) * sum(widths) > MOST_ENCODED_BYTES:
        widest = int(np.argmax(widths))
        raise InputError(
            f"one column for each category would take more than {MOST_ENCODED_BYTES:,} bytes "
            f"(column {names[widest]!r} alone has {widths[widest]:,} categories); drop or group "
            'it, or use encode="ordinal"'
        )


Shares = NDArray[np.float64]

BY_LARGEST = frozenset({"DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier"})
"""scikit-learn classifiers that predict the first class with the largest probability."""
BY_SCORE = frozenset({"HistGradientBoostingClassifier", "LogisticRegression"})
"""Those that predict the class with the largest score; their probabilities are rounded scores."""


class Source(Protocol):
    """Features in a form that a classifier reads; `matrix` gives what row numbers can index."""

    def matrix(self, features: Sequence[int]) -> Any: ...


def readable(
    estimator: Any,
    features: Features,
    encode: Encoding = "auto",
    *,
    ask: Literal["predict_coded", "predict_with_proba_coded"] | None = None,
) -> tuple[Source, Any]:
    """The features in a form that an estimator reads, and the estimator prepared for that form.

    Parameters
    ----------
    estimator : scikit-learn classifier
    features : Features
    encode : {"auto", "onehot", "ordinal", "none"}
        As in `SubsetScores`.
    ask : str, optional
        The method of the coded path that will be called; `None`: do not use coded columns.
    """
    if encode == "auto" and ask is not None and fits_coded(estimator, ask):
        return CodedColumns(estimator.code(features), features.rows), OnCoded(estimator)
    takes_frames = handles_nominal(estimator) or hasattr(estimator, "fit_coded")
    if encode == "none" or (encode == "auto" and takes_frames):
        return FrameColumns(features.frame), estimator
    how: Literal["onehot", "ordinal"] = "ordinal" if encode == "ordinal" else "onehot"
    return EncodedColumns(features.columns, features.names, how), ready_for_missing(estimator)


def fits_coded(estimator: Any, ask: str = "predict_coded") -> bool:
    """Whether an estimator has the methods of the coded path."""
    return all(hasattr(estimator, name) for name in ("code", "fit_coded", ask))


def answers(model: Any, data: Any) -> tuple[NDArray[Any], Shares | None]:
    """Predicted labels and, if the model gives them, probabilities, in one pass where possible.

    Labels are derived from the probabilities for models whose rule is known; other models are
    asked for both.
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
        # Different scores may round to equal probabilities; for such rows the model is asked.
        tied = np.flatnonzero((shares == shares.max(axis=1, keepdims=True)).sum(axis=1) > 1)
        if len(tied):
            labels[tied] = model.predict(data[tied])
    return labels, shares


def _rule(model: Any) -> str:
    """Name of the scikit-learn classifier at the end of nested pipelines; empty for any other."""
    while hasattr(model, "steps"):
        model = model[-1]
    kind = type(model)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else ""


@dataclass(frozen=True, eq=False)
class FrameColumns:
    """Features as columns of a polars frame."""

    frame: pl.DataFrame

    def matrix(self, features: Sequence[int]) -> pl.DataFrame:
        return self.frame[:, list(features)]


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """A coded table, or a view of some of its columns and rows; nothing is copied."""

    coded: Any
    height: int
    columns: tuple[int, ...] = ()
    rows: RowNumbers | None = None

    def matrix(self, features: Sequence[int]) -> CodedColumns:
        return CodedColumns(self.coded, self.height, tuple(features))

    def __getitem__(self, rows: RowNumbers) -> CodedColumns:
        return CodedColumns(self.coded, self.height, self.columns, rows)


class OnCoded:
    """An estimator that is fitted and predicts through its coded path."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __sklearn_clone__(self) -> Self:
        return type(self)(self.estimator)

    def fit(self, X: CodedColumns, y: NDArray[Any]) -> Self:
        from sklearn.base import clone

        labels = np.full(X.height, y[0], y.dtype)  # labels of the other rows are never read
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
        pair: tuple[NDArray[Any], Shares]
        pair = self.fitted_.predict_with_proba_coded(X.coded, rows=X.rows)
        return pair
