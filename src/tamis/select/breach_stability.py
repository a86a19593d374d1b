"""The same search on folds drawn anew: does the same choice come out?"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from sklearn.base import clone

from tamis.choose.stability import Steadiness, stability
from tamis.errors import InputError
from tamis.select.breach import BreachSelector


def breach_stability(
    selector: BreachSelector,
    X: Any,
    y: Any,
    sensitive: Any = None,
    seeds: Iterable[int] = range(10),
    groups: Any = None,
) -> list[Steadiness]:
    """How often each set of features is found, and chosen, over seeds.

    Parameters
    ----------
    selector : BreachSelector
        With `cv` a number or `None`, so that a seed draws other folds.
    X, y, sensitive, groups
        As for `BreachSelector.fit`.
    seeds : iterable of int, default 0 to 9

    Returns
    -------
    list of Steadiness
        Most wins first.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.learn.bayes import AdditiveNaiveBayes
    >>> X = pl.DataFrame({"age": range(80), "coin": [0, 1] * 40})
    >>> breach_stability(BreachSelector(AdditiveNaiveBayes(), cv=3), X, [0] * 40 + [1] * 40,
    ...                  seeds=[1, 2])[0]
    Steadiness(features=('age',), found=1.0, won=1.0)
    """
    if not (selector.cv is None or isinstance(selector.cv, int)):
        raise InputError("stability draws folds by seed; give cv as a number of folds, or None")
    return stability(_run(selector, X, y, sensitive, groups, seed) for seed in seeds)


def _run(
    selector: BreachSelector, X: Any, y: Any, sensitive: Any, groups: Any, seed: int
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of the user's own seed has said it all
        fitted = clone(selector).set_params(random_state=seed).fit(X, y, sensitive, groups)
    return [candidate.features for candidate in fitted.candidates_], fitted.best_.features
