"""Which release is published: limits first, then E(S), then fewest columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tamis.errors import CannotMeet, InputError
from tamis.evaluate.scorecard import Row, Scorecard
from tamis.rank.evaluation import Evaluation, evaluation
from tamis.rank.factors import WEIGHTS, Direction, Weights, read_weights

WORDS = {
    "performance": "accuracy",
    "auc": "area under the ROC curve",
    "f_measure": "F-measure",
    "pbi": "increase of the strongest attacker's accuracy",
    "features": "number of columns",
    "rule_accuracy": "change of the rules' accuracy",
    "rsd": "change of the rules' support",
    "rld": "change of the rules' labels",
    "lost_rules": "share of lost rules",
    "epsilon": "privacy budget epsilon",
}
SAMPLED = {m for m in WORDS if m not in ("features", "epsilon")}
"""Measures that are other on other rows."""
WITHOUT = {"epsilon": "rows are released as they are, which no epsilon covers"}
"""What it means that a measure has no value; otherwise, that it cannot be measured."""

HOLDERS = {
    "people": "people who have all that some person has",
    "rows": "rows that have all that some row has",
}
"""Among whom a row hides by containment."""


@dataclass(frozen=True)
class Limit:
    """A bound on one measure of the scorecard.

    Examples
    --------
    >>> limit = Limit("performance", "at least", 0.8)
    >>> round(limit.short_by(0.75), 3), limit.short_by(0.9)
    (0.05, 0.0)
    """

    measure: str
    side: Literal["at least", "at most"]
    bound: float

    def short_by(self, value: float) -> float:
        """How much is missing; 0 where the limit is kept."""
        gap = self.bound - value if self.side == "at least" else value - self.bound
        return max(0.0, gap)


@dataclass(frozen=True)
class Failure:
    """A limit that a release does not keep."""

    words: str
    """The limit, the value got and what is missing."""
    short: str
    """The limit in a few words, without a count of people below k: it stands in reports."""
    gap: float
    """What is missing, as a share of the limit, so that different limits can be compared."""


def failures(row: Row, limits: tuple[Limit, ...]) -> tuple[Failure, ...]:
    """What a release does not keep: its own promises of anonymity, and the limits."""
    return (*_broken_promises(row), *beyond(row, limits))


def _broken_promises(row: Row) -> list[Failure]:
    found = []
    for promise in row.release.promises:
        equal = promise.name == "k_anonymity"
        reached = (row.trial.k_anonymity if equal else row.trial.containment) or 0
        if reached < promise.at_least:
            unit = row.release.unit
            who = "equals" if equal else HOLDERS[unit]
            words = (
                f"k = {promise.at_least} asks for {promise.at_least} {who}, the smallest group "
                f"has {reached} ({promise.at_least - reached} too few)"
            )
            gap = 1 - reached / promise.at_least
            short = f"fewer than {promise.at_least} {unit} alike"
            found.append(Failure(words, short, gap))
    return found


def beyond(
    row: Row, limits: tuple[Limit, ...], rows: Literal["choose", "report"] = "choose"
) -> tuple[Failure, ...]:
    """The limits that a release does not keep on the rows that choose, or on those that report."""
    found = []
    for limit in limits:
        measure, name = limit.measure, WORDS.get(limit.measure, limit.measure)
        value = row.value_for_choice(measure) if rows == "choose" else row.value(measure)
        if value is None:
            words = WITHOUT.get(measure, f"the {name} cannot be measured")
            found.append(Failure(words, words, 1.0))
        elif gap := limit.short_by(value):
            where = f" on the rows that {rows}" if measure in SAMPLED else ""
            words = (
                f"the {name} must be {limit.side} {limit.bound:.4g} and is {value:.4g}{where} "
                f"({gap:.2g} {'too little' if limit.side == 'at least' else 'too much'})"
            )
            short = f"{name} {value:.4g}{where}, not {limit.side} {limit.bound:.4g}"
            found.append(Failure(words, short, gap / max(abs(limit.bound), 0.01)))
    return tuple(found)


FACTORS: dict[str, str] = {"performance": "performance", "privacy": "pbi", "size": "features"}
"""The factors that are always there, and the measures that they stand for."""


@dataclass(frozen=True, eq=False)
class Decision:
    """The choice among the releases of a scorecard.

    Attributes
    ----------
    scorecard : Scorecard
    ranked : tuple of Row
        The baseline, and what keeps every limit.
    ranks : Evaluation
        Of the ranked.
    failures : dict of release name to failures
        Of every release that does not keep a limit.
    chosen : Row
    missed : tuple of Failure
        The limits that the chosen release keeps on the rows that choose, but not on those that
        report: it is no better than they say, and the holder must know.
    """

    scorecard: Scorecard
    ranked: tuple[Row, ...]
    ranks: Evaluation
    failures: Mapping[str, tuple[Failure, ...]]
    chosen: Row
    measures: Mapping[str, str]
    """The measure of the scorecard that each factor stands for."""
    missed: tuple[Failure, ...] = ()


def decide(
    scorecard: Scorecard, limits: tuple[Limit, ...] = (), weights: Weights = None
) -> Decision:
    """Choose the best release of those that keep every limit.

    Parameters
    ----------
    scorecard : Scorecard
    limits : tuple of Limit
        Beside what each release promises itself. They are checked on the rows that choose.
    weights : mapping of factor to weight, optional
        Factors are `performance`, `privacy` and `size`, or measures of the scorecard.

    Returns
    -------
    Decision
        An error that names what fails, by how much and what comes nearest where no release
        keeps every limit.
    """
    failing = {row.release.name: failures(row, limits) for row in scorecard.rows}
    meeting = [row for row in scorecard.rows if not failing[row.release.name]]
    if not meeting:
        raise CannotMeet(_nothing_meets(scorecard, failing))
    rows = list(dict.fromkeys((scorecard.baseline, *meeting)))
    directions, measures = _factors(scorecard, weights)
    scores = {name: [_score(row, measures[name]) for row in rows] for name in directions}
    ranks = evaluation(scores, directions, read_weights(weights or WEIGHTS, directions))
    best = next(rows[i] for i in ranks.order if rows[i] in meeting)
    told = {name: found for name, found in failing.items() if found}
    missed = beyond(best, limits, "report")
    return Decision(scorecard, tuple(rows), ranks, told, best, measures, missed)


def _factors(scorecard: Scorecard, weights: Weights) -> tuple[dict[str, Direction], dict[str, str]]:
    """Directions of the factors, and the measure that each stands for."""
    better = {m.name: m.better for m in scorecard.measures}
    measures = dict(FACTORS)
    named = weights if isinstance(weights, Mapping) else {}
    for name in named:
        if name not in measures:
            if name not in better:
                raise InputError(
                    f"no factor {name!r} to weigh; there are {', '.join([*FACTORS, *better])}"
                )
            measures[name] = name
    return {name: better[measure] for name, measure in measures.items()}, measures


def _score(row: Row, measure: str) -> float:
    value = row.value_for_choice(measure)
    if value is None:
        raise InputError(f"{measure} cannot be measured for {row.release.name}; give it no weight")
    return value


def _nothing_meets(scorecard: Scorecard, failing: Mapping[str, tuple[Failure, ...]]) -> str:
    """Which limits fail, by how much, and what would come nearest."""
    rows = scorecard.candidates or scorecard.rows
    nearest = min(
        rows,
        key=lambda r: (len(failing[r.release.name]), sum(f.gap for f in failing[r.release.name])),
    )
    missing = "; ".join(failure.words for failure in failing[nearest.release.name])
    return (
        f"none of the {len(scorecard.rows)} releases keeps every limit, so nothing was published. "
        f"The nearest is {nearest.release.name!r} with {len(nearest.release.features)} columns: "
        f"{missing}"
    )
