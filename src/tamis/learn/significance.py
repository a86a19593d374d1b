"""Is one set of features really better, or did the folds fall that way?

::

    fold_p_value      which of the two fits the folds:
      paired_t_test       one cross-validation
      corrected_t_test    repeated cross-validation, whose folds share tested rows
    holm              many comparisons: adjust all their p-values together
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from tamis.errors import InputError
from tamis.learn.folds import Folds


def fold_p_value(first: ArrayLike, second: ArrayLike, folds: Folds) -> float:
    """The two-sided p-value of the test that fits how the folds were drawn.

    Parameters
    ----------
    first, second : array of float
        The scores of two sets of features, fold by fold.
    folds : Folds

    Returns
    -------
    float

    Examples
    --------
    >>> folds = Folds.predefined([0, 0, 1, 1, 2, 2])
    >>> round(fold_p_value([0.9, 0.8, 0.9], [0.7, 0.7, 0.6], folds), 4)
    0.0742
    """
    if folds.repeats > 1:
        return corrected_t_test(first, second, folds.test_ratio)
    return paired_t_test(first, second)


def paired_t_test(first: ArrayLike, second: ArrayLike) -> float:
    """The two-sided p-value of the paired t-test over folds.

    Parameters
    ----------
    first, second : array of float
        The scores of two sets of features, fold by fold.

    Returns
    -------
    float
        1 where no fold differs; 0 where all folds differ by the same amount.

    Examples
    --------
    >>> round(paired_t_test([0.9, 0.8, 0.9], [0.7, 0.7, 0.6]), 4)
    0.0742
    >>> paired_t_test([0.9, 0.8], [0.9, 0.8])
    1.0
    """
    differences = _differences(first, second)
    return _p_value(differences, 1 / len(differences))


def corrected_t_test(first: ArrayLike, second: ArrayLike, test_ratio: float) -> float:
    """The two-sided p-value of the corrected resampled t-test, for repeated cross-validation.

    Parameters
    ----------
    first, second : array of float
        The scores of two sets of features, over all folds of all repeats.
    test_ratio : float
        Tested rows by trained rows, as in `Folds.test_ratio`; 1/9 for ten folds.

    Returns
    -------
    float

    Notes
    -----
    Nadeau and Bengio, Inference for the Generalization Error, Machine Learning 52 (2003): the
    variance of the mean of J overlapping differences is estimated by (1/J + n2/n1) times their
    variance, n2 and n1 being the numbers of tested and trained rows.

    Examples
    --------
    >>> round(corrected_t_test([0.9, 0.8, 0.9], [0.7, 0.7, 0.6], test_ratio=0.5), 4)
    0.1598
    """
    if not 0 <= test_ratio < np.inf:
        raise InputError(f"test_ratio is tested by trained rows, 0 or more, got {test_ratio!r}")
    differences = _differences(first, second)
    return _p_value(differences, 1 / len(differences) + test_ratio)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values of many comparisons by Holm's step-down method.

    Parameters
    ----------
    p_values : array of float in [0, 1]

    Returns
    -------
    array of float
        In the order given. Those at most a level keep the chance of any false finding below it.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p-values are a list of numbers in [0, 1]")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise InputError(
            "a paired test needs the scores of the same two or more folds, got shapes "
            f"{a.shape} and {b.shape}"
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("a paired test needs a number for every fold, got some missing")
    return a - b


def _p_value(differences: NDArray[np.float64], share: float) -> float:
    """Twice the tail of Student's t; `share` times the variance is that of the mean."""
    if not differences.any():
        return 1.0
    variance = float(differences.var(ddof=1))
    if variance == 0 or np.ptp(differences) == 0:
        return 0.0
    t = abs(float(differences.mean())) / np.sqrt(share * variance)
    return float(2 * stdtr(len(differences) - 1, -t))
