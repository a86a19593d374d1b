"""The scorecard: releases x measures, on rows that no search has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from tamis.evaluate.figure import Figure, auc, change, f_measure, share
from tamis.evaluate.trial import Court, Trial, strongest
from tamis.release import Release

Tell = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class ScoredBy:
    """A measure of a release on trial: a name, the direction that is better, a function.

    The function gives `None` where the measure does not apply.
    """

    name: str
    better: Literal["max", "min"]
    of: Callable[[Trial], Figure | None]


def _performance(trial: Trial) -> Figure:
    right = trial.taught.right
    return share(int(right.sum()), len(right))


def _pbi(trial: Trial) -> Figure | None:
    everything = trial.court.everything
    now = trial.attacked[trial.strongest].right
    return change(now, everything[strongest(everything)].right)


def _kept(name: str) -> Callable[[Trial], Figure | None]:
    def of(trial: Trial) -> Figure | None:
        value = None if trial.retention is None else getattr(trial.retention, name)
        return None if value is None else Figure(float(value))

    return of


def _people(count: int | None) -> Figure | None:
    return None if count is None else Figure(float(count))


def _epsilon(trial: Trial) -> Figure | None:
    """What rows that were drawn anew have cost; rows as they are have no such bound."""
    budget = trial.release.recipe.public.get("budget")
    return None if budget is None else Figure(float(budget["epsilon"]))


MEASURES = (
    ScoredBy("performance", "max", _performance),
    ScoredBy("auc", "max", lambda trial: auc(trial.taught)),
    ScoredBy("f_measure", "max", lambda trial: f_measure(trial.taught)),
    ScoredBy("pbi", "min", _pbi),
    ScoredBy("k_anonymity", "max", lambda trial: _people(trial.k_anonymity)),
    ScoredBy("containment_anonymity", "max", lambda trial: _people(trial.containment)),
    ScoredBy("epsilon", "min", _epsilon),
    ScoredBy("features", "min", lambda trial: Figure(float(len(trial.release.features)))),
    ScoredBy("rule_accuracy", "min", _kept("rule_accuracy")),
    ScoredBy("rsd", "min", _kept("rsd")),
    ScoredBy("rld", "min", _kept("rld")),
    ScoredBy("lost_rules", "min", _kept("lost_share")),
)


@dataclass(frozen=True, eq=False)
class Row:
    """One release and its figures by the name of the measure."""

    trial: Trial
    figures: dict[str, Figure | None]

    @property
    def release(self) -> Release:
        return self.trial.release

    def value(self, measure: str) -> float | None:
        figure = self.figures[measure]
        return None if figure is None else figure.value

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        found = {name: f and f.to_dict() for name, f in self.figures.items()}
        features = list(self.release.features)
        return {"name": self.release.name, "features": features, "figures": found}


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Releases x measures.

    Attributes
    ----------
    baseline : Row
        Everything is released.
    floor : Row
        Nothing is: the majority guess.
    candidates : tuple of Row
        What was proposed.
    measures : tuple of ScoredBy
    """

    baseline: Row
    floor: Row
    candidates: tuple[Row, ...]
    measures: tuple[ScoredBy, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The baseline, then what was proposed; the floor is no release."""
        return (self.baseline, *self.candidates)

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values, under stable names."""
        return {
            "measures": [{"name": m.name, "better": m.better} for m in self.measures],
            "baseline": self.baseline.to_dict(),
            "floor": self.floor.to_dict(),
            "releases": [row.to_dict() for row in self.candidates],
        }


def scorecard(
    court: Court,
    baseline: Release,
    floor: Release,
    releases: Iterable[Release],
    *,
    measures: tuple[ScoredBy, ...] = MEASURES,
    tell: Tell | None = None,
) -> Scorecard:
    """Measure releases on rows that no search has seen.

    Parameters
    ----------
    court : Court
        The rows, the models and the attackers.
    baseline, floor : Release
        Everything and nothing.
    releases : iterable of Release
    measures : tuple of ScoredBy
    tell : callable, optional
        Told of the progress.

    Returns
    -------
    Scorecard
    """
    every = [baseline, floor, *releases]
    rows = []
    for done, release in enumerate(every):
        if tell is not None:
            tell(f"measuring {release.name}", done, len(every))
        trial = court.trial(release)
        rows.append(Row(trial, {m.name: m.of(trial) for m in measures}))
    return Scorecard(rows[0], rows[1], tuple(rows[2:]), measures)
