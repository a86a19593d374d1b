"""Every release that was compared, the factors of the choice, and its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

import numpy as np

from tamis.analyse.records import as_plain
from tamis.catalogue.measures import FACTORS, MEASURES, ShownAs
from tamis.decide import Decision
from tamis.evaluate.figure import Figure
from tamis.evaluate.scorecard import Row
from tamis.outcome import Outcome
from tamis.propose.problem import differences
from tamis.rank.evaluation import Evaluation, pareto_front
from tamis.select.breach.candidate import region

Region = Literal["I", "II", "III", "IV"]
NOTHING = Figure(0.0)
"""Stands for a figure that was not measured."""
FIGURES = ("performance", "kept", "told", "pbi")
"""The fields of a candidate that have an interval."""


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One factor of a choice by ranks."""

    key: str
    """Its key in `CandidateFacts.values` and `ranks`."""
    label: str
    """As a reader sees it: "Usefulness"."""
    direction: Literal["max", "min"]
    weight: float
    """As used; 0 drops the factor."""
    shown_as: ShownAs
    """`share` 0.73 as 73.0%, `change` -0.011 as -1.1%, `count` as a whole number."""


@dataclass(frozen=True, kw_only=True)
class CandidateFacts:
    """One release that was compared with the others."""

    name: str
    """Short and unique on the page: "plas + mass", "everything"."""
    features: tuple[str, ...]
    method: str
    """The name of the method that proposed it."""
    performance: Figure | None
    """Accuracy in predicting the target, on the reporting rows. Without ranks, `None` except for
    the baseline, the chosen release and those that came next."""
    kept: Figure
    """The share kept of what can be learnt about the target, on the reporting rows."""
    told: Figure | None
    """The share told of what the table tells about the sensitive column."""
    worth: tuple[float, float]
    """Kept and told on the choosing rows; the page sorts by kept less the caution times told."""
    pbi: Figure | None
    """Change in the strongest attacker's accuracy against the baseline; below 0 is safer. `None` as
    for `performance`."""
    size: int
    """The number of features; the fewest win among equal scores."""
    region: Region | None
    """`None` for the baseline, and if not measured."""
    values: Mapping[str, float] = field(default_factory=dict)
    """The value in each factor by key, on the choosing rows. The page ranks these again when
    weights change; what it shows is `performance`, `pbi` and `size`."""
    ranks: Mapping[str, int] = field(default_factory=dict)
    """The rank in each factor among the ranked candidates; 1 is the worst."""
    score: float = 0.0
    """E(S) under the weights of `factors`."""
    place: int = 0
    """1 is the best."""
    on_front: bool = False
    """No other ranked candidate is as good in every factor and better in one."""
    ahead: bool = False
    """No other allowed candidate keeps more and tells less, on the choosing rows."""
    chosen: bool
    """True for exactly one candidate: the release."""
    baseline: bool
    """True for exactly one candidate: everything released."""
    ranked: bool = False
    """Whether it is included in the ranks, if these were asked for. Others are shown with `fails`
    but cannot win by ranks; their `ranks` are empty, `score` and `place` 0."""
    fails: tuple[str, ...]
    """The hard limits that it breaks, each in a few words. If there are any, it may be ranked (the
    baseline often is) but not chosen."""
    differs: str = ""
    """Its columns and forms that differ from other candidates': "birth: 8 bands; icd10: 8
    groups"."""

    def for_recipient(self) -> Self | None:
        """The chosen release's columns and how well a model predicts from them; others `None`."""
        return (
            None
            if not self.chosen
            else replace(
                self,
                name="",
                features=tuple(sorted(self.features)),
                kept=NOTHING,
                told=None,
                worth=(0.0, 0.0),
                pbi=NOTHING,
                region=None,
                values={},
                ranks={},
                score=0.0,
                place=0,
                on_front=False,
                ahead=False,
                differs="",
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values, with intervals beside their figures, as the page's script reads them."""
        plain: dict[str, Any] = {}
        for each in fields(self):
            part = as_plain(getattr(self, each.name))
            if each.name not in FIGURES:
                plain[each.name] = part
                continue
            plain[each.name] = part and part["value"]
            plain[f"{each.name}_interval"] = part and part["interval"]
        return plain


@dataclass(frozen=True, kw_only=True)
class LimitLines:
    """Limits that the pictures of candidates draw as lines."""

    min_kept: float | None
    max_told: float | None
    max_pbi: float | None
    min_performance: float | None
    guessing_performance: float
    """Accuracy of always naming the most frequent value of the target."""
    guessing_pbi: float
    """PBI of an attacker who always names the most frequent sensitive value."""

    def for_recipient(self) -> Self:
        private = dict.fromkeys(("min_kept", "max_told", "max_pbi", "min_performance"))
        return replace(self, **private, guessing_pbi=0.0)  # type: ignore[arg-type]


def factor_facts(ranks: Evaluation) -> tuple[Factor, ...]:
    """The factors of the ranks with direction and weight."""
    factors: list[Factor] = []
    for key, direction in ranks.factors.items():
        about = MEASURES[FACTORS[key]] if key in FACTORS else None
        factors.append(
            Factor(
                key=key,
                label=about.factor_label if about else key.replace("_", " "),
                direction=direction,
                weight=ranks.weights[key],
                shown_as=about.shown_as if about else "number",
            )
        )
    return tuple(factors)


def candidate_facts(outcome: Outcome) -> tuple[CandidateFacts, ...]:
    """Every release that was compared, the baseline first.

    `values` are from the choosing rows, like the ranks; all other figures from the reporting rows.
    """
    decision = outcome.decision
    apart = differences(
        [row.release for row in decision.scorecard.rows if not _is_end(row, outcome)]
    )
    standing = _standing(decision) if decision.is_ranked else {}
    front, words = decision.front, apart.get
    return tuple(
        replace(
            _candidate(outcome, row, front, words(row.release.name, "")), **standing.get(row, {})
        )
        for row in decision.scorecard.rows
    )


def _standing(decision: Decision) -> dict[Row, dict[str, Any]]:
    """The fields about ranks of each ranked release."""
    ranks = decision.ranks
    values = {name: np.array(column) for name, column in decision.ranking.scores.items()}
    front = pareto_front(values, dict(ranks.factors))
    places = {i: place + 1 for place, i in enumerate(ranks.order)}
    number = {row.release.name: i for i, row in enumerate(decision.ranking.rows)}
    return {
        row: {
            "ranked": True,
            "values": {name: float(column[at]) for name, column in values.items()},
            "ranks": {name: int(r[at]) for name, r in ranks.ranks.items()},
            "score": float(ranks.scores[at]),
            "place": places[at],
            "on_front": bool(front[at]),
        }
        for row in decision.scorecard.rows
        if (at := number.get(row.release.name)) is not None
    }


def _is_end(row: Row, outcome: Outcome) -> bool:
    """Whether a release is the baseline or the floor, which only serve for comparison."""
    card = outcome.decision.scorecard
    return row in (card.baseline, card.floor)


def _candidate(outcome: Outcome, row: Row, front: Sequence[Row], differs: str) -> CandidateFacts:
    decision = outcome.decision
    is_baseline = row is decision.scorecard.baseline
    kept, told = row.figures["kept"], row.figures["told"]
    assert kept is not None
    right = increase = None
    where = None
    if row in decision.shown:
        right, increase = row.figures["performance"] or NOTHING, row.figures["pbi"] or NOTHING
        gain = right.value - (decision.scorecard.baseline.value("performance") or 0.0)
        where = None if is_baseline else region(gain, increase.value)
    return CandidateFacts(
        name=row.release.name,
        features=tuple(row.release.features),
        method=row.release.recipe.method,
        performance=right,
        kept=kept.as_share(),
        told=told and told.as_share(),
        worth=(row.value_for_choice("kept") or 0.0, row.value_for_choice("told") or 0.0),
        pbi=Figure(increase.value) if increase and is_baseline else increase,
        size=row.release.size,
        region=where,
        ahead=any(row is each for each in front),
        chosen=row is decision.chosen,
        baseline=is_baseline,
        fails=tuple(failure.short for failure in decision.failures.get(row.release.name, ())),
        differs=differs,
    )


def limit_facts(outcome: Outcome) -> LimitLines:
    """The hard limits, and the figures of guessing alone."""
    floor = outcome.decision.scorecard.floor
    return LimitLines(
        min_kept=outcome.settings.min_kept,
        max_told=outcome.settings.max_told,
        max_pbi=outcome.settings.max_pbi,
        min_performance=outcome.settings.min_performance,
        guessing_performance=floor.value("performance") or 0.0,
        guessing_pbi=floor.value("pbi") or 0.0,
    )
