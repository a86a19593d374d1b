"""The best of all feasible sets, or the best found in a given time with an upper bound."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.select.containment.fill import Filled, Filler
from tamis.select.containment.improve import improved
from tamis.select.containment.itemsets import best_itemset
from tamis.select.containment.relaxation import Relaxation
from tamis.select.containment.selection import Selection

Floats = NDArray[np.float64]

TOLERANCE = 1e-7
"""The tolerance of linear programs, as a share of the bound."""
WARM_UP = 100
"""Rounds of local search before the first linear program."""
SMALL = 20
"""Up to this k the largest itemsets are found quickly, and one of them is a good start."""
ROUNDS_AT_ROOT, ROUNDS = 200, 4
MANY = 1500
"""The number of cuts at which those that are not binding are dropped."""


def exact(
    X: Any,
    y: Any,
    k: int,
    *,
    utility: str = "hamdist",
    time_limit: float | None = None,
    labelled: Any = None,
) -> Selection:
    """Choose the set with the largest utility among all that keep the anonymity at k.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes
    k : int
        The anonymity to keep.
    utility : {"hamdist", "distcnt"}
    time_limit : float, optional
        Seconds after which the best set found is returned with its bound; by default it runs
        until the optimum is proven. The result of a stopped search depends on the machine.
    labelled : array of bool, optional
        The rows whose labels may be used, as in `tamis.select.containment.greedy.greedy`.

    Returns
    -------
    Selection
        With `bound`, which no feasible set exceeds; it equals the utility if the optimum is
        proven (up to the seventh digit, the precision of linear programs).

    Notes
    -----
    Branch and cut. A set is feasible if and only if it contains no set of columns that some rows
    have, but fewer than k (Zhang et al. 2017, Lemma 2); these give the cuts of `Relaxation`. The
    shares of every linear program, filled up greedily, are tried as a set.

    Examples
    --------
    >>> X = [[1, 1, 1]] + [[1, 0, 0]] * 3 + [[0, 1, 1]] * 2 + [[0, 0, 0]] * 4
    >>> found = exact(X, [1] * 6 + [0] * 4, k=2)
    >>> found.features, found.gap
    ((1, 2), 0.0)
    """
    if time_limit is not None and not time_limit >= 0:
        raise InputError(f"time_limit must be at least 0 seconds, got {time_limit}")
    filler = Filler(X, y, k, utility, labelled)
    end = np.inf if time_limit is None else time.monotonic() + time_limit
    best = improved(filler, WARM_UP, end)
    if not len(filler.candidates):
        return filler.selection(best, 0.0)
    if k <= SMALL:
        common = filler.fill(best_itemset(filler, X, k))
        best = max(best, common, key=lambda found: found.value)
    search = _BranchAndCut(Relaxation(filler), best, end)
    bound = search.run()
    return filler.selection(search.best.in_order(), max(bound, search.utility))


@dataclass(order=True)
class _Node:
    """Feasible sets with some columns and without others; the largest bound comes first."""

    minus_bound: float
    number: int
    low: Floats = field(compare=False)
    high: Floats = field(compare=False)


class _BranchAndCut:
    def __init__(self, relaxation: Relaxation, best: Filled, end: float) -> None:
        self.relaxation, self.best, self.end = relaxation, best, end
        self.made = 0
        width = len(relaxation.worth)
        self.open = [_Node(-float(relaxation.worth.sum()), 0, np.zeros(width), np.ones(width))]

    @property
    def utility(self) -> float:
        return self.best.value / self.relaxation.filler.unit

    def run(self) -> float:
        """Search until nothing better is left or the time is up; returns the bound reached."""
        while self.open:
            bound = -self.open[0].minus_bound
            if not self._promises(bound):
                break
            if time.monotonic() > self.end:
                return bound
            self._look(heapq.heappop(self.open))
        return self.utility

    def _promises(self, bound: float) -> bool:
        return bound > self.utility + TOLERANCE * max(1.0, bound)

    def _look(self, node: _Node) -> None:
        """Bound a node's sets; split it if some may be better than the best."""
        bound, shares = self._bounded(node)
        # Cuts are dropped at times, so a program may be looser than that of the node's parent,
        # whose bound holds for the node too.
        bound = min(bound, -node.minus_bound)
        if shares is None or not self._promises(bound):
            return
        if len(self.relaxation.groups) > MANY or not self.made:
            self.relaxation.keep_tight(shares)
        open_part = np.minimum(shares, 1 - shares)
        if open_part.max() < TOLERANCE:
            # A feasible set would have been tried and be the best now, its bound its utility.
            # So this one is not feasible, or its ceiling was added last: solve once more.
            self.relaxation.forbid(shares)
            self._push(bound, node.low, node.high)
            return
        column = int(np.argmax(open_part * self.relaxation.worth))
        for side in (0.0, 1.0):
            low, high = node.low.copy(), node.high.copy()
            low[column] = high[column] = side
            self._push(bound, low, high)

    def _bounded(self, node: _Node) -> tuple[float, Floats | None]:
        """Alternate solving and cutting, while it helps."""
        bounds = list[float]()
        for _ in range(ROUNDS if self.made else ROUNDS_AT_ROOT):
            bound, shares = self.relaxation.solve(node.low, node.high)
            if shares is None or not self._promises(bound):
                return bound, None
            self._try(shares)
            bounds.append(bound)
            stalls = len(bounds) > 6 and bounds[-6] - bound < 1e-3 * bound
            late = time.monotonic() > self.end
            if stalls or late or not self.relaxation.tighten(shares, bound):
                break
        return bound, shares

    def _try(self, shares: Floats) -> None:
        """Fill up the columns with the largest shares; keep the set if it is the best."""
        likely = np.argsort(-shares, kind="stable")
        likely = likely[shares[likely] > 0.2]
        filled = self.relaxation.filler.fill(self.relaxation.first[likely])
        if filled.value > self.best.value:
            self.best = filled

    def _push(self, bound: float, low: Floats, high: Floats) -> None:
        self.made += 1
        heapq.heappush(self.open, _Node(-bound, self.made, low, high))
