"""The parts of a summary that count people: class sizes and rules, nothing below k."""

from __future__ import annotations

import numpy as np

from tamis.evaluate.rule_changes import RuleChange
from tamis.flow import Outcome
from tamis.publishing.class_sizes import class_sizes
from tamis.publishing.exposure import class_sizes_of
from tamis.publishing.summary import ClassSizes, Kind, RuleDamage, Rules, RuleState

MOST_RULES = 50


def class_facts(outcome: Outcome) -> ClassSizes | None:
    """How many look alike, in the original and in the release; nothing of rows that were drawn."""
    release, k = outcome.decision.chosen.release, outcome.settings.k
    if release.is_drawn:
        return None
    contained = any(p.name == "containment_anonymity" for p in release.promises)
    kind: Kind = "containment" if contained else "equal"
    return class_sizes(*class_sizes_of(outcome), k=k, kind=kind)


def rule_facts(outcome: Outcome) -> Rules | None:
    """What the rules of the original lost on held-out rows, worst first."""
    kept = outcome.decision.chosen.trial.reporting.retention
    if kept is None:
        return None
    rows, least = (kept.rows_original, kept.rows_released), outcome.settings.k * _most_rows(outcome)
    states = [_state(change) for change in kept.rules]
    names: tuple[RuleState, ...] = ("kept", "weakened", "flipped", "emptied", "lost")
    counts: dict[str, int] = {name: states.count(name) for name in names}
    rules: list[RuleDamage] = [
        _damage(change, state, rows, least)
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


def _most_rows(outcome: Outcome) -> int:
    """The rows of whoever has most: fewer than k times as many may be of fewer than k people."""
    people = outcome.table.people
    return 1 if people is None else int(np.bincount(people).max())


def _state(change: RuleChange) -> RuleState:
    if change.fate != "kept":
        return change.fate
    if change.flipped:
        return "flipped"
    return "weakened" if (change.distance or 0.0) > (change.floor or 0.0) else "kept"


def _damage(change: RuleChange, state: RuleState, rows: tuple[int, int], least: int) -> RuleDamage:
    before, after = change.support_before, change.support_after
    label = change.majority_before or change.predicts
    return {
        "text": change.text,
        "state": state,
        "damage": 1.0 if state == "lost" else float(change.distance or 0.0),
        "support_before": _told(before, rows[0], least),
        "support_after": _told(after, rows[1], least),
        "label_before": label,
        "label_after": change.majority_after if after >= least else None,
        "share_before": change.labels_before.get(label, 0.0) if before >= least else None,
        "share_after": change.labels_after.get(label, 0.0) if after >= least else None,
        "names_released_only": not change.missing_columns,
    }


def _told(support: int, rows: int, least: int) -> float | None:
    return None if 0 < support < least else support / max(rows, 1)
