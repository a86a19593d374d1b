"""The releases that were compared, as the reports show them: figures, ranks and limits."""

from __future__ import annotations

import numpy as np

from tamis.evaluate.figure import Figure
from tamis.evaluate.scorecard import Row
from tamis.flow import Outcome
from tamis.publish.kept_told import interval_of, share_facts
from tamis.publish.summary import CandidateFacts, Factor, LimitLines
from tamis.rank.evaluation import Evaluation, pareto_front
from tamis.select.breach.candidate import region

_FACTORS: dict[str, tuple[str, str]] = {
    "performance": ("Usefulness", "share"),
    "privacy": ("Privacy", "change"),
    "size": ("Few columns", "count"),
}


def factor_facts(ranks: Evaluation) -> list[Factor]:
    """What counted, in which direction, with which weight."""
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


def candidate_facts(outcome: Outcome) -> list[CandidateFacts]:
    """Every release that was compared, the baseline first.

    `values` are of the rows that chose, for ranks come from them; all else is as reported.
    """
    decision = outcome.decision
    ranks, ranked = decision.ranks, list(decision.ranked)
    values = {
        name: np.array([row.value_for_choice(measure) for row in ranked], dtype=float)
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


def _candidate(outcome: Outcome, row: Row) -> CandidateFacts:
    decision = outcome.decision
    performance, pbi = row.figures["performance"], row.figures["pbi"]
    is_baseline = row is decision.scorecard.baseline
    kept, told = row.figures["kept"], row.figures["told"]
    assert kept is not None
    accuracy, increase = value_of(performance), value_of(pbi)
    gain = accuracy - value_of(decision.scorecard.baseline.figures["performance"])
    return {
        "name": row.release.name,
        "features": list(row.release.features),
        "method": row.release.recipe.method,
        "performance": accuracy,
        "performance_interval": interval_of(performance),
        "kept": kept.value,
        "kept_interval": share_facts(kept)["interval"],
        "told": row.value("told"),
        "told_interval": None if told is None else share_facts(told)["interval"],
        "worth": (row.value_for_choice("kept") or 0.0, row.value_for_choice("told") or 0.0),
        "pbi": increase,
        "pbi_interval": None if is_baseline else interval_of(pbi),
        "size": row.release.size,
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


def value_of(figure: Figure | None) -> float:
    """The number of a figure; 0 where it could not be measured."""
    return 0.0 if figure is None else figure.value


def limit_facts(outcome: Outcome) -> LimitLines:
    """Hard limits, and what guessing alone reaches."""
    floor = outcome.decision.scorecard.floor
    return {
        "min_kept": outcome.settings.min_kept,
        "max_told": outcome.settings.max_told,
        "max_pbi": outcome.settings.max_pbi,
        "min_performance": outcome.settings.min_performance,
        "guessing_performance": value_of(floor.figures["performance"]),
        "guessing_pbi": value_of(floor.figures["pbi"]),
    }
