"""How many people a release leaves out: in numbers, as a manifest states it, in words.

A manifest has a rounded share and no number, which would tell how many rows there were and so
whether one more was among them. The numbers are the holder's.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from tamis.errors import plural
from tamis.release import Release

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


def stated_left_out(release: Release) -> dict[str, Any] | None:
    """What a manifest says of them; `None` where nobody is left out."""
    numbers = left_out_numbers(release)
    if numbers is None:
        return None
    fewest = max((promise.k for promise in release.promises), default=1)
    return {"unit": release.unit, "share_at_most": rounded_up(numbers, fewest)}


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
    people = (numbers["people"] // fewest + 1) * fewest - 1 or 1
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
