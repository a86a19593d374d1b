"""What of a summary may be handed on."""

from __future__ import annotations

from typing import Any

from tamis.publishing.summary import (
    Attacker,
    Candidate,
    ClassSizes,
    Column,
    Limits,
    Measure,
    Summary,
    TableFacts,
)

KEPT_FATES = ("released", "altered", "target")


def for_recipient(summary: Summary) -> Summary:
    """The summary without anything about the columns that were held back, but their number.

    Gone are the name of the table, the order of its columns, the other candidates, the rules of
    the original (their thresholds come from values that may not be released), what compares with
    the original, the reasons for each column (they may name others), class sizes before and the
    bins that they decide, private settings and notes; and where the sensitive column is not
    released, its name and the attackers, whose figures tell how frequent its values are.
    `table.features` still tells how many columns there were. Of rows that were drawn anew every
    figure measured on people is gone, the numbers of rows and columns of the original too.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    Summary
        A new one; the argument stays as it is.
    """
    if summary["budget"] is not None:
        summary = _without_people(summary)
    columns = _columns(summary)
    told = summary["table"]["sensitive"] in [c["name"] for c in columns]
    return {
        **summary,
        "table": _table(summary["table"], told),
        "columns": columns,
        "methods": [],
        "factors": [],
        "candidates": [_alone(c) for c in summary["candidates"] if c["chosen"]],
        "limits": _limits(summary["limits"]),
        "measures": [_measure(m) for m in summary["measures"] if m["floor"] is not None],
        "attackers": [_attacker(a) for a in summary["attackers"] if told],
        "same_sensitive": None,
        "classes": None if summary["classes"] is None else _classes(summary["classes"]),
        "rules": None,
        "recipe": {"public": summary["recipe"]["public"], "private": []},
        "notes": [n for n in summary["notes"] if n["public"]],
    }


def _without_people(summary: Summary) -> Summary:
    rows = summary["table"]["rows_released"]
    unmeasured: Any = {
        "performance": 0.0,
        "performance_interval": None,
        "pbi": 0.0,
        "pbi_interval": None,
    }
    return {
        **summary,
        "table": {
            **summary["table"],
            "rows": rows,
            "people": rows,
            "features": sum(c["fate"] in ("released", "altered") for c in summary["columns"]),
        },
        "columns": [c for c in summary["columns"] if c["fate"] in KEPT_FATES],
        "candidates": [{**c, **unmeasured} for c in summary["candidates"]],
        "limits": {**summary["limits"], "guessing_performance": 0.0, "guessing_pbi": 0.0},
        "measures": [],
        "attackers": [],
        "classes": None,
    }


def _table(table: TableFacts, told: bool) -> TableFacts:
    return {**table, "name": "", "sensitive": table["sensitive"] if told else None}


def _columns(summary: Summary) -> list[Column]:
    """The columns that leave by their names, the target last, as they are in the file."""
    leaving: list[Column] = [
        {**c, "why": ""} for c in summary["columns"] if c["fate"] in KEPT_FATES
    ]
    return sorted(leaving, key=lambda c: (c["fate"] == "target", c["name"]))


def _alone(candidate: Candidate) -> Candidate:
    found: Candidate = {**candidate, "features": sorted(candidate["features"]), "name": ""}
    found |= {"values": {}, "ranks": {}, "score": 0.0, "place": 0, "region": None}
    return {**found, "pbi": 0.0, "pbi_interval": None, "on_front": False}


def _measure(measure: Measure) -> Measure:
    return {**measure, "original": None}


def _attacker(attacker: Attacker) -> Attacker:
    return {**attacker, "everything": None, "strongest_before": False}


def _limits(limits: Limits) -> Limits:
    return {**limits, "max_pbi": None, "min_performance": None, "guessing_pbi": 0.0}


def _classes(classes: ClassSizes) -> ClassSizes:
    return {**classes, "bins": classes["bins_released"], "bins_released": []}
