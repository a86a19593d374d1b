"""Greedy completion of a set of columns, and a local search between greedy and exact.

`Filler` completes a set until nothing more fits, as every search but greedy does at the end.
`improve` drops some features of a set, adds one and completes it again.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.binary.kernels import take
from tamis.binary.matrix import (
    class_numbers,
    differing_pairs,
    sparse_columns,
    two_classes,
    zero_one,
)
from tamis.errors import InputError
from tamis.select.containment import kernels
from tamis.select.containment.selection import (
    Selection,
    Step,
    StopRule,
    check_k,
    empty_path,
    first_queue,
    labelled_rows,
)
from tamis.select.containment.several import ones_by_class, parted_pairs, unlike_pairs
from tamis.select.containment.source import ColumnSource

Places = NDArray[np.int64]


class Filled(NamedTuple):
    """A feasible set, by positions among the candidates, and the pairs that it tells apart."""

    places: Places
    value: int
    anonymity: int

    def in_order(self) -> Filled:
        """The same set with the best candidates first, in whatever order they were found."""
        return self._replace(places=np.sort(self.places))


class Filler:
    """Completes sets of candidate columns greedily.

    The candidates are the columns that are feasible alone and have some utility, best first; the
    lowest column comes first among equals. Sets are given by positions among the candidates.

    The utility is `hamdist` or `distcnt`, the rest as in
    `tamis.select.containment.greedy.GreedySearch`.

    >>> X = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]
    >>> filler = Filler(X, [1, 1, 1, 0, 0, 0], k=2, utility="hamdist")
    >>> filler.candidates.tolist(), filler.fill([1]).places.tolist()
    ([0, 1], [1, 0])
    """

    def __init__(self, X: Any, y: Any, k: int, utility: str, labelled: Any = None) -> None:
        table = zero_one(X)
        label = class_numbers(y, table.shape[0])
        several = bool(label.max(initial=0) > 1)
        check_k(k, table.shape[0])
        if utility not in ("hamdist", "distcnt"):
            raise InputError(
                f"utility must be 'hamdist' or 'distcnt' for this search, got {utility!r}"
            )
        if several and utility != "hamdist":
            raise InputError(
                f"with {label.max() + 1} classes only search='greedy' can maximise {utility!r}: "
                "this search counts rows of two classes in each group; use 'hamdist', or greedy"
            )
        self.k, self.modular = int(k), utility == "hamdist"
        positive = np.zeros(len(label), bool) if several else two_classes(y)
        known = labelled_rows(labelled, label)
        self._source = source = ColumnSource.of(table, positive, known)
        classes = np.bincount(label if known is None else label[known], minlength=2)
        if several:
            pairs = parted_pairs(ones_by_class(table, label, known), classes)
        else:
            rows, positives = int(classes.sum()), int(classes[1])
            pairs = differing_pairs(source.labelled, source.ones, rows, positives)
        useful = np.flatnonzero((source.support >= k) & (pairs > 0))
        self.candidates = useful[np.argsort(-pairs[useful], kind="stable")]
        self.pairs = pairs[self.candidates]
        self.unit = unlike_pairs(classes)
        self.columns = take(sparse_columns(source.table), self.candidates, source.support)

    @property
    def weight(self) -> NDArray[np.int64]:
        """The number of rows of the table behind each (distinct) row of `columns`."""
        return self._source.weight

    def places(self, features: Any) -> Places:
        """Positions of some columns of the table; those that are not candidates are left out."""
        place = {int(c): i for i, c in enumerate(self.candidates)}
        return np.array([place[f] for f in features if f in place], dtype=np.int64)

    def fill(self, first: Any = ()) -> Filled:
        """Offer some candidates in turn, then all others, greedily."""
        first = np.asarray(first, dtype=np.int64)
        rest = np.setdiff1d(np.arange(len(self.candidates)), first)
        # Each gain of a sum is its column's own: the candidates are already in greedy order.
        if self.modular:
            return self.offered(np.concatenate([first, rest]))
        g, taken = self._offered(first)
        queue = first_queue(self.candidates[rest], self.pairs[rest])
        path = empty_path(len(self.pairs), len(self.pairs))
        rule = StopRule(self.k, False, False, len(self.pairs), 0.0)
        status = kernels.WIDEN
        while status == kernels.WIDEN:
            g = kernels.widen(g)
            status = kernels.pick_lazily(self._part(rest), rule, path, queue, g)
        taken = np.concatenate([taken, rest[path.item[len(taken) : int(g.state[kernels.CHOSEN])]]])
        return Filled(taken, self._parted(g), int(g.state[kernels.ANONYMITY]))

    def offered(self, turn: Places) -> Filled:
        """Offer some candidates in turn and keep those that fit."""
        g, taken = self._offered(turn)
        value = int(self.pairs[taken].sum()) if self.modular else self._parted(g)
        return Filled(taken, value, int(g.state[kernels.ANONYMITY]))

    def gains(self, places: Places) -> tuple[int, NDArray[np.int64]]:
        """Pairs that a set tells apart, feasible or not, and what each candidate would add."""
        if self.modular:
            added = self.pairs.copy()
            added[places] = 0
            return int(self.pairs[places].sum()), added
        g, _ = self._offered(places, k=1)  # at k = 1 every set is feasible
        return self._parted(g), kernels.pair_gains(self.columns, g)

    def selection(self, filled: Filled, bound: float | None = None) -> Selection:
        """The set as a search returns it, with utility and anonymity after each feature."""
        turn, steps, before = filled.places, list[Step](), 0.0
        g, path = self._start(len(turn))
        for size in range(1, len(turn) + 1):
            g = kernels.widen(g)
            rule = StopRule(self.k, False, False, size, 0.0)
            kernels.offer_in_turn(self._part(turn), size - 1, rule, path, 0, g)
            value = int(self.pairs[turn[:size]].sum()) if self.modular else self._parted(g)
            utility = value / self.unit
            column = int(self.candidates[turn[size - 1]])
            steps.append(Step(column, utility - before, utility, int(g.state[kernels.ANONYMITY])))
            before = utility
        features = tuple(step.feature for step in steps)
        return Selection(features, filled.anonymity, before, bound, tuple(steps))

    def _offered(self, turn: Places, k: int | None = None) -> tuple[Any, Places]:
        """Offer candidates in turn; the patterns afterwards, and the candidates that fitted."""
        g, path = self._start(len(turn))
        rule = StopRule(self.k if k is None else k, False, False, len(turn), 0.0)
        columns, place, status = self._part(turn), 0, kernels.WIDEN
        while status == kernels.WIDEN:
            g = kernels.widen(g)
            place, status = kernels.offer_in_turn(columns, place, rule, path, 0, g)
        return g, turn[path.item[: int(g.state[kernels.CHOSEN])]]

    def _start(self, most: int) -> tuple[Any, Any]:
        return self._source.start(by_class=not self.modular), empty_path(most, most)

    def _part(self, places: Places) -> Any:
        whole = self.columns
        return whole._replace(begin=whole.begin[places], end=whole.end[places])

    def _parted(self, g: Any) -> int:
        """Pairs of opposite classes that lie in different patterns: all, less those in one."""
        counts = g.counts[:, : int(g.state[kernels.PATTERNS])]
        ones = counts[0] >> kernels.HALF
        others = (counts[0] & kernels.LOW) - ones - counts[1:].sum(axis=0)
        return self.unit - int((others * ones).sum())


# More change in a round reaches farther sets, but fewer of them are better than the last.
SHARE_DROPPED = 0.3
"""The largest fraction of the set that a round drops."""
NOISE = 0.3
"""Noise in the order in which the rest is offered: the standard deviation of its logarithm."""
PATIENCE = 50
"""Rounds without a better set after which the search returns to the best."""


def improve(
    X: Any,
    y: Any,
    k: int,
    *,
    utility: str = "hamdist",
    iterations: int = 300,
    time_limit: float | None = None,
    random_state: int = 0,
    labelled: Any = None,
) -> Selection:
    """Improve the greedy choice by local search; never worse than greedy.

    Each round draws a feature outside the set, with probability proportional to its utility, and
    offers it first; then the features of the set, some of them dropped at random. What no longer
    fits beside the new feature drops out by itself. The set is then completed greedily, and the
    search continues from the new set unless it is worse.

    Parameters
    ----------
    X, y, k, labelled
        As in `tamis.select.containment.greedy.GreedySearch`; `k` is the anonymity to keep.
    utility : {"hamdist", "distcnt"}
    iterations : int
        Rounds. The same number and `random_state` give the same set on every machine.
    time_limit : float, optional
        Seconds after which to stop early.
    random_state : int
        Draws the features that are dropped and the one that is offered first.

    Examples
    --------
    >>> X = [[1, 1, 1]] + [[1, 0, 0]] * 3 + [[0, 1, 1]] * 2 + [[0, 0, 0]] * 4
    >>> improve(X, [1] * 6 + [0] * 4, k=2, iterations=20).features
    (1, 2)
    """
    if iterations < 0:
        raise InputError(f"iterations must be at least 0, got {iterations}")
    end = deadline(time_limit)
    filler = Filler(X, y, k, utility, labelled)
    return filler.selection(improved(filler, iterations, end, random_state).in_order())


def deadline(time_limit: float | None) -> float:
    """The reading of the monotonic clock at which a time limit ends; infinite without a limit."""
    if time_limit is None:
        return np.inf
    if not time_limit >= 0:
        raise InputError(f"time_limit must be at least 0 seconds, got {time_limit}")
    return time.monotonic() + time_limit


def improved(filler: Filler, iterations: int, end: float, random_state: int = 0) -> Filled:
    """The best set after `iterations` rounds, or when the monotonic clock reaches `end`."""
    draw = np.random.default_rng(random_state)
    best = here = filler.fill()
    since = 0
    for _ in range(iterations):
        if time.monotonic() > end or len(here.places) == len(filler.candidates):
            break
        there = _neighbour(filler, here, draw)
        since += 1
        # An equal set is accepted as well, which lets the search cross plateaus.
        if there.value >= here.value:
            here = there
        if here.value > best.value:
            best, since = here, 0
        elif since >= PATIENCE:
            here, since = best, 0
    return best


def _neighbour(filler: Filler, here: Filled, draw: np.random.Generator) -> Filled:
    everything = np.arange(len(filler.candidates))
    others = np.setdiff1d(everything, here.places)
    new = draw.choice(others, 1, p=filler.pairs[others] / filler.pairs[others].sum())
    # A share drawn anew in each round mixes small steps with large ones.
    dropped = draw.random(len(here.places)) < SHARE_DROPPED * draw.random()
    kept = np.sort(here.places[~dropped])
    first: Places = np.concatenate([new, kept])
    # A sum would always be completed in the same order, so that order is drawn too. The gains of
    # a set function depend on what was dropped, and vary without noise.
    if filler.modular:
        rest = np.setdiff1d(everything, first)
        noisy = filler.pairs[rest] * np.exp(NOISE * draw.standard_normal(len(rest)))
        first = np.concatenate([first, rest[np.argsort(-noisy, kind="stable")]])
    return filler.fill(first)
