"""Selection by the largest sets of features that k rows have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import sparse_rows
from tamis.select.containment.fill import Filler
from tamis.select.containment.selection import Selection


def maximal(
    X: Any,
    y: Any,
    k: int,
    *,
    utility: str = "hamdist",
    largest: int = 20,
    extend: bool = True,
    labelled: Any = None,
) -> Selection:
    """Choose the best of the largest maximal itemsets of support k, and what still fits beside it.

    Features that k rows have in common are feasible together. Useless features (constant
    ones) are left out of the choice.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes
    k : int
        The anonymity to keep.
    utility : {"hamdist", "distcnt"}
        Decides among the itemsets.
    largest : int
        How many itemsets to look at; ties in size at the cut are broken by `hamdist`, then by
        the lowest columns.
    extend : bool
        Greedily add features that still fit. The paper does not.
    labelled : array of bool, optional
        The rows whose labels may be used, as in `tamis.select.containment.greedy.greedy`.

    Notes
    -----
    Algorithm 1 of Zhang et al. (2017).

    Examples
    --------
    >>> X = [[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    >>> maximal(X, [1, 1, 0, 0], k=2, extend=False).features
    (0, 1)
    >>> maximal(X, [1, 1, 0, 0], k=2).features
    (0, 1)
    """
    from tamis.select.containment.itemsets import check_largest

    check_largest(largest)
    filler = Filler(X, y, k, utility, labelled)
    best = best_itemset(filler, X, k, largest)
    if extend:
        return filler.selection(filler.fill(best))
    return filler.selection(filler.offered(best))


def best_itemset(filler: Filler, X: Any, k: int, largest: int = 20) -> NDArray[np.int64]:
    """The positions of the best of the largest maximal itemsets, in order."""
    from tamis.select.containment.itemsets import largest_itemsets

    values = np.zeros(sparse_rows(X).shape[1], dtype=np.int64)
    values[filler.candidates] = filler.pairs
    sets = [filler.places(s) for s in largest_itemsets(X, k, largest, values)]
    worth = [filler.gains(places)[0] for places in sets]
    return np.sort(sets[int(np.argmax(worth))] if sets else np.zeros(0, dtype=np.int64))
