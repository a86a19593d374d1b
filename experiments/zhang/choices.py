"""The features that each method of Zhang et al. (2017) chooses, and those that ours choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.zhang.auc import Rows
from experiments.zhang.printed import (
    CM,
    DISTCNT,
    EQUAL_DISTCNT,
    EQUAL_HAMDIST,
    HAMDIST,
    MAXIMAL,
)
from experiments.zhang.tasks import Task
from tamis.evaluate.separation import distcnt, hamdist
from tamis.select.containment.exact import exact
from tamis.select.containment.greedy import greedy
from tamis.select.containment.itemsets import maximal
from tamis.select.containment.selection import Selection

BEST = "best of several"
_STOP = {"on_violation": "stop"}
_EQUAL = {"on_violation": "stop", "privacy": "equality"}

PRINTED: Mapping[str, Mapping[str, Any]] = {
    HAMDIST: {"utility": "hamdist"} | _STOP,
    DISTCNT: {"utility": "distcnt"} | _STOP,
    CM: {"utility": "cm"} | _STOP,
    EQUAL_HAMDIST: {"utility": "hamdist"} | _EQUAL,
    EQUAL_DISTCNT: {"utility": "distcnt"} | _EQUAL,
}
"""Greedy as printed: it ends at the first feature that does not fit."""

OURS: Mapping[str, Mapping[str, Any]] = {
    "HamDist, skip": {"utility": "hamdist"},
    "DistCnt, skip": {"utility": "distcnt"},
    "DistCnt, skip, extended": {"utility": "distcnt", "extend": True},
    "CM, skip, extended": {"utility": "cm", "extend": True},
    "difference of shares, skip": {"utility": "difference"},
    "mutual information, skip": {"utility": "information"},
    BEST: {"utility": "best"},
}
"""Greedy that goes on with the next feature."""

GREEDY = {**PRINTED, **OURS}
EXACT = {"HamDist, exact": "hamdist", "DistCnt, exact": "distcnt"}


def chosen(task: Task, k: int, method: str) -> Selection:
    """What a method chooses by the labels of all rows."""
    if method == MAXIMAL:
        return maximal(task.X, task.y, k, extend=False)
    return greedy(task.X, task.y, k, **GREEDY[method])


def chosen_by(task: Task, k: int, method: str, rows: Rows) -> list[int]:
    """What greedy chooses by the labels of some rows; all rows are released and must hide."""
    known = np.zeros(len(task.y), dtype=bool)
    known[rows] = True
    return list(greedy(task.X, task.y, k, labelled=known, **GREEDY[method]).features)


def proven(task: Task, k: int, method: str, seconds: float) -> Selection:
    """The best set, or the best found in some seconds and what no set can pass."""
    return exact(task.X, task.y, k, utility=EXACT[method], time_limit=seconds)


def described(task: Task, found: Selection) -> dict[str, Any]:
    """A choice as a record: size, anonymity, and both utilities whichever was looked at."""
    columns = list(found.features)
    return {
        "columns": columns,
        "anonymity": found.anonymity,
        "hamdist": hamdist(task.X, task.y, columns),
        "distcnt": distcnt(task.X, task.y, columns),
        "bound": found.bound,
        "gap": found.gap,
    }
