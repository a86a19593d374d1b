"""Which release is published: limits first, then E(S), then fewest columns.

Only figures of the rows that choose are looked at, so that those that report stay unbiased.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamis.choose.evaluation import Evaluation, evaluation
from tamis.choose.factors import Direction, Weights, read_weights
from tamis.choose.limits import Failure, Limit, beyond, failures
from tamis.errors import CannotMeet, InputError
from tamis.evaluate.scorecard import Row, Scorecard

FACTORS: dict[str, str] = {"performance": "performance", "privacy": "pbi", "size": "features"}
"""The factors that are always there, and the measures that they stand for."""
WEIGHTS = {"performance": 0.5, "privacy": 0.25, "size": 0.25}


@dataclass(frozen=True, eq=False)
class Decision:
    """The choice among the releases of a scorecard.

    Attributes
    ----------
    scorecard : Scorecard
    ranked : tuple of Row
        The baseline, and what keeps every limit.
    ranks : Evaluation
        Of the ranked.
    failures : dict of release name to failures
        Of every release that does not keep a limit.
    chosen : Row
    missed : tuple of Failure
        The limits that the chosen release keeps on the rows that choose, but not on those that
        report: it is no better than they say, and the holder must know.
    """

    scorecard: Scorecard
    ranked: tuple[Row, ...]
    ranks: Evaluation
    failures: Mapping[str, tuple[Failure, ...]]
    chosen: Row
    measures: Mapping[str, str]
    """The measure of the scorecard that each factor stands for."""
    missed: tuple[Failure, ...] = ()


def decide(
    scorecard: Scorecard, limits: tuple[Limit, ...] = (), weights: Weights = None
) -> Decision:
    """Choose the best release of those that keep every limit.

    Parameters
    ----------
    scorecard : Scorecard
    limits : tuple of Limit
        Beside what each release promises itself. They are checked on the rows that choose.
    weights : mapping of factor to weight, optional
        Factors are `performance`, `privacy` and `size`, or measures of the scorecard.

    Returns
    -------
    Decision
        An error that names what fails, by how much and what comes nearest where no release
        keeps every limit.
    """
    failing = {row.release.name: failures(row, limits) for row in scorecard.rows}
    meeting = [row for row in scorecard.rows if not failing[row.release.name]]
    if not meeting:
        raise CannotMeet(_nothing_meets(scorecard, failing))
    rows = list(dict.fromkeys((scorecard.baseline, *meeting)))
    directions, measures = _factors(scorecard, weights)
    scores = {name: [_score(row, measures[name]) for row in rows] for name in directions}
    ranks = evaluation(scores, directions, read_weights(weights or WEIGHTS, directions))
    best = next(rows[i] for i in ranks.order if rows[i] in meeting)
    told = {name: found for name, found in failing.items() if found}
    missed = beyond(best, limits, "report")
    return Decision(scorecard, tuple(rows), ranks, told, best, measures, missed)


def _factors(scorecard: Scorecard, weights: Weights) -> tuple[dict[str, Direction], dict[str, str]]:
    """Directions of the factors, and the measure that each stands for."""
    better = {m.name: m.better for m in scorecard.measures}
    measures = dict(FACTORS)
    named = weights if isinstance(weights, Mapping) else {}
    for name in named:
        if name not in measures:
            if name not in better:
                raise InputError(
                    f"no factor {name!r} to weigh; there are {', '.join([*FACTORS, *better])}"
                )
            measures[name] = name
    return {name: better[measure] for name, measure in measures.items()}, measures


def _score(row: Row, measure: str) -> float:
    value = row.value_for_choice(measure)
    if value is None:
        raise InputError(f"{measure} cannot be measured for {row.release.name}; give it no weight")
    return value


def _nothing_meets(scorecard: Scorecard, failing: Mapping[str, tuple[Failure, ...]]) -> str:
    """Which limits fail, by how much, and what would come nearest."""
    rows = scorecard.candidates or scorecard.rows
    nearest = min(
        rows,
        key=lambda r: (len(failing[r.release.name]), sum(f.gap for f in failing[r.release.name])),
    )
    missing = "; ".join(failure.words for failure in failing[nearest.release.name])
    return (
        f"none of the {len(scorecard.rows)} releases keeps every limit, so nothing was published. "
        f"The nearest is {nearest.release.name!r} with {len(nearest.release.features)} columns: "
        f"{missing}"
    )
