"""The parts of a summary that count people: class sizes and rules, nothing below k."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.binary import binarise, from_wide, is_binary
from tamis.evaluate.rule_changes import RuleChange
from tamis.flow import Outcome
from tamis.publishing.class_sizes import class_sizes
from tamis.publishing.summary import ClassSizes, RuleDamage, Rules, RuleState
from tamis.risk.containment import entity_anonymity
from tamis.risk.grouping import grouped
from tamis.table import Table

MOST_RULES = 50


def class_facts(outcome: Outcome) -> ClassSizes | None:
    """How many people look alike, in the original and in the release."""
    release, k = outcome.decision.chosen.release, outcome.settings.k
    if any(p.name == "containment_anonymity" for p in release.promises):
        before = _wide(outcome)
        after = release.table.only(release.features).to_numpy().astype(np.uint8)
        people = outcome.table.people
        sizes = (of_people(entity_anonymity(x, people=people), people) for x in (before, after))
        return class_sizes(*sizes, k=k, kind="containment")
    if release.is_drawn or not outcome.table.quasi:
        return None
    tables = (outcome.table, release.table)
    return class_sizes(*(_equals(t, outcome.table.people) for t in tables), k=k, kind="equal")


def of_people(sizes: NDArray[np.int64], people: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """For each person the least of what is counted for their rows.

    >>> of_people(np.array([9, 4, 7]), np.array([0, 0, 1])).tolist()
    [4, 7]
    """
    if people is None:
        return sizes
    least = np.full(people.max() + 1, sizes.max())
    np.minimum.at(least, people, sizes)
    return least


def _wide(outcome: Outcome) -> Any:
    table = outcome.table
    wide = outcome.binary is None and is_binary(table)
    return (
        from_wide(table) if wide else binarise(table, outcome.binary, k=outcome.settings.k)
    ).matrix


def _equals(table: Table, people: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """For each person how many are equal on what an attacker may know."""
    if not table.quasi:
        everybody = table.rows if people is None else int(people.max()) + 1
        return np.full(everybody, everybody, dtype=np.int64)
    return grouped(table.frame, table.quasi, people).of_person


def rule_facts(outcome: Outcome) -> Rules | None:
    """What the rules of the original lost on held-out rows, worst first."""
    kept = outcome.decision.chosen.trial.reporting.retention
    if kept is None:
        return None
    rows = (kept.rows_original, kept.rows_released)
    states = [_state(change) for change in kept.rules]
    names: tuple[RuleState, ...] = ("kept", "weakened", "flipped", "emptied", "lost")
    counts: dict[str, int] = {name: states.count(name) for name in names}
    rules: list[RuleDamage] = [
        _damage(change, state, rows, outcome.settings.k)
        for change, state in zip(kept.rules[:MOST_RULES], states)
    ]
    return {
        "total": len(kept.rules),
        "kept": counts["kept"],
        "weakened": counts["weakened"],
        "flipped": counts["flipped"],
        "emptied": counts["emptied"],
        "lost": counts["lost"],
        "origin": "a decision tree of the rows that the search saw, counted on those that report",
        "worst_first": rules,
    }


def _state(change: RuleChange) -> RuleState:
    if change.fate != "kept":
        return change.fate
    if change.flipped:
        return "flipped"
    return "weakened" if (change.distance or 0.0) > (change.floor or 0.0) else "kept"


def _damage(change: RuleChange, state: RuleState, rows: tuple[int, int], k: int) -> RuleDamage:
    before, after = change.support_before, change.support_after
    label = change.majority_before or change.predicts
    return {
        "text": change.text,
        "state": state,
        "damage": 1.0 if state == "lost" else float(change.distance or 0.0),
        "support_before": _told(before, rows[0], k),
        "support_after": _told(after, rows[1], k),
        "label_before": label,
        "label_after": change.majority_after if after >= k else None,
        "share_before": change.labels_before.get(label, 0.0) if before >= k else None,
        "share_after": change.labels_after.get(label, 0.0) if after >= k else None,
        "names_released_only": not change.missing_columns,
    }


def _told(support: int, rows: int, k: int) -> float | None:
    return None if 0 < support < k else support / max(rows, 1)
