"""The candidates that no other candidate beats in every factor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.choose.factors import Factors, goodness, read_factors, read_scores


def pareto_front(scores: Any, factors: Factors) -> NDArray[np.bool_]:
    """Which candidates are not dominated.

    A candidate is dominated where another is at least as good in every factor and better in one;
    equal candidates do not dominate each other.

    Parameters
    ----------
    scores : frame, or mapping of str to numbers
        One row a candidate.
    factors : mapping of str to {"max", "min"}, or texts such as "accuracy:max"

    Returns
    -------
    array of bool

    Examples
    --------
    >>> pareto_front({"accuracy": [0.9, 0.8, 0.7], "pbi": [0.1, -0.1, 0.0]},
    ...              ["accuracy:max", "pbi:min"]).tolist()
    [True, True, False]
    """
    directions = read_factors(factors)
    columns = read_scores(scores, directions)
    return front(np.column_stack([goodness(columns[n], way) for n, way in directions.items()]))


def front(good: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows that no other row is at least as large as everywhere and larger somewhere."""
    points, of_row = np.unique(good, axis=0, return_inverse=True)
    # In this order whatever dominates a point comes before it.
    waiting = np.argsort(-points.sum(axis=1), kind="stable")
    kept = np.zeros(len(points), dtype=bool)
    while len(waiting):
        kept[waiting[0]] = True
        beaten = (points[waiting] <= points[waiting[0]]).all(axis=1)
        waiting = waiting[~beaten]
    found: NDArray[np.bool_] = kept[of_row]
    return found
