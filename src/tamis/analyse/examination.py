"""Examine the chosen release: everything that trains a model after the choice, before any page.

Learners slower than those of the scorecard take a close look, each column is measured beside the
release, each coarser form is tried a rung finer and coarser, and a few attackers are tried on the
release and on the runners-up. Usefulness is measured on the reporting rows and by the original's
rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Literal, Self

import numpy as np

from tamis.attack.run import FINALISTS, OF_FINALISTS, QuickAttack, quick_attack
from tamis.catalogue.measures import ShownAs
from tamis.catalogue.methods import shown_model
from tamis.evaluate.close_look import CloseLook, Guessed
from tamis.evaluate.column_bits import (
    ColumnBits,
    NeighbourRung,
    Wave,
    column_bits,
    neighbour_rungs,
    waves,
)
from tamis.evaluate.figure import Figure, Interval, accuracy, auc
from tamis.evaluate.rule_changes import RuleChange
from tamis.evaluate.subset_bits import Question
from tamis.outcome import Outcome
from tamis.table import Table, Unit


@dataclass(frozen=True, eq=False)
class Examination:
    """Results of the models and attackers that were tried on the chosen release."""

    outcome: Outcome
    close_look: CloseLook
    """Kept and told by slower learners, and the people about whom most is told."""
    waves: tuple[Wave, ...]
    """The columns of a large release in waves, by what they add; empty for a small release."""
    column_bits: Mapping[str, ColumnBits]
    """What each column teaches and tells, alone and beyond the release."""
    neighbour_rungs: Mapping[str, list[NeighbourRung]]
    """What changes a rung finer or coarser, for each generalised column."""
    attacked: tuple[QuickAttack, QuickAttack] | None
    """Results of a few attackers with the release and with everything; `None` if not tried: for
    synthetic rows, for tables of many cells, and on request."""
    attacked_finalists: Mapping[str, QuickAttack]
    """Their results with the releases that came next, by name; empty if `attacked` is `None`."""


def examine(outcome: Outcome, *, k: int | None = None, attacks: bool = True) -> Examination:
    """Train every model and try every attacker that an analysis needs.

    `k` is the k that rungs must keep, if the rows are a sample and the settings refer to all rows.
    """
    outcome = outcome.closer()
    assert outcome.look is not None
    yardstick, compared = outcome.evaluator.yardstick, outcome.decision.scorecard.compared
    release, asked = outcome.release, outcome.settings.k
    ordered = waves(yardstick, compared, release)
    attacked = _attacked(outcome) if attacks else None
    return Examination(
        outcome,
        outcome.look,
        ordered,
        _no_more_than_all(outcome, column_bits(yardstick, compared, release, ordered)),
        neighbour_rungs(outcome.evaluator, compared, release, k or asked),
        attacked,
        {} if attacked is None else _attacked_finalists(outcome),
    )


def _no_more_than_all(outcome: Outcome, by_column: dict[str, ColumnBits]) -> dict[str, ColumnBits]:
    """Column figures, capped by the release's for columns released as they are (closure)."""
    columns = outcome.evaluator.yardstick.columns(outcome.release)
    chosen, names = outcome.decision.chosen, outcome.evaluator.yardstick.features
    kept, told = chosen.value("kept") or 0.0, chosen.value("told") or 0.0
    most = ColumnBits(kept, told, kept, told)
    parts = {names[c] for c in columns or ()}
    return {
        name: ColumnBits(*map(min, astuple(bits), astuple(most))) if name in parts else bits
        for name, bits in by_column.items()
    }


def _attacked(outcome: Outcome) -> tuple[QuickAttack, QuickAttack] | None:
    baseline, seed = outcome.decision.scorecard.baseline.release, outcome.settings.seed
    everything = quick_attack(outcome.table, baseline, random_state=seed)
    chosen = quick_attack(outcome.table, outcome.release, random_state=seed)
    return None if chosen is None or everything is None else (chosen, everything)


def _attacked_finalists(outcome: Outcome) -> dict[str, QuickAttack]:
    attacks = {
        row.release.name: quick_attack(
            outcome.table,
            row.release,
            most=OF_FINALISTS,
            joined=False,
            random_state=outcome.settings.seed,
        )
        for row in outcome.decision.runners_up(FINALISTS)
    }
    return {name: each for name, each in attacks.items() if each is not None}


RuleState = Literal["kept", "weakened", "flipped", "emptied", "lost"]
MOST_RULES = 50


@dataclass(frozen=True, kw_only=True)
class MeasureFacts:
    """One figure of the scorecard for the chosen release, on the reporting rows."""

    key: str
    """The key in the scorecard; `performance` is shown at the top of the page."""
    label: str
    sentence: str
    """What it means, in plain words, without the figures."""
    better: Literal["higher", "lower"]
    shown_as: ShownAs
    released: float
    interval: Interval | None
    original: float | None
    """The figure with everything released, if that makes sense."""
    floor: float | None
    """The figure of guessing, if that makes sense: for measures of the release alone. A measure
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
    """Share of the rows that match it; `None` if these may be fewer than k people's."""
    support_after: float | None
    label_before: str
    label_after: str | None
    share_before: float | None
    """Share of `label_before` among the rows that match it; `None` if these may be too few."""
    share_after: float | None
    """Share of `label_before` after; `None` if the rows that match may be too few."""
    names_released_only: bool
    """Whether every column it uses was released, so that a recipient may see it."""
    own: Mapping[str, float] = field(default_factory=dict)
    """The values of further measures; empty if too few rows match it in either table."""


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
    """The worst rules; `total` counts all of them."""


def most_rows(outcome: Outcome) -> int:
    """The most rows of one person, r: fewer than k r rows may belong to fewer than k people."""
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
    """What shares of held-out rows count: people only if each row is one.

    >>> from tamis.datasets import patients
    >>> judged(patients(rows=200))
    'people'
    """
    return "people" if table.unit == "people" and table.people.each_row else "rows"


def measure_facts(outcome: Outcome) -> tuple[MeasureFacts, ...]:
    """The scorecard's figures of the chosen release, on the reporting rows."""
    card, chosen = outcome.decision.scorecard, outcome.decision.chosen
    people = judged(outcome.table)
    facts: list[MeasureFacts] = []
    for measure in card.measures:
        figure, compared = chosen.figures[measure.name], measure.of_original
        if figure is None or not measure.label:
            continue
        facts.append(
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
    return tuple(facts)


@dataclass(frozen=True, kw_only=True)
class SurestFacts:
    """How often a model is right about the rows that most probably have the rarest value."""

    part: float
    """The share of all rows that is looked at."""
    precision: Figure | None
    """`None` if it stands for 1 to k - 1 people, as `recall`."""
    recall: Figure | None


@dataclass(frozen=True, kw_only=True)
class GroupFacts:
    """The equivalence class of k people or more about whom most is told."""

    people: int
    gain: Figure
    """In bits."""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A simpler model of the same label, for comparison."""

    name: str
    accuracy: Figure
    auc: Figure | None


@dataclass(frozen=True, kw_only=True)
class GuessedFacts:
    """How well slow, strong learners predict a column from the release."""

    accuracy: Figure
    guessing: float
    """The accuracy of always naming the most frequent value."""
    auc: Figure | None
    share: Figure | None
    """Kept or told by these learners; `None` on the recipient's page."""
    bits: Figure
    surest: tuple[SurestFacts, ...]
    known: Figure | None
    """The share whose value counts as known with the release, but not without; `None` if that is 1
    to k - 1 people."""
    largest: tuple[float, ...]
    """The largest gains of single people, in bits."""
    group: GroupFacts | None
    beside: Beside

    def for_recipient(self) -> Self:
        return replace(self, share=None)


@dataclass(frozen=True, kw_only=True)
class CloseLookFacts:
    """How well the target is predicted, and, for the holder only, the sensitive column."""

    target: GuessedFacts
    sensitive: GuessedFacts | None

    def for_recipient(self) -> Self:
        return replace(self, target=self.target.for_recipient(), sensitive=None)


def close_look_facts(examined: Examination) -> CloseLookFacts:
    """How well slow learners predict the target and the sensitive column."""
    outcome, look = examined.outcome, examined.close_look
    every = outcome.evaluator.yardstick.reporting
    target = _guessed(outcome, look.target, every.target, *_of_target(outcome))
    if look.secret is None or every.secret is None:
        return CloseLookFacts(target=target, sensitive=None)
    told = _of_what_is_told(outcome, look.secret.bits)
    secret = _guessed(outcome, look.secret, every.secret, *_of_secret(outcome), told)
    return CloseLookFacts(target=target, sensitive=secret)


def _of_what_is_told(outcome: Outcome, bits: Figure) -> Figure:
    """Bits about the secret on the scale of told, so that none is above the reported told."""
    measured = outcome.decision.scorecard.compared.reporting
    scale = measured.secret_scale if measured.tells else np.inf
    low, high = bits.low or 0.0, bits.high or 0.0
    return Figure(bits.value / scale, low / scale, high / scale)


def _of_target(outcome: Outcome) -> tuple[Beside, float]:
    """The scorecard's model of the target, and the accuracy of guessing."""
    decision = outcome.decision
    figures, area = decision.chosen.figures, decision.chosen.figures["auc"]
    right = figures["performance"]
    assert right is not None
    name = shown_model(outcome.settings.classifier)
    beside = Beside(name=name, accuracy=right, auc=area)
    return beside, decision.scorecard.floor.value("performance") or 0.0


def _of_secret(outcome: Outcome) -> tuple[Beside, float]:
    """The scorecard's strongest attacker, and the accuracy of guessing."""
    assessment = outcome.decision.chosen.assessment
    name, findings = assessment.strongest, assessment.reporting
    predictions = findings.attacked[name]
    right = accuracy(predictions.right, findings.people)
    beside = Beside(name=name, accuracy=right, auc=auc(predictions, findings.people))
    floor = outcome.decision.scorecard.floor.assessment.reporting
    return beside, float(floor.attacked[name].right.mean())


def _guessed(
    outcome: Outcome,
    guess: Guessed,
    asked: Question,
    beside: Beside,
    guessing: float,
    share: Figure | None = None,
) -> GuessedFacts:
    truth = asked.label[outcome.evaluator.yardstick.reporting.parts.report]
    rarest = int(np.bincount(asked.label, minlength=asked.classes).argmin())
    least, rows, cases = (
        outcome.settings.k * most_rows(outcome),
        len(truth),
        int((truth == rarest).sum()),
    )
    group = guess.group
    surest = (
        SurestFacts(
            part=each.part,
            precision=of_enough(each.precision, max(1, round(each.part * rows)), least),
            recall=of_enough(each.recall, cases, least),
        )
        for each in guess.surest
    )
    return GuessedFacts(
        accuracy=guess.accuracy,
        guessing=guessing,
        auc=guess.auc,
        share=(guess.share if share is None else share).as_share(),
        bits=guess.bits,
        surest=tuple(surest),
        known=of_enough(guess.known, rows, least),
        largest=guess.largest,
        group=None if group is None else GroupFacts(people=group.people, gain=group.gain),
        beside=beside,
    )


def of_enough(share: Figure, rows: int, least: int) -> Figure | None:
    """The share, or `None` if it stands for a count from 1 to `least` - 1 or of so few rows.

    >>> of_enough(Figure(0.5), 20, least=5), of_enough(Figure(0.1), 20, least=5)
    (Figure(value=0.5, low=None, high=None), None)
    >>> of_enough(Figure(0.0), 20, least=5), of_enough(Figure(1.0), 4, least=5)
    (Figure(value=0.0, low=None, high=None), None)
    """
    count = round(share.value * rows)
    return None if rows < least or 0 < count < least else share
