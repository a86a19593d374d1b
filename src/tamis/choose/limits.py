"""Hard limits: what a release must keep before it is compared with others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tamis.evaluate.scorecard import Row

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
