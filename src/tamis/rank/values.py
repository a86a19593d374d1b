"""Scores that keep magnitudes, which ranks throw away."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.rank.evaluation import weighted
from tamis.rank.factors import (
    Direction,
    Factors,
    Values,
    Weights,
    levels,
    read_factors,
    read_scores,
    read_weights,
)


def min_max(scores: Any, factors: Factors, weights: Weights = None) -> Values:
    """The weighted sum of values scaled to [0, 1], where the best of each factor is 1.

    A factor on which all candidates are equal gives 1 to each.

    Parameters
    ----------
    scores : frame, or mapping of str to numbers
    factors : mapping of str to {"max", "min"}, or strings such as "accuracy:max"
    weights : mapping, string or None
        As in `evaluation`.

    Returns
    -------
    array of float

    Examples
    --------
    >>> min_max({"accuracy": [0.8, 0.9], "features": [2, 4]}, ["accuracy:max", "features:min"],
    ...         {"accuracy": 0.75, "features": 0.25}).tolist()
    [0.25, 0.75]
    """
    directions = read_factors(factors)
    shares = read_weights(weights, directions)
    columns = read_scores(scores, directions)
    return weighted({n: _share(columns[n], way) for n, way in directions.items()}, shares)


def topsis(scores: Any, factors: Factors, weights: Weights = None) -> Values:
    """How close each candidate is to the best on all factors, relative to the worst: TOPSIS.

    Parameters
    ----------
    scores : frame, or mapping of str to numbers
    factors : mapping of str to {"max", "min"}, or strings such as "accuracy:max"
    weights : mapping, string or None
        As in `evaluation`.

    Returns
    -------
    array of float
        In [0, 1]; 1 if a candidate is the best on every factor that counts.

    Notes
    -----
    Hwang and Yoon (1981): columns are divided by their Euclidean length and weighted; the score is
    the distance to the worst divided by the sum of the distances to the worst and the best.

    Examples
    --------
    >>> topsis({"accuracy": [0.9, 0.8], "pbi": [-0.1, 0.1]}, ["accuracy:max", "pbi:min"]).tolist()
    [1.0, 0.0]
    """
    directions = read_factors(factors)
    shares = read_weights(weights, directions)
    columns = read_scores(scores, directions)
    placed = np.column_stack(
        [shares[n] * _turned(_unit(columns[n]), way) for n, way in directions.items()]
    )
    best = np.linalg.norm(placed - placed.max(axis=0), axis=1)
    worst = np.linalg.norm(placed - placed.min(axis=0), axis=1)
    apart = best + worst
    found: Values = np.where(apart > 0, worst / np.where(apart > 0, apart, 1), 1.0)
    return found


def _turned(values: Values, direction: Direction) -> Values:
    return values if direction == "max" else -values


def _share(values: Values, direction: Direction) -> Values:
    good = _turned(values, direction)
    if not levels(good).any():
        return np.ones(len(good))
    found: Values = (good - good.min()) / np.ptp(good)
    return found


def _unit(values: Values) -> Values:
    """Values divided by their length; those equal up to rounding become identical."""
    steady = values if levels(values).any() else np.full(len(values), values[0])
    length = float(np.linalg.norm(steady))
    return steady / length if length else steady
