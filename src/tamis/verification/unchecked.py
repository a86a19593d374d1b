"""What a folder that verifies promises by what was counted, and what it only states.

Some of what a manifest says cannot be counted from the file: that rows were drawn with noise of a
certain size, how much models learnt, how many columns were held back, whose the rows are. None of
it is repeated as if it had been checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tamis.left_out import public_words
from tamis.stated import measured_words, sentence
from tamis.verification.checks import target_column
from tamis.verification.people import uncounted
from tamis.verification.promises import budget_claim, exposure_words

NOT_CHECKED = "Stated by the publisher, not checked: "
ABOUT_ORIGINAL = {
    "method": "the method",
    "held_back": "what was held back",
    "measured": "how much models learnt",
    "close_look": "how well its target is guessed",
    "engine": "the engine",
    "versions": "the versions used",
    "date": "the date",
}
"""Parts of a manifest about the original, or about how the release was made, in words."""


def counted_claims(content: dict[str, Any], private: bool, present: bool) -> Iterator[str]:
    """The promises in words built from the figures that were counted.

    `private` says whether the people of the rows are known, `present` whether a register was there
    to count delta-presence in.
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
    """Who is unique in the release, in words: rows where people cannot be counted."""
    exposure = content.get("exposure")
    if exposure is None:
        return []
    seen = exposure if private else exposure.get("rows", exposure)
    return exposure_words(seen, target_column(content)["name"])


def only_stated(content: dict[str, Any], private: bool, present: bool) -> Iterator[str]:
    """What the publisher says and nobody checked, in words."""
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
