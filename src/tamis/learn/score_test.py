"""What a column would add to a model that does not have it: a test on what the model gets wrong."""

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
"""What sums of curvatures may be off by, for each row."""


def expected_bits(
    table: CodedTable,
    rows: NDArray[np.intp],
    probabilities: Floats,
    label: NDArray[np.integer[Any]],
) -> Floats:
    """The bits a row that each column is expected to add, as Rao's score test has it.

    The residuals of a code's rows, squared and by their curvature, are what one Newton step for
    that code would gain; less what chance would give. No model is fitted, and a column that tells
    only together with another one is expected to add nothing.

    `rows` are those that the model was asked about, `probabilities`, rows by classes, what it said
    of them, and `label` their classes. A number is below 0 where chance would give more.

    >>> import polars as pl
    >>> label = np.array([0, 1] * 50)
    >>> table = CodedTable.of(pl.DataFrame({"same": label, "none": np.repeat([0, 1], 50)}))
    >>> expected_bits(table, np.arange(100), np.full((100, 2), 0.5), label).round(2).tolist()
    [0.71, -0.01]
    """
    classes = probabilities.shape[1]
    residual, curvature = residuals(probabilities, label)
    places = table.places(rows)
    found = [_squared_slopes(codes.take(places), residual, curvature) for codes in table.codes]
    return np.asarray(bits_of(np.array(found), len(label), classes))


def expected_by_ones(
    matrix: sparse.csr_array, probabilities: Floats, label: NDArray[np.integer[Any]]
) -> Floats:
    """The same of sparse 0/1 columns: `expected_bits` of their codes, by one sparse product.

    The matrix has the rows asked about.

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
    # Sums of zeros by differences are zeros but for rounding.
    used = bend > CURVATURE_ERROR * len(label)
    tests = np.where(used, slope**2 / np.maximum(bend, 0.25) - 1.0, 0.0)
    found = tests.sum(axis=(0, 2)) + classes * used.any(axis=(0, 2))
    return np.asarray(bits_of(found, len(label), classes))


def residuals(probabilities: Floats, label: NDArray[np.integer[Any]]) -> tuple[Floats, Floats]:
    """What a model got wrong about rows, 1 or 0 less the probability, and its curvature.

    >>> [each.tolist() for each in residuals(np.array([[0.5, 0.5]]), np.array([1]))]
    [[[-0.5, 0.5]], [[0.25, 0.25]]]
    """
    residual = -np.asarray(probabilities, dtype=np.float64)
    residual[np.arange(len(label)), label] += 1
    return residual, np.asarray(probabilities * (1 - probabilities))


def bits_of(tests: Any, rows: int, classes: int) -> Any:
    """Squared slopes by their bends, in all classes and rows, as bits a row."""
    # The residuals of a row sum to 0 over the classes, so one of them is not free.
    return tests * (classes - 1) / classes / (2 * rows * log(2))


def _squared_slopes(codes: NDArray[np.uint8], residual: Floats, curvature: Floats) -> float:
    """The squared slopes of a column's codes by their bends, less what chance gives each."""
    classes = residual.shape[1]
    slope, bend = (
        np.stack([np.bincount(codes, each[:, k], CODES) for k in range(classes)], axis=1)
        for each in (residual, curvature)
    )
    used = bend > 0.0
    # A bend of less than one row's at most is too little to divide by.
    tests = np.where(used, slope**2 / np.maximum(bend, 0.25) - 1.0, 0.0)
    return float(tests.sum()) + (classes if used.any() else 0.0)
