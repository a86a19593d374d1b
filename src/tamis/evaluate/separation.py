"""How well a set of 0/1 features separates two classes: HamDist, DistCnt and CM.

Pairs of rows of opposite classes are counted in 64-bit integers, exact for millions of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import class_counts, differing_pairs, sparse_columns, two_classes, zero_one


def hamdist(X: Any, y: Any, features: Sequence[int] | None = None) -> float:
    """The mean number of differing features over pairs of rows of opposite classes.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes
    features : sequence of int, optional
        The columns to use; by default all.

    Notes
    -----
    Equation 3 of Zhang et al. (2017); the sum over the features of p(1 - q) + q(1 - p).

    Examples
    --------
    >>> hamdist([[1, 0], [1, 1]], ["no", "yes"])
    1.0
    """
    table = zero_one(X)
    positive = two_classes(y, table.shape[0])
    support, ones = class_counts(table, positive)
    chosen = slice(None) if features is None else np.asarray(features, dtype=np.intp)
    rows, positives = len(positive), int(positive.sum())
    pairs = differing_pairs(support[chosen], ones[chosen], rows, positives)
    return int(pairs.sum()) / (positives * (rows - positives))


def distcnt(X: Any, y: Any, features: Sequence[int] | None = None) -> float:
    """The share of pairs of rows of opposite classes that differ in at least one feature.

    Parameters are those of `hamdist`.

    Notes
    -----
    Equation 4 of Zhang et al. (2017).

    Examples
    --------
    >>> distcnt([[1, 0], [1, 0], [1, 1]], [0, 1, 1])
    0.5
    """
    ones, others = _classes_by_group(X, y, features)
    alike = int((ones * others).sum())
    return 1 - alike / (int(ones.sum()) * int(others.sum()))


def classification_metric(X: Any, y: Any, features: Sequence[int] | None = None) -> int:
    """Number of rows in the minority class of their group of equal rows; smaller is better.

    Parameters are those of `hamdist`.

    Notes
    -----
    Definition 2 of Zhang et al. (2017), after Iyengar (2002); no row is suppressed here.

    Examples
    --------
    >>> classification_metric([[1, 0], [1, 0], [1, 1]], [0, 1, 1])
    1
    """
    ones, others = _classes_by_group(X, y, features)
    return int(np.minimum(ones, others).sum())


def _classes_by_group(
    X: Any, y: Any, features: Sequence[int] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of both classes, the true one first, in each group of rows equal on the features."""
    table = sparse_columns(X)
    positive = two_classes(y, table.shape[0])
    group = np.zeros(len(positive), dtype=np.int64)
    groups = 1
    for column in range(table.shape[1]) if features is None else features:
        # Refine the groups by one column: rows with a 1 move to numbers past all groups so far,
        # and renumbering keeps the numbers below twice the number of rows.
        group[table.indices[table.indptr[column] : table.indptr[column + 1]]] += groups
        labels, group = np.unique(group, return_inverse=True)
        groups = len(labels)
    ones = np.bincount(group[positive], minlength=groups)
    others = np.bincount(group[~positive], minlength=groups)
    return ones.astype(np.int64), others.astype(np.int64)
