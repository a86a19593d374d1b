"""Rows that the search never sees, and how good the choice is on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from tamis.errors import InputError
from tamis.learn.columns import Coding, Features
from tamis.learn.cv import Folds
from tamis.learn.holdout import held_rows
from tamis.learn.subset_scores import SubsetScores
from tamis.learn.task import Task, refuse_fractions
from tamis.risk.breach import named_attackers
from tamis.select.breach.input import sensitive_series
from tamis.select.breach.selector import BreachSelector
from tamis.table import Table

SHARE = 0.25
"""The share of rows held out by default."""


@dataclass(frozen=True)
class HeldOutResult:
    """The choice and the baseline, trained on the searched rows and tested on the others.

    Attributes
    ----------
    rows : int
        How many rows were held out.
    performance, baseline_performance : float
    pbi, floor : float
        Breach increase of the chosen features, and of guessing from the distribution alone.
    attacker : str
        The strongest in the search; the held-out rows are not used to pick it.
    """

    rows: int
    performance: float
    baseline_performance: float
    pbi: float
    floor: float
    attacker: str


def fit_held_out(
    selector: BreachSelector, table: Table, share: float = SHARE, random_state: int = 0
) -> tuple[BreachSelector, HeldOutResult]:
    """Search on some of the rows and measure the choice on the rest.

    Parameters
    ----------
    selector : BreachSelector
        Not fitted itself; a copy is fitted.
    table : Table
        With a target; its features are searched, its sensitive column must stay hidden.
    share : float, default 0.25
        The share of rows of each target class to hold out; all rows of a person or none.
    random_state : int
        Draws those rows.

    Returns
    -------
    fitted : BreachSelector
    held_out : HeldOutResult

    Examples
    --------
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
    held = held_rows(table.frame[table.target].to_numpy(), share, random_state, people)
    seen = np.setdiff1d(np.arange(table.rows), held)
    features, target, hidden = parts(table)
    rest = features[seen], target[seen], None if hidden is None else hidden[seen]
    groups = None if people is None else people[seen]
    fitted = clone(selector).fit(rest[0], rest[1].to_numpy(), rest[2], groups)
    return fitted, _measured(fitted, features, target, hidden, held)


def parts(table: Table) -> tuple[pl.DataFrame, pl.Series, pl.Series | None]:
    """The features, target and sensitive column of a table; `None` if the latter is the target."""
    if not table.features:
        raise InputError(
            "there are no columns to choose from besides the target and the sensitive one"
        )
    refuse_fractions(table.frame[table.target])
    sensitive = table.roles.sensitive
    apart = sensitive is not None and sensitive != table.target
    features = table.only(table.features)
    # Categories of the whole table, so that the held-out rows have no unknown ones.
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
        "random_state": fitted.random_state,
    }
    scores = SubsetScores(labelled, fitted.estimator, scoring=fitted.scoring, **settings)
    guessed = labelled
    if hidden is not None and fitted.cut_ is not None:
        guessed = Task(coded, fitted.cut_.codes(sensitive_series(hidden)))
    own = {type(fitted.estimator).__name__: fitted.estimator}
    attackers = own if fitted.attackers is None else named_attackers(fitted.attackers)
    # The search has settled the attacker: the held-out rows do not pick one.
    now, before = (
        SubsetScores(guessed, attackers[who], **settings)
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
