"""How often attackers are right: those of the scorecard, and a few tried on people."""

from __future__ import annotations

from tamis.analyse.examination import Examination
from tamis.analyse.kept_told import interval_of
from tamis.analyse.summary_parts import Attacker, FinalistFacts, OfHundred, Reached
from tamis.attack.run import QuickAttack
from tamis.attack.scene import AttackScore
from tamis.evaluate.figure import accuracy
from tamis.flow import Outcome


def attacker_facts(outcome: Outcome) -> list[Attacker]:
    """How often each attacker is right: by guessing, with everything, with the release."""
    chosen = outcome.decision.chosen.assessment
    findings = chosen.reporting
    guess = outcome.decision.scorecard.floor.assessment.reporting.attacked
    found: list[Attacker] = []
    for name, predictions in findings.attacked.items():
        right = accuracy(predictions.right, findings.people)
        found.append(
            {
                "name": name,
                "guessing": float(guess[name].right.mean()),
                "everything": float(findings.everything[name].right.mean()),
                "released": right.value,
                "interval": interval_of(right),
                "strongest": name == chosen.strongest,
                "strongest_before": name == outcome.evaluator.strongest,
            }
        )
    return found


def of_hundred_facts(examined: Examination) -> list[OfHundred]:
    """What a few attackers reach with the release, with everything, and by guessing.

    Empty where they were not tried: for synthetic rows and for tables of many cells.
    """
    if examined.attacked is None:
        return []
    chosen, everything = examined.attacked
    k = examined.outcome.settings.k
    found = [
        _of_scores("found", chosen.found, everything.found, k),
        _of_scores("joined", chosen.joined, everything.joined, k),
        _of_scores("guessed", chosen.guessed, everything.guessed, k),
        _named(chosen, everything, k),
    ]
    return [each for each in found if each is not None]


def _of_scores(
    attack: Reached, chosen: AttackScore | None, everything: AttackScore | None, k: int
) -> OfHundred | None:
    if chosen is None or everything is None:
        return None
    values = (chosen.success.value, everything.success.value, chosen.guess)
    return _facts(attack, values, (chosen.people, everything.people), k)


def _named(chosen: QuickAttack, everything: QuickAttack, k: int) -> OfHundred | None:
    """Those who have the rarest value, where k or more of the people tried do."""
    both = [each.guessed and each.guessed.details["rarest"] for each in (chosen, everything)]
    mine, whole = both
    if not mine or not whole or min(mine["people"], whole["people"]) < k:
        return None
    values = (mine["named"], whole["named"], mine["guess"])
    return _facts("named", values, (mine["people"], whole["people"]), k)


def finalist_facts(examined: Examination) -> list[FinalistFacts]:
    """What a few attackers reach with the releases that came next."""
    k = examined.outcome.settings.k
    return [_finalist_facts(*each, k) for each in examined.attacked_finalists.items()]


def _finalist_facts(name: str, attack: QuickAttack, k: int) -> FinalistFacts:
    guessed, few = attack.guessed, attack.found.people
    many = 0 if guessed is None else guessed.people
    return {
        "name": name,
        "found": _shown(attack.found.success.value, few, k),
        "guessed": None if guessed is None else _shown(guessed.success.value, many, k),
        "people": (few, many),
    }


def _shown(value: float, people: int, k: int) -> float | None:
    """A share in whole hundredths; `None` where it stands for fewer than k people."""
    return None if 0 < value * people < k else round(value, 2)


def _facts(
    attack: Reached, values: tuple[float, float, float], people: tuple[int, int], k: int
) -> OfHundred:
    released, everything = (_shown(value, amount, k) for value, amount in zip(values, people))
    return {
        "attack": attack,
        "people": min(people),
        "released": released,
        "everything": everything,
        "guessing": round(values[2], 2),
    }
