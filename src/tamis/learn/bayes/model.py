"""Naive Bayes on coded columns: what it learns, and the sums it predicts by.

It needs neither frames nor scikit-learn, so an audit can try it as an attacker without waiting for
either to load. `AdditiveNaiveBayes` is the same as an estimator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.learn.bayes.densities import (
    MOST_FEATURES,
    Floats,
    Part,
    Precision,
    Rows,
    Units,
    fit_part,
    to_units,
)
from tamis.learn.columns import Column


@dataclass(frozen=True, eq=False)
class BayesModel:
    """What was learnt: the classes, sorted, their log-priors, and the part of each feature."""

    classes: NDArray[Any]
    prior: Units
    parts: tuple[Part, ...]

    def sums(self, columns: Sequence[Column], rows: int) -> Units:
        """The log-score of each class for each row, classes by rows."""
        total = np.repeat(self.prior[:, None], rows, axis=1)
        for part, column in zip(self.parts, columns):
            total += part.log_likelihoods(column.values)
        return total


@dataclass(frozen=True)
class NaiveBayes:
    """How naive Bayes learns; the parameters are those of `AdditiveNaiveBayes`.

    Examples
    --------
    >>> age = Column(np.array([25.0, 31.0, 58.0, 64.0]))
    >>> model = NaiveBayes().fit([age], np.array(["no", "no", "yes", "yes"]))
    >>> model.classes[model.sums([Column(np.array([29.0, 70.0]))], 2).argmax(axis=0)].tolist()
    ['no', 'yes']
    """

    smoothing: float = 1.0
    precision: Precision = "data"
    variance_floor: float = 0.01

    def __post_init__(self) -> None:
        if self.precision not in (None, "data"):
            raise InputError(f'precision must be "data" or None, got {self.precision!r}')
        for name in ("smoothing", "variance_floor"):
            value = getattr(self, name)
            if not value > 0:
                raise InputError(f"{name} must be a number above 0, got {value!r}")

    def fit(
        self, columns: Sequence[Column], y: NDArray[Any], weights: Floats | None = None
    ) -> BayesModel:
        """Learn from columns that are already coded."""
        if len(columns) > MOST_FEATURES:
            raise InputError(f"at most {MOST_FEATURES:,} features, got {len(columns):,}")
        labels, classes = np.unique(y, return_inverse=True)
        rows = Rows(classes, np.ones(len(y)) if weights is None else weights, len(labels))
        total = rows.sums() + self.smoothing
        return BayesModel(
            labels,
            to_units(np.log(total / total.sum())),
            tuple(self._part(column, rows) for column in columns),
        )

    def _part(self, column: Column, rows: Rows) -> Part:
        return fit_part(
            column,
            rows,
            smoothing=self.smoothing,
            precision=self.precision,
            variance_floor=self.variance_floor,
        )
