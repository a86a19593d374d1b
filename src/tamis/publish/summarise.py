"""From what was found out to the plain dict that a report is made of; no rows, no small counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.choose.evaluation import Evaluation
from tamis.choose.pareto import pareto_front
from tamis.evaluate.figure import Figure, share
from tamis.evaluate.scorecard import Row
from tamis.evaluate.trial import strongest
from tamis.flow import Outcome
from tamis.publish.columns import column_stories
from tamis.publish.manifest import versions
from tamis.publish.promises import measured_words
from tamis.publish.summarise_people import class_facts, rule_facts
from tamis.publish.summary import (
    SCHEMA_VERSION,
    Attacker,
    Candidate,
    Factor,
    Interval,
    Limits,
    Measure,
    Method,
    Note,
    Promise,
    Recipe,
    Setting,
    Summary,
    TableFacts,
)
from tamis.select.candidate import region

_FACTORS: dict[str, tuple[str, str]] = {
    "performance": ("Usefulness", "share"),
    "privacy": ("Privacy", "change"),
    "size": ("Few columns", "count"),
}
_MEASURES: dict[str, tuple[str, str, str]] = {
    "performance": (
        "Right predictions",
        "How often a model that learnt from the release is right about people it never saw.",
        "share",
    ),
    "auc": (
        "Telling cases apart",
        "How often a model puts a person who has a label before one who has not.",
        "share",
    ),
    "f_measure": (
        "Finding every label",
        "How well a model finds the rows of each label without false alarms.",
        "share",
    ),
    "rule_accuracy": (
        "Change of the rules' accuracy",
        "How far the rules of the original are more or less often right in the release.",
        "share",
    ),
    "rsd": (
        "Shift of the rules' supports",
        "How far the share of people that a rule speaks about has moved.",
        "share",
    ),
    "rld": (
        "Shift of the rules' labels",
        "How far the labels of the people that a rule speaks about have moved.",
        "share",
    ),
    "lost_rules": (
        "Lost rules",
        "Rules of the original that name a column which is not released as it was.",
        "share",
    ),
}
_OF_THE_ORIGINAL = ("performance", "auc", "f_measure")


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
        "table": _table(outcome, origin),
        "columns": column_stories(outcome),
        "methods": _methods(outcome),
        "factors": _factors(outcome.decision.ranks),
        "candidates": _candidates(outcome),
        "limits": _limits(outcome),
        "measures": _measures(outcome),
        "attackers": _attackers(outcome),
        "classes": class_facts(outcome),
        "rules": rule_facts(outcome),
        "promises": _promises(outcome, manifest),
        "not_promised": list(manifest["not_promised"]),
        "recipe": _recipe(outcome, manifest, origin),
        "notes": _notes(outcome),
    }


def _table(outcome: Outcome, origin: dict[str, Any]) -> TableFacts:
    table = outcome.table
    return {
        "name": str(origin.get("name") or "the table"),
        "rows": table.rows,
        "rows_released": outcome.decision.chosen.release.table.rows,
        "features": len(table.features),
        "target": table.target,
        "sensitive": outcome.court.sensitive,
    }


def _methods(outcome: Outcome) -> list[Method]:
    return [
        {"name": t.name, "applied": t.applied, "found": t.found, "note": t.note}
        for t in outcome.proposals.tried
    ]


def _factors(ranks: Evaluation) -> list[Factor]:
    found: list[Factor] = []
    for key, direction in ranks.factors.items():
        label, shown_as = _FACTORS.get(key, (key.replace("_", " "), "number"))
        found.append(
            {
                "key": key,
                "label": label,
                "direction": direction,
                "weight": ranks.weights[key],
                "shown_as": shown_as,  # type: ignore[typeddict-item]
            }
        )
    return found


def _candidates(outcome: Outcome) -> list[Candidate]:
    decision = outcome.decision
    ranks, ranked = decision.ranks, list(decision.ranked)
    values = {
        name: np.array([row.value(measure) for row in ranked], dtype=float)
        for name, measure in decision.measures.items()
    }
    front = pareto_front(values, dict(ranks.factors))
    places = {ranked[i]: place + 1 for place, i in enumerate(ranks.order)}
    found = []
    for row in decision.scorecard.rows:
        at = ranked.index(row) if row in places else None
        candidate = _candidate(outcome, row)
        if at is not None:
            candidate["ranked"] = True
            candidate["values"] = {name: float(column[at]) for name, column in values.items()}
            candidate["ranks"] = {name: int(r[at]) for name, r in ranks.ranks.items()}
            candidate["score"], candidate["place"] = float(ranks.scores[at]), places[row]
            candidate["on_front"] = bool(front[at])
        found.append(candidate)
    return found


def _candidate(outcome: Outcome, row: Row) -> Candidate:
    decision = outcome.decision
    performance, pbi = row.figures["performance"], row.figures["pbi"]
    is_baseline = row is decision.scorecard.baseline
    accuracy, increase = _value(performance), _value(pbi)
    gain = accuracy - _value(decision.scorecard.baseline.figures["performance"])
    return {
        "name": row.release.name,
        "features": list(row.release.features),
        "method": row.release.recipe.method,
        "performance": accuracy,
        "performance_interval": _interval(performance),
        "pbi": increase,
        "pbi_interval": None if is_baseline else _interval(pbi),
        "size": len(row.release.features),
        "region": None if is_baseline else region(gain, increase),
        "values": {},
        "ranks": {},
        "score": 0.0,
        "place": 0,
        "on_front": False,
        "chosen": row is decision.chosen,
        "baseline": is_baseline,
        "ranked": False,
        "fails": [failure.short for failure in decision.failures.get(row.release.name, ())],
    }


def _value(figure: Figure | None) -> float:
    return 0.0 if figure is None else figure.value


def _interval(figure: Figure | None) -> Interval | None:
    if figure is None or figure.low is None or figure.high is None:
        return None
    return {"low": figure.low, "high": figure.high}


def _limits(outcome: Outcome) -> Limits:
    floor = outcome.decision.scorecard.floor
    return {
        "max_pbi": outcome.settings.max_pbi,
        "min_performance": outcome.settings.min_performance,
        "guessing_performance": _value(floor.figures["performance"]),
        "guessing_pbi": _value(floor.figures["pbi"]),
    }


def _measures(outcome: Outcome) -> list[Measure]:
    card, chosen = outcome.decision.scorecard, outcome.decision.chosen
    better = {m.name: m.better for m in card.measures}
    found: list[Measure] = []
    for key, (label, sentence, shown_as) in _MEASURES.items():
        figure = chosen.figures.get(key)
        if figure is None:
            continue
        compared = key in _OF_THE_ORIGINAL
        found.append(
            {
                "key": key,
                "label": label,
                "sentence": sentence,
                "better": "higher" if better[key] == "max" else "lower",
                "shown_as": shown_as,  # type: ignore[typeddict-item]
                "released": figure.value,
                "interval": _interval(figure),
                "original": card.baseline.value(key) if compared else None,
                "floor": card.floor.value(key) if compared else None,
            }
        )
    return found


def _attackers(outcome: Outcome) -> list[Attacker]:
    everything, now = outcome.court.everything, outcome.decision.chosen.trial.attacked
    guess = outcome.decision.scorecard.floor.trial.attacked
    best = strongest(now)
    found: list[Attacker] = []
    for name, said in now.items():
        right = share(int(said.right.sum()), len(said.right))
        found.append(
            {
                "name": name,
                "guessing": float(guess[name].right.mean()),
                "everything": float(everything[name].right.mean()),
                "released": right.value,
                "interval": _interval(right),
                "strongest": name == best,
            }
        )
    return found


def _promises(outcome: Outcome, manifest: dict[str, Any]) -> list[Promise]:
    kept = outcome.decision.chosen.release.promises
    return [
        {
            "key": entry["key"],
            "claim": entry["claim"],
            "measured": measured_words(promise, entry["measured"]),
            "value": float(entry["measured"]),
            "limit": float(entry["at_least"]),
        }
        for promise, entry in zip(kept, manifest["promises"])
    ]


def _recipe(outcome: Outcome, manifest: dict[str, Any], origin: dict[str, Any]) -> Recipe:
    parameters = manifest["method"]["parameters"]
    told = ", ".join(f"{name} {value}" for name, value in parameters.items())
    file = manifest["file"]
    public: list[Setting] = [
        {"label": "Method", "value": " ".join(filter(None, (manifest["method"]["name"], told)))},
        {"label": "Made with", "value": f"tamis {versions()['tamis']}"},
        {"label": f"SHA-256 of {file['name']}", "value": file["sha256"]},
    ]
    private: list[Setting] = [
        {"label": "Seed", "value": str(outcome.settings.seed)},
        {"label": "Make the same bytes again", "value": "tamis release --again DIR"},
    ]
    if origin.get("path"):
        private.insert(0, {"label": "Made from", "value": str(origin["path"])})
    return {"public": public, "private": private}


def _notes(outcome: Outcome) -> list[Note]:
    held, seen = len(outcome.court.split.held), len(outcome.court.split.seen)
    found: list[Note] = [
        {
            "level": "note",
            "text": f"Figures were measured on {held:,} rows that no search has seen; the search "
            f"had {seen:,}. The release holds all of them, in an order that tells nothing.",
            "public": True,
        },
        {
            "level": "note",
            "text": "The best of several releases looks a little better on the rows that chose it "
            "than it is; the intervals tell how sure each figure is.",
            "public": False,
        },
    ]
    if outcome.court.sensitive == outcome.table.target:
        text = (
            "The target is also the sensitive column, so whatever teaches a model also helps an "
            "attacker."
        )
        found.append({"level": "warning", "text": text, "public": False})
    if _value(outcome.decision.scorecard.floor.figures["pbi"]) > 0:
        text = (
            "Guessing the most frequent sensitive value is right more often than any attacker "
            "that gets everything, so a limit on the increase says nothing here."
        )
        found.append({"level": "warning", "text": text, "public": False})
    return found
