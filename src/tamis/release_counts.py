"""How many people a release leaves out, and who is unique in it: as counts, and in words.

Of those left out a manifest has a rounded share and no number, which would tell how many rows there
were and so whether one more was among them. The numbers are the holder's.

Anybody who has the released file can count its rows, so figures about rows may be small. Where
people have several rows, nobody can count the people: figures from 1 to k - 1 are `None`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any, Literal, NotRequired, TypedDict

from tamis.errors import plural
from tamis.release import Release
from tamis.table import Unit

PERCENT = 100


def left_out_numbers(release: Release) -> dict[str, int] | None:
    """The people and rows that are left out, and all there are; `None` where nobody is."""
    if not release.is_suppressed:
        return None
    return {
        "rows": release.suppressed_rows,
        "of_rows": release.unsuppressed.table.rows,
        "people": release.suppressed_people,
        "of_people": release.unsuppressed.everybody,
    }


def stated_left_out(numbers: dict[str, int], unit: Unit, fewest: int) -> dict[str, Any]:
    """What a manifest says of them; `fewest` is the largest k that is promised."""
    return {"unit": unit, "share_at_most": rounded_up(numbers, fewest)}


def rounded_up(numbers: dict[str, int], fewest: int) -> float:
    """The share of people who are left out, in whole percent, rounded up.

    Of a small table, whole percents would say exactly how many there are. So their number is
    rounded up too: `fewest` numbers in a row have the same share.

    >>> rounded_up({"people": 30, "of_people": 4000}, 5)
    0.01
    >>> {rounded_up({"people": few, "of_people": 95 + few}, 5) for few in (5, 6, 7, 8, 9)}
    {0.09}
    """
    stay = numbers["of_people"] - numbers["people"]
    people = (numbers["people"] // fewest + 1) * fewest - 1
    return max(1, ceil(PERCENT * people / (stay + people) - 1e-9)) / PERCENT


def left_out_words(numbers: dict[str, int], unit: str, k: int) -> str:
    """What was left out, for the holder; fewer than k are not counted.

    >>> left_out_words({"rows": 8, "of_rows": 40, "people": 7, "of_people": 30}, "people", 5)
    '7 of 30 people, with 8 rows, are left out, so that all others keep what is promised.'
    """
    people, everybody = numbers["people"], numbers["of_people"]
    who = f"{people:,}" if people >= k else f"Fewer than {k}"
    who += f" of {everybody:,} {unit}"
    if numbers["of_rows"] != everybody and people >= k:
        who += f", with {plural(numbers['rows'], 'row')},"
    return f"{who} are left out, so that all others keep what is promised."


def public_words(stated: dict[str, Any]) -> str:
    """What was left out, for everybody.

    >>> public_words({"unit": "people", "share_at_most": 0.02})
    'At most 2% of the people in the original are left out, so that ... Nothing of them is here.'
    """
    share = f"At most {stated['share_at_most']:.0%} of the {stated['unit']} in the original"
    return (
        f"{share} are left out, so that all others keep what is promised. Nothing of them is here."
    )


Kind = Literal["equal", "together", "containment"]
Counts = tuple[dict[str, dict[str, int]], int]
"""Figures by what attackers know, and how many there are in all."""


class Crowd(TypedDict):
    """How many people or rows look alike to an attacker who knows some columns."""

    k: int | None
    """The smallest crowd; `None`: fewer than the k that was asked for."""
    unique: int | None
    """How many are the only one of their kind; `None`: from 1 to k - 1."""


class KnownCrowd(Crowd):
    """The same for what attackers are assumed to know."""

    columns: list[str]
    """The released columns among these; none: they know nothing that is released."""
    kind: Kind
    """`equal`: a crowd has the same values; `together`: in all that several attackers know.
    `containment`: it has all that a row has."""


class Alike(TypedDict):
    """Groups alike in what attackers are assumed to know, in which everybody shares a value."""

    groups: int | None
    """How many of them, counting kinds of rows; `None` where `members` is."""
    of: int
    """How many kinds of rows there are."""
    members: int | None
    """How many are in such groups, so that their value is known; `None`: from 1 to k - 1."""


class ExposureFacts(TypedDict):
    """Who is unique in the release."""

    unit: Unit
    asked: int
    """The k that was asked for: counts of people below it that no file reveals are `None`."""
    total: int
    """How many are in the release."""
    known: KnownCrowd
    everything: Crowd
    """Where attackers know every released column, the target included."""
    same_target: Alike
    rows: NotRequired[ExposureFacts]
    """Where people have several rows: the same for rows, which anybody can count."""


def shown_from(k: int) -> Callable[[int], int | None]:
    """For counts that nobody else could make: those from 1 to k - 1 are left out.

    >>> [shown_from(3)(count) for count in range(5)]
    [0, None, None, 3, 4]
    """
    return lambda count: None if 0 < count < k else count


def shown_counts(
    counts: Counts, known: list[str], kind: Kind, unit: Unit, k: int, *, few: bool
) -> ExposureFacts:
    """What was counted by the columns that are known, with numbers from 1 to k - 1 if `few`."""
    figures, total = counts
    shown = shown_from(1 if few else k)
    of_known, of_all = (
        {name: shown(value) for name, value in figures[part].items()}
        for part in ("known", "everything")
    )
    return {
        "unit": unit,
        "asked": k,
        "total": total,
        "known": {"columns": sorted(known), "kind": kind, **of_known},  # type: ignore[typeddict-item]
        "everything": of_all,  # type: ignore[typeddict-item]
        "same_target": shown_alike(figures["same_target"], shown),
    }


def shown_alike(found: dict[str, int], shown: Callable[[int], int | None]) -> Alike:
    members = shown(found["members"])
    groups = None if members is None else found["groups"]
    return {"groups": groups, "of": found["of"], "members": members}
