"""What a column would add to a model that does not have it: a test on what the model gets wrong."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tamis.learn.coded_table import CodedTable

Floats = NDArray[np.float64]
CODES = 32
"""As in `coded_table`, written again: Numba's cache sees no change in another file."""


def promised_bits(
    table: CodedTable,
    rows: NDArray[np.intp],
    probabilities: Floats,
    label: NDArray[np.integer[Any]],
) -> Floats:
    """The bits a row that each column promises to add, as Rao's score test has it.

    The residuals of a code's rows, squared and by their curvature, are what one Newton step for
    that code would gain; less what chance would give. No model is fitted, and a column that tells
    only together with another one promises nothing.

    Parameters
    ----------
    table : CodedTable
    rows : array of int
        The rows that the model was asked about.
    probabilities : array of float, rows by classes
        What it said of them.
    label : array of int
        Their classes.

    Returns
    -------
    array of float
        One number a column, below 0 where chance would give more.

    Examples
    --------
    >>> import polars as pl
    >>> label = np.array([0, 1] * 50)
    >>> table = CodedTable.of(pl.DataFrame({"same": label, "none": np.repeat([0, 1], 50)}))
    >>> promised_bits(table, np.arange(100), np.full((100, 2), 0.5), label).round(2).tolist()
    [0.71, -0.01]
    """
    classes = probabilities.shape[1]
    residual = -probabilities
    residual[np.arange(len(label)), label] += 1
    curvature = probabilities * (1 - probabilities)
    found = np.empty(len(table))
    _tests(table.codes, np.asarray(rows, dtype=np.int64), residual, curvature, found)
    # The residuals of a row sum to 0 over the classes, so one of them is not free.
    return np.asarray(found * (classes - 1) / classes / (2 * len(label) * log(2)))


@njit(cache=True)
def _tests(codes: Any, rows: Any, residual: Any, curvature: Any, found: Any) -> None:
    classes = residual.shape[1]
    slope = np.empty((CODES, classes))
    bend = np.empty((CODES, classes))
    for c in range(len(codes)):
        slope[:] = 0.0
        bend[:] = 0.0
        for j in range(len(rows)):
            code = codes[c, rows[j]]
            for k in range(classes):
                slope[code, k] += residual[j, k]
                bend[code, k] += curvature[j, k]
        found[c] = 0.0
        used = 0
        for code in range(CODES):
            for k in range(classes):
                if bend[code, k] > 0.0:
                    # A bend of less than one row's at most is too little to divide by.
                    found[c] += slope[code, k] ** 2 / max(bend[code, k], 0.25) - 1.0
                    used += 1
        found[c] += classes if used else 0.0
