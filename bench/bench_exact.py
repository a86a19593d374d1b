"""Exact and local search: time to the proof on Adult, the gap on a9a after a time limit.

`TAMIS_BENCH_SECONDS` sets the limit on a9a (60).
"""

from __future__ import annotations

import os
import time

from rich.console import Console
from rich.table import Table

from bench.sparse_tables import load
from tamis.select.containment.exact import exact
from tamis.select.containment.greedy import greedy
from tamis.select.containment.improve import improve
from tamis.select.containment.itemsets import maximal
from tamis.select.containment.selection import Selection

K = 5


def main() -> None:
    limit = float(os.environ.get("TAMIS_BENCH_SECONDS", "60"))
    table = Table("data", "utility", "search", "value", "bound", "gap", "wall s", "cpu s")
    table.title = f"searches over all feasible sets, k = {K}; the first line compiles"
    for data in ("Adult", "Adult", "a9a"):
        for utility in ("hamdist", "distcnt"):
            for search in ("greedy", "maximal", "improve", "exact"):
                _line(table, data, utility, search, limit)
    Console().print(table)


def _line(table: Table, data: str, utility: str, search: str, limit: float) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    found = _run(data, utility, search, limit)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    bound = "" if found.bound is None else f"{found.bound:.4f}"
    gap = "" if found.gap is None else f"{found.gap:.3f}"
    table.add_row(
        data, utility, search, f"{found.utility:.4f}", bound, gap, f"{wall:.2f}", f"{cpu:.2f}"
    )


def _run(data: str, utility: str, search: str, limit: float) -> Selection:
    X, y = load(data)
    if search == "greedy":
        return greedy(X, y, K, utility=utility)
    if search == "maximal":
        return maximal(X, y, K, utility=utility)
    if search == "improve":
        return improve(X, y, K, utility=utility)
    return exact(X, y, K, utility=utility, time_limit=limit)
