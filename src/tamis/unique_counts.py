"""Who is unique in a release, as counts that manifests state and pages show.

Anybody who has the released file can count its rows, so figures about rows may be small. Where
people have several rows, nobody can count the people: figures from 1 to k - 1 are `None`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NotRequired, TypedDict

from tamis.table import Unit

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
