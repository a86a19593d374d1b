"""What a sequence of private steps costs altogether, in the two currencies that synthesisers use.

Pure: each step costs an epsilon, and epsilons add up. Counts get discrete Laplace noise, and a
choice is made by the exponential mechanism.

Concentrated (zCDP, Bun and Steinke 2016): each step costs a rho, and rhos add up. Counts get
discrete Gaussian noise, whose rho is (sensitivity / deviation)^2 / 2; a choice by the exponential
mechanism at epsilon has rho = epsilon^2 / 8 (Cesar and Rogers 2021). At the end the sum is worth
an epsilon at a small delta. For many steps that allows far less noise.

Either way a choice may depend on all that was drawn before: both kinds of cost add up for adaptive
sequences, too.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from tamis.arrays import Ints
from tamis.dp.budget import exponential, gaussian, laplace

FIXED_POINT = 256
"""Scores are chosen among as whole numbers of this fraction of a row."""
SPARE = 1e-9
"""The share of the total by which a sum of parts may exceed it in floating point."""


class PrivacyLoss(ABC):
    """Spends a total on noisy counts and choices, and refuses to spend more.

    Parameters
    ----------
    total : float
        In the currency of the kind.
    moved : int
        By how much the counts of one table change in total between neighbours. All of it may be in
        one cell, so it bounds both the sum and the Euclidean length of the change.
    """

    halving: ClassVar[float]
    """By how much more it costs to halve the deviation of noise."""

    def __init__(self, total: float, moved: int) -> None:
        self.total, self.moved, self.spent = total, moved, 0.0

    @property
    def left(self) -> float:
        return max(0.0, self.total - self.spent)

    def measure(self, counts: Ints, cost: float) -> Ints:
        """Counts with noise."""
        self._spend(cost)
        return self._noisy(counts, cost)

    def choose(self, scores: NDArray[np.float64], sensitivity: float, cost: float) -> int:
        """The place of a high score, drawn by the exponential mechanism.

        `sensitivity` bounds the change of any one score between neighbours. Scores are rounded to
        whole numbers first: that moves each by at most half a unit, so both neighbours together by
        one, and one more covers what floating point loses.
        """
        self._spend(cost)
        whole = np.rint(scores * FIXED_POINT).astype(np.int64)
        most = math.ceil(sensitivity * FIXED_POINT) + 2
        return exponential(whole, most, self._epsilon_of(cost), picks=1)[0]

    def _spend(self, cost: float) -> None:
        if self.spent + cost > self.total * (1 + SPARE):
            raise AssertionError("a synthesiser asked for more than its budget")
        self.spent += cost

    @abstractmethod
    def deviation(self, cost: float) -> float:
        """The standard deviation of the noise of counts."""

    @abstractmethod
    def mean_noise(self, cost: float) -> float:
        """The mean of the noise without its sign."""

    @abstractmethod
    def _noisy(self, counts: Ints, cost: float) -> Ints: ...

    @abstractmethod
    def _epsilon_of(self, cost: float) -> float:
        """At which epsilon the exponential mechanism has this cost."""


class PureLoss(PrivacyLoss):
    """Costs are epsilons.

    >>> loss = PureLoss(1.0, moved=1)
    >>> round(loss.deviation(0.1), 1), loss.mean_noise(0.1)
    (14.1, 10.0)
    """

    halving = 2.0

    def deviation(self, cost: float) -> float:
        return math.sqrt(2) * self.moved / cost

    def mean_noise(self, cost: float) -> float:
        return self.moved / cost

    def _noisy(self, counts: Ints, cost: float) -> Ints:
        return laplace(counts, self.moved, cost)

    def _epsilon_of(self, cost: float) -> float:
        return cost


class ConcentratedLoss(PrivacyLoss):
    """Costs are rhos.

    >>> loss = ConcentratedLoss(rho_of(1.0, 1e-6), moved=1)
    >>> round(loss.total, 4), round(loss.deviation(loss.total), 1)
    (0.0244, 4.5)
    """

    halving = 4.0

    def deviation(self, cost: float) -> float:
        return self.moved / math.sqrt(2 * cost)

    def mean_noise(self, cost: float) -> float:
        return math.sqrt(2 / math.pi) * self.deviation(cost)

    def _noisy(self, counts: Ints, cost: float) -> Ints:
        return gaussian(counts, self.deviation(cost))

    def _epsilon_of(self, cost: float) -> float:
        return math.sqrt(8 * cost)


def delta_of(rho: float, epsilon: float) -> float:
    """A delta for which whatever costs rho is (epsilon, delta)-differentially private.

    Notes
    -----
    Canonne, Kamath and Steinke (2020), Proposition 12: for every order a > 1,
    delta = exp((a - 1) (a rho - epsilon)) (1 - 1/a)^a / (a - 1) will do. The best order is looked
    for numerically; one that is not quite the best gives a larger delta, which holds as well.
    """

    def log_delta(shift: float) -> float:
        above = math.exp(shift)  # a - 1
        a = 1 + above
        return above * (a * rho - epsilon) + a * math.log1p(-1 / a) - shift

    best = minimize_scalar(log_delta, bounds=(-12.0, 16.0), method="bounded")
    return float(min(1.0, math.exp(min(0.0, float(best.fun)))))


def rho_of(epsilon: float, delta: float) -> float:
    """The largest rho that is (epsilon, delta)-differentially private, found by halving."""
    low, high = 0.0, epsilon + 1.0
    while delta_of(high, epsilon) <= delta:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    return low
