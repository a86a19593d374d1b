"""From what was found out to the plain dict that a report is made of; no rows, no small counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.flow import Outcome
from tamis.publishing.columns import column_stories
from tamis.publishing.exposure import same_sensitive
from tamis.publishing.manifest import versions
from tamis.publishing.promises import budget_claim, budget_words, measured_words
from tamis.publishing.summarise_candidates import (
    candidate_facts,
    factor_facts,
    limit_facts,
    value_of,
)
from tamis.publishing.summarise_measures import attacker_facts, measure_facts
from tamis.publishing.summarise_people import class_facts, rule_facts
from tamis.publishing.summary import (
    SCHEMA_VERSION,
    Budget,
    Method,
    Note,
    Promise,
    Recipe,
    Setting,
    Summary,
    TableFacts,
)


def summarise(outcome: Outcome, manifest: dict[str, Any], origin: dict[str, Any]) -> Summary:
    """Everything that the reports show.

    Parameters
    ----------
    outcome : Outcome
    manifest : dict
        With the promises as measured from the written file.
    origin : dict
        How the table was read.

    Returns
    -------
    Summary
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "tamis_version": versions()["tamis"],
        "made": manifest["date"],
        "k": outcome.settings.k,
        "unit": outcome.table.unit,
        "table": _table(outcome, manifest, origin),
        "columns": column_stories(outcome),
        "methods": _methods(outcome),
        "factors": factor_facts(outcome.decision.ranks),
        "candidates": candidate_facts(outcome),
        "limits": limit_facts(outcome),
        "measures": measure_facts(outcome),
        "attackers": attacker_facts(outcome),
        "exposure": manifest.get("exposure"),
        "same_sensitive": same_sensitive(outcome),
        "classes": class_facts(outcome),
        "rules": rule_facts(outcome),
        "promises": _promises(outcome, manifest),
        "not_promised": list(manifest["not_promised"]),
        "recipe": _recipe(outcome, manifest, origin),
        "budget": _budget(manifest.get("budget")),
        "notes": _notes(outcome),
    }


def _table(outcome: Outcome, manifest: dict[str, Any], origin: dict[str, Any]) -> TableFacts:
    table, release = outcome.table, outcome.decision.chosen.release
    people, alone = table.people, manifest.get("exposure")
    return {
        "name": str(origin.get("name") or "the table"),
        "rows": table.rows,
        "rows_released": release.table.rows,
        "people": table.rows if people is None else len(np.unique(people)),
        "people_released": alone["total"] if alone else release.table.rows,
        "features": len(table.features),
        "target": table.target,
        "sensitive": outcome.court.sensitive,
    }


def _methods(outcome: Outcome) -> list[Method]:
    return [
        {"name": t.name, "applied": t.applied, "found": t.found, "note": t.note}
        for t in outcome.proposals.tried
    ]


def _promises(outcome: Outcome, manifest: dict[str, Any]) -> list[Promise]:
    kept = outcome.decision.chosen.release.promises
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


def _budget(spent: dict[str, Any] | None) -> Budget | None:
    if spent is None:
        return None
    return {
        "epsilon": spent["epsilon"],
        "delta": spent["delta"],
        "claim": budget_claim(spent),
        "spent": budget_words(spent),
    }


def _recipe(outcome: Outcome, manifest: dict[str, Any], origin: dict[str, Any]) -> Recipe:
    parameters = manifest["method"]["parameters"]
    told = ", ".join(f"{name} {value}" for name, value in parameters.items())
    file = manifest["file"]
    public: list[Setting] = [
        {"label": "Method", "value": " ".join(filter(None, (manifest["method"]["name"], told)))},
        {"label": "Made with", "value": f"tamis {versions()['tamis']}"},
        {"label": f"SHA-256 of {file['name']}", "value": file["sha256"]},
    ]
    if budget := manifest.get("budget"):
        words = str(budget["neighbours_in_words"])
        public.insert(1, {"label": "Neighbours", "value": words})
    private: list[Setting] = [
        {"label": "Seed", "value": str(outcome.settings.seed)},
        {"label": "Make the same bytes again", "value": _again(outcome)},
    ]
    if origin.get("path"):
        private.insert(0, {"label": "Made from", "value": str(origin["path"])})
    return {"public": public, "private": private}


def _again(outcome: Outcome) -> str:
    if outcome.settings.epsilon is not None:
        return "not possible: the noise has no seed; hand on this folder"
    return "tamis release --again DIR"


def _notes(outcome: Outcome) -> list[Note]:
    split, chosen = outcome.court.split, outcome.decision.chosen
    seen, choosing = len(split.seen), len(split.choosing)
    measured = (
        f"Figures were measured on {len(split.reporting):,} rows that nothing was chosen by; "
    )
    found: list[Note] = [
        {
            "level": "note",
            "text": f"{measured}the search had {seen:,}, and {choosing:,} others chose among what "
            "it found. The release holds all of them, in an order that tells nothing.",
            "public": True,
        }
        if not chosen.release.is_drawn
        else {
            "level": "note",
            "text": f"{measured}models learnt from rows drawn in the same way from {seen:,} "
            "others. These figures stay here: no epsilon covers them.",
            "public": False,
        },
        {
            "level": "note",
            "text": "Limits, ranks and the choice go by other rows than the figures that are "
            "shown, so that no figure flatters what was chosen. Whoever now picks another release "
            "by its figures here picks the luckiest one.",
            "public": False,
        },
    ]
    found += [
        {
            "level": "warning",
            "text": f"The release kept every limit on the rows that chose it, but "
            f"{failure.words}. Take the reported figure for the truth; ask for more if the limit "
            "must be kept for sure.",
            "public": False,
        }
        for failure in outcome.decision.missed
    ]
    if outcome.table.people is not None:
        text = (
            "People with several rows are in one part with all of them, and intervals count rows "
            "of a person as one as far as they are alike."
        )
        found.append({"level": "note", "text": text, "public": False})
    if outcome.court.sensitive == outcome.table.target:
        text = (
            "The target is also the sensitive column, so whatever teaches a model also helps an "
            "attacker."
        )
        found.append({"level": "warning", "text": text, "public": False})
    cut = outcome.court.cut
    if cut is not None and cut.points:
        points = ", ".join(f"{point:g}" for point in cut.points)
        text = (
            f"{outcome.court.sensitive} holds many numbers, so whoever names the right interval "
            f"has guessed it. The intervals are cut at {points}."
        )
        found.append({"level": "note", "text": text, "public": False})
    if value_of(outcome.decision.scorecard.floor.figures["pbi"]) > 0:
        text = (
            "Guessing the most frequent sensitive value is right more often than any attacker "
            "that gets everything, so a limit on the increase says nothing here."
        )
        found.append({"level": "warning", "text": text, "public": False})
    return found
