"""What differential privacy may cost and has cost, and the noise that OpenDP draws for it.

What a sequence of private steps costs altogether is counted in two currencies.

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
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from tamis.arrays import Ints
from tamis.errors import CannotMeet, InputError, MissingExtra

Neighbours = Literal["add-remove", "substitute"]
Unit = Literal["row", "person"]

NEIGHBOURS: dict[str, str] = {
    "add-remove": "two tables are neighbours when one of them has one more row",
    "substitute": (
        "two tables are neighbours when they differ in one row, its label included; the number "
        "of rows is public"
    ),
}
OF_PEOPLE: dict[str, str] = {
    "add-remove": (
        "two tables are neighbours when one of them has one more person, with all their rows"
    ),
    "substitute": (
        "two tables are neighbours when they differ in one person, the label included; the number "
        "of people is public"
    ),
}
MOVED = {"add-remove": 1, "substitute": 2}
"""By how much the counts of disjoint cells change in total between neighbours."""

BUDGET_ROUNDING = 1e-9
"""The share of a budget by which a sum of parts may exceed it in floating point."""


@dataclass(frozen=True)
class Spent:
    """One use of a budget: what for, and how much."""

    what: str
    epsilon: float
    delta: float = 0.0


class Budget:
    """A limit on epsilon and delta that adds up what is spent and refuses more.

    Parameters
    ----------
    epsilon : float
        More than 0; 1 and below is strong, more than 10 promises next to nothing.
    delta : float
        At least 0 and below 1; none of the mechanisms here needs one, but a synthesiser may.
    neighbours : {"add-remove", "substitute"}
        Which tables must be indistinguishable. Costs can only be added up where all of them were
        counted for the same neighbours, so the budget remembers these.
    unit : {"row", "person"}
        What neighbours differ in: one row, or one person with all their rows.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.spend(0.5, "choosing columns")
    0.5
    >>> budget.epsilon_left
    0.5
    >>> budget.spend(0.6, "counts")
    Traceback (most recent call last):
    ...
    tamis.errors.CannotMeet: counts needs epsilon 0.6, but 0.5 of 1 is left; ...
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighbours: Neighbours = "add-remove",
        unit: Unit = "row",
    ) -> None:
        check_epsilon(epsilon)
        if not _number(delta) or not 0 <= delta < 1:
            raise InputError(f"delta must be a number of at least 0 and below 1, got {delta!r}")
        check_neighbours(neighbours)
        if unit not in ("row", "person"):
            raise InputError(f"unit must be 'row' or 'person', got {unit!r}")
        self.epsilon, self.delta = float(epsilon), float(delta)
        self.neighbours, self.unit = neighbours, unit
        self.spent: list[Spent] = []

    @property
    def epsilon_spent(self) -> float:
        return math.fsum(s.epsilon for s in self.spent)

    @property
    def epsilon_left(self) -> float:
        return max(0.0, self.epsilon - self.epsilon_spent)

    @property
    def delta_spent(self) -> float:
        return math.fsum(s.delta for s in self.spent)

    @property
    def delta_left(self) -> float:
        return max(0.0, self.delta - self.delta_spent)

    def spend(self, epsilon: float, what: str, delta: float = 0.0) -> float:
        """Take a part of the budget before drawing noise with it; returns that part."""
        self.check(epsilon, what, delta)
        self.spent.append(Spent(what, float(epsilon), float(delta)))
        return float(epsilon)

    def check(self, epsilon: float, what: str, delta: float = 0.0) -> None:
        """Refuse to spend more than is left; nothing is spent here."""
        check_epsilon(epsilon)
        for name, wanted, left, whole in (
            ("epsilon", epsilon, self.epsilon_left, self.epsilon),
            ("delta", delta, self.delta_left, self.delta),
        ):
            if wanted > left + BUDGET_ROUNDING * whole:
                raise CannotMeet(
                    f"{what} needs {name} {wanted:.6g}, but {left:.6g} of {whole:.6g} is left; "
                    f"plan less, or start from a larger {name}"
                )

    def check_neighbours(self, neighbours: str, unit: Unit = "row") -> None:
        """Refuse a cost that was counted for other neighbours."""
        if unit != self.unit:
            raise InputError(
                f"the budget counts for one {self.unit}, this step for one {unit}; use the same "
                "unit for all steps"
            )
        if neighbours != self.neighbours:
            raise InputError(
                f"the budget counts for neighbours {self.neighbours!r}, this step for "
                f"{neighbours!r}; use the same ones for all steps"
            )

    def to_dict(self) -> dict[str, Any]:
        """What was spent and for which neighbours, for a recipe or a manifest."""
        return {
            "epsilon": self.epsilon_spent,
            "delta": self.delta_spent,
            "neighbours": self.neighbours,
            "neighbours_in_words": (NEIGHBOURS if self.unit == "row" else OF_PEOPLE)[
                self.neighbours
            ],
            "unit": self.unit,
            "spent": [{"what": s.what, "epsilon": s.epsilon, "delta": s.delta} for s in self.spent],
        }


def check_epsilon(epsilon: Any) -> None:
    """Refuse an epsilon that is not a number above 0."""
    if not _number(epsilon) or not epsilon > 0 or not math.isfinite(epsilon):
        raise InputError(
            f"epsilon must be a number above 0, got {epsilon!r}; 1 is usual, less is safer"
        )


def check_neighbours(neighbours: Any) -> None:
    """Refuse an unknown relation between tables."""
    if neighbours not in NEIGHBOURS:
        raise InputError(f"neighbours must be one of {', '.join(NEIGHBOURS)}, got {neighbours!r}")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


BATCH = 1 << 16
"""Counts are passed on in batches of this size, to keep the lists of Python numbers short."""


def laplace(counts: Ints, sensitivity: int, epsilon: float) -> Ints:
    """Whole numbers plus discrete Laplace noise of scale sensitivity / epsilon; it costs epsilon.

    The sensitivity says by how much the numbers change in total, at most, between neighbours.
    P(noise = z) is proportional to exp(-|z| epsilon / sensitivity): the geometric mechanism of
    Ghosh, Roughgarden and Sundararajan (2012).
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return _in_batches(dp.m.make_laplace(*space, scale=sensitivity / epsilon), counts)


def gaussian(counts: Ints, deviation: float) -> Ints:
    """Whole numbers plus discrete Gaussian noise (Canonne, Kamath and Steinke 2020).

    It costs (length / deviation)^2 / 2 in concentrated privacy, the length being that of the
    vector by which the numbers change, at most, between neighbours.
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    return _in_batches(dp.m.make_gaussian(*space, scale=deviation), counts)


def _in_batches(noisy: Any, counts: Ints) -> Ints:
    flat = np.asarray(counts, np.int64).ravel()
    parts = [noisy(flat[i : i + BATCH].tolist()) for i in range(0, len(flat), BATCH)]
    drawn = np.array([n for part in parts for n in part], np.int64)
    return drawn.reshape(np.shape(counts))


def exponential(scores: Ints, sensitivity: int, epsilon: float, picks: int) -> list[int]:
    """Positions drawn one after another without replacement, high scores far more often.

    Each draw takes position i with a probability proportional to
    exp(epsilon score_i / (2 sensitivity picks)), the sensitivity being by how much any one score
    changes, at most, between neighbours; all draws together cost epsilon.

    Notes
    -----
    The exponential mechanism of McSherry and Talwar (2007), repeated. The `picks` largest
    scores after Gumbel noise of this scale are distributed exactly so. OpenDP offers Gumbel
    noise under its measure of concentrated privacy; the noise is the same whatever the measure.
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = 2 * sensitivity * picks / epsilon
    measure = dp.zero_concentrated_divergence()
    best = dp.m.make_noisy_top_k(*space, measure, k=picks, scale=scale)
    return [int(i) for i in best(np.asarray(scores, np.int64).tolist())]


def opendp() -> Any:
    """OpenDP where it is installed; otherwise an error that names the extra."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtra(
            "differential privacy needs OpenDP's noise, which is not installed; "
            "pip install 'tamis[dp]'"
        ) from None
    dp.enable_features("contrib")
    return dp


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
