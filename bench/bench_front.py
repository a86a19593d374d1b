"""Kept and told: is the front found, what does it cost, and does the choice hold on other rows?

`python -m bench front` does both parts; `python -m bench.bench_front NAME[,NAME] [SEED,...]` the
second part for some tables and seeds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from bench.front_tables import DATA, SETUPS, Setup
from tamis.coding import coded, counted, joined
from tamis.evaluate.bits import LEAST_SCALE, chosen, gains, surprise
from tamis.evaluate.regression import strong_probabilities
from tamis.evaluate.subset_bits import Columns, Question, SubsetBits
from tamis.learn.boosting import shares, shares_given
from tamis.select.front import Front, search_front

K = 5
CAUTIONS = (0.25, 0.5, 1.0, 2.0, 4.0)
SEARCHED = ("pima", "ilpd", "wine", "adult_sex")
GOAL = {
    "adult_sex": ".86 / .28",
    "bank_default": ".99 / .07",
    "credit": "1.0 / .08",
    "adult_race": ".94 / .19",
    "adult_marital": ".61 / .11",
    "bank_marital": ".99 / .07",
    "diab": ".73 / .09",
    "ilpd": ".88 / .33",
}
"""Kept and told of the prototype, by a strong learner."""


def labels(column: pl.Series) -> np.ndarray:
    return np.unique(column.cast(pl.String).to_numpy().astype(str), return_inverse=True)[1]


def opened(setup: Setup, seed: int) -> SubsetBits:
    target, secret = (labels(setup.frame[name]) for name in (setup.target, setup.secret))
    return SubsetBits.of(setup.frame.select(setup.features), target, secret, random_state=seed)


def keeps_k(setup: Setup, k: int) -> Callable[[Columns], bool]:
    quasi = {
        i: coded(setup.frame[name]) for i, name in enumerate(setup.features) if name in setup.quasi
    }

    def keeps(columns: Columns) -> bool:
        known = [quasi[c] for c in columns if c in quasi]
        return not known or int(counted(reduce(joined, known))[1].min()) >= k

    return keeps


def unknowable(setup: Setup) -> Columns:
    """All columns that attackers cannot know."""
    return tuple(i for i, name in enumerate(setup.features) if name not in setup.quasi)


def spanned(points: np.ndarray) -> float:
    """The area below a front of (kept, told), to where told is 1."""
    order = np.lexsort((-points[:, 0], points[:, 1]))
    kept = np.maximum.accumulate(points[order, 0])
    told = np.minimum(np.append(points[order, 1], 1.0), 1.0)
    return float((kept * np.diff(told)).sum())


@dataclass(frozen=True)
class Gap:
    """How far a search is from the truth: worst and mean loss of value, lost area, fits."""

    worst: float
    mean: float
    area: float
    fits: int


def gap(measured, sets: Sequence[Columns], allowed: np.ndarray, front: Front) -> Gap:
    found = np.array([each in front.scores for each in sets])
    lost = []
    for caution in CAUTIONS:
        value = measured.value(caution)[: len(sets)]
        lost.append(value[allowed].max() - value[allowed & found].max())
    points = np.column_stack([measured.kept, measured.told])[: len(sets)]
    area = spanned(points[allowed]) - spanned(points[allowed & found])
    return Gap(max(lost), float(np.mean(lost)), area, front.fits)


def against_all(name: str, seed: int = 0) -> list[tuple[str, str, Gap]]:
    """The beams against every set, without k and with it where attackers know any column.

    A beam of one is there to be beaten: where it loses nothing either, the table proves little.
    The truth is that of the small boosting on the rows that choose, not of the strong learner.
    """
    setup = SETUPS[name]()
    bits = opened(setup, seed)
    everything = search_front(bits, whole=len(bits))
    sets = list(everything.scores)
    measured = bits.measured(sets)
    found = []
    asked: dict[str, Callable[[Columns], bool]] = {"any": lambda columns: True}
    if setup.quasi:
        asked[f"k = {K}"] = keeps_k(setup, K)
    for what, keeps in asked.items():
        allowed = np.array([keeps(columns) for columns in sets])
        seeds = [c for c in [unknowable(setup)] if keeps(c)]
        front = search_front(bits, keeps, seeds=seeds, whole=0)
        found.append((f"{name}, {what}", "front, 8", gap(measured, sets, allowed, front)))
        single = search_front(bits, keeps, whole=0, width=1)
        found.append((f"{name}, {what}", "front, 1", gap(measured, sets, allowed, single)))
    return found


@dataclass(frozen=True)
class Held:
    """The choice as the search saw it, and on other rows by a strong learner."""

    columns: tuple[str, ...]
    seen: tuple[float, float]
    kept: float
    told: float
    kept_error: float
    told_error: float
    fits: int
    cpu: float
    bits: tuple[float, float, float, float]
    """U of the choice and what is 1 in kept, A of the choice and what is 1 in told."""


def strong_gains(bits: SubsetBits, columns: Columns, guess: Question) -> tuple[np.ndarray, float]:
    """Gains of the rows to report on by the strong learner, and the bits unknown without it."""
    parts = bits.parts
    label, report = guess.label, parts.report
    if guess.beside:
        known = shares_given(label, bits.target.label, parts.search, guess.classes)[report]
    else:
        known = np.tile(shares(label[parts.search], guess.classes), (len(report), 1))
    said = strong_probabilities(
        bits.table,
        label,
        parts.learn,
        parts.choose,
        report,
        columns=[*columns, *guess.beside] if columns else guess.beside,
        classes=guess.classes,
    )
    return gains(said, known, label[report]), float(surprise(known, label[report]).mean())


def held(setup: Setup, seed: int) -> Held:
    """Search, choose with caution 1 and k = 5, and look at rows that neither learnt nor chose."""
    start = time.process_time()
    bits = opened(setup, seed)
    keeps = keeps_k(setup, K)
    front = search_front(bits, keeps, seeds=[unknowable(setup)])
    sets = [columns for columns in front.scores if columns]
    measured = bits.measured(sets)
    best = chosen(measured, [len(columns) for columns in sets])
    cpu = time.process_time() - start
    shown = []
    for guess in (bits.target, bits.secret):
        assert guess is not None
        some, unsure = strong_gains(bits, sets[best], guess)
        full, _ = strong_gains(bits, bits.everything, guess)
        scale = max(full.mean(), some.mean(), LEAST_SCALE * unsure)
        shown.append((some.mean(), scale, some.std() / scale / np.sqrt(len(some))))
    (useful, most_useful, kept_error), (telling, most_telling, told_error) = shown
    kept, told = useful / most_useful, telling / most_telling
    names = tuple(setup.features[c] for c in sets[best])
    seen = float(measured.kept[best]), float(measured.told[best])
    pooled = useful, most_useful, telling, most_telling
    return Held(names, seen, kept, told, kept_error, told_error, front.fits, cpu, pooled)


def show_search() -> None:
    table = Table("table", "search", "worst gap", "mean gap", "area lost", "fits", title="search")
    for name in SEARCHED:
        for what, how, found in against_all(name):
            figures = (f"{found.worst:.3f}", f"{found.mean:.4f}", f"{found.area:.4f}")
            table.add_row(what, how, *figures, str(found.fits))
    Console().print(table)


def show_choice(names: Sequence[str], seeds: Sequence[int]) -> None:
    heads = ("table", "seed", "goal", "kept", "told", "kept, told as searched", "columns", "fits")
    table = Table(*heads, "CPU s", title="choice, caution 1, k = 5; strong learner, unseen rows")
    for name in names:
        setup = SETUPS[name]()
        pooled = []
        for seed in seeds:
            found = held(setup, seed)
            pooled.append(found.bits)
            table.add_row(
                name,
                str(seed),
                GOAL.get(name, ""),
                f"{found.kept:.2f} ± {found.kept_error:.2f}",
                f"{found.told:.2f} ± {found.told_error:.2f}",
                "{:.2f}, {:.2f}".format(*found.seen),
                str(len(found.columns)),
                str(found.fits),
                f"{found.cpu:.1f}",
            )
        useful, most_useful, telling, most_telling = np.mean(pooled, axis=0)
        means = f"{useful / most_useful:.2f}", f"{telling / most_telling:.2f}"
        table.add_row(name, "all", GOAL.get(name, ""), *means, end_section=True)
    Console(width=120).print(table)


def main() -> None:
    if not DATA.exists():
        print("bench front: the real datasets are not beside this checkout; skipped")
        return
    show_search()
    show_choice(("adult_sex", "bank_default", "credit"), (0, 1))


if __name__ == "__main__":
    seeds = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else [0]
    show_choice(sys.argv[1].split(","), seeds)
