"""What attackers reach, as plain facts: how often they are right, and what gives people away.

What gives people of the original away, the columns and sets of columns that single them out, is
never published: nobody else can count it. None of its figures is from 1 to k - 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from tamis.attack.quick import QuickAttack
from tamis.attack.score import AttackScore
from tamis.evaluate.figure import accuracy
from tamis.flow import Outcome
from tamis.publish.kept_told import interval_of
from tamis.publish.summary_parts import (
    Attacker,
    FinalistFacts,
    GiveawayBin,
    GiveawayFacts,
    GiveawaySet,
    OfHundred,
    Reached,
)
from tamis.risk.suda import MOST_COLUMNS, affordable, special_uniques

GIVEAWAY_WORK = 10_000_000
"""Rows looked at in all sets of columns together: less than a second."""


GIVEAWAY_SETS = 8
"""The sets of columns to show that single people out."""


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


def giveaway_facts(outcome: Outcome) -> GiveawayFacts | None:
    """What singles people of the original out; `None` where hardly anybody is, or rows are drawn.

    `None` also where there are more columns than sets can be made of.
    """
    table, k = outcome.table, outcome.settings.k
    quasi = [c for c in table.quasi if c != table.sensitive]
    if outcome.release.is_drawn or not 0 < len(quasi) <= MOST_COLUMNS:
        return None
    found = special_uniques(table, quasi, most=affordable(len(quasi), table.rows, GIVEAWAY_WORK))
    if found.exposed < k:
        return None
    sets: list[GiveawaySet] = [
        {"columns": list(each.columns), "people": each.people}
        for each in found.sets
        if each.people >= k
    ]
    return {
        "exposed": found.exposed,
        "most": found.most,
        "by_size": size_bins(found.by_size, k),
        "columns": [{"name": c, "share": share} for c, share in found.column_shares.items()],
        "sets": sets[:GIVEAWAY_SETS],
        "worst": list(found.worst_columns),
    }


def size_bins(by_size: Sequence[int], k: int) -> list[GiveawayBin]:
    """Neighbouring sizes together, until each bin holds nobody or at least k people.

    >>> [(b["low"], b["high"], b["people"]) for b in size_bins([2, 30, 9, 1], k=5)]
    [(1, 2, 32), (3, 4, 10)]
    """
    bins: list[GiveawayBin] = []
    low, people = 1, 0
    for size, count in enumerate(by_size, start=1):
        people += count
        if people == 0 or people >= k:
            bins.append({"low": low, "high": size, "people": people})
            low, people = size + 1, 0
    if people:  # too few on their own: with the last bin that holds anybody
        while bins and not bins[-1]["people"]:
            bins.pop()
        last = bins.pop() if bins else {"low": 1, "high": 1, "people": 0}
        bins.append({"low": last["low"], "high": len(by_size), "people": last["people"] + people})
    return bins


def of_hundred_facts(outcome: Outcome) -> list[OfHundred]:
    """What a few attackers reach with the release, with everything, and by guessing.

    Empty where they were not tried: for synthetic rows and for tables of many cells.
    """
    if outcome.attacked is None:
        return []
    chosen, everything = outcome.attacked
    k = outcome.settings.k
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


def finalist_facts(outcome: Outcome) -> list[FinalistFacts]:
    """What a few attackers reach with the releases that came next."""
    k = outcome.settings.k
    return [_finalist_facts(*each, k) for each in outcome.attacked_finalists.items()]


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
