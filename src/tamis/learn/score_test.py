"""Rao's score test: what a column would add to a fitted model, from the model's residuals."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Floats
from tamis.learn.coded_table import CODES, CodedTable

if TYPE_CHECKING:
    from scipy import sparse

CURVATURE_ERROR = 1e-12
"""Rounding error allowed in a sum of curvatures, for each row summed."""


def expected_bits(
    table: CodedTable,
    rows: NDArray[np.intp],
    probabilities: Floats,
    label: NDArray[np.integer[Any]],
) -> Floats:
    """Bits per row that each column is expected to add to a model, by Rao's score test.

    The squared sum of a code's residuals, divided by the sum of its curvatures, is twice the
    log-likelihood that one Newton step for that code would gain; what chance gains on average is
    subtracted. No model is fitted. A column that is informative only together with another one is
    expected to add nothing.

    `probabilities`, rows by classes, are the model's predictions for `rows`, and `label` the
    classes of these rows. A result is below 0 if chance would be expected to gain more.

    >>> import polars as pl
    >>> label = np.array([0, 1] * 50)
    >>> table = CodedTable.of(pl.DataFrame({"same": label, "none": np.repeat([0, 1], 50)}))
    >>> expected_bits(table, np.arange(100), np.full((100, 2), 0.5), label).round(2).tolist()
    [0.71, -0.01]
    """
    classes = probabilities.shape[1]
    residual, curvature = residuals(probabilities, label)
    places = table.places(rows)
    tests = [_squared_slopes(codes.take(places), residual, curvature) for codes in table.codes]
    return np.asarray(bits_of(np.array(tests), len(label), classes))


def expected_by_ones(
    matrix: sparse.csr_array, probabilities: Floats, label: NDArray[np.integer[Any]]
) -> Floats:
    """`expected_bits` of sparse 0/1 columns, by one sparse product.

    The rows of the matrix are those that the model predicted.

    >>> from scipy import sparse
    >>> label = np.array([0, 1] * 50)
    >>> ones = sparse.csr_array(np.column_stack([label, np.repeat([0, 1], 50)]))
    >>> expected_by_ones(ones, np.full((100, 2), 0.5), label).round(2).tolist()
    [0.71, -0.01]
    """
    classes = probabilities.shape[1]
    residual, curvature = residuals(probabilities, label)
    ones = matrix.T.astype(np.float64) @ np.hstack([residual, curvature])
    both = np.stack([ones, np.hstack([residual, curvature]).sum(axis=0) - ones])
    slope, bend = both[:, :, :classes], both[:, :, classes:]
    # The sums over zeros are totals less sums over ones: where there are no zeros they are not
    # exactly 0, so anything this small counts as an unused code.
    used = bend > CURVATURE_ERROR * len(label)
    tests = np.where(used, slope**2 / np.maximum(bend, 0.25) - 1.0, 0.0)
    # Codes are one fewer in degrees of freedom than in number, so 1 per class is given back.
    total = tests.sum(axis=(0, 2)) + classes * used.any(axis=(0, 2))
    return np.asarray(bits_of(total, len(label), classes))


def residuals(probabilities: Floats, label: NDArray[np.integer[Any]]) -> tuple[Floats, Floats]:
    """Residuals of a model, 1 or 0 less the probability, and curvatures p (1 - p), by class.

    >>> [each.tolist() for each in residuals(np.array([[0.5, 0.5]]), np.array([1]))]
    [[[-0.5, 0.5]], [[0.25, 0.25]]]
    """
    residual = -np.asarray(probabilities, dtype=np.float64)
    residual[np.arange(len(label)), label] += 1
    return residual, np.asarray(probabilities * (1 - probabilities))


def bits_of(tests: Any, rows: int, classes: int) -> Any:
    """Convert score statistics, summed over all classes, to bits per row."""
    # The residuals of a row sum to 0, so only classes - 1 of them are free.
    return tests * (classes - 1) / classes / (2 * rows * log(2))


def _squared_slopes(codes: NDArray[np.uint8], residual: Floats, curvature: Floats) -> float:
    """A column's score statistic, summed over codes and classes, less its mean under chance."""
    classes = residual.shape[1]
    slope, bend = (
        np.stack([np.bincount(codes, each[:, k], CODES) for k in range(classes)], axis=1)
        for each in (residual, curvature)
    )
    used = bend > 0.0
    # A quarter is the largest curvature of one row; dividing by less would blow up rare codes.
    tests = np.where(used, slope**2 / np.maximum(bend, 0.25) - 1.0, 0.0)
    return float(tests.sum()) + (classes if used.any() else 0.0)
