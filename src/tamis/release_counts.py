"""Counts of suppressed and of unique people in a release, in numbers and in words.

A manifest has a rounded share of suppressed people and no number: that would tell how many rows
there were, and so whether one more was among them. Exact numbers are for the holder.

Anybody with the released file can count its rows, so figures about rows may be small. If people
have several rows, nobody can count people in it: figures from 1 to k - 1 are `None`.
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
    """Numbers of suppressed people and rows, and of all; `None` if nobody is suppressed."""
    if not release.is_suppressed:
        return None
    return {
        "rows": release.suppressed_rows,
        "of_rows": release.unsuppressed.table.rows,
        "people": release.suppressed_people,
        "of_people": release.unsuppressed.everybody,
    }


def stated_left_out(numbers: dict[str, int], unit: Unit, fewest: int) -> dict[str, Any]:
    """A manifest's entry on suppressed people; `fewest` is the largest k that is promised."""
    return {"unit": unit, "share_at_most": rounded_up(numbers, fewest)}


def rounded_up(numbers: dict[str, int], fewest: int) -> float:
    """The share of suppressed people, rounded up to whole percent.

    In a small table, whole percents would give the exact number away. So the number is rounded up
    first: `fewest` consecutive numbers have the same share.

    >>> rounded_up({"people": 30, "of_people": 4000}, 5)
    0.01
    >>> {rounded_up({"people": few, "of_people": 95 + few}, 5) for few in (5, 6, 7, 8, 9)}
    {0.09}
    """
    stay = numbers["of_people"] - numbers["people"]
    people = (numbers["people"] // fewest + 1) * fewest - 1
    # Less a rounding error, so that a share that is whole percent is not rounded up by one.
    return max(1, ceil(PERCENT * people / (stay + people) - 1e-9)) / PERCENT


def left_out_words(numbers: dict[str, int], unit: str, k: int) -> str:
    """Who was suppressed, in words for the holder; numbers below k are not given.

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
    """Who was suppressed, in words for everybody.

    >>> public_words({"unit": "people", "share_at_most": 0.02})
    'At most 2% of the people in the original are left out, so that ... Nothing of them is here.'
    """
    share = f"At most {stated['share_at_most']:.0%} of the {stated['unit']} in the original"
    return (
        f"{share} are left out, so that all others keep what is promised. Nothing of them is here."
    )


Kind = Literal["equal", "together", "containment"]
Counts = tuple[dict[str, dict[str, int]], int]
"""Figures by what attackers know, and the total number of people or rows."""


class Crowd(TypedDict):
    """Equivalence classes to an attacker who knows some columns."""

    k: int | None
    """The size of the smallest class; `None` if below the k asked for."""
    unique: int | None
    """Number of people alone in their class; `None` if from 1 to k - 1."""


class KnownCrowd(Crowd):
    """Equivalence classes by what attackers are assumed to know."""

    columns: list[str]
    """The released columns that they may know; empty if there are none."""
    kind: Kind
    """`equal`: a class has the same values; `together`: in all columns that several attackers know.
    `containment`: it is all who have everything that a row has."""


class Alike(TypedDict):
    """Equivalence classes in which everybody shares a value."""

    groups: int | None
    """Number of such classes; `None` if `members` is."""
    of: int
    """Number of classes in all."""
    members: int | None
    """Number of people in such classes, whose value is thus known; `None` if from 1 to k - 1."""


class ExposureFacts(TypedDict):
    """Who is unique in the release."""

    unit: Unit
    asked: int
    """The k asked for: counts of people below it that the file does not reveal are `None`."""
    total: int
    """Number of people or rows in the release."""
    known: KnownCrowd
    everything: Crowd
    """For attackers who know every released column, including the target."""
    same_target: Alike
    rows: NotRequired[ExposureFacts]
    """If people have several rows, the figures for rows, which anybody can count."""


def shown_from(k: int) -> Callable[[int], int | None]:
    """A function that replaces counts from 1 to k - 1 by `None`.

    >>> [shown_from(3)(count) for count in range(5)]
    [0, None, None, 3, 4]
    """
    return lambda count: None if 0 < count < k else count


def shown_counts(
    counts: Counts, known: list[str], kind: Kind, unit: Unit, k: int, *, few: bool
) -> ExposureFacts:
    """Exposure from counts by class, with numbers from 1 to k - 1 only if `few`."""
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
