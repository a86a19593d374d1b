"""A local search between greedy and exact: drop some features, add one, fill up again."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tamis.errors import InputError
from tamis.select.containment.fill import Filled, Filler, Places
from tamis.select.containment.selection import Selection

SHARE_DROPPED = 0.3
"""The largest share of the set to drop."""
NOISE = 0.3
"""Noise in the order in which the rest is offered, as the standard deviation of the logarithm."""
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

    In each round a feature not in the set, drawn by its worth, goes first and the set follows, some
    features dropped: what no longer fits beside the new one drops out by itself. Then the set is
    filled up. The search goes on from the new set unless it is worse.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes
    k : int
        The anonymity to keep.
    utility : {"hamdist", "distcnt"}
    iterations : int
        Rounds. The same number and `random_state` give the same set on every machine.
    time_limit : float, optional
        Seconds after which to stop early.
    random_state : int
        Draws what is dropped and what goes first.
    labelled : array of bool, optional
        The rows whose labels may be used, as in `tamis.select.containment.greedy.greedy`.

    Examples
    --------
    >>> X = [[1, 1, 1]] + [[1, 0, 0]] * 3 + [[0, 1, 1]] * 2 + [[0, 0, 0]] * 4
    >>> improve(X, [1] * 6 + [0] * 4, k=2, iterations=20).features
    (1, 2)
    """
    if iterations < 0:
        raise InputError(f"iterations must be at least 0, got {iterations}")
    if time_limit is not None and not time_limit >= 0:
        raise InputError(f"time_limit must be at least 0 seconds, got {time_limit}")
    filler = Filler(X, y, k, utility, labelled)
    end = np.inf if time_limit is None else time.monotonic() + time_limit
    return filler.selection(improved(filler, iterations, end, random_state).in_order())


def improved(filler: Filler, iterations: int, end: float, random_state: int = 0) -> Filled:
    """The best set after some rounds, or when the monotonic clock reaches `end`."""
    draw = np.random.default_rng(random_state)
    best = here = filler.fill()
    since = 0
    for _ in range(iterations):
        if time.monotonic() > end or len(here.places) == len(filler.candidates):
            break
        there = _neighbour(filler, here, draw)
        since += 1
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
    dropped = draw.random(len(here.places)) < SHARE_DROPPED * draw.random()
    kept = np.sort(here.places[~dropped])
    first: Places = np.concatenate([new, kept])
    if filler.modular:
        rest = np.setdiff1d(everything, first)
        noisy = filler.pairs[rest] * np.exp(NOISE * draw.standard_normal(len(rest)))
        first = np.concatenate([first, rest[np.argsort(-noisy, kind="stable")]])
    return filler.fill(first)
