"""Where to cut a column of numbers so that the classes on each side differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def mdl_cuts(values: NDArray[np.float64], labels: NDArray[Any]) -> list[float]:
    """Cut points by entropy, each accepted where it pays for its own description.

    Parameters
    ----------
    values : array of float
    labels : array of class labels

    Returns
    -------
    list of float
        Ascending; midpoints between neighbouring values; empty where no cut pays.

    Notes
    -----
    Fayyad and Irani, Multi-interval discretization of continuous-valued attributes for
    classification learning, IJCAI 1993: of N rows with k classes a cut is accepted where its
    information gain exceeds (log2(N - 1) + log2(3**k - 2) - k H + k1 H1 + k2 H2) / N.

    Examples
    --------
    >>> mdl_cuts(np.arange(20.0), np.repeat([0, 1], 10))
    [9.5]
    >>> mdl_cuts(np.arange(20.0), np.tile([0, 1], 10))
    []
    """
    distinct, places = np.unique(values, return_inverse=True)
    classes, codes = np.unique(labels, return_inverse=True)
    table = np.zeros((len(distinct), len(classes)), dtype=np.int64)
    np.add.at(table, (places, codes), 1)
    return _cut(distinct, table)


def _cut(distinct: NDArray[np.float64], table: Counts) -> list[float]:
    if len(distinct) < 2:
        return []
    below = table.cumsum(axis=0)[:-1]
    above = table.sum(axis=0) - below
    rows = table.sum()
    sides = below.sum(axis=1) * _entropy(below) + above.sum(axis=1) * _entropy(above)
    best = int(np.argmin(sides))
    if not _pays(table.sum(axis=0), below[best], above[best], float(sides[best] / rows)):
        return []
    point = float((distinct[best] + distinct[best + 1]) / 2)
    left = _cut(distinct[: best + 1], table[: best + 1])
    return [*left, point, *_cut(distinct[best + 1 :], table[best + 1 :])]


def _pays(whole: Counts, below: Counts, above: Counts, left_over: float) -> bool:
    rows = int(whole.sum())
    entropies = _entropy(np.stack([whole, below, above]))
    k, k1, k2 = (int(np.count_nonzero(side)) for side in (whole, below, above))
    spent = k * entropies[0] - k1 * entropies[1] - k2 * entropies[2]
    price = (np.log2(rows - 1) + np.log2(3.0**k - 2) - spent) / rows
    return bool(entropies[0] - left_over > price)


def _entropy(counts: Counts) -> NDArray[np.float64]:
    """Bits of each row of counts."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    bits: NDArray[np.float64] = -(shares * logs).sum(axis=1)
    return bits
