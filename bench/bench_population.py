"""How near estimates of population uniqueness are to a truth that is known.

Not a race: made populations, and Adult taken for one, are sampled many times. For each model the
mean of estimate / truth is shown, and how often Dankar's choice is at least the truth, and at most
half as much again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from bench.labelled_tables import DATA
from tamis.risk.grouping import Grouping, grouped
from tamis.risk.population import PopulationEstimates, population_uniques

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


def estimates(
    frame: pl.DataFrame, everybody: Grouping, fraction: float
) -> Iterator[tuple[PopulationEstimates, float]]:
    """An estimate and its truth for each sample."""
    for seed in range(SAMPLES):
        rng = np.random.default_rng(seed)
        rows = rng.choice(frame.height, round(frame.height * fraction), replace=False)
        truth = (everybody.sizes[everybody.class_of[rows]] == 1).mean()
        sizes = grouped(frame[rows], frame.columns).sizes
        yield population_uniques(sizes, fraction), float(truth)


def _ratio(found: list[tuple[PopulationEstimates, float]], name: str) -> str:
    known = [(getattr(e, name), t) for e, t in found]
    ratios = [estimate / truth for estimate, truth in known if estimate is not None]
    return f"{np.mean(ratios):.2f}" if ratios else "none"


def main() -> None:
    table = Table(
        "population", "sampled", "unique", "Pitman", "Zayatz", "Chen and McNulty", "Dankar",
        "not below", "within half", title="estimate / truth of population uniqueness",
    )  # fmt: skip
    for name, frame in populations():
        everybody = grouped(frame, frame.columns)
        for fraction in FRACTIONS:
            found = list(estimates(frame, everybody, fraction))
            chosen = [e.value / t for e, t in found]
            table.add_row(
                name,
                f"{fraction:.0%}",
                f"{np.mean([t for _, t in found]):.1%}",
                *(_ratio(found, model) for model in ("pitman", "zayatz", "snb", "value")),
                f"{sum(r >= 1 for r in chosen)} of {SAMPLES}",
                f"{sum(0.67 <= r <= 1.5 for r in chosen)} of {SAMPLES}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
