"""What is promised and what is not, in words."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp
from typing import Any

from tamis.publish.summary import Unit
from tamis.release import Promise


def claim(promise: Promise, unit: Unit = "people") -> str:
    """A promise as a sentence, about people or about rows.

    >>> claim(Promise("k_anonymity", 5, ("age", "sex")))
    'Everybody shares what an attacker may know of them with at least 4 others.'
    >>> claim(Promise("k_anonymity", 2, ("age", "sex")), "rows")
    'Every row shares what an attacker may know of it with at least 1 other row.'
    """
    if not promise.columns:
        return "No column is released that an attacker was said to know."
    if promise.name == "containment_anonymity":
        who = "somebody" if unit == "people" else "a row"
        return (
            f"Everything that {who} has, of the released columns, at least "
            f"{promise.at_least} {unit} have."
        )
    who = "Everybody shares what an attacker may know of them"
    if unit == "rows":
        who = "Every row shares what an attacker may know of it"
    return f"{who} with at least {others(promise.at_least, unit)}."


def others(amount: int, unit: Unit = "people") -> str:
    """All of some people or rows but one.

    >>> others(5), others(2), others(5, "rows"), others(2, "rows")
    ('4 others', '1 other', '4 other rows', '1 other row')
    """
    one, many = ("other row", "other rows") if unit == "rows" else ("other", "others")
    return f"{amount - 1:,} {one if amount == 2 else many}"


def measured_words(promise: Promise, value: int, unit: Unit = "people") -> str:
    """What was measured, in a few words."""
    if not promise.columns:
        return "no such column is in the file"
    if promise.name == "containment_anonymity":
        whom = "anybody" if unit == "people" else "any row"
        return f"at least {value:,} {unit} have all that {whom} has"
    return f"the smallest group of equals has {value:,} {unit}"


def budget_claim(budget: dict[str, Any]) -> str:
    """What differential privacy promises, as a sentence.

    >>> budget_claim({"epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove", "unit": "row"})
    'The rows are drawn so that one row more or less ... at most 2.72 (...epsilon = 1).'
    """
    whose = {
        ("add-remove", "row"): "one row more or less",
        ("substitute", "row"): "one row in the place of another, its label included,",
        ("add-remove", "person"): "one person more or less, with all their rows,",
        ("substitute", "person"): "one person in the place of another, the label included,",
    }[budget["neighbours"], budget.get("unit", "row")]
    cost = f"epsilon = {budget['epsilon']:.4g}"
    cost += f", delta = {budget['delta']:.2g}" if budget["delta"] else ""
    return (
        f"The rows are drawn so that {whose} changes the odds of any table by a factor of at most "
        f"{exp(budget['epsilon']):.3g} (differential privacy, {cost})."
    )


def budget_words(budget: dict[str, Any]) -> str:
    """What the budget went into, in a few words."""
    return ", ".join(f"{part['epsilon']:.4g} for {part['what']}" for part in budget["spent"])


def not_promised_of_drawn(compared: int, limited: bool, unit: str = "row") -> list[str]:
    """What a reader of drawn rows might believe and must not.

    Parameters
    ----------
    compared : int
        The releases that could have been chosen.
    limited : bool
        Whether a limit other than epsilon had to be kept.
    unit : {"row", "person"}
        What epsilon covers.
    """
    several = "has several rows in the table, or " if unit == "row" else ""
    found = [
        "What is true of many people can be learnt from the rows, and so be guessed of anybody, in "
        f"the table or not; only what is known of one {unit} alone is hidden.",
        f"Who {several}hangs together with others in it is hidden less.",
        "That a table was released at all is not covered: one that could not be read or judged, "
        "such as one with a single label, would have been refused.",
        "The rows are drawn: none is true of anybody, and figures made from them are approximate.",
    ]
    if compared > 1:
        found.append(
            f"Which of {compared} drawn tables was published was decided by looking at the "
            "original without noise; epsilon does not cover this choice."
        )
    if limited:
        found.append(
            "It was published because it kept limits that were measured on the original without "
            "noise; epsilon does not cover this."
        )
    return found


def not_promised(
    promises: Iterable[Promise],
    unit: Unit = "people",
    *,
    alone: bool,
    sensitive_released: bool,
    altered: bool = False,
) -> list[str]:
    """What a reader might believe and must not.

    Parameters
    ----------
    promises : iterable of Promise
    unit : {"people", "rows"}
        What they count.
    alone : bool
        Whether fewer than promised are equal in all released columns together.
    sensitive_released : bool
    altered : bool
        Whether cells were changed on purpose.

    Examples
    --------
    >>> covers = [Promise("containment_anonymity", 5, ("a",))]
    >>> len(not_promised(covers, alone=False, sensitive_released=False))
    4
    """
    found = [
        "How much better or worse the sensitive column can be guessed was measured against the "
        "attackers that were tried; a stronger one may do better.",
        "Nobody is protected against an attacker who brings other data about the same people and "
        "knows columns that were not named as knowable.",
    ]
    names = {promise.name for promise in promises if promise.columns}
    if altered:
        found.append(
            "Some cells were changed on purpose: a row is no longer true of anybody, and figures "
            "made from the file are approximate."
        )
    if alone:
        found.append(
            f"In all released columns together some {unit} are like few others or like no other: "
            "who knows all these values of a person finds the row."
        )
    if "containment_anonymity" in names:
        found.append(
            "Anonymity by containment covers an attacker who knows what a person has, not one who "
            "knows what a person lacks."
        )
    if "k_anonymity" in names:
        found.append(
            f"{unit.capitalize()} that share what may be known of them may also share their other "
            "values; who is known to be in such a group is then known in these."
        )
    found.append(
        "The target is released as it is for every row."
        if not sensitive_released
        else "The target, which is also the sensitive column, is released as it is for every row."
    )
    return found
