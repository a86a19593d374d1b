"""Coarser forms against dropping: kept and told on other rows, the area of the front, the cost.

`python -m bench coarser`; `python -m bench.bench_coarser NAME[,NAME] [SEED,...]` for some tables
and seeds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.bench_front import K, keeps_k, opened, spanned, strong_gains, unknowable
from bench.front_tables import DATA, SETUPS, Setup
from tamis.evaluate.bits import LEAST_SCALE, KeptTold, chosen
from tamis.evaluate.subset_bits import Columns, SubsetBits
from tamis.propose.coarser_sets import search_coarser
from tamis.select.front import search_front

GOAL = {"adult_sex": ".93 / .18", "bank_default": ".96 / .07", "credit": "1.0 / -.03"}
"""Kept and told of the prototype, by a strong learner."""


@dataclass(frozen=True)
class Found:
    """What one way to search chose: on the rows that chose, and by a strong learner on others."""

    columns: str
    seen: tuple[float, float]
    held: tuple[float, float]
    area: float
    fits: int
    cpu: float

    @property
    def value(self) -> float:
        return self.held[0] - self.held[1]


def area(measured: KeptTold, sets: Sequence[Columns]) -> float:
    return spanned(np.column_stack([measured.kept, measured.told])[: len(sets)])


def held(bits: SubsetBits, columns: Columns) -> tuple[float, float]:
    """Kept and told by the strong learner, on rows that neither learnt nor chose."""
    found = []
    for guess in (bits.target, bits.secret):
        assert guess is not None
        some, unsure = strong_gains(bits, columns, guess)
        full, _ = strong_gains(bits, bits.everything, guess)
        found.append(some.mean() / max(full.mean(), some.mean(), LEAST_SCALE * unsure))
    return found[0], found[1]


def both(setup: Setup, seed: int) -> tuple[Found, Found]:
    """Columns dropped only, then coarser forms too; caution 1, k = 5."""
    frame = setup.frame.select(setup.features)
    start = time.process_time()
    bits = opened(setup, seed)
    front = search_front(bits, keeps_k(setup, K), seeds=[unknowable(setup)])
    sets = [columns for columns in front.scores if columns]
    measured = bits.measured(sets)
    best = chosen(measured, [len(columns) for columns in sets])
    seen = float(measured.kept[best]), float(measured.told[best])
    middle = time.process_time()
    dropping = Found(
        " ".join(setup.features[c] for c in sets[best]),
        seen,
        held(bits, sets[best]),
        area(measured, sets),
        front.fits,
        middle - start,
    )
    middle = time.process_time()
    found = search_coarser(bits, frame, views=[(setup.quasi, K)])
    best = chosen(found.measured, found.sizes)
    cpu = time.process_time() - middle
    forms = [
        f"{setup.features[rung.column]}{f':{rung.groups}' if rung.chain else ''}"
        for rung in found.rungs(best)
    ]
    coarser = Found(
        " ".join(forms),
        (float(found.measured.kept[best]), float(found.measured.told[best])),
        held(found.bits, found.sets[best]),
        area(found.measured, found.sets),
        len(found.bits.fitted),
        cpu,
    )
    return dropping, coarser


def show(names: Sequence[str], seeds: Sequence[int]) -> None:
    heads = ("seed", "search", "goal", "kept", "told", "value", "as searched", "area")
    for name in names:
        title = f"{name}, caution 1, k = 5; strong learner, unseen rows"
        table = Table(*heads, "fits", "CPU s", "columns", title=title)
        setup = SETUPS[name]()
        for seed in seeds:
            for way, found in zip(("dropping", "coarser"), both(setup, seed)):
                table.add_row(
                    str(seed),
                    way,
                    GOAL.get(name, "") if way == "coarser" else "",
                    f"{found.held[0]:.2f}",
                    f"{found.held[1]:.2f}",
                    f"{found.value:.2f}",
                    "{:.2f}, {:.2f}".format(*found.seen),
                    f"{found.area:.3f}",
                    str(found.fits),
                    f"{found.cpu:.1f}",
                    found.columns,
                )
        Console(width=150).print(table)


def main() -> None:
    if not DATA.exists():
        print("bench coarser: the real datasets are not beside this checkout; skipped")
        return
    show(("adult_sex", "bank_default", "wine"), (0, 1))


if __name__ == "__main__":
    chosen_seeds = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else [0]
    show(sys.argv[1].split(","), chosen_seeds)
