"""Rows, target and sensitive column as the breach search works on them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from tamis.errors import InputError, TamisWarning, listed_as
from tamis.learn.columns import Coding, Features, frame_of, frame_of_array
from tamis.risk.cut import CutRule, SensitiveCut, cut_sensitive
from tamis.table import bare

Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CodedInput:
    """What is given to a selector: features, and codes of the target and of what is hidden.

    Attributes
    ----------
    features : Features
        Coded once, for the target and for the sensitive column.
    y : array of int
        The target, coded in the order of `classes`.
    classes : array
    hidden : array of int or None
        The sensitive column in classes; `None` where it is the target.
    cut : SensitiveCut or None
        How the sensitive column was made into classes.
    """

    features: Features
    y: NDArray[np.int64]
    classes: Labels
    hidden: NDArray[np.int64] | None
    cut: SensitiveCut | None


def open_table(selector: Any, X: Any, y: Any, sensitive: Any, rule: CutRule) -> CodedInput:
    """Check the input of a selector and code it."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None")
    frame = _features(selector, X)
    labels = column_or_1d(y, warn=True)
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise InputError(f"the target must consist of classes: {error}") from None
    check_consistent_length(frame, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"cross-validation needs at least two classes of the target, got {len(classes)} class"
        )
    hidden, cut = None, None
    if sensitive is not None:
        column = sensitive_series(sensitive)
        check_consistent_length(frame, column)
        _warn_of_copies(frame, column)
        if not _same(column, labels):
            cut = cut_sensitive(column, codes, rule)
            hidden = cut.codes(column)
            if len(np.unique(hidden)) < 2:
                raise InputError("the sensitive column has one class; there is nothing to guess")
    return CodedInput(Features.of(frame), codes.astype(np.int64), classes, hidden, cut)


def sensitive_series(sensitive: Any) -> pl.Series:
    """The sensitive column in any form, as polars; NaN is missing."""
    if isinstance(sensitive, pl.Series):
        column = sensitive
    elif nw.dependencies.is_into_series(sensitive):
        column = nw.from_native(sensitive, series_only=True).to_polars()
    else:
        values = np.asarray(sensitive)
        if values.ndim != 1:
            raise InputError(f"sensitive must have one value per row, got shape {values.shape}")
        column = pl.Series("sensitive", values.tolist(), strict=False)
    column = bare(column)
    return column.fill_nan(None) if column.dtype.is_float() else column


def _same(column: pl.Series, labels: Labels) -> bool:
    """Whether the sensitive column is the target, value by value."""
    return bool(column.to_list() == np.asarray(labels).tolist())


def _warn_of_copies(frame: pl.DataFrame, sensitive: pl.Series) -> None:
    """Warn if the sensitive column is itself among the features."""
    hidden = sensitive.cast(pl.String)
    copies = [c.name for c in frame if c.cast(pl.String).equals(hidden, null_equal=True)]
    if copies:
        warnings.warn(
            f"{listed_as('feature', copies, 'is', 'are')} identical to the sensitive column: "
            "anyone who sees such a feature need not guess; leave it out",
            TamisWarning,
            stacklevel=4,
        )


def _features(selector: Any, X: Any) -> pl.DataFrame:
    if nw.dependencies.is_into_dataframe(X):
        frame, declared = frame_of(X)
        validate_data(selector, frame, reset=True, skip_check_array=True)
        if 0 in frame.shape:
            raise InputError(
                f"the table needs at least one row and one feature, got shape {frame.shape}"
            )
        return Coding.of(frame, declared=declared).declare(frame)
    kind = np.asarray(X).dtype.kind if not hasattr(X, "tocsr") else "f"
    array = validate_data(
        selector,
        X,
        reset=True,
        dtype=None if kind in "OUS" else np.float64,
        ensure_all_finite="allow-nan",
        ensure_min_samples=2,
    )
    return frame_of_array(array, getattr(selector.estimator, "nominal", None))
