"""RandomFlip over a growing number of rows, and against exact greedy k-member clustering.

The exact form compares every row with every other; that is what Byun et al. describe.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bench.ratio import Ratio, seconds, show
from tamis.perturb.flip import flip

K = 5
COLUMNS = 200
SIZES = (25_000, 50_000, 100_000, 200_000)
EXACT_ROWS = 4_000


def records(rows: int) -> sparse.csr_array:
    """Rows of about ten ones each around two hundred habits; hardly any two are equal."""
    rng = np.random.default_rng(0)
    habits = rng.random((200, COLUMNS)) < 0.05
    table = habits[rng.integers(0, len(habits), rows)]
    table ^= rng.random(table.shape) < 0.01
    return sparse.csr_array(table.astype(np.uint8))


def exact_k_member(table: NDArray[np.uint8], k: int) -> int:
    """Greedy k-member clustering against all free rows; the cells that flip."""
    free = np.arange(len(table))
    flips = 0
    while len(free) >= k:
        ones, size = table[free[0]].astype(np.int64), 1
        free = free[1:]
        for _ in range(k - 1):
            ahead = ones + table[free]
            cost = np.minimum(ahead, size + 1 - ahead).sum(axis=1)
            best = int(cost.argmin())
            ones, size = ahead[best], size + 1
            free = np.delete(free, best)
        flips += int(np.minimum(ones, size - ones).sum())
    return flips


def growth() -> list[Ratio]:
    """Twice the rows should take little more than twice the time."""
    times = []
    for rows in SIZES:
        table = records(rows)
        flip(table, K)
        times.append(seconds(lambda table=table: flip(table, K)))  # type: ignore[misc]
    return [
        Ratio(f"{SIZES[i]:,} rows", f"{SIZES[i - 1]:,} rows", times[i], times[i - 1], 2.6)
        for i in range(1, len(SIZES))
    ]


def against_exact() -> tuple[list[Ratio], str]:
    table = records(EXACT_ROWS)
    dense = table.toarray()
    found = flip(table, K)
    exact = exact_k_member(dense, K) / dense.size
    ours = seconds(lambda: flip(table, K))
    theirs = seconds(lambda: exact_k_member(dense, K), repeat=1)
    words = f"flipped: ours {found.flipped_share:.4%}, exact k-member {exact:.4%}"
    return [Ratio(f"{EXACT_ROWS:,} rows", "exact k-member, NumPy", ours, theirs, 1 / 10)], words


def main() -> None:
    show(f"RandomFlip, k = {K}, {COLUMNS} columns: growth", growth())
    lines, words = against_exact()
    show("RandomFlip against all pairs", lines)
    print(words)


if __name__ == "__main__":
    main()
