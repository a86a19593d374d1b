"""From an outcome to the plain dict that a report is made of; no rows, no small counts.

Its notes say what a reader must know to read the figures: how they were measured, what misleads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from tamis.errors import plural
from tamis.evaluate.rule_changes import RuleChange
from tamis.flow import Outcome
from tamis.publish.column_fates import column_stories
from tamis.publish.exposure import (
    attacker_facts,
    class_size_bins,
    class_sizes_of,
    finalist_facts,
    giveaway_facts,
    same_sensitive,
)
from tamis.publish.kept_told import (
    bits_facts,
    candidate_facts,
    factor_facts,
    interval_of,
    limit_facts,
    most_rows,
)
from tamis.publish.layout import PRIVATE, RECIPE
from tamis.publish.left_out import lost_group_facts, lost_of, lost_value_warnings
from tamis.publish.manifest import versions
from tamis.publish.people import left_out_numbers, left_out_words, public_words, stated_left_out
from tamis.publish.presence import presence_claim
from tamis.publish.promises import budget_claim, budget_words, measured_words
from tamis.publish.secret_groups import entry_claim, reached_words
from tamis.publish.summary import (
    SCHEMA_VERSION,
    BudgetFacts,
    ClassSizes,
    Kind,
    LeftOut,
    MeasureFacts,
    Note,
    PromiseFacts,
    RecipeFacts,
    RuleDamage,
    Rules,
    RuleState,
    Setting,
    Summary,
    TableFacts,
    Unit,
)
from tamis.publish.summary_parts import CloseLookFacts, OfHundred
from tamis.table import Table

MOST_RULES = 50


def class_facts(outcome: Outcome) -> ClassSizes | None:
    """How many look alike, in the original and in the release; nothing for synthetic rows."""
    release, k = outcome.release, outcome.settings.k
    if release.is_drawn:
        return None
    kind: Kind = "containment" if release.by_containment else "equal"
    return class_size_bins(*class_sizes_of(outcome), k=k, kind=kind)


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


_MEASURES: dict[str, tuple[str, str]] = {
    "performance": (
        "Correct predictions",
        "How often a model trained on the release is right about {people} it never saw.",
    ),
    "auc": (
        "Separating the labels",
        "How often a model ranks one of the {people} with a label above one without it.",
    ),
    "f_measure": (
        "Finding every label",
        "How well a model finds the rows with each label, without false alarms.",
    ),
    "rule_accuracy": (
        "Change in the rules' accuracy",
        "How much more or less often the rules of the original are right in the release.",
    ),
    "rsd": (
        "Shift in the rules' support",
        "How far the share of {people} that a rule covers has moved.",
    ),
    "rld": (
        "Shift in the rules' labels",
        "How far the labels of the {people} that a rule covers have moved.",
    ),
    "lost_rules": (
        "Lost rules",
        "Rules of the original that use a column which is not released as it was.",
    ),
}
_OF_THE_ORIGINAL = ("performance", "auc", "f_measure")


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
    better = {m.name: m.better for m in card.measures}
    found: list[MeasureFacts] = []
    for key, (label, sentence) in _MEASURES.items():
        figure = chosen.figures.get(key)
        if figure is None:
            continue
        compared = key in _OF_THE_ORIGINAL
        found.append(
            {
                "key": key,
                "label": label,
                "sentence": sentence.format(people=people),
                "better": "higher" if better[key] == "max" else "lower",
                "shown_as": "share",
                "released": figure.value,
                "interval": interval_of(figure),
                "original": card.baseline.value(key) if compared else None,
                "floor": card.floor.value(key) if compared else None,
            }
        )
    return found


def summarise(
    outcome: Outcome,
    manifest: dict[str, Any],
    origin: dict[str, Any],
    look: CloseLookFacts,
    attacked: list[OfHundred],
    diverse: Sequence[dict[str, Any]],
) -> Summary:
    """Everything that the reports show.

    The manifest has the promises as measured from the written file, `origin` says how the table was
    read, and `diverse` what was reached of l and t, where only the holder may know.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "tamis_version": versions()["tamis"],
        "made": manifest["date"],
        "k": outcome.settings.k,
        "unit": outcome.table.unit,
        "table": _table(outcome, manifest, origin),
        "bits": bits_facts(outcome),
        "close_look": look,
        "columns": column_stories(
            outcome, {c["name"]: c["coarser"] for c in manifest["columns"] if "coarser" in c}
        ),
        "methods": [
            {"name": t.name, "applied": t.applied, "found": t.found, "note": t.note}
            for t in outcome.proposals.method_reports
        ],
        "factors": factor_facts(outcome.decision.ranks),
        "candidates": candidate_facts(outcome),
        "limits": limit_facts(outcome),
        "measures": measure_facts(outcome),
        "attackers": attacker_facts(outcome),
        "of_hundred": attacked,
        "finalists": finalist_facts(outcome) if attacked else [],
        "exposure": manifest.get("exposure"),
        "same_sensitive": same_sensitive(outcome),
        "classes": class_facts(outcome),
        "giveaways": giveaway_facts(outcome),
        "rules": rule_facts(outcome),
        "promises": [
            *_promises(outcome, manifest),
            *map(_diverse, manifest.get("diversity", ())),
            *_present(manifest.get("presence")),
        ],
        "kept_private": [_diverse(entry) for entry in diverse],
        "not_promised": list(manifest["not_promised"]),
        "left_out": _left_out(outcome),
        "recipe": _recipe(outcome, manifest, origin),
        "budget": _budget(manifest.get("budget")),
        "notes": notes_of(outcome),
    }


def _left_out(outcome: Outcome) -> LeftOut | None:
    release = outcome.release
    numbers, stated = left_out_numbers(release), stated_left_out(release)
    if numbers is None or stated is None:
        return None
    words = left_out_words(numbers, release.unit, outcome.settings.k)
    found: LeftOut = {"words": words, "public": public_words(stated)}
    if (lost := lost_of(outcome)) is not None:
        found["groups"] = lost_group_facts(lost, outcome)
        found["warnings"] = lost_value_warnings(lost, outcome)
    return found


def _table(outcome: Outcome, manifest: dict[str, Any], origin: dict[str, Any]) -> TableFacts:
    table, release = outcome.table, outcome.release
    people, alone = table.people, manifest.get("exposure")
    everything = outcome.decision.scorecard.baseline.release
    return {
        "name": str(origin.get("name") or "the table"),
        "rows": table.rows,
        "rows_released": release.table.rows,
        "people": table.rows if people is None else len(np.unique(people)),
        "people_released": alone["total"] if alone else release.table.rows,
        "who": who_words(table),
        "features": everything.size + outcome.left_out,
        "unlisted": everything.beyond + outcome.left_out,
        "target": table.target,
        "sensitive": outcome.evaluator.sensitive,
    }


def who_words(table: Table) -> str:
    """Who counts as a person, and what other identifiers would mean.

    >>> import polars as pl
    >>> from tamis.table import Roles
    >>> names = pl.DataFrame({"mrn": [71, 72, 73], "name": ["Ann Lee", "Ann Lee", "Bo Ek"]})
    >>> who_words(Table(names, Roles(identifiers=("mrn", "name"))))
    "People are told apart by 'mrn'. Other identifiers would mean: by 'name' 2 people with 1.5 \
rows each."
    """
    if not table.told_apart_by:
        every = "Every row counts as a different person."
        return every if table.unit == "people" else "Nobody said who is a person: rows are counted."
    words = f"People are told apart by {' and '.join(map(repr, table.told_apart_by))}."
    others = [c.words() for c in table.person_candidates if c.people != table.everybody]
    return f"{words} Other identifiers would mean: {'; '.join(others)}." if others else words


def _promises(outcome: Outcome, manifest: dict[str, Any]) -> list[PromiseFacts]:
    kept = outcome.release.promises
    return [
        {
            "key": entry["key"],
            "claim": entry["claim"],
            "measured": measured_words(promise, entry["measured"], entry["unit"]),
            "value": float(entry["measured"]),
            "limit": float(entry["at_least"]),
        }
        for promise, entry in zip(kept, manifest["promises"])
    ]


def _diverse(entry: dict[str, Any]) -> PromiseFacts:
    asked = next((entry[w] for w in ("c", "at_least", "at_most", "below") if entry.get(w)), 0.0)
    return {
        "key": entry["key"],
        "claim": entry_claim(entry),
        "measured": reached_words(entry),
        "value": float(entry["measured"]),
        "limit": float(asked or 0.0),
    }


def _present(entry: dict[str, Any] | None) -> list[PromiseFacts]:
    """Which people of a population are in the table; what was measured is for the holder alone."""
    if entry is None:
        return []
    most = float(entry["at_most"])
    measured = "within that, by the holder's register"
    claim = presence_claim(entry)
    return [
        {"key": entry["key"], "claim": claim, "measured": measured, "value": most, "limit": most}
    ]


def _budget(spent: dict[str, Any] | None) -> BudgetFacts | None:
    if spent is None:
        return None
    return {
        "epsilon": spent["epsilon"],
        "delta": spent["delta"],
        "claim": budget_claim(spent),
        "spent": budget_words(spent),
    }


def _recipe(outcome: Outcome, manifest: dict[str, Any], origin: dict[str, Any]) -> RecipeFacts:
    parameters = manifest["method"]["parameters"]
    options = ", ".join(f"{name} {value}" for name, value in parameters.items())
    file = manifest["file"]
    public: list[Setting] = [
        {"label": "Method", "value": " ".join(filter(None, (manifest["method"]["name"], options)))},
        {"label": "Made with", "value": f"tamis {versions()['tamis']}"},
        {"label": f"SHA-256 of {file['name']}", "value": file["sha256"]},
    ]
    if budget := manifest.get("budget"):
        words = str(budget["neighbours_in_words"])
        public.insert(1, {"label": "Neighbours", "value": words})
    private: list[Setting] = [
        {"label": "Seed", "value": str(outcome.settings.seed)},
        *([] if outcome.settings.secret is None else [_SECRET]),
        {"label": "Reproduce the same bytes", "value": _again(outcome)},
    ]
    if origin.get("path"):
        private.insert(0, {"label": "Made from", "value": str(origin["path"])})
    return {"public": public, "private": private}


_SECRET: Setting = {
    "label": "Secret that values were altered by",
    "value": f"in {PRIVATE}/{RECIPE}; whoever has it can undo what was altered",
}


def _again(outcome: Outcome) -> str:
    if outcome.settings.epsilon is not None:
        return "not possible: the noise has no seed; share this folder as it is"
    return "tamis release --again DIR"


def notes_of(outcome: Outcome) -> list[Note]:
    """What a reader must know to read the figures: how they were measured, and what misleads."""
    found = (_unlabelled, _measured_on, _missed_limits, _caveats)
    return [note for notes in found for note in notes(outcome)]


def _note(text: str, *, level: Literal["note", "warning"] = "note", public: bool = False) -> Note:
    return {"level": level, "text": text, "public": public}


def _unlabelled(outcome: Outcome) -> Iterator[Note]:
    if left := outcome.table.unlabelled:
        yield _note(
            f"{plural(left, 'row')} of the table had no {outcome.table.target!r} and "
            f"{'was' if left == 1 else 'were'} left out of every step."
        )


def _measured_on(outcome: Outcome) -> Iterator[Note]:
    split, drawn = outcome.evaluator.split, outcome.release.is_drawn
    seen, choosing = len(split.seen), len(split.choosing)
    if beyond := outcome.decision.scorecard.baseline.release.beyond:
        yield _note(
            f"The records have {len(outcome.table.features) + beyond:,} columns. The "
            f"{len(outcome.table.features):,} that promise to teach or tell most were compared, "
            "and the others are held back; kept and told are shares of what all of them give. "
            "Accuracies, attackers and rules of everything are those of the compared columns."
        )
    if outcome.left_out:
        yield from _of_compared(len(outcome.table.features), outcome.left_out)
    measured = (
        f"Figures were measured on {len(split.reporting):,} rows that played no part in the choice"
    )
    if drawn:
        yield _note(
            f"{measured}; models were trained on synthetic rows drawn in the same way from "
            f"{seen:,} others. These figures are for you only: no epsilon covers them."
        )
    elif outcome.release.kept is not None:
        yield _note(
            f"{measured}; the search used {seen:,} others, and {choosing:,} more decided among "
            "what it found. No model learnt from rows that are left out, but models were tested on "
            "them too, as on anybody else."
        )
        yield _note(
            "Figures were measured on rows that played no part in the choice, those that are left "
            "out included. The rows are in an order that reveals nothing.",
            public=True,
        )
    else:
        yield _note(
            f"{measured}; the search used {seen:,} others, and {choosing:,} more decided among "
            "what it found. The release contains all of them, in an order that reveals nothing.",
            public=True,
        )
    yield _note(
        "Limits, ranks and the choice are based on different rows from the figures shown, so that "
        "no figure flatters what was chosen. Picking another release by the figures here would "
        "mean picking the luckiest one."
    )


def _of_compared(compared: int, left_out: int) -> Iterator[Note]:
    """What kept and told are shares of, where columns were left out before measuring."""
    yield _note(
        f"Of {compared + left_out:,} columns of the original, the {compared:,} that promised to "
        "teach or tell most in a sample of its rows were compared; the others are held back."
    )
    yield _note(
        "Kept and told are shares of what the compared columns give, not of what all columns of "
        "the original would give. So are accuracies, attackers and rules of everything.",
        public=True,
    )


def _missed_limits(outcome: Outcome) -> Iterator[Note]:
    for failure in outcome.decision.missed:
        yield _note(
            f"The release met every limit on the rows it was chosen by, but {failure.words}. Trust "
            "the reported figure; set a stricter limit if this one must be met for certain.",
            level="warning",
        )


def _caveats(outcome: Outcome) -> Iterator[Note]:
    evaluator = outcome.evaluator
    if outcome.table.people is not None:
        yield _note(
            "All rows of a person are in the same part, and intervals count the rows of a person "
            "as one to the extent that they are alike."
        )
    left_out = outcome.release.kept is not None
    if left_out and outcome.settings.anonymity.of_secrets:
        yield _note(
            f"Groups that are too alike in {evaluator.sensitive} are left out as well. Whoever "
            "knows that a person is in the table, and that enough others are like them, may "
            "conclude from their absence that these mostly share one value.",
            level="warning",
        )
    if evaluator.sensitive == outcome.table.target:
        yield _note(
            "The target is also the sensitive column, so whatever teaches a model also helps an "
            "attacker.",
            level="warning",
        )
    if evaluator.cut is not None and evaluator.cut.points:
        points = ", ".join(f"{point:g}" for point in evaluator.cut.points)
        yield _note(
            f"{evaluator.sensitive} takes many numeric values, so naming the right interval "
            f"counts as guessing it. The intervals are cut at {points}."
        )
    if (outcome.decision.scorecard.floor.value("pbi") or 0.0) > 0:
        yield _note(
            "Always guessing the most frequent sensitive value is right more often than any "
            "attacker who sees everything, so a limit on the increase means nothing here.",
            level="warning",
        )
