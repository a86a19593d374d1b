"""How useful the chosen release is: measures on rows never seen, and the rules of the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np

from tamis.catalogue.measures import ShownAs
from tamis.evaluate.figure import Interval
from tamis.evaluate.rule_changes import RuleChange
from tamis.flow import Outcome
from tamis.table import Table, Unit

RuleState = Literal["kept", "weakened", "flipped", "emptied", "lost"]
MOST_RULES = 50


@dataclass(frozen=True, kw_only=True)
class MeasureFacts:
    """One figure of the scorecard for the chosen release, on rows not used to choose."""

    key: str
    """As in the scorecard; `performance` is shown at the top of the page."""
    label: str
    sentence: str
    """What it means, in plain words, without the figures."""
    better: Literal["higher", "lower"]
    shown_as: ShownAs
    released: float
    interval: Interval | None
    original: float | None
    """The same with everything released, where that makes sense."""
    floor: float | None
    """The same by guessing, where that makes sense: for what the release shows by itself. A measure
    without a floor compares with the original and is not shown to recipients."""

    def for_recipient(self) -> Self | None:
        return None if self.floor is None else replace(self, original=None)


@dataclass(frozen=True, kw_only=True)
class RuleDamage:
    """What happened to one rule of the original."""

    text: str
    state: RuleState
    """`lost`: it uses a column that is not released. `emptied`: no row matches it any more.
    `flipped`: its most frequent label changed. `weakened`: damage above the noise."""
    damage: float
    """The chi-squared distance of its labels before and after, in [0, 1]; 1 for a lost rule."""
    support_before: float | None
    """Share of the rows that match it; `None` where these are fewer than k."""
    support_after: float | None
    label_before: str
    label_after: str | None
    share_before: float | None
    """Share of `label_before` among the rows that match it; `None` for fewer than k rows."""
    share_after: float | None
    """Share of `label_before` after; `None` where fewer than k rows match it."""
    names_released_only: bool
    """Whether every column it uses was released, so that a recipient may see it."""
    own: Mapping[str, float] = field(default_factory=dict)
    """The values of further measures; none where fewer than k rows match it in either table."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What happened to the rules of the original."""

    total: int
    kept: int
    weakened: int
    flipped: int
    emptied: int
    lost: int
    origin: str
    """Where the rules come from, in a few words: "a decision tree of depth 12"."""
    worst_first: tuple[RuleDamage, ...]
    """May be limited to the worst; `total` counts them all."""


def most_rows(outcome: Outcome) -> int:
    """The most rows of one person: fewer than k times as many may be fewer than k people's."""
    return int(np.bincount(outcome.table.people.codes).max())


def rule_facts(outcome: Outcome) -> Rules | None:
    """How the rules of the original fare on held-out rows, worst first."""
    kept = outcome.decision.chosen.assessment.reporting.retention
    if kept is None:
        return None
    rows, least = (kept.rows_original, kept.rows_released), outcome.settings.k * most_rows(outcome)
    states = [_state(change) for change in kept.rules]
    return Rules(
        total=len(kept.rules),
        kept=states.count("kept"),
        weakened=states.count("weakened"),
        flipped=states.count("flipped"),
        emptied=states.count("emptied"),
        lost=states.count("lost"),
        origin="from a decision tree on the rows the search saw, counted on the reporting rows",
        worst_first=tuple(
            _damage(change, state, rows, least)
            for change, state in zip(kept.rules[:MOST_RULES], states)
        ),
    )


def _state(change: RuleChange) -> RuleState:
    if change.fate != "kept":
        return change.fate
    if change.flipped:
        return "flipped"
    return "weakened" if (change.distance or 0.0) > (change.floor or 0.0) else "kept"


def _damage(change: RuleChange, state: RuleState, rows: tuple[int, int], least: int) -> RuleDamage:
    before, after = change.support_before, change.support_after
    label = change.majority_before or change.predicts
    told = not any(0 < support < least for support in (before, after))
    return RuleDamage(
        text=change.text,
        state=state,
        damage=1.0 if state == "lost" else float(change.distance or 0.0),
        support_before=_shown(before, rows[0], least),
        support_after=_shown(after, rows[1], least),
        label_before=label,
        label_after=change.majority_after if after >= least else None,
        share_before=change.labels_before.get(label, 0.0) if before >= least else None,
        share_after=change.labels_after.get(label, 0.0) if after >= least else None,
        names_released_only=not change.missing_columns,
        own={name: value for name, value in change.own.items() if value is not None and told},
    )


def _shown(support: int, rows: int, least: int) -> float | None:
    return None if 0 < support < least else support / max(rows, 1)


def judged(table: Table) -> Unit:
    """What shares of held-out rows are about: people only where each row is one.

    >>> from tamis.datasets import patients
    >>> judged(patients(rows=200))
    'people'
    """
    return "people" if table.unit == "people" and table.people.each_row else "rows"


def measure_facts(outcome: Outcome) -> tuple[MeasureFacts, ...]:
    """How useful the chosen release is, on rows that played no part in the choice."""
    card, chosen = outcome.decision.scorecard, outcome.decision.chosen
    people = judged(outcome.table)
    found: list[MeasureFacts] = []
    for measure in card.measures:
        figure, compared = chosen.figures[measure.name], measure.of_original
        if figure is None or not measure.label:
            continue
        found.append(
            MeasureFacts(
                key=measure.name,
                label=measure.label,
                sentence=measure.sentence.format(people=people),
                better="higher" if measure.better == "max" else "lower",
                shown_as=measure.shown_as,
                released=figure.value,
                interval=figure.interval,
                original=card.baseline.value(measure.name) if compared else None,
                floor=card.floor.value(measure.name) if compared else None,
            )
        )
    return tuple(found)
