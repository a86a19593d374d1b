"""The privacy budget, and the noise mechanisms, which OpenDP provides.

The total cost of a sequence of private steps is counted in one of two currencies.

Pure: each step costs an epsilon, and epsilons add up. Counts get discrete Laplace noise, and a
choice is made by the exponential mechanism.

Concentrated (zCDP, Bun and Steinke 2016): each step costs a rho, and rhos add up. Counts get
discrete Gaussian noise, whose rho is (sensitivity / deviation)^2 / 2; a choice by the exponential
mechanism at epsilon has rho = epsilon^2 / 8 (Cesar and Rogers 2021). At the end the sum is
converted to an epsilon at a small delta. For many steps that allows far less noise.

Either way a step may depend on all results before it: both kinds of cost also add up over adaptive
sequences.
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
"""L1 sensitivity of counts of disjoint cells: their total change between neighbours."""

BUDGET_ROUNDING = 1e-9
"""Relative tolerance of a budget for the rounding of a sum of its parts."""


@dataclass(frozen=True)
class Spent:
    """One expense of a budget: its purpose and its cost."""

    what: str
    epsilon: float
    delta: float = 0.0


class Budget:
    """A limit on epsilon and delta that adds up expenses and refuses any beyond it.

    Parameters
    ----------
    epsilon : float
        Above 0; 1 and below is strong, more than 10 promises next to nothing.
    delta : float
        At least 0 and below 1; only a synthesiser with Gaussian noise needs one.
    neighbours : {"add-remove", "substitute"}
        The tables that must be indistinguishable. Costs add up only if all were counted for the
        same neighbours, so the budget remembers these.
    unit : {"row", "person"}
        The difference between neighbours: one row, or one person with all their rows.

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
        """Spend a part of the budget, before noise is drawn with it; return that part."""
        self.check(epsilon, what, delta)
        self.spent.append(Spent(what, float(epsilon), float(delta)))
        return float(epsilon)

    def check(self, epsilon: float, what: str, delta: float = 0.0) -> None:
        """Raise if more would be spent than is left; nothing is spent here."""
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
        """Raise if a cost was counted for other neighbours."""
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
        """The expenses and their neighbours, for a recipe or a manifest."""
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
    """Raise unless epsilon is a finite number above 0."""
    if not _number(epsilon) or not epsilon > 0 or not math.isfinite(epsilon):
        raise InputError(
            f"epsilon must be a number above 0, got {epsilon!r}; 1 is usual, less is safer"
        )


def check_neighbours(neighbours: Any) -> None:
    """Raise for an unknown relation between neighbouring tables."""
    if neighbours not in NEIGHBOURS:
        raise InputError(f"neighbours must be one of {', '.join(NEIGHBOURS)}, got {neighbours!r}")


def _number(value: Any) -> bool:
    # NaN differs from itself.
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


BATCH = 1 << 16
"""Counts are passed to OpenDP in batches of this size: it takes lists of Python numbers."""


def laplace(counts: Ints, sensitivity: int, epsilon: float) -> Ints:
    """Add discrete Laplace noise of scale sensitivity / epsilon, at the cost of epsilon.

    The sensitivity bounds the total change of the numbers between neighbours (L1).
    P(noise = z) is proportional to exp(-|z| epsilon / sensitivity): the geometric mechanism of
    Ghosh, Roughgarden and Sundararajan (2012).
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return _in_batches(dp.m.make_laplace(*space, scale=sensitivity / epsilon), counts)


def gaussian(counts: Ints, deviation: float) -> Ints:
    """Add discrete Gaussian noise (Canonne, Kamath and Steinke 2020).

    In concentrated privacy it costs (sensitivity / deviation)^2 / 2, where the sensitivity bounds
    the Euclidean length of the change of the numbers between neighbours (L2).
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
    """Draw positions of high scores, without replacement, by the exponential mechanism.

    Each draw takes position i with a probability proportional to
    exp(epsilon score_i / (2 sensitivity picks)), where the sensitivity bounds the change of any one
    score between neighbours; all draws together cost epsilon.

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
    """OpenDP, or an error that names the extra if it is not installed."""
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
"""Scores are rounded to multiples of 1/256 of a row, since OpenDP takes whole numbers."""
SPARE = 1e-9
"""Relative tolerance of the total for the rounding of a sum of its parts."""


class PrivacyLoss(ABC):
    """A total that noisy counts and choices are paid from, in one of the two currencies.

    Parameters
    ----------
    total : float
        An epsilon or a rho.
    moved : int
        Total change of the counts of one marginal between neighbours. All of it may be in one cell,
        so it bounds both the L1 and the L2 norm of the change.
    """

    halving: ClassVar[float]
    """The factor of the cost by which the deviation of noise is halved."""

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
        """Draw the position of a high score by the exponential mechanism.

        `sensitivity` bounds the change of any one score between neighbours.
        """
        self._spend(cost)
        whole = np.rint(scores * FIXED_POINT).astype(np.int64)
        # Rounding moves a score by up to half a unit in either table, so their difference by up to
        # one; another one covers the rounding errors of the scores themselves.
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
        """The mean absolute value of the noise."""

    @abstractmethod
    def _noisy(self, counts: Ints, cost: float) -> Ints: ...

    @abstractmethod
    def _epsilon_of(self, cost: float) -> float:
        """The epsilon at which the exponential mechanism has this cost."""


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
    """A delta for which rho-concentrated privacy implies (epsilon, delta)-differential privacy.

    Notes
    -----
    Canonne, Kamath and Steinke (2020), Proposition 12: for every order a > 1,
    delta = exp((a - 1) (a rho - epsilon)) (1 - 1/a)^a / (a - 1) is valid. The best order is found
    numerically; any other one gives a larger delta, which is valid as well.
    """

    def log_delta(shift: float) -> float:
        above = math.exp(shift)  # a - 1
        a = 1 + above
        return above * (a * rho - epsilon) + a * math.log1p(-1 / a) - shift

    best = minimize_scalar(log_delta, bounds=(-12.0, 16.0), method="bounded")
    return float(min(1.0, math.exp(min(0.0, float(best.fun)))))


def rho_of(epsilon: float, delta: float) -> float:
    """The largest rho that implies (epsilon, delta)-differential privacy, by bisection."""
    low, high = 0.0, epsilon + 1.0
    while delta_of(high, epsilon) <= delta:
        high *= 2
    # Down to the last bit. `low` is returned, since it is always valid.
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    return low
