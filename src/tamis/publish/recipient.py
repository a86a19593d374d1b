"""What recipients may see of a summary."""

from __future__ import annotations

from typing import Any

from tamis.publish.figures import in_hundredths
from tamis.publish.summary import (
    KEPT_FATES,
    CandidateFacts,
    ColumnFate,
    LimitLines,
    Summary,
    TableFacts,
)
from tamis.publish.summary_parts import BitsFacts, CloseLookFacts


def for_recipient(summary: Summary) -> Summary:
    """The summary without anything about the columns that were held back, except their number.

    Gone are the name of the table, the order of its columns, the other candidates, the rules of
    the original (their thresholds come from values that may not be released), comparisons with
    the original but one (how much is kept, in whole percent), the reasons for each column (they
    may name others), what gives people away, class sizes before and the bins that they decide,
    private settings and notes; what is told of the sensitive column; and where the sensitive
    column is not released, its name and the attackers, whose figures reveal how frequent its values
    are. `table.features` still says how many columns there were. Where rows are left out, figures
    are in hundredths. For synthetic rows, every figure
    measured on people is gone, including the numbers of rows and columns of the original.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    Summary
        A new one; the argument is not changed.
    """
    if summary["budget"] is not None:
        summary = _without_people(summary)
    if summary.get("left_out") is not None:
        summary = in_hundredths(summary)
    columns, left_out, classes = _columns(summary), summary.get("left_out"), summary["classes"]
    sensitive_released = summary["table"]["sensitive"] in [c["name"] for c in columns]
    return {
        **summary,
        "table": _table(summary["table"], sensitive_released),
        "bits": None if summary["bits"] is None else _kept_alone(summary["bits"]),
        "close_look": _target_alone(summary["close_look"]),
        "columns": columns,
        "methods": [],
        "factors": [],
        "candidates": [_alone(c) for c in summary["candidates"] if c["chosen"]],
        "limits": _limits(summary["limits"]),
        "measures": [
            {**m, "original": None} for m in summary["measures"] if m["floor"] is not None
        ],
        "attackers": [
            {**attacker, "everything": None, "strongest_before": False}
            for attacker in summary["attackers"]
            if sensitive_released
        ],
        "of_hundred": [],
        "finalists": [],
        "same_sensitive": None,
        "classes": classes and {**classes, "bins": classes["bins_released"], "bins_released": []},
        "giveaways": None,
        "rules": None,
        "kept_private": [],
        "left_out": left_out and {**left_out, "words": left_out["public"]},
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
            "features": sum(c["fate"] in KEPT_FATES[:-1] for c in summary["columns"]),
        },
        "bits": None,
        "close_look": None,
        "columns": [c for c in summary["columns"] if c["fate"] in KEPT_FATES],
        "candidates": [{**c, **unmeasured} for c in summary["candidates"]],
        "limits": {**summary["limits"], "guessing_performance": 0.0, "guessing_pbi": 0.0},
        "measures": [],
        "attackers": [],
        "classes": None,
    }


def _table(table: TableFacts, sensitive_released: bool) -> TableFacts:
    return {
        **table,
        "name": "",
        "unlisted": 0,
        "rows": table["rows_released"],
        "people": table["people_released"],
        "sensitive": table["sensitive"] if sensitive_released else None,
    }


def _columns(summary: Summary) -> list[ColumnFate]:
    """The released columns by name, the target last, as in the file."""
    leaving: list[ColumnFate] = [
        {**c, "why": "", "shares": None} for c in summary["columns"] if c["fate"] in KEPT_FATES
    ]
    for column in leaving:
        if "ladder" in column:  # how to read it, and nothing about what else could have been
            column["ladder"] = {**column["ladder"], "levels": 0, "rungs": []}
    return sorted(leaving, key=lambda c: (c["fate"] == "target", c["name"]))


def _alone(candidate: CandidateFacts) -> CandidateFacts:
    found: CandidateFacts = {**candidate, "features": sorted(candidate["features"]), "name": ""}
    found |= {"values": {}, "ranks": {}, "score": 0.0, "place": 0, "region": None}
    found |= {"kept": 0.0, "kept_interval": None, "told": None, "told_interval": None}
    found |= {"worth": (0.0, 0.0), "pbi": 0.0, "pbi_interval": None}
    return {**found, "on_front": False}


def _kept_alone(bits: BitsFacts) -> BitsFacts:
    found: BitsFacts = {**bits, "kept": in_hundredths(bits["kept"])}
    found |= {"told": None, "telling": None, "tells": False, "weak": False}
    return {**found, "caution": 0.0, "cautions": [], "winners": [], "one_more": None, "waves": []}


def _target_alone(look: CloseLookFacts | None) -> CloseLookFacts | None:
    if look is None:
        return None
    return {"target": {**look["target"], "share": None}, "sensitive": None}


def _limits(limits: LimitLines) -> LimitLines:
    private: Any = dict.fromkeys(("min_kept", "max_told", "max_pbi", "min_performance"))
    return {**limits, **private, "guessing_pbi": 0.0}
