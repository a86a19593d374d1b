"""Measures of releases at rising noise: one dataset and noise a piece of work."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from joblib import Parallel, delayed

from experiments.data import Data
from experiments.fletcher.tables import SOURCES, file_of, fold_of, table_of
from experiments.store import Store
from tamis.evaluate.curve import Curve, Measure, retention_curve
from tamis.evaluate.prediction import Prediction, prediction
from tamis.perturb.noise import GaussianNoise, UniformNoise
from tamis.rules.tree import mine_rules
from tamis.table import Table

LEVELS = tuple(round(0.02 * i, 2) for i in range(16))
FIGURES = ("right_released", "wrong_released", "rsd", "rld")
NOISES = {"UN": UniformNoise, "GN": GaussianNoise}
SEED = 0
WORKERS = 2


@dataclass(frozen=True)
class Effort:
    """How many of ten folds are looked at, and how many releases of each at which levels."""

    folds: int
    draws: int
    levels: Sequence[float] = LEVELS


def curve(
    data: Data,
    store: Store,
    name: str,
    noise: str,
    effort: Effort,
    *,
    models: bool = False,
) -> tuple[Curve, list[int]]:
    """What releases of one dataset keep, and how many rules each fold mined.

    Parameters
    ----------
    data, store
    name : str
        A dataset of `SOURCES`.
    noise : {"UN", "GN"}
    effort : Effort
    models : bool
        Also train a tree on each release and test it on the fold's rows.
    """
    settings = {
        "data": data.digest(file_of(name)),
        "noise": noise,
        "folds": effort.folds,
        "draws": effort.draws,
        "levels": list(effort.levels),
        "models": models,
        "seed": SEED,
        "drop": list(SOURCES[name].drop),
    }
    kind = "models" if models else "rules"
    record = store.piece(
        f"fletcher/{kind}-{noise.lower()}-{name.lower()}",
        settings,
        lambda: _record(table_of(data, name), name, noise, effort, models),
    )
    points = pl.DataFrame(
        record["points"],
        schema={"level": pl.Float64, "draw": pl.Int64, "measure": pl.String, "value": pl.Float64},
        orient="row",
    )
    return Curve(points), record["rules"]


def _record(table: Table, name: str, noise: str, effort: Effort, models: bool) -> dict[str, Any]:
    folds = range(effort.folds)
    work = (delayed(_fold)(table, name, noise, effort, models, fold) for fold in folds)
    found = Parallel(n_jobs=min(WORKERS, effort.folds))(work)
    return {
        "points": [point for points, _ in found for point in points],
        "rules": [rules for _, rules in found],
    }


def _fold(
    table: Table, name: str, noise: str, effort: Effort, models: bool, fold: int
) -> tuple[list[tuple[Any, ...]], int]:
    """The points of one fold, and how many rules it mined; alone in its process."""
    warnings.simplefilter("ignore")
    train, test = fold_of(table, fold, SEED)
    rules = mine_rules(train)
    found = retention_curve(
        rules,
        train,
        lambda original, level, seed: _released(original, noise, level, seed),
        effort.levels,
        draws=effort.draws,
        figures=FIGURES,
        measures=_model_measures(test, SOURCES[name].positive) if models else (),
        random_state=SEED + fold,
    )
    points = [
        (level, fold * effort.draws + draw, measure, value)
        for level, draw, measure, value in found.points.iter_rows()
    ]
    return points, len(rules)


def _released(original: Table, noise: str, level: float, seed: int) -> Table:
    altered: Table = NOISES[noise](level, random_state=seed).fit_transform(original)
    return altered


def _model_measures(test: Table, positive: str | None) -> list[Measure]:
    """Accuracy, AUC and F-measure of one tree on each release."""
    last: list[tuple[Any, Prediction]] = []

    def scores(original: Any, released: Any) -> Prediction:
        if not last or last[0][0] is not released:
            last[:] = [(released, prediction(original, released, test, positive=positive))]
        return last[0][1]

    def measure(figure: str) -> Measure:
        def score(original: Any, released: Any) -> float:
            value = getattr(scores(original, released).released, figure)
            return float("nan") if value is None else float(value)

        return Measure(figure, "max", score)

    return [measure(figure) for figure in ("accuracy", "auc", "f_measure")]
