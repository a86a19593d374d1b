"""What of a summary may be handed on."""

from __future__ import annotations

from typing import Any

from tamis.publishing.summary import Attacker, Candidate, ClassSizes, Measure, Summary

KEPT_FATES = ("released", "altered", "target")


def for_recipient(summary: Summary) -> Summary:
    """The summary without anything about the columns that were held back, but their number.

    Gone are the other candidates, the rules of the original (their thresholds come from values
    that may not be released), what compares with the original, the reasons for each column (they
    may name others), class sizes before, private settings and notes; and where the sensitive
    column is not released, its name and the attackers, whose figures tell how frequent its values
    are. `table.features` still tells how many columns there were. Of rows that were drawn anew
    every figure measured on people is gone, the numbers of rows and columns of the original too.

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
    columns = [c for c in summary["columns"] if c["fate"] in KEPT_FATES]
    told = summary["table"]["sensitive"] in [c["name"] for c in columns]
    return {
        **summary,
        "table": summary["table"] if told else {**summary["table"], "sensitive": None},
        "columns": [{**c, "why": ""} for c in columns],
        "methods": [],
        "factors": [],
        "candidates": [_alone(c) for c in summary["candidates"] if c["chosen"]],
        "limits": {**summary["limits"], "max_pbi": None, "min_performance": None},
        "measures": [_measure(m) for m in summary["measures"] if m["floor"] is not None],
        "attackers": [_attacker(a) for a in summary["attackers"] if told],
        "classes": None if summary["classes"] is None else _classes(summary["classes"]),
        "rules": None,
        "recipe": {"public": summary["recipe"]["public"], "private": []},
        "notes": [n for n in summary["notes"] if n["public"]],
    }


def _without_people(summary: Summary) -> Summary:
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
            "rows": summary["table"]["rows_released"],
            "features": sum(c["fate"] in ("released", "altered") for c in summary["columns"]),
        },
        "columns": [c for c in summary["columns"] if c["fate"] in KEPT_FATES],
        "candidates": [{**c, **unmeasured} for c in summary["candidates"]],
        "limits": {**summary["limits"], "guessing_performance": 0.0, "guessing_pbi": 0.0},
        "measures": [],
        "attackers": [],
        "classes": None,
    }


def _alone(candidate: Candidate) -> Candidate:
    return {**candidate, "values": {}, "ranks": {}, "score": 0.0, "place": 0, "region": None}


def _measure(measure: Measure) -> Measure:
    return {**measure, "original": None}


def _attacker(attacker: Attacker) -> Attacker:
    return {**attacker, "everything": None}


def _classes(classes: ClassSizes) -> ClassSizes:
    """Sizes in the release; of those that nobody has, only the ones to avoid are worth a line."""
    bins = [b for b in classes["bins"] if b["after"] or (b["high"] or classes["k"]) < classes["k"]]
    return {**classes, "bins": [{**b, "before": None} for b in bins]}
