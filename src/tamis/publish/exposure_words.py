"""Who is unique in a release, in words: for the pages, the terminal and `tamis verify`."""

from __future__ import annotations

from tamis.errors import plural
from tamis.publish.promises import others
from tamis.publish.summary import Alike, Crowd, ExposureFacts, Unit


def exposure_words(exposure: ExposureFacts, target: str) -> list[str]:
    """Both figures, and what whole groups have in common.

    Parameters
    ----------
    exposure : ExposureFacts
    target : str
        The column whose value a whole group may share.

    Examples
    --------
    >>> found = {"unit": "people", "asked": 5, "total": 90, "everything": {"k": 1, "unique": 20},
    ...     "known": {"columns": ["age"], "kind": "equal", "k": 7, "unique": 0},
    ...     "same_target": {"groups": 2, "of": 9, "members": 15}}
    >>> for words in exposure_words(found, "ill"):
    ...     print(words)
    In the columns that attackers are assumed to know, everybody is like at least 6 others.
    In all released columns together, 20 of 90 people are like nobody else (k = 1).
    Of the 9 groups alike in what attackers know, 2 (15 people) also share the same value of ill.
    """
    lines = [known_words(exposure), everything_words(exposure)]
    same = alike_words(exposure["same_target"], target, exposure)
    return [*lines, same] if same else lines


def known_words(exposure: ExposureFacts) -> str:
    """How many are alike in what attackers are assumed to know."""
    known, unit = exposure["known"], exposure["unit"]
    if not known["columns"]:
        return "None of the columns that attackers are assumed to know is released."
    if known["kind"] == "equal":
        return f"In the columns that attackers are assumed to know, {_crowd(known, exposure)}."
    whose = "a person" if unit == "people" else "a row"
    least = (
        f"at least {known['k']:,}" if known["k"] else f"sometimes fewer than {exposure['asked']}"
    )
    return f"Whatever {whose} has among the released columns, {least} {unit} have."


def everything_words(exposure: ExposureFacts) -> str:
    """How many are alike in all released columns, the target included."""
    return f"In all released columns together, {_crowd(exposure['everything'], exposure)}."


def alike_words(alike: Alike, column: str, exposure: ExposureFacts) -> str:
    """In how many groups everybody shares a value; empty where no known column is released."""
    if not exposure["known"]["columns"]:
        return ""
    groups, unit = "groups alike in what attackers know", exposure["unit"]
    if exposure["known"]["kind"] == "containment":
        groups = "groups that have everything some row has"
    some = f"Of the {alike['of']:,} {groups}"
    if alike["members"] is None:
        few = f"some, with fewer than {exposure['asked']} {unit} in all,"
        return f"{some}, {few} also share the same value of {column}."
    if not alike["groups"]:
        return f"{some}, none shares the same value of {column}."
    share = "shares" if alike["groups"] == 1 else "share"
    members = count_words(alike["members"], unit)
    return f"{some}, {alike['groups']:,} ({members}) also {share} the same value of {column}."


def count_words(amount: int, unit: Unit) -> str:
    """A count with its word.

    >>> count_words(1, "people"), count_words(2, "rows")
    ('1 person', '2 rows')
    """
    return plural(amount, "person", "people") if unit == "people" else plural(amount, "row")


def _crowd(crowd: Crowd, exposure: ExposureFacts) -> str:
    unit, total, k = exposure["unit"], exposure["total"], exposure["asked"]
    alone, whom = crowd["unique"], "nobody else" if unit == "people" else "no other"
    if alone is None:
        return f"1 to {k - 1} of {total:,} {unit} are like {whom}"
    if alone:
        are = "is" if alone == 1 else "are"
        return f"{alone:,} of {total:,} {unit} {are} like {whom} (k = 1)"
    who = "everybody" if unit == "people" else "every row"
    if crowd["k"] is None:
        return f"some {unit} are like fewer than {others(k, unit)}"
    return f"{who} is like at least {others(crowd['k'], unit)}"
