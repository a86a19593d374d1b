"""Promises, caveats and exposure in words, for pages, the terminal and `verify`.

Some statements of a manifest cannot be checked against the file: the noise that rows were drawn
with, how much models learnt, how many columns were held back, which person each row is of. They are
never repeated as if they had been checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import exp
from typing import Any

from tamis.catalogue.methods import RECORDED, SHIFT
from tamis.errors import others, plural
from tamis.figures import ONE, count_words
from tamis.release_counts import Alike, Crowd, ExposureFacts, public_words
from tamis.stated import measured_words, sentence
from tamis.table import Unit
from tamis.verification.checks import target_column
from tamis.verification.people import link_column, uncounted


def budget_claim(budget: dict[str, Any]) -> str:
    """The guarantee of differential privacy, as a sentence.

    >>> budget_claim({"epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove", "unit": "row"})
    'The synthetic rows are drawn so that adding or ... at most 2.72 (...epsilon = 1).'
    """
    whose = {
        ("add-remove", "row"): "adding or removing one row",
        ("substitute", "row"): "replacing one row, its label included,",
        ("add-remove", "person"): "adding or removing one person, with all their rows,",
        ("substitute", "person"): "replacing one person, the label included,",
    }[budget["neighbours"], budget.get("unit", "row")]
    cost = f"epsilon = {budget['epsilon']:.4g}"
    cost += f", delta = {budget['delta']:.2g}" if budget["delta"] else ""
    # With a delta the factor alone is no bound: P(S) <= exp(epsilon) P'(S) + delta for any set S.
    beyond = f", and by at most {budget['delta']:.2g} beyond that" if budget["delta"] else ""
    return (
        f"The synthetic rows are drawn so that {whose} changes the probability of any result by a "
        f"factor of at most {exp(budget['epsilon']):.3g}{beyond} (differential privacy, {cost})."
    )


def budget_words(budget: dict[str, Any]) -> str:
    """What the budget was spent on, in a few words."""
    return ", ".join(f"{part['epsilon']:.4g} for {part['what']}" for part in budget["spent"])


def not_promised_of_drawn(compared: int, limited: bool, unit: str = "row") -> list[str]:
    """Caveats of synthetic rows: what a reader might wrongly believe.

    `compared` is the number of releases that one was chosen from; `limited` says whether a limit
    other than epsilon had to be met, `unit` whom epsilon covers.
    """
    several = "with several rows in the table, and people " if unit == "row" else ""
    caveats = [
        "What is true of many people can be learnt from the rows, and so guessed about anybody, in "
        f"the table or not; only what is particular to one {unit} is hidden.",
        f"People {several}related to others in the table are less protected.",
        "That a table was released at all is not covered: one that could not be read or evaluated, "
        "such as one with a single label, would have been refused.",
        "Synthetic rows describe no real person, and figures computed from them are approximate.",
    ]
    if compared > 1:
        caveats.append(
            f"Which of {compared} synthetic tables to publish was decided by looking at the "
            "original without noise; epsilon does not cover this choice."
        )
    if limited:
        caveats.append(
            "It was published because it met limits that were measured on the original without "
            "noise; epsilon does not cover this."
        )
    return caveats


_NEVER = (
    "How much better or worse the sensitive column can be guessed was measured against the "
    "attackers that were tried; a stronger one may do better.",
    "Nobody is protected against an attacker who has other data about the same people and "
    "knows columns that were assumed to be unknown.",
)
"""Caveats of every release of real rows."""


def not_promised(
    promises: Iterable[Mapping[str, Any]],
    unit: Unit = "people",
    *,
    alone: bool,
    sensitive_released: bool,
    caveat: str = "",
    several: bool = False,
    covered_rows: int = 1,
    suppressed: bool = False,
    diverse: bool = False,
    linked: bool = False,
    moved: bool = False,
) -> list[str]:
    """Caveats of a release of real rows: what a reader might wrongly believe.

    Parameters
    ----------
    promises : iterable of entries of a manifest
    unit : {"people", "rows"}
        What the promises count.
    alone : bool
        Whether some group alike in all released columns is smaller than promised.
    sensitive_released : bool
    caveat : str
        The caveat of a method that changes cells on purpose, if it has one.
    several : bool
        Whether a person may have several rows.
    covered_rows : int
        How many rows of a person attackers may know; see `rows_known`.
    suppressed, diverse : bool
        Whether rows were suppressed, and whether also for being too alike in the sensitive column.
    linked : bool
        Whether the file says which rows are of one person.
    moved : bool
        Whether dates were moved, besides what the method does.

    Examples
    --------
    >>> covers = [{"key": "containment_anonymity", "at_least": 5, "columns": ["a"]}]
    >>> len(not_promised(covers, alone=False, sensitive_released=False))
    4
    """
    found, promises = [*_NEVER], list(promises)
    names = {entry["key"] for entry in promises if entry["columns"]}
    found += [caveat] if caveat else []
    found += [SHIFT.caveat] if moved and caveat != SHIFT.caveat else []
    if alone:
        found.append(
            f"In all released columns together, some {unit} are like few others or none: anyone "
            "who knows all these values of a person finds the row."
        )
    if several and names:
        one = covered_rows == 1
        found.append(
            f"Anonymity covers an attacker who knows {'one row' if one else f'{covered_rows} rows'}"
            f" of a person; one who knows {'several' if one else 'more'} rows may find the person "
            "by their combination."
        )
    if linked:
        found.append(
            "The file says which rows are of one person: whoever finds one of them by what "
            "attackers were assumed not to know has found all."
        )
    if suppressed:
        found.append(
            "Some are left out. Whoever knows that a person was in the original, and finds nobody "
            "like them here, learns that too few others were like them"
            + (", or that these were too alike in the sensitive column." if diverse else ".")
        )
    if len({entry.get("attacker") for entry in promises if entry["key"] == "k_anonymity"}) > 1:
        found.append(
            "What is promised against each attacker is about one who knows no more than that. "
            "Attackers who join what they know are not covered."
        )
    if "containment_anonymity" in names:
        found += _not_by_containment(promises)
    if "k_anonymity" in names:
        found.append(
            f"{unit.capitalize()} alike in what may be known about them may also be alike in other "
            "values; knowing that somebody is in such a group then reveals these values."
        )
    found.append(
        "The target is released as it is for every row."
        if not sensitive_released
        else "The target, which is also the sensitive column, is released as it is for every row."
    )
    return found


def rows_known(promises: Iterable[Mapping[str, Any]], stated: Iterable[Mapping[str, Any]]) -> int:
    """How many rows of a person an attacker may know, for all attackers at once.

    >>> rows_known([{"key": "k_anonymity"}], [{"key": "known_rows", "rows": 2}])
    2
    >>> rows_known([{"attacker": "a"}, {"attacker": "b"}], [{"key": "known_rows", "rows": 2}])
    1
    """
    rows = {entry.get("attacker"): entry["rows"] for entry in stated if "rows" in entry}
    return min((rows.get(entry.get("attacker"), 1) for entry in promises), default=1)


_COMPARED = re.compile(r"Which of ([1-9][0-9]{0,5}) synthetic tables")


def possible_not_promised(content: Mapping[str, Any]) -> Iterator[list[str]]:
    """Every list of caveats that fits the rest of a manifest.

    There are several because the manifest does not reveal whether the target is the sensitive
    column, nor by which limits synthetic rows were chosen.
    """
    if content.get("budget") is not None:
        said = next(filter(None, map(_COMPARED.match, content["not_promised"])), None)
        for limited in (False, True):
            compared, unit = 1 if said is None else int(said[1]), content["budget"]["unit"]
            yield not_promised_of_drawn(compared, limited, unit)
        return
    entries = content["promises"]
    about_target = any("column" in entry for entry in content.get("diversity", ()))
    everything = content["exposure"]["everything"]
    for sensitive_released in (True,) if about_target else (False, True):
        yield not_promised(
            entries,
            content["exposure"]["unit"],
            alone=(everything["k"] or 0) < max((e["at_least"] for e in entries), default=1),
            sensitive_released=sensitive_released,
            caveat=RECORDED[content["method"]["name"]].caveat,
            several=any(entry["recount"] == "private" for entry in entries),
            covered_rows=rows_known(entries, content.get("diversity", ())),
            suppressed="suppressed" in content,
            diverse=about_target,
            linked=link_column(content) is not None,
            moved="moved" in content,
        )


def _not_by_containment(promises: list[Mapping[str, Any]]) -> list[str]:
    """The caveat of containment; none where k-anonymity is promised over the same columns."""
    equal = [entry for entry in promises if entry["key"] == "k_anonymity"]
    covered = {column for entry in equal for column in entry["columns"]}
    if all(covered.issuperset(entry["columns"]) for entry in promises):
        return []
    which = "Anonymity by containment covers"
    if equal:
        which = "In columns that attackers are assumed not to know, anonymity by containment covers"
    absences = max(entry.get("absences") or 0 for entry in promises)
    if not absences:
        return [
            f"{which} an attacker who knows what a person has, not one who knows what a person "
            "lacks."
        ]
    return [
        f"{which} an attacker who knows what a person has and up to {plural(absences, 'thing')} "
        "that the person lacks, not one who knows more of what is lacking."
    ]


def exposure_words(exposure: ExposureFacts, target: str) -> list[str]:
    """Exposure in sentences: by known columns, by all columns, and groups that share the target.

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
    if known["kind"] == "together":
        return f"In all that these attackers know together, {_crowd(known, exposure)}."
    least = (
        f"at least {known['k']:,}" if known["k"] else f"sometimes fewer than {exposure['asked']}"
    )
    return f"Whatever a {ONE[unit]} has among the released columns, {least} {unit} have."


def everything_words(exposure: ExposureFacts) -> str:
    """How many are alike in all released columns, the target included."""
    return f"In all released columns together, {_crowd(exposure['everything'], exposure)}."


def unique_words(exposure: ExposureFacts) -> str:
    """How many are unique in all released columns, for a headline; empty where nobody is."""
    everything = exposure["everything"]
    return "" if everything["unique"] == 0 else _crowd(everything, exposure)


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


NOT_CHECKED = "Stated by the publisher, not checked: "
ABOUT_ORIGINAL = {
    "method": "the method",
    "moved": "the dates that were moved",
    "held_back": "what was held back",
    "measured": "how much models learnt",
    "close_look": "how well its target is guessed",
    "engine": "the engine",
    "versions": "the versions used",
    "date": "the date",
}
"""Parts of a manifest about the original or the making of the release, in words."""


def counted_claims(content: dict[str, Any], private: bool, present: bool) -> Iterator[str]:
    """The promises that were counted again, in sentences built from the counted figures.

    `private` says whether the person of each row is known, `present` whether delta-presence was
    counted in a register.
    """
    for entry in content["promises"]:
        in_rows = entry["recount"] == "private" and not private
        said = {**entry, "unit": "rows", "measured": entry["rows_measured"]} if in_rows else entry
        measured = f" Measured: {said['measured']:,}." if entry["columns"] else ""
        yield f"{sentence(said)}{measured}"
    for entry in content.get("diversity", []):
        if private or entry["recount"] == "file":
            yield f"{sentence(entry)} Measured: {measured_words(entry)}."
    if present:
        yield sentence(content["presence"])
    if private and "suppressed" in content:
        yield public_words(content["suppressed"])


def counted_alone(content: dict[str, Any], private: bool) -> list[str]:
    """Exposure in words; of rows where people cannot be counted."""
    exposure = content.get("exposure")
    if exposure is None:
        return []
    seen = exposure if private else exposure.get("rows", exposure)
    return exposure_words(seen, target_column(content)["name"])


def only_stated(content: dict[str, Any], private: bool, present: bool) -> Iterator[str]:
    """What the publisher states and `verify` did not check, in sentences."""
    if content.get("budget") is not None:
        said = budget_claim(content["budget"])
        yield f"{NOT_CHECKED}{said} The rows do not show how they were drawn."
    if uncounted(content, private):
        for entry in content["promises"]:
            yield f"{NOT_CHECKED}{sentence(entry)}"
        yield "Not checked: figures about people, who cannot be counted from the file alone."
    for entry in content.get("diversity", []):
        if not private and entry["recount"] != "file":
            yield f"{NOT_CHECKED}{sentence(entry)}"
    if "presence" in content and not present:
        yield f"{NOT_CHECKED}{sentence(content['presence'])}"
    if not private and "suppressed" in content:
        yield f"{NOT_CHECKED}{public_words(content['suppressed'])}"
    if link_column(content) is not None:
        yield "Not checked: that people are numbered at random, for this release alone."
    if any("groups" in column.get("coarser", ()) for column in content["columns"]):
        yield "Not checked: which values of the original a label of a group stands for."
    if any("question" in column for column in content["columns"]):
        yield "Not checked: the questions that columns are said to answer."
    if any(column["stated"] for column in content["columns"] if column["role"] == "feature"):
        yield (
            "Not checked: columns that the publisher names as ordinary (stated) or as known to "
            "attackers may look like identifiers."
        )
    about = [words for key, words in ABOUT_ORIGINAL.items() if content.get(key)]
    yield f"Not checked: what is said of the original and of the making: {', '.join(about)}."
    yield "Not checked: the words of report.html; only its hash was compared."
