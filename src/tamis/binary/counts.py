"""Ones of each 0/1 column by class, and the pairs of opposite classes they distinguish."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import Binary


def class_counts(table: Binary, positive: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
    """The ones of each column of a checked table: in all rows, and in rows of the true class.

    >>> support, ones = class_counts(np.array([[1, 1], [1, 0]]), np.array([True, False]))
    >>> support.tolist(), ones.tolist()
    ([2, 1], [1, 1])
    """
    if isinstance(table, np.ndarray):
        return table.sum(axis=0, dtype=np.int64), table[positive].sum(axis=0, dtype=np.int64)
    if table.format == "csc":
        inside = np.concatenate([[0], np.cumsum(positive[table.indices])])
        starts = table.indptr.astype(np.int64)
        return np.diff(starts), np.diff(inside[starts])
    from tamis.binary.columns import counts_by_class

    return counts_by_class(table, positive)


def differing_pairs(
    support: NDArray[np.int64], ones: NDArray[np.int64], rows: int, positives: int
) -> NDArray[np.int64]:
    """The pairs of opposite classes that each single column distinguishes."""
    others = support - ones
    pairs: NDArray[np.int64] = ones * (rows - positives - others) + others * (positives - ones)
    return pairs
