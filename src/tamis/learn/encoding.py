"""Nominal columns as numbers, for classifiers that know numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from tamis.errors import InputError
from tamis.learn.columns import Column

Encoding = Literal["auto", "onehot", "ordinal", "none"]

LARGEST = 2**30
"""The most bytes that the encoded columns of a table may take."""


def handles_nominal(estimator: Any) -> bool:
    """Does an estimator take frames with nominal columns and missing values as they are?

    It says so by its scikit-learn input tags: `categorical`, `string` and `allow_nan`, all true.
    """
    tags = get_tags(estimator).input_tags
    return bool(tags.categorical and tags.string and tags.allow_nan)


def ready_for_missing(estimator: Any) -> Any:
    """The estimator, behind a median imputer fitted on training rows where it needs one."""
    if get_tags(estimator).input_tags.allow_nan:
        return estimator
    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), estimator)


class EncodedColumns:
    """Each feature as one or more columns of float64.

    Numbers pass as they are, NaN for missing. A nominal column becomes one column of 0 and 1 for
    each category, and one for missing where something is missing (`"onehot"`), or one column of
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
        encode = _onehot if how == "onehot" else _ordinal
        self._parts = [encode(column) for column in columns]

    def matrix(self, features: Sequence[int]) -> NDArray[np.float64]:
        """Some features side by side."""
        return np.hstack([self._parts[i] for i in features])


def _onehot(column: Column) -> NDArray[np.float64]:
    if column.categories is None:
        return column.values[:, None]
    missing = column.values < 0
    codes = np.where(missing, column.categories, column.values)
    wide = np.zeros((len(codes), column.categories + int(missing.any())))
    wide[np.arange(len(codes)), codes] = 1.0
    return wide


def _ordinal(column: Column) -> NDArray[np.float64]:
    return column.values.astype(np.float64)[:, None]


def _refuse_giant(columns: Sequence[Column], names: Sequence[str]) -> None:
    widths = [column.categories or 1 for column in columns]
    if 8 * len(columns[0].values) * sum(widths) > LARGEST:
        widest = int(np.argmax(widths))
        raise InputError(
            f"one column for each category would take more than {LARGEST:,} bytes (column "
            f"{names[widest]!r} alone has {widths[widest]:,} categories); drop or group it, or "
            'use encode="ordinal"'
        )
