"""How near estimates of population uniqueness are to a truth that is known.

Not a race: made populations, and Adult taken for one, are sampled many times. For each model the
mean of estimate / truth is shown, and how often Dankar's choice is at least the truth, and between
two thirds and one and a half times it; at last the same of the people found by matching all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from bench.labelled_tables import DATA
from tamis.risk.grouping import Grouping, grouped
from tamis.risk.population import PopulationRisk, sampled_risk

PEOPLE = 200_000
SAMPLES = 10
FRACTIONS = (0.01, 0.05, 0.2)


def skewed(rng: np.random.Generator, values: int, power: float) -> np.ndarray:
    """Values of which the n-th is n**power times rarer than the first."""
    chance = 1 / np.arange(1, values + 1) ** power
    return rng.choice(values, PEOPLE, p=chance / chance.sum())


def populations() -> Iterator[tuple[str, pl.DataFrame]]:
    rng = np.random.default_rng(1)
    yield "even", pl.DataFrame({f"c{v}": rng.integers(0, v, PEOPLE) for v in (60, 20, 10, 9)})
    yield "skewed", pl.DataFrame({f"c{v}": skewed(rng, v, 1.0) for v in (90, 40, 20, 8, 3)})
    yield "heavy", pl.DataFrame({f"c{v}": skewed(rng, v, 1.5) for v in (500, 200, 50, 10)})
    age = np.clip(rng.normal(45, 18, PEOPLE), 0, 99).astype(int)
    columns = {"age": age, "place": skewed(rng, 300, 0.7), "job": skewed(rng, 60, 1.0)}
    yield "census", pl.DataFrame({**columns, "sex": rng.integers(0, 2, PEOPLE)})
    keys = ["age", "education", "marital-status", "race", "sex"]
    yield "Adult", pl.read_csv(DATA / "adult_train.csv.gz").select(keys)


class Trial(NamedTuple):
    """What a sample says, and the truth of it: people alone, and people found by matching all."""

    said: PopulationRisk
    unique: float
    found: float


def trials(frame: pl.DataFrame, everybody: Grouping, fraction: float) -> Iterator[Trial]:
    for seed in range(SAMPLES):
        rng = np.random.default_rng(seed)
        rows = rng.choice(frame.height, round(frame.height * fraction), replace=False)
        there = everybody.sizes[everybody.class_of[rows]]
        said = sampled_risk(grouped(frame[rows], frame.columns).sizes, fraction)
        yield Trial(said, float((there == 1).mean()), float((1 / there).mean()))


def ratios(tried: list[Trial], model: str) -> list[float]:
    said = [(getattr(t.said.estimates, model), t.unique) for t in tried]
    return [estimate / truth for estimate, truth in said if estimate is not None]


def counted(values: list[float]) -> tuple[str, str, str]:
    """The mean, how many are not below the truth, and how many are near it."""
    near = sum(2 / 3 <= v <= 3 / 2 for v in values)
    return f"{np.mean(values):.2f}", f"{sum(v >= 1 for v in values)}", f"{near}"


def main() -> None:
    table = Table(
        "population", "%", "unique", "Pitman", "Zayatz", "C&McN", "Dankar", ">=", "near",
        "found", "said", ">=", "near", title=f"estimate / truth, {SAMPLES} samples each",
    )  # fmt: skip
    for name, frame in populations():
        everybody = grouped(frame, frame.columns)
        for fraction in FRACTIONS:
            tried = list(trials(frame, everybody, fraction))
            table.add_row(
                name,
                f"{fraction:.0%}",
                f"{np.mean([t.unique for t in tried]):.1%}",
                *(f"{np.mean(ratios(tried, m)):.2f}" for m in ("pitman", "zayatz", "snb")),
                *counted(ratios(tried, "value")),
                f"{np.mean([t.found for t in tried]):.1%}",
                *counted([t.said.risk / t.found for t in tried]),
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
