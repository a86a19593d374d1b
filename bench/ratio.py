"""Time a contender and its peer in turn and print the ratios as a table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Ratio:
    """One line of a bench: ours against a peer, both in seconds of wall time."""

    what: str
    peer: str
    ours: float
    theirs: float
    aim: float
    """The largest acceptable ratio ours / theirs."""

    @property
    def value(self) -> float:
        return self.ours / self.theirs

    @property
    def holds(self) -> bool:
        return self.value <= self.aim


def seconds(work: Callable[[], Any], repeat: int = 3) -> float:
    """The shortest wall time of a few runs: the least disturbed one."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def show(title: str, ratios: list[Ratio]) -> None:
    """Print the lines of a bench; a ratio beyond its aim is marked."""
    table = Table("what", "peer", "ours s", "peer s", "ratio", "aim", "", title=title)
    for r in ratios:
        cells = (f"{r.ours:.4g}", f"{r.theirs:.4g}", f"{r.value:.3g}", f"<= {r.aim:.3g}")
        table.add_row(r.what, r.peer, *cells, "ok" if r.holds else "BEYOND")
    Console().print(table)
