"""How many were left out so that all others keep what is promised: in public and for the holder.

The manifest counts the rows, as it counts those that are there, but a number below k would be one
of few people: then it has only a share, which is the same however few they are. The holder's recipe
has the numbers.
"""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

from tamis.errors import plural
from tamis.publish.figures import count_words
from tamis.publish.layout import PRIVATE, RECIPE, is_folder, read_json
from tamis.release import Release

PERCENT = 100


def left_out_numbers(release: Release) -> dict[str, int] | None:
    """The people and rows that are left out, and all there are; `None` where nobody is."""
    if release.whole is None:
        return None
    return {
        "rows": release.suppressed_rows,
        "of_rows": release.whole.table.rows,
        "people": release.suppressed_people,
        "of_people": release.whole.everybody,
    }


def stated_left_out(release: Release) -> dict[str, Any] | None:
    """What a manifest says of them; `None` where nobody is left out."""
    numbers = left_out_numbers(release)
    if numbers is None:
        return None
    fewest = max((promise.at_least for promise in release.promises), default=1)
    rows = numbers["rows"] if numbers["people"] >= fewest else None
    return {"unit": release.unit, "rows": rows, "share_at_most": rounded_up(numbers, fewest)}


def rounded_up(numbers: dict[str, int], fewest: int) -> float:
    """The share of people who are left out, in whole percent, rounded up.

    Fewer than `fewest` count as one less than these: of a small table, whole percents would say
    exactly how many there are.

    >>> rounded_up({"people": 30, "of_people": 4000}, 5)
    0.01
    >>> {rounded_up({"people": few, "of_people": 96 + few}, 5) for few in (1, 2, 3, 4)}
    {0.04}
    """
    stay = numbers["of_people"] - numbers["people"]
    people = max(numbers["people"], fewest - 1)
    return max(1, ceil(PERCENT * people / (stay + people) - 1e-9)) / PERCENT


def left_out_words(numbers: dict[str, int], unit: str, k: int) -> str:
    """What was left out, for the holder; fewer than k are not counted.

    >>> left_out_words({"rows": 8, "of_rows": 40, "people": 7, "of_people": 30}, "people", 5)
    '7 of 30 people, with 8 rows, are left out, because too few others are like them.'
    """
    people, everybody = numbers["people"], numbers["of_people"]
    who = f"{people:,}" if people >= k else f"Fewer than {k}"
    who += f" of {everybody:,} {unit}"
    if numbers["of_rows"] != everybody and people >= k:
        who += f", with {plural(numbers['rows'], 'row')},"
    return f"{who} are left out, because too few others are like them."


def public_words(stated: dict[str, Any]) -> str:
    """What was left out, for everybody.

    >>> public_words({"unit": "people", "rows": 31, "share_at_most": 0.02})
    '31 rows, of at most 2% of the people in the original, are left out, ... is here.'
    """
    share = f"at most {stated['share_at_most']:.0%} of the {stated['unit']} in the original"
    rows = stated["rows"]
    who = (
        f"{share[0].upper()}{share[1:]}" if rows is None else f"{plural(rows, 'row')}, of {share},"
    )
    return f"{who} are left out, because too few others are like them. Nothing of them is here."


def in_hundredths(facts: Any) -> Any:
    """Figures, however nested, no finer than people read them.

    An exact share gives away of how many rows it is, and so how many were left out.

    >>> in_hundredths({"value": 0.7656, "interval": {"low": 0.6999, "high": None}, "rows": 12})
    {'value': 0.77, 'interval': {'low': 0.7, 'high': None}, 'rows': 12}
    """
    if isinstance(facts, dict):
        return {key: in_hundredths(part) for key, part in facts.items()}
    if isinstance(facts, list | tuple):
        return [in_hundredths(part) for part in facts]
    return round(facts, 2) if isinstance(facts, float) else facts


def wrong_left_out(folder: Path, rows: int, content: dict[str, Any]) -> str:
    """What does not hold of what a manifest says is left out; nothing where all does."""
    stated = content.get("suppressed")
    if stated is not None and not _is_stated(stated):
        return "what is left out is not stated as a number of rows and a share in whole percent"
    if not is_folder(folder / PRIVATE):
        return ""
    recipe = read_json(folder / PRIVATE / RECIPE)
    numbers = recipe.get("suppressed")
    if (numbers is None) != (stated is None):
        return "manifest and recipe differ in whether anybody is left out"
    if numbers is None or stated is None:
        return ""
    if numbers["rows"] + rows != numbers["of_rows"]:
        return f"{count_words(rows, 'rows')} and those left out are not all that there were"
    fewest = max((promise["at_least"] for promise in content["promises"]), default=1)
    if stated["share_at_most"] != rounded_up(numbers, fewest):
        return "the share that is left out is not the one that the recipe has"
    if stated["rows"] not in (None, numbers["rows"]):
        return "the rows that are left out are not those that the recipe counts"
    most = recipe["settings"]["max_suppressed"]
    if numbers["people"] > most * numbers["of_people"] * (1 + 1e-12):
        return f"more are left out than {most:g} allows"
    return ""


def _is_stated(stated: Any) -> bool:
    if not isinstance(stated, dict) or stated.get("unit") not in ("people", "rows"):
        return False
    share, rows = stated.get("share_at_most"), stated.get("rows")
    if rows is not None and (type(rows) is not int or rows < 1):
        return False
    if type(share) is not float or not 0 < share <= 1:
        return False
    return abs(PERCENT * share - round(PERCENT * share)) < 1e-9
