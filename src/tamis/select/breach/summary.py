"""A fitted breach selection as a plain record: what `--json` prints and a report reads.

Also repeats the search on other folds: does it make the same choice?
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from tamis.errors import InputError
from tamis.rank.evaluation import min_max, pareto_front, topsis
from tamis.rank.sensitivity import Sensitivity, Stability, sensitivity, stability
from tamis.select.breach.held_out import HeldOutResult
from tamis.select.breach.search import FACTORS
from tamis.select.breach.selector import BreachSelector

_MAP = 10
"""How many winners over all weights are listed."""


def weight_sensitivity(fitted: BreachSelector) -> Sensitivity:
    """Which allowed candidate wins under which weights; of equals, the one with fewest features.

    Candidates are numbered as in `candidates_`.
    """
    allowed = np.array([i for i, c in enumerate(fitted.candidates_) if c.allowed])
    place = {int(i): place for place, i in enumerate(allowed)}
    among = replace(
        fitted.evaluation_,
        ranks={name: ranks[allowed] for name, ranks in fitted.evaluation_.ranks.items()},
        scores=fitted.evaluation_.scores[allowed],
        order=tuple(place[i] for i in fitted.evaluation_.order if i in place),
    )
    sizes = np.array([fitted.candidates_[i].size for i in allowed], dtype=float)
    found = sensitivity(among, sizes)
    return replace(
        found,
        winner=int(allowed[found.winner]),
        rival=None if found.rival is None else int(allowed[found.rival]),
        winners=allowed[found.winners],
        shares={int(allowed[who]): share for who, share in found.shares.items()},
    )


def breach_summary(
    fitted: BreachSelector,
    held_out: HeldOutResult | None = None,
    stabilities: Sequence[Stability] = (),
) -> dict[str, Any]:
    """Everything that a selection found, without any row of the table.

    Parameters
    ----------
    fitted : BreachSelector
    held_out : HeldOutResult, optional
    stabilities : sequence of Stability

    Returns
    -------
    dict
        Contains only numbers, strings, lists and dicts.
    """
    candidates = fitted.candidates_
    scores = {
        "performance": [c.performance for c in candidates],
        "privacy": [c.pbi for c in candidates],
        "size": [c.size for c in candidates],
    }
    weights = fitted.evaluation_.weights
    beside = zip(
        pareto_front(scores, FACTORS).tolist(),
        min_max(scores, FACTORS, weights).tolist(),
        topsis(scores, FACTORS, weights).tolist(),
    )
    records = [
        {**c.to_dict(), "front": front, "min_max": line, "topsis": near}
        for c, (front, line, near) in zip(candidates, beside)
    ]
    return {
        "features": list(fitted.best_.features),
        "search": fitted.search_,
        "folds": len(fitted.folds_) // fitted.folds_.repeats,
        "repeats": fitted.folds_.repeats,
        "weights": dict(weights),
        "alpha": fitted.alpha_,
        "floor": fitted.floor_,
        "cut": None if fitted.cut_ is None else fitted.cut_.rule,
        "performance_ranking": list(fitted.performance_ranking_),
        "privacy_ranking": list(fitted.privacy_ranking_),
        "best": candidates.index(fitted.best_),
        "order": list(fitted.evaluation_.order),
        "candidates": records,
        "held_out": None if held_out is None else asdict(held_out),
        "sensitivity": _sensitivity(fitted),
        "stability": [asdict(entry) for entry in stabilities],
    }


def _sensitivity(fitted: BreachSelector) -> dict[str, Any]:
    found = weight_sensitivity(fitted)
    named = [list(candidate.features) for candidate in fitted.candidates_]
    return {
        "margin": found.margin,
        "rival": None if found.rival is None else named[found.rival],
        "winners": [
            {"features": named[who], "share": share}
            for who, share in list(found.shares.items())[:_MAP]
        ],
    }


def breach_stability(
    selector: BreachSelector,
    X: Any,
    y: Any,
    sensitive: Any = None,
    seeds: Iterable[int] = range(10),
    groups: Any = None,
) -> list[Stability]:
    """How often each set of features is found, and chosen, over seeds.

    Parameters
    ----------
    selector : BreachSelector
        With `cv` a number or `None`, so that each seed draws different folds.
    X, y, sensitive, groups
        As for `BreachSelector.fit`.
    seeds : iterable of int, default 0 to 9

    Returns
    -------
    list of Stability
        Most wins first.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.learn.bayes import AdditiveNaiveBayes
    >>> X = pl.DataFrame({"age": range(80), "coin": [0, 1] * 40})
    >>> breach_stability(BreachSelector(AdditiveNaiveBayes(), cv=3), X, [0] * 40 + [1] * 40,
    ...                  seeds=[1, 2])[0]
    Stability(features=('age',), found=1.0, won=1.0)
    """
    if not (selector.cv is None or isinstance(selector.cv, int)):
        raise InputError("stability draws folds by seed; give cv as a number of folds, or None")
    return stability(_run(selector, X, y, sensitive, groups, seed) for seed in seeds)


def _run(
    selector: BreachSelector, X: Any, y: Any, sensitive: Any, groups: Any, seed: int
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit with the user's own seed has already warned
        fitted = clone(selector).set_params(random_state=seed).fit(X, y, sensitive, groups)
    return [candidate.features for candidate in fitted.candidates_], fitted.best_.features
