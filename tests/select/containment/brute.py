"""Oracles that look at every subset, for tables of a few columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int8]


def subsets(width: int) -> Iterator[tuple[int, ...]]:
    for size in range(width + 1):
        yield from combinations(range(width), size)


def anonymity(X: Table, features: tuple[int, ...]) -> int:
    """The least number of rows that contain a row, in the square of the rows."""
    part = X[:, list(features)].astype(bool)
    inside = ~(part[:, None, :] & ~part[None, :, :]).any(axis=2)
    return int(inside.sum(axis=1).min())


def utility(X: Table, y: NDArray[np.int8], features: tuple[int, ...], name: str) -> float:
    """HamDist or DistCnt by going through all pairs of opposite classes."""
    part = X[:, list(features)]
    differ = (part[y == 1][:, None, :] != part[y == 0][None, :, :]).sum(axis=2)
    return float((differ if name == "hamdist" else differ > 0).mean())


def best_utility(X: Table, y: NDArray[np.int8], k: int, name: str) -> float:
    """The largest utility over all feasible sets."""
    feasible = (s for s in subsets(X.shape[1]) if anonymity(X, s) >= k)
    return max(utility(X, y, s, name) for s in feasible)


def maximal_itemsets(X: Table, k: int) -> list[tuple[int, ...]]:
    """All sets of columns that k rows hold and that lie in no other such set."""
    frequent = [set(s) for s in subsets(X.shape[1]) if s and X[:, list(s)].all(axis=1).sum() >= k]
    return [tuple(sorted(s)) for s in frequent if not any(s < other for other in frequent)]
