"""Evaluation of a breach selection on held-out rows, its stability, and its plain record.

The record is what `--json` prints and a report reads. Stability is measured by repeating the search
on other folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from tamis.errors import InputError
from tamis.learn.columns import Coding, Features, Task, refuse_fractions
from tamis.learn.cv import Folds
from tamis.learn.holdout import held_rows
from tamis.learn.subset_scores import SubsetScores
from tamis.rank.evaluation import min_max, pareto_front, topsis
from tamis.rank.sensitivity import Sensitivity, Stability, sensitivity, stability
from tamis.select.breach.search import FACTORS, sensitive_series
from tamis.select.breach.selector import BreachSelector, attackers_of, factor_scores
from tamis.table import Table

_MAP = 10
"""The most winners over all weights that are listed."""
SHARE = 0.25
"""Fraction of the rows held out by default."""


@dataclass(frozen=True)
class HeldOutResult:
    """Scores of the choice and the baseline, trained on the searched rows, tested on the others."""

    rows: int
    """The number of held-out rows."""
    performance: float
    baseline_performance: float
    pbi: float
    """Breach increase of the chosen features."""
    floor: float
    """Breach increase of guessing from the distribution alone."""
    attacker: str
    """The strongest attacker of the search; the held-out rows have no part in picking it."""


def fit_held_out(
    selector: BreachSelector, table: Table, share: float = SHARE, random_state: int = 0
) -> tuple[BreachSelector, HeldOutResult]:
    """Search on some of the rows and evaluate the choice on the rest.

    A copy of the selector is fitted to the features, the target and the sensitive column of the
    table. `share` is the fraction of the rows of each target class to hold out, all rows of a
    person or none; `random_state` draws them.

    >>> import warnings
    >>> from tamis.learn.bayes import AdditiveNaiveBayes
    >>> from tamis.table import Roles
    >>> frame = pl.DataFrame({"age": range(80), "coin": [0, 1] * 40, "ill": [0] * 40 + [1] * 40})
    >>> table = Table(frame, Roles(target="ill"))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     fitted, aside = fit_held_out(BreachSelector(AdditiveNaiveBayes(), cv=3), table)
    >>> fitted.best_.features, aside.rows, aside.performance
    (('age',), 20, 1.0)
    """
    people = table.people
    held = held_rows(table.frame[table.target].to_numpy(), share, random_state, people.groups)
    seen = np.setdiff1d(np.arange(table.rows), held)
    features, target, hidden = parts(table)
    rest = features[seen], target[seen], None if hidden is None else hidden[seen]
    fitted = clone(selector).fit(rest[0], rest[1].to_numpy(), rest[2], people[seen].groups)
    return fitted, _measured(fitted, features, target, hidden, held)


def parts(table: Table) -> tuple[pl.DataFrame, pl.Series, pl.Series | None]:
    """Features, target and sensitive column of a table; the last is `None` if it is the target."""
    if not table.features:
        raise InputError(
            "there are no columns to choose from besides the target and the sensitive one"
        )
    refuse_fractions(table.frame[table.target])
    sensitive = table.roles.sensitive
    apart = sensitive is not None and sensitive != table.target
    features = table.only(table.features)
    # Categories are those of the whole table, so that the held-out rows have no unknown ones.
    return (
        Coding.of(features).declare(features),
        table.frame[table.target],
        table.frame[sensitive] if apart and sensitive else None,
    )


def _measured(
    fitted: BreachSelector,
    features: pl.DataFrame,
    target: pl.Series,
    hidden: pl.Series | None,
    held: NDArray[np.intp],
) -> HeldOutResult:
    once = Folds((held,), features.height)
    coded = Features.of(features)
    labelled = Task(coded, np.searchsorted(fitted.classes_, target.to_numpy()))
    settings: dict[str, Any] = {
        "cv": once,
        "encode": fitted.encode,
        "n_jobs": fitted.n_jobs,
        "random_state": fitted.random_state_,
    }
    scores = SubsetScores(labelled, fitted.estimator, scoring=fitted.scoring, **settings)
    guessed = labelled
    if hidden is not None and fitted.cut_ is not None:
        guessed = Task(coded, fitted.cut_.codes(sensitive_series(hidden)))
    attackers = attackers_of(fitted)
    # Picking the strongest attacker on the held-out rows would make it look too strong: the search
    # has picked it, for the choice and for the baseline.
    now, before = (
        SubsetScores(guessed, attackers[who], scoring=fitted.attack_scoring, **settings)
        for who in (fitted.best_.attacker, fitted.baseline_.attacker)
    )
    everything = before.of(features.columns).mean
    if not everything:
        raise InputError(
            "no sensitive value of the held-out rows is guessed from all features, so there "
            "is nothing to compare with; hold out more rows, or none"
        )
    return HeldOutResult(
        len(held),
        scores.of(fitted.best_.features).mean,
        scores.of(features.columns).mean,
        now.of(fitted.best_.features).mean / everything - 1,
        before.of([]).mean / everything - 1,
        fitted.best_.attacker,
    )


def weight_sensitivity(fitted: BreachSelector) -> Sensitivity:
    """Which allowed candidate wins under which weights; ties go to the fewest features.

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
    result = sensitivity(among, sizes)
    return replace(
        result,
        winner=int(allowed[result.winner]),
        rival=None if result.rival is None else int(allowed[result.rival]),
        winners=allowed[result.winners],
        shares={int(allowed[who]): share for who, share in result.shares.items()},
    )


def breach_summary(
    fitted: BreachSelector,
    held_out: HeldOutResult | None = None,
    stabilities: Sequence[Stability] = (),
) -> dict[str, Any]:
    """The plain record of a selection; it contains no row of the table."""
    candidates = fitted.candidates_
    scores = factor_scores(candidates)
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
    result = weight_sensitivity(fitted)
    named = [list(candidate.features) for candidate in fitted.candidates_]
    return {
        "margin": result.margin,
        "rival": None if result.rival is None else named[result.rival],
        "winners": [
            {"features": named[who], "share": share}
            for who, share in list(result.shares.items())[:_MAP]
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
    """How often each set of features is found and chosen over several seeds; most wins first.

    The `cv` of the selector must be a number or `None`, so that each seed draws other folds; the
    other parameters are as in `BreachSelector.fit`.

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
