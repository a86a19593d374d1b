"""What the compared releases keep and tell, and a close look at the chosen one, as plain facts."""

from __future__ import annotations

from itertools import accumulate, groupby

import numpy as np

from tamis.analyse.column_fates import breaks_k, projection_on, sources
from tamis.analyse.examination import Examination
from tamis.analyse.summary import CandidateFacts, Factor, LimitLines
from tamis.analyse.summary_parts import (
    Beside,
    BitsFacts,
    CloseLookFacts,
    FigureFacts,
    GuessedFacts,
    Interval,
    OneMore,
    SurestFacts,
    WaveFacts,
    Winner,
)
from tamis.catalogue.measures import FACTORS, MEASURES
from tamis.catalogue.models import shown_model
from tamis.decide import most_valuable
from tamis.evaluate.close_look import Guessed
from tamis.evaluate.figure import Figure, accuracy, auc
from tamis.evaluate.scorecard import Row
from tamis.evaluate.subset_bits import Question
from tamis.flow import Outcome
from tamis.propose.names import differences
from tamis.rank.evaluation import Evaluation, pareto_front
from tamis.select.breach.candidate import region

CAUTIONS = (
    *(step / 20 for step in range(41)),  # finer where releases change most
    *(2 + step / 4 for step in range(1, 13)),
    *(float(step) for step in range(6, 11)),
)
"""What the slider of the page can be set to, besides the caution that was used."""


def interval_of(figure: Figure | None) -> Interval | None:
    """The interval of a figure, where it has one."""
    if figure is None or figure.low is None or figure.high is None:
        return None
    return {"low": figure.low, "high": figure.high}


def figure_facts(figure: Figure) -> FigureFacts:
    """A figure and its interval.

    >>> figure_facts(Figure(0.5, 0.25, 0.75))
    {'value': 0.5, 'interval': {'low': 0.25, 'high': 0.75}}
    """
    return {"value": figure.value, "interval": interval_of(figure)}


def share_facts(figure: Figure) -> FigureFacts:
    """A share of what all columns give; its interval ends where shares do.

    >>> share_facts(Figure(0.75, 0.5, 1.25))["interval"]
    {'low': 0.5, 'high': 1.0}
    """
    ends = interval_of(figure)
    if ends is not None:
        ends = {"low": max(0.0, ends["low"]), "high": min(1.0, ends["high"])}
    return {"value": figure.value, "interval": ends}


def most_rows(outcome: Outcome) -> int:
    """The most rows of one person: fewer than k times as many may be fewer than k people's."""
    people = outcome.table.people
    return 1 if people is None else int(np.bincount(people).max())


def bits_facts(examined: Examination) -> BitsFacts:
    """What the release keeps and tells, who would win under other cautions, what is next."""
    outcome = examined.outcome
    decision = outcome.decision
    measured, figures = decision.scorecard.compared.reporting, decision.chosen.figures
    kept, useful = figures["kept"], figures["useful"]
    assert kept is not None
    assert useful is not None
    told, telling = figures["told"], figures["telling"]
    cautions = _cautions(outcome)
    return {
        "by": decision.by,
        "caution": decision.caution,
        "kept": share_facts(kept),
        "told": None if told is None else share_facts(told),
        "useful": figure_facts(useful),
        "telling": None if telling is None else figure_facts(telling),
        "teaches": measured.teaches,
        "tells": told is not None and measured.tells,
        "weak": decision.scorecard.compared.choosing.weak,
        "cautions": cautions,
        "winners": winners(outcome, cautions),
        "one_more": one_more(examined),
        "waves": wave_facts(examined),
    }


def _cautions(outcome: Outcome) -> list[float]:
    """One caution only where nothing is told: all of them choose the same."""
    decision = outcome.decision
    if decision.chosen.figures["told"] is None or not decision.scorecard.compared.choosing.tells:
        return [decision.caution]
    return sorted({*CAUTIONS, decision.caution})


def winners(outcome: Outcome, cautions: list[float]) -> list[Winner]:
    """The release that would be chosen under each caution, where it changes.

    By the rule of the choice itself, ties included, among releases that meet all limits.
    """
    decision = outcome.decision
    card = decision.scorecard
    meeting = [row for row in card.rows if row.release.name not in decision.failures]
    number = {row: i for i, row in enumerate(card.rows)}
    best = [(caution, number[most_valuable(card, meeting, caution)]) for caution in cautions]
    runs = [next(run) for _, run in groupby(best, key=lambda pair: pair[1])]
    return [{"caution": caution, "candidate": candidate} for caution, candidate in runs]


def wave_facts(examined: Examination) -> list[WaveFacts]:
    """What the first columns of a large release keep and tell, where that was measured.

    Who has all of them can ignore some, so that no part keeps or tells more than the release.
    """
    outcome, found = examined.outcome, examined.waves
    decision = outcome.decision
    kept, told = (decision.chosen.value(measure) for measure in ("kept", "told"))
    as_they_are = outcome.evaluator.yardstick.columns(decision.chosen.release) is not None
    if not (found and as_they_are and decision.scorecard.compared.reporting.teaches):
        return []
    most = kept or 0.0, told or 0.0
    shares = [(min(wave.kept, most[0]), min(wave.told, most[1])) for wave in found[:-1]]
    sizes = accumulate(len(wave.columns) for wave in found)
    return [
        {"columns": size, "kept": some, "told": None if told is None else tells}
        for size, (some, tells) in zip(sizes, [*shares, most])
    ]


def one_more(examined: Examination) -> OneMore | None:
    """The column held back that would be worth most, of those with which k is kept."""
    outcome, bits = examined.outcome, examined.column_bits
    decision, released = outcome.decision, sources(outcome)
    if outcome.evaluator.yardstick.columns(decision.chosen.release) is None:
        return None  # what a column adds to altered ones was not measured
    worth = {
        name: bits[name].teaches_beyond - decision.caution * bits[name].tells_beyond
        for name in outcome.table.features
        if name not in released and bits[name].teaches_beyond > 0
    }
    order = sorted(worth, key=lambda name: -worth[name])
    fast = projection_on(outcome)
    best = next((name for name in order if not breaks_k(outcome, name, fast)), None)
    if best is None:
        return None
    kept, told = (decision.chosen.value(measure) for measure in ("kept", "told"))
    return {
        "name": best,
        "kept": min(1.0, (kept or 0.0) + bits[best].teaches_beyond),
        "told": None if told is None else min(1.0, told + bits[best].tells_beyond),
    }


def close_look_facts(examined: Examination) -> CloseLookFacts:
    """What slow learners guess of the target and of the sensitive column."""
    outcome, look = examined.outcome, examined.close_look
    every = outcome.evaluator.yardstick.reporting
    found: CloseLookFacts = {
        "target": _guessed(outcome, look.target, every.target, *_of_target(outcome)),
        "sensitive": None,
    }
    if look.secret is not None and every.secret is not None:
        found["sensitive"] = _guessed(outcome, look.secret, every.secret, *_of_secret(outcome))
    return found


def _of_target(outcome: Outcome) -> tuple[Beside, float]:
    """The model of the scorecard, and guessing."""
    decision = outcome.decision
    figures, area = decision.chosen.figures, decision.chosen.figures["auc"]
    right = figures["performance"]
    assert right is not None
    beside: Beside = {
        "name": shown_model(outcome.settings.classifier),
        "accuracy": figure_facts(right),
        "auc": None if area is None else figure_facts(area),
    }
    return beside, decision.scorecard.floor.value("performance") or 0.0


def _of_secret(outcome: Outcome) -> tuple[Beside, float]:
    """The strongest attacker of the scorecard, and guessing."""
    assessment = outcome.decision.chosen.assessment
    name, findings = assessment.strongest, assessment.reporting
    predictions = findings.attacked[name]
    area = auc(predictions, findings.people)
    beside: Beside = {
        "name": name,
        "accuracy": figure_facts(accuracy(predictions.right, findings.people)),
        "auc": None if area is None else figure_facts(area),
    }
    floor = outcome.decision.scorecard.floor.assessment.reporting
    return beside, float(floor.attacked[name].right.mean())


def _guessed(
    outcome: Outcome, found: Guessed, asked: Question, beside: Beside, guessing: float
) -> GuessedFacts:
    truth = asked.label[outcome.evaluator.yardstick.reporting.parts.report]
    rarest = int(np.bincount(asked.label, minlength=asked.classes).argmin())
    least, rows, cases = (
        outcome.settings.k * most_rows(outcome),
        len(truth),
        int((truth == rarest).sum()),
    )
    surest: list[SurestFacts] = [
        {
            "part": each.part,
            "precision": of_enough(each.precision, max(1, round(each.part * rows)), least),
            "recall": of_enough(each.recall, cases, least),
        }
        for each in found.surest
    ]
    return {
        "accuracy": figure_facts(found.accuracy),
        "guessing": guessing,
        "auc": None if found.auc is None else figure_facts(found.auc),
        "share": share_facts(found.share),
        "bits": figure_facts(found.bits),
        "surest": surest,
        "known": of_enough(found.known, rows, least),
        "largest": list(found.largest),
        "group": None
        if found.group is None
        else {"people": found.group.people, "gain": figure_facts(found.group.gain)},
        "beside": beside,
    }


def of_enough(share: Figure, rows: int, least: int) -> FigureFacts | None:
    """A share of some rows; nothing where it stands for few of them, but for some.

    >>> of_enough(Figure(0.5), 20, least=5), of_enough(Figure(0.1), 20, least=5)
    ({'value': 0.5, 'interval': None}, None)
    >>> of_enough(Figure(0.0), 20, least=5), of_enough(Figure(1.0), 4, least=5)
    ({'value': 0.0, 'interval': None}, None)
    """
    count = round(share.value * rows)
    return None if rows < least or 0 < count < least else figure_facts(share)


def factor_facts(ranks: Evaluation) -> list[Factor]:
    """What counted, in which direction, with which weight."""
    found: list[Factor] = []
    for key, direction in ranks.factors.items():
        measure = MEASURES[FACTORS.get(key, key)]
        always = key in FACTORS
        found.append(
            {
                "key": key,
                "label": measure.factor_label if always else key.replace("_", " "),
                "direction": direction,
                "weight": ranks.weights[key],
                "shown_as": measure.shown_as if always else "number",
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
    apart = differences(
        [row.release for row in decision.scorecard.rows if not _is_end(row, outcome)]
    )
    for row in decision.scorecard.rows:
        at = ranked.index(row) if row in places else None
        candidate = _candidate(outcome, row)
        candidate["differs"] = apart.get(row.release.name, "")
        if at is not None:
            candidate["ranked"] = True
            candidate["values"] = {name: float(column[at]) for name, column in values.items()}
            candidate["ranks"] = {name: int(r[at]) for name, r in ranks.ranks.items()}
            candidate["score"], candidate["place"] = float(ranks.scores[at]), places[row]
            candidate["on_front"] = bool(front[at])
        found.append(candidate)
    return found


def _is_end(row: Row, outcome: Outcome) -> bool:
    """Whether a release is all columns or none, with which others are only compared."""
    card = outcome.decision.scorecard
    return row in (card.baseline, card.floor)


def _candidate(outcome: Outcome, row: Row) -> CandidateFacts:
    decision = outcome.decision
    performance, pbi = row.figures["performance"], row.figures["pbi"]
    is_baseline = row is decision.scorecard.baseline
    kept, told = row.figures["kept"], row.figures["told"]
    assert kept is not None
    accuracy, increase = row.value("performance") or 0.0, row.value("pbi") or 0.0
    gain = accuracy - (decision.scorecard.baseline.value("performance") or 0.0)
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


def limit_facts(outcome: Outcome) -> LimitLines:
    """Hard limits, and what guessing alone reaches."""
    floor = outcome.decision.scorecard.floor
    return {
        "min_kept": outcome.settings.min_kept,
        "max_told": outcome.settings.max_told,
        "max_pbi": outcome.settings.max_pbi,
        "min_performance": outcome.settings.min_performance,
        "guessing_performance": floor.value("performance") or 0.0,
        "guessing_pbi": floor.value("pbi") or 0.0,
    }
