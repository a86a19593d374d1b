"""How useful the chosen release is: measures on rows never seen, and the rules of the original."""

from __future__ import annotations

from tamis.analyse.kept_told import interval_of, most_rows
from tamis.analyse.summary import MeasureFacts, RuleDamage, Rules, RuleState
from tamis.evaluate.rule_changes import RuleChange
from tamis.flow import Outcome
from tamis.table import Table, Unit

MOST_RULES = 50


def rule_facts(outcome: Outcome) -> Rules | None:
    """How the rules of the original fare on held-out rows, worst first."""
    kept = outcome.decision.chosen.assessment.reporting.retention
    if kept is None:
        return None
    rows, least = (kept.rows_original, kept.rows_released), outcome.settings.k * most_rows(outcome)
    states = [_state(change) for change in kept.rules]
    return {
        "total": len(kept.rules),
        "kept": states.count("kept"),
        "weakened": states.count("weakened"),
        "flipped": states.count("flipped"),
        "emptied": states.count("emptied"),
        "lost": states.count("lost"),
        "origin": "from a decision tree on the rows the search saw, counted on the reporting rows",
        "worst_first": [
            _damage(change, state, rows, least)
            for change, state in zip(kept.rules[:MOST_RULES], states)
        ],
    }


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
        "support_before": _shown(before, rows[0], least),
        "support_after": _shown(after, rows[1], least),
        "label_before": label,
        "label_after": change.majority_after if after >= least else None,
        "share_before": change.labels_before.get(label, 0.0) if before >= least else None,
        "share_after": change.labels_after.get(label, 0.0) if after >= least else None,
        "names_released_only": not change.missing_columns,
    }


def _shown(support: int, rows: int, least: int) -> float | None:
    return None if 0 < support < least else support / max(rows, 1)


def judged(table: Table) -> Unit:
    """What shares of held-out rows are about: people only where each row is one.

    >>> from tamis.datasets import patients
    >>> judged(patients(rows=200))
    'people'
    """
    return "people" if table.unit == "people" and table.people is None else "rows"


def measure_facts(outcome: Outcome) -> list[MeasureFacts]:
    """How useful the chosen release is, on rows that played no part in the choice."""
    card, chosen = outcome.decision.scorecard, outcome.decision.chosen
    people = judged(outcome.table)
    found: list[MeasureFacts] = []
    for measure in card.measures:
        figure, compared = chosen.figures[measure.name], measure.of_original
        if figure is None or not measure.label:
            continue
        found.append(
            {
                "key": measure.name,
                "label": measure.label,
                "sentence": measure.sentence.format(people=people),
                "better": "higher" if measure.better == "max" else "lower",
                "shown_as": measure.shown_as,
                "released": figure.value,
                "interval": interval_of(figure),
                "original": card.baseline.value(measure.name) if compared else None,
                "floor": card.floor.value(measure.name) if compared else None,
            }
        )
    return found
