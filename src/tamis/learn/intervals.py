"""How far a mean over folds may be from what other folds would give."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from tamis.learn.folds import Folds

Interval = tuple[float, float]


def fold_interval(values: ArrayLike, folds: Folds, level: float = 0.95) -> Interval:
    """A confidence interval for the mean of one value a fold.

    Where folds share tested rows the variance is corrected as in `corrected_t_test`; a single
    fold tells nothing of its variance, and its interval is the whole line.

    Parameters
    ----------
    values : array of float
    folds : Folds
    level : float, default 0.95

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> folds = Folds.predefined([0, 0, 1, 1, 2, 2])
    >>> low, high = fold_interval([0.7, 0.8, 0.9], folds)
    >>> round(low, 3), round(high, 3)
    (0.552, 1.048)
    """
    values = np.asarray(values, dtype=np.float64)
    mean = float(values.mean())
    if len(values) < 2:
        return -np.inf, np.inf
    share = 1 / len(values) + (folds.test_ratio if folds.repeats > 1 else 0.0)
    half = stdtrit(len(values) - 1, (1 + level) / 2) * np.sqrt(share * values.var(ddof=1))
    return mean - float(half), mean + float(half)
