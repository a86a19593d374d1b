"""How the time of a greedy search grows with the rows, the columns and the columns chosen.

Each line is compared with the one of half the size, so that 2 is linear growth.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

from bench.made_tables import repeated, uniform
from bench.ratio import Ratio, seconds, show
from tamis.select.containment.greedy import greedy

UTILITIES = ("hamdist", "distcnt")
LINEAR = 2.6
"""Content up to here: a larger table leaves a cache behind now and then."""


def over_rows(most: int) -> list[Ratio]:
    sizes = [most // 8, most // 4, most // 2, most]
    return _doubled("rows", {n: (uniform(n, 20_000, 30), {}) for n in sizes})


def over_columns(rows: int) -> list[Ratio]:
    """Rows keep their length, so that the number of ones does not depend on the width."""
    sizes = [5_000, 10_000, 20_000, 40_000, 80_000]
    return _doubled("columns", {d: (uniform(rows, d, 30), {}) for d in sizes})


def over_chosen(rows: int) -> list[Ratio]:
    """Every row occurs five times, so that all columns fit and a limit ends the search."""
    table = repeated(rows, 4_000, 30, times=5)
    sizes = [64, 128, 256, 512, 1024]
    return _doubled("chosen", {s: (table, {"max_features": s}) for s in sizes})


def _doubled(what: str, tasks: dict[int, tuple[Any, dict[str, Any]]]) -> list[Ratio]:
    found = []
    for utility in UTILITIES:
        times = {}
        for size, ((X, y), limit) in tasks.items():
            chosen = greedy(X, y, 5, utility=utility, **limit).features
            if what == "chosen" and len(chosen) < size:
                break
            times[size] = seconds(partial(greedy, X, y, 5, utility=utility, **limit), repeat=5)
        for half, size in pairwise(times):
            line = f"greedy {utility}: {size:,} {what}"
            found.append(Ratio(line, f"{half:,} {what}", times[size], times[half], LINEAR))
    return found


def main(rows: int = 800_000) -> None:
    show(f"growth over rows, x 20,000 columns, 30 ones per row, up to {rows:,}", over_rows(rows))
    show(f"growth over columns, {rows // 4:,} rows of 30 ones", over_columns(rows // 4))
    show(f"growth over chosen columns, {rows // 8:,} rows", over_chosen(rows // 8))


if __name__ == "__main__":
    main()
