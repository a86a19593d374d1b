"""Of 100 people, how many attackers find and whose secret they guess: facts, and dots to draw.

Only the data holder sees this: how frequent a secret is, and what everything would tell, stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from tamis.attack.quick import QuickAttack
from tamis.attack.score import AttackScore
from tamis.flow import Outcome
from tamis.publish.attack_facts import FinalistFacts, OfHundred, Reached
from tamis.publish.summary import CandidateFacts, Summary


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


@dataclass(frozen=True)
class Dots:
    """One field of 100 dots: what it is for, its figure, and the dots as paths."""

    column: str
    value: str
    words: str
    on: str
    off: str


@dataclass(frozen=True)
class HundredRow:
    """One attack: its title, what it means, and the three fields."""

    title: str
    sentence: str
    fields: list[Dots]


TITLES: dict[Reached, tuple[str, str]] = {
    "found": ("Found", "An attacker with what attackers are assumed to know picks the right row."),
    "joined": ("Put together", "Two attackers with half of the columns each pick the same row."),
    "guessed": (
        "Secret guessed",
        "From the released columns and the target, an attacker names the true value.",
    ),
    "named": (
        "Rare secret named",
        "Of 100 who have the rarest value, so many are named by an attacker who names as many as "
        "have it.",
    ),
}
FROM_KNOWN = "From what attackers are assumed to know, an attacker names the true value."
"""Where the secret is the target, which is released."""


def hundred_rows(facts: list[OfHundred], k: int, target_is_secret: bool) -> list[HundredRow]:
    """The picture, row by row."""
    rows = []
    for each in facts:
        title, sentence = TITLES[each["attack"]]
        if target_is_secret and each["attack"] == "guessed":
            sentence = FROM_KNOWN
        least = ceil(100 * k / each["people"]) if each["people"] else 100
        fields = [
            _dots("With this release", each["released"], least),
            _dots("With everything", each["everything"], least),
            _dots("By guessing", each["guessing"], least),
        ]
        rows.append(HundredRow(title, sentence, fields))
    return rows


@dataclass(frozen=True)
class Finalist:
    """A release that was nearly chosen, as the page shows it; the chosen one comes first."""

    name: str
    chosen: bool
    columns: int
    kept: float
    told: float | None
    found: str
    guessed: str


def finalists(summary: Summary) -> list[Finalist]:
    """The chosen release and those that came next; empty where no other was attacked."""
    others, first = summary.get("finalists", []), {e["attack"]: e for e in summary["of_hundred"]}
    if not others:
        return []
    chosen = next(c for c in summary["candidates"] if c["chosen"])
    mine = [first.get("found"), first.get("guessed")]
    tried = {chosen["name"]: [(e["released"], e["people"]) if e else (None, 0) for e in mine]}
    tried |= {e["name"]: list(zip((e["found"], e["guessed"]), e["people"])) for e in others}
    known = {c["name"]: c for c in summary["candidates"]}
    return [_finalist(known[name], shares, summary["k"]) for name, shares in tried.items()]


def _finalist(candidate: CandidateFacts, tried: list[tuple[float | None, int]], k: int) -> Finalist:
    found, guessed = (_amount(share, people, k) for share, people in tried)
    name, chosen, columns = candidate["name"], candidate["chosen"], candidate["size"]
    return Finalist(name, chosen, columns, candidate["kept"], candidate["told"], found, guessed)


def _amount(share: float | None, people: int, k: int) -> str:
    """Of 100 people, how many, as text; a dash where nobody was tried."""
    if not people:
        return "-"
    return f"<{ceil(100 * k / people)}" if share is None else str(round(100 * share))


def _dots(column: str, share: float | None, least: int) -> Dots:
    many = 0 if share is None else round(100 * share)
    value = str(many) if share is not None else f"<{least}"
    words = value.replace("<", "fewer than ")
    on, off = (_path(range(*ends)) for ends in ((0, many), (many, 100)))
    return Dots(column, value, f"{words} of 100, {column[0].lower()}{column[1:]}", on, off)


def _path(places: range) -> str:
    """Points at these places of a field of ten by ten, row by row, as one path."""
    return "".join(f"M{5 + 10 * (n % 10)} {5 + 10 * (n // 10)}h0" for n in places)
