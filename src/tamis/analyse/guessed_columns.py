"""A close look at the chosen release: how well strong learners guess the target and the secret."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tamis.analyse.examination import Examination
from tamis.analyse.usefulness import most_rows
from tamis.catalogue.models import shown_model
from tamis.evaluate.close_look import Guessed
from tamis.evaluate.figure import Figure, accuracy, auc
from tamis.evaluate.subset_bits import Question
from tamis.flow import Outcome


@dataclass(frozen=True, kw_only=True)
class SurestFacts:
    """How often a model is right about the rows it is most certain to have the rarest value."""

    part: float
    """The part of all rows that is looked at."""
    precision: Figure | None
    """`None` where it stands for fewer than k people."""
    recall: Figure | None


@dataclass(frozen=True, kw_only=True)
class GroupFacts:
    """Of groups of k or more alike in what attackers may know, the one about whom most is told."""

    people: int
    gain: Figure
    """In bits."""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A simpler model that guesses the same, to compare with."""

    name: str
    accuracy: Figure
    auc: Figure | None


@dataclass(frozen=True, kw_only=True)
class GuessedFacts:
    """How well slow, strong learners guess a column from the release."""

    accuracy: Figure
    guessing: float
    """The accuracy of always naming the most frequent value."""
    auc: Figure | None
    share: Figure | None
    """What is kept, or told, by these learners; `None` on the recipient's page."""
    bits: Figure
    surest: tuple[SurestFacts, ...]
    known: Figure | None
    """The share whose value is as good as known, and was not without the release; `None` where
    that is fewer than k people."""
    largest: tuple[float, ...]
    """The largest gains of single people, in bits."""
    group: GroupFacts | None
    beside: Beside

    def for_recipient(self) -> Self:
        return replace(self, share=None)


@dataclass(frozen=True, kw_only=True)
class CloseLookFacts:
    """What is guessed of the target, and for the holder of the sensitive column."""

    target: GuessedFacts
    sensitive: GuessedFacts | None

    def for_recipient(self) -> Self:
        return replace(self, target=self.target.for_recipient(), sensitive=None)


def close_look_facts(examined: Examination) -> CloseLookFacts:
    """What slow learners guess of the target and of the sensitive column."""
    outcome, look = examined.outcome, examined.close_look
    every = outcome.evaluator.yardstick.reporting
    target = _guessed(outcome, look.target, every.target, *_of_target(outcome))
    if look.secret is None or every.secret is None:
        return CloseLookFacts(target=target, sensitive=None)
    told = _of_what_is_told(outcome, look.secret.bits)
    secret = _guessed(outcome, look.secret, every.secret, *_of_secret(outcome), told)
    return CloseLookFacts(target=target, sensitive=secret)


def _of_what_is_told(outcome: Outcome, bits: Figure) -> Figure:
    """Bits about the secret as a share of the same as told, which no attacker exceeds."""
    measured = outcome.decision.scorecard.compared.reporting
    scale = measured.secret_scale if measured.tells else np.inf
    low, high = bits.low or 0.0, bits.high or 0.0
    return Figure(bits.value / scale, low / scale, high / scale)


def _of_target(outcome: Outcome) -> tuple[Beside, float]:
    """The model of the scorecard, and guessing."""
    decision = outcome.decision
    figures, area = decision.chosen.figures, decision.chosen.figures["auc"]
    right = figures["performance"]
    assert right is not None
    name = shown_model(outcome.settings.classifier)
    beside = Beside(name=name, accuracy=right, auc=area)
    return beside, decision.scorecard.floor.value("performance") or 0.0


def _of_secret(outcome: Outcome) -> tuple[Beside, float]:
    """The strongest attacker of the scorecard, and guessing."""
    assessment = outcome.decision.chosen.assessment
    name, findings = assessment.strongest, assessment.reporting
    predictions = findings.attacked[name]
    right = accuracy(predictions.right, findings.people)
    beside = Beside(name=name, accuracy=right, auc=auc(predictions, findings.people))
    floor = outcome.decision.scorecard.floor.assessment.reporting
    return beside, float(floor.attacked[name].right.mean())


def _guessed(
    outcome: Outcome,
    found: Guessed,
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
    group = found.group
    surest = (
        SurestFacts(
            part=each.part,
            precision=of_enough(each.precision, max(1, round(each.part * rows)), least),
            recall=of_enough(each.recall, cases, least),
        )
        for each in found.surest
    )
    return GuessedFacts(
        accuracy=found.accuracy,
        guessing=guessing,
        auc=found.auc,
        share=(found.share if share is None else share).as_share(),
        bits=found.bits,
        surest=tuple(surest),
        known=of_enough(found.known, rows, least),
        largest=found.largest,
        group=None if group is None else GroupFacts(people=group.people, gain=group.gain),
        beside=beside,
    )


def of_enough(share: Figure, rows: int, least: int) -> Figure | None:
    """A share of some rows; nothing where it stands for few of them, but for some.

    >>> of_enough(Figure(0.5), 20, least=5), of_enough(Figure(0.1), 20, least=5)
    (Figure(value=0.5, low=None, high=None), None)
    >>> of_enough(Figure(0.0), 20, least=5), of_enough(Figure(1.0), 4, least=5)
    (Figure(value=0.0, low=None, high=None), None)
    """
    count = round(share.value * rows)
    return None if rows < least or 0 < count < least else share
