"""How often attackers are right: the scorecard's, and a few tried on people of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from tamis.analyse.examination import Examination
from tamis.attack.run import QuickAttack
from tamis.attack.scene import AttackScore
from tamis.evaluate.figure import Figure, Interval, accuracy
from tamis.outcome import Outcome

Reached = Literal["found", "joined", "guessed", "named"]


@dataclass(frozen=True, kw_only=True)
class AttackerRate:
    """How often one attacker names the sensitive value correctly.

    Recipients see attackers only where the sensitive column is released, as the target."""

    name: str
    """As a reader sees it: "naive Bayes", "nearest neighbours"."""
    guessing: float
    """Accuracy of always naming the most frequent value; of each label, if the target is known."""
    everything: float | None
    """Accuracy from all features; `None` on the recipient's page."""
    released: float
    """Accuracy from the released features."""
    interval: Interval | None
    """The interval of `released`."""
    strongest: bool
    """Whether it has the highest accuracy from the released features."""
    strongest_before: bool = False
    """Whether it has the highest accuracy from all features."""

    def for_recipient(self) -> Self:
        return replace(self, everything=None, strongest_before=False)


@dataclass(frozen=True, kw_only=True)
class AttackShare:
    """The share of people about whom an attacker is right, in whole hundredths."""

    attack: Reached
    """`found`: found by the quasi-identifiers. `joined`: linked by two attackers with half of the
    columns each. `guessed`: sensitive value guessed. `named`: rarest sensitive value named, of
    those who have it."""
    people: int
    """Number of people that the attacker was tried on."""
    released: float | None
    """The share with the release; `None` if it stands for 1 to k - 1 people."""
    everything: float | None
    guessing: float


@dataclass(frozen=True, kw_only=True)
class FinalistFacts:
    """How often attackers are right with a release that came next, in whole hundredths."""

    name: str
    """The name of the candidate."""
    found: float | None
    """`None` if it stands for 1 to k - 1 people, as `guessed`."""
    guessed: float | None
    people: tuple[int, int]
    """Numbers of people that both attackers were tried on; 0 if not tried."""


@dataclass(frozen=True, kw_only=True)
class RiskTest:
    """How often one kind of attacker is right with the release; for the holder only.

    The kinds are the three questions that the European data-protection authorities ask of
    anonymisation (Article 29 Working Party, opinion 05/2014).
    """

    test: Literal["singling out", "linkability", "inference"]
    words: str
    """What the attacker knows and does."""
    people: int
    """Number of people that it was tried on."""
    released: float | None
    """The share of them about whom it is right; `None` if it stands for 1 to k - 1 people."""
    low: float | None
    """The 95% interval of that share; only an upper end if the share is `None`."""
    high: float | None
    guessing: float
    """The share without the release."""
    everything: float | None
    """The share with every column released."""


SLOW_LEARNERS = "slow learners, who know"
"""What a page calls the close look's learners, beside the scorecard's attackers."""


def attacker_rates(outcome: Outcome) -> tuple[AttackerRate, ...]:
    """Accuracy of each attacker: by guessing, with everything, with the release.

    The attackers are the scorecard's, and the slow learners of the close look if there was one. The
    strongest is determined on the reporting rows, so that no other line shows a higher figure.
    """
    chosen = outcome.decision.chosen.assessment
    findings = chosen.reporting
    guess = outcome.decision.scorecard.floor.assessment.reporting.attacked
    tried: list[tuple[str, Figure, float, float]] = []
    for name, predictions in findings.attacked.items():
        right = accuracy(predictions.right, findings.people)
        everything = float(findings.everything[name].right.mean())
        tried.append((name, right, everything, float(guess[name].right.mean())))
    look = None if outcome.look is None else outcome.look.secret
    if look is not None and look.accuracy_of_all is not None and tried:
        name = f"{SLOW_LEARNERS} {outcome.table.target}"
        tried.append((name, look.accuracy, look.accuracy_of_all, look.accuracy_of_none))
    most = [max(tried, key=of, default=None) for of in (lambda t: t[1].value, lambda t: t[2])]
    return tuple(
        AttackerRate(
            name=each[0],
            guessing=each[3],
            everything=each[2],
            released=each[1].value,
            interval=each[1].interval,
            strongest=each is most[0],
            strongest_before=each is most[1],
        )
        for each in tried
    )


def of_hundred_facts(examined: Examination) -> tuple[AttackShare, ...]:
    """Shares of people that a few attackers are right about: release, everything, guessing.

    Empty if they were not tried: for synthetic rows and for tables of many cells.
    """
    if examined.attacked is None:
        return ()
    chosen, everything = examined.attacked
    k = examined.outcome.settings.k
    shares = [
        _of_scores("found", chosen.found, everything.found, k),
        _of_scores("joined", chosen.joined, everything.joined, k),
        _of_scores("guessed", chosen.guessed, everything.guessed, k),
        _named(chosen, everything, k),
    ]
    return tuple(each for each in shares if each is not None)


def _of_scores(
    attack: Reached, chosen: AttackScore | None, everything: AttackScore | None, k: int
) -> AttackShare | None:
    if chosen is None or everything is None:
        return None
    values = (chosen.success.value, everything.success.value, chosen.guess)
    return _facts(attack, values, (chosen.people, everything.people), k)


def _named(chosen: QuickAttack, everything: QuickAttack, k: int) -> AttackShare | None:
    """The share for people with the rarest value; `None` if fewer than k were tried."""
    both = [each.guessed and each.guessed.details["rarest"] for each in (chosen, everything)]
    mine, whole = both
    if not mine or not whole or min(mine["people"], whole["people"]) < k:
        return None
    values = (mine["named"], whole["named"], mine["guess"])
    return _facts("named", values, (mine["people"], whole["people"]), k)


TESTS: tuple[tuple[Literal["singling out", "linkability", "inference"], str], ...] = (
    ("singling out", "singled"),
    ("linkability", "found"),
    ("linkability", "joined"),
    ("inference", "guessed"),
)
"""The risk that each attacker tests, and its field in `QuickAttack`."""


def risk_tests(examined: Examination) -> tuple[RiskTest, ...]:
    """The tests of the three risks; empty if no attacker was tried."""
    if examined.attacked is None:
        return ()
    chosen, everything = examined.attacked
    k = examined.outcome.settings.k
    pairs = [(test, getattr(chosen, of), getattr(everything, of)) for test, of in TESTS]
    return tuple(
        _risk_test(test, mine, whole, k) for test, mine, whole in pairs if mine is not None
    )


def _risk_test(test: Any, mine: AttackScore, whole: AttackScore | None, k: int) -> RiskTest:
    share = _shown(mine.success.value, mine.people, k)
    ends = mine.success.interval
    high = None if ends is None else ends.high
    if share is None:  # a tight interval would reveal the count; its upper end is k people or more
        ends, high = None, max(high or 0.0, k / mine.people)
    return RiskTest(
        test=test,
        words=mine.words,
        people=mine.people,
        released=share,
        low=None if ends is None else round(ends.low, 2),
        high=None if high is None else round(min(high, 1.0), 2),
        guessing=round(mine.guess, 2),
        everything=None if whole is None else _shown(whole.success.value, whole.people, k),
    )


def finalist_facts(examined: Examination) -> tuple[FinalistFacts, ...]:
    """How often the same attackers are right with the releases that came next."""
    k = examined.outcome.settings.k
    return tuple(_finalist_facts(*each, k) for each in examined.attacked_finalists.items())


def _finalist_facts(name: str, attack: QuickAttack, k: int) -> FinalistFacts:
    guessed, few = attack.guessed, attack.found.people
    many = 0 if guessed is None else guessed.people
    return FinalistFacts(
        name=name,
        found=_shown(attack.found.success.value, few, k),
        guessed=None if guessed is None else _shown(guessed.success.value, many, k),
        people=(few, many),
    )


def _shown(value: float, people: int, k: int) -> float | None:
    """A share in whole hundredths; `None` if it stands for 1 to k - 1 people."""
    return None if 0 < value * people < k else round(value, 2)


def _facts(
    attack: Reached, values: tuple[float, float, float], people: tuple[int, int], k: int
) -> AttackShare:
    released, everything = (_shown(value, amount, k) for value, amount in zip(values, people))
    return AttackShare(
        attack=attack,
        people=min(people),
        released=released,
        everything=everything,
        guessing=round(values[2], 2),
    )
