"""E(S), the weighted sum of ranks by which the paper chooses, and the Pareto front.

Candidates are compared by factors, each with a direction and a weight. Two more scores, `min_max`
and `topsis`, keep the magnitudes that ranks discard.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError, TamisWarning, listed
from tamis.notebook import in_short, quoted

if TYPE_CHECKING:
    from tamis.charts import Picture

Direction = Literal["max", "min"]
Factors = Mapping[str, str] | Iterable[str]
Weights = Mapping[str, float] | str | None
Values = NDArray[np.float64]

WEIGHTS = {"performance": 0.5, "privacy": 0.25, "size": 0.25}
"""Default weights in the choice of columns and of releases."""
TIE = 1e-9
"""Numbers that differ by no more than this fraction of the largest are equal: far above rounding,
far below any difference that means something."""
NEAR_ONE = 0.005
"""Weights whose sum is this close to one, such as three times .333, are used as they are."""


def read_factors(factors: Factors) -> dict[str, Direction]:
    """Factors and their directions, from a mapping or from strings.

    >>> read_factors(["accuracy:max", "pbi:min"])
    {'accuracy': 'max', 'pbi': 'min'}
    """
    if isinstance(factors, str):
        factors = [part for part in factors.split(",") if part.strip()]
    if not isinstance(factors, Mapping):
        pairs = [text.rpartition(":") for text in factors]
        factors = {name.strip(): direction.strip() for name, _, direction in pairs}
    directions: dict[str, Direction] = {}
    for name, direction in factors.items():
        if not name or direction not in ("max", "min"):
            raise InputError(
                f"a factor must be NAME:max or NAME:min, got {name!r} with direction {direction!r}"
            )
        directions[name] = "max" if direction == "max" else "min"
    if not directions:
        raise InputError("name at least one factor, such as accuracy:max")
    return directions


def read_weights(weights: Weights, factors: Iterable[str]) -> dict[str, float]:
    """The weight of each factor; factors that are not named have weight 0.

    Weights may be ratios: if they do not sum to one, they are divided by their sum, with a
    warning. `None` gives `WEIGHTS` if the factors are the ones it names, else equal weights.

    >>> read_weights("performance=.5,privacy=.5", ["performance", "privacy", "size"])
    {'performance': 0.5, 'privacy': 0.5, 'size': 0.0}
    >>> read_weights(None, ["performance", "privacy", "size"]), read_weights(None, ["a", "b"])
    ({'performance': 0.5, 'privacy': 0.25, 'size': 0.25}, {'a': 0.5, 'b': 0.5})
    """
    names = list(factors)
    if weights is None:
        usual = set(names) == set(WEIGHTS)
        return {name: WEIGHTS[name] if usual else 1 / len(names) for name in names}
    given = _parsed(weights) if isinstance(weights, str) else dict(weights)
    if unknown := [name for name in given if name not in names]:
        raise InputError(f"no factor {listed(unknown)} to weigh; the factors are {listed(names)}")
    wrong = [n for n, w in given.items() if not (math.isfinite(w) and w >= 0)]
    total = sum(given.values())
    if wrong or not total > 0:
        raise InputError("weights must be numbers of at least 0, with at least one above 0")
    if abs(total - 1) <= NEAR_ONE:
        return {name: float(given.get(name, 0.0)) for name in names}
    shares = {name: given.get(name, 0.0) / total for name in names}
    words = ", ".join(f"{name} {share:.3g}" for name, share in shares.items())
    warnings.warn(
        f"the weights sum to {total:g}, not 1, and were divided by that: {words}",
        TamisWarning,
        stacklevel=2,
    )
    return shares


def _parsed(text: str) -> dict[str, float]:
    weights = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")  # names may contain '=', numbers may not
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise InputError(
                f"weights must be written like performance=.5,privacy=.25, got {part.strip()!r}"
            ) from None
    return weights


def read_scores(scores: Any, names: Iterable[str]) -> dict[str, Values]:
    """Named columns of a frame or a mapping, each as an array of finite numbers."""
    columns = scores if isinstance(scores, Mapping) else {c: scores[c] for c in scores.columns}
    chosen = {}
    for name in names:
        if name not in columns:
            raise InputError(
                f"there are no scores named {name!r}; the scores are {listed(map(str, columns))}"
            )
        chosen[name] = _numbers(columns[name], name)
    lengths = {len(values) for values in chosen.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise InputError(
            "every factor needs one score for each candidate, and there must be at least one "
            "candidate"
        )
    return chosen


def _numbers(column: Any, name: str) -> Values:
    try:
        values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the scores of {name!r} are not all numbers") from None
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError(f"the scores of {name!r} must have one finite number for each candidate")
    return values


def levels(values: Sequence[float] | Values) -> NDArray[np.int64]:
    """Number distinct values 0, 1, 2, ... from the lowest; values equal up to rounding share one.

    >>> levels([0.3, 0.1 + 0.2, 0.1]).tolist()
    [1, 1, 0]
    """
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    same = TIE * float(np.abs(values).max(initial=0.0))
    # Neighbours are compared, so a chain of small steps is one level, however long it is.
    steps = np.diff(values[order], prepend=values[order][:1]) > same
    numbers = np.empty(len(values), dtype=np.int64)
    numbers[order] = np.cumsum(steps)
    return numbers


def goodness(values: Values, direction: Direction) -> NDArray[np.int64]:
    """Levels turned so that a larger one is better."""
    return levels(values if direction == "max" else -values)


Ranks = NDArray[np.int64]

SIZES = ("size", "features", "num")
"""Factor names that are understood as the number of features, which breaks ties."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Ranks, E(S) and order of candidates.

    Attributes
    ----------
    ranks : dict of str to array
        For each factor the rank of each candidate; 1 is the worst.
    scores : array
        The weighted sum of the ranks.
    order : tuple of int
        The candidates from best to worst.
    factors : dict
        The direction of each factor.
    weights : dict
        The weight of each factor, as used.
    """

    ranks: dict[str, Ranks]
    scores: Values
    order: tuple[int, ...]
    factors: dict[str, Direction]
    weights: dict[str, float]

    def __repr__(self) -> str:
        weights = ", ".join(f"{quoted(name, 20)} {w:.3g}" for name, w in self.weights.items())
        return in_short(self, f"{len(self.order):,} candidates, the best is {self.best}", weights)

    def plot(
        self, names: Sequence[str] | None = None, weightings: Sequence[Weights] = ()
    ) -> Picture:
        """Picture of the winners under all weights of three factors, or of E(S) under some weights.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the candidates; by default their numbers.
        weightings : sequence of weights, optional
            If given, the picture shows E(S) of every candidate, one line for each weighting, as
            Figures 9 to 16 of the paper do, rather than the triangle of all weights.
        """
        from tamis.rank.sensitivity import scores_picture, sensitivity, weight_picture

        if names is None:
            names = [f"candidate {i}" for i in range(len(self.order))]
        if weightings:
            return scores_picture(self, weightings, names)
        return weight_picture(self, sensitivity(self), names)

    def reweighted(self, weights: Weights) -> Evaluation:
        """The same ranks under other weights; candidates that tie keep their present order."""
        shares = read_weights(weights, self.factors)
        total = weighted(self.ranks, shares)
        place = np.empty(len(total))
        place[list(self.order)] = np.arange(len(total))
        return Evaluation(self.ranks, total, ordered(total, place), self.factors, shares)

    @property
    def best(self) -> int:
        """The first candidate of the order."""
        return self.order[0]


def evaluation(
    scores: Any, factors: Factors, weights: Weights = None, *, ties: str | None = None
) -> Evaluation:
    """Rank candidates on each factor and sum the weighted ranks: E(S).

    Parameters
    ----------
    scores : frame, or mapping of str to numbers
        One row per candidate; the columns are the factors.
    factors : mapping of str to {"max", "min"}, or strings such as "accuracy:max"
        The factors, and which direction is better.
    weights : mapping, string such as "accuracy=2,pbi=1", or None
        Ratios are divided by their sum, with a warning; see `read_weights` for the default.
    ties : str, optional
        A column whose smallest value breaks ties; by default the factor named `size`,
        `features` or `num`. Remaining ties keep the order of the table.

    Returns
    -------
    Evaluation

    Notes
    -----
    Jafer, Matwin and Sokolova (2017), equation 4: E(S) = w1 prf + w2 prv + w3 num. The rank of a
    candidate is one more than the number of candidates strictly worse than it, so ties share the
    lower rank. Sums that differ only by rounding are equal.

    Examples
    --------
    >>> found = evaluation(
    ...     {"accuracy": [0.9, 0.8, 0.8], "features": [5, 2, 1]},
    ...     {"accuracy": "max", "features": "min"},
    ...     "accuracy=.5,features=.5",
    ... )
    >>> found.ranks["accuracy"].tolist(), found.scores.tolist(), found.order
    ([3, 1, 1], [2.0, 1.5, 2.0], (2, 0, 1))
    """
    directions = read_factors(factors)
    shares = read_weights(weights, directions)
    ties = ties or next((name for name in SIZES if name in directions), None)
    columns = read_scores(scores, dict.fromkeys([*directions, *([ties] if ties else [])]))
    ranks = {name: ranked(columns[name], way) for name, way in directions.items()}
    total = weighted(ranks, shares)
    sizes = columns[ties] if ties else np.zeros(len(total))
    return Evaluation(ranks, total, ordered(total, sizes), directions, shares)


def ranked(values: Values, direction: Direction) -> Ranks:
    """Rank of each candidate: one more than the number of candidates that are strictly worse.

    >>> ranked(np.array([0.2, 0.5, 0.2]), "min").tolist()
    [2, 1, 2]
    """
    good = goodness(values, direction)
    worse = np.concatenate([[0], np.cumsum(np.bincount(good))])
    ranks: Ranks = 1 + worse[good]
    return ranks


def weighted(columns: Mapping[str, NDArray[Any]], weights: Mapping[str, float]) -> Values:
    """Weighted sum of some columns, always added in the same order."""
    parts = [weights[name] * np.asarray(column, dtype=float) for name, column in columns.items()]
    # The sum of numpy may add in pairs, which rounds otherwise and would change bytes.
    return reduce(np.add, parts)


def ordered(total: Values, sizes: Values) -> tuple[int, ...]:
    """Order from the largest sum to the smallest; ties: the smallest size, then the first."""
    # The last key of lexsort is the first to decide; levels make sums equal that rounding parts.
    return tuple(np.lexsort([np.arange(len(total)), sizes, -levels(total)]).tolist())


def pareto_front(scores: Any, factors: Factors) -> NDArray[np.bool_]:
    """Mask of the candidates that are not dominated.

    A candidate is dominated if another is at least as good in every factor and better in one;
    equal candidates do not dominate each other.

    Parameters
    ----------
    scores : frame, or mapping of str to numbers
        One row per candidate.
    factors : mapping of str to {"max", "min"}, or strings such as "accuracy:max"

    Returns
    -------
    array of bool

    Examples
    --------
    >>> pareto_front({"accuracy": [0.9, 0.8, 0.7], "pbi": [0.1, -0.1, 0.0]},
    ...              ["accuracy:max", "pbi:min"]).tolist()
    [True, True, False]
    """
    directions = read_factors(factors)
    columns = read_scores(scores, directions)
    return front(np.column_stack([goodness(columns[n], way) for n, way in directions.items()]))


def front(good: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of the rows that no other row equals or exceeds everywhere and exceeds somewhere."""
    points, of_row = np.unique(good, axis=0, return_inverse=True)
    # A dominating point has the larger sum, so in this order it comes before those it dominates,
    # and the first point left is never dominated.
    waiting = np.argsort(-points.sum(axis=1), kind="stable")
    kept = np.zeros(len(points), dtype=bool)
    while len(waiting):
        kept[waiting[0]] = True
        beaten = (points[waiting] <= points[waiting[0]]).all(axis=1)
        waiting = waiting[~beaten]
    undominated: NDArray[np.bool_] = kept[of_row]
    return undominated


def min_max(scores: Any, factors: Factors, weights: Weights = None) -> Values:
    """Weighted sum of values scaled to [0, 1], where the best value of each factor becomes 1.

    If all candidates are equal on a factor, each gets 1.

    Parameters
    ----------
    scores : frame, or mapping of str to numbers
    factors : mapping of str to {"max", "min"}, or strings such as "accuracy:max"
    weights : mapping, string or None
        As in `evaluation`.

    Returns
    -------
    array of float

    Examples
    --------
    >>> min_max({"accuracy": [0.8, 0.9], "features": [2, 4]}, ["accuracy:max", "features:min"],
    ...         {"accuracy": 0.75, "features": 0.25}).tolist()
    [0.25, 0.75]
    """
    directions, shares, columns = _read(scores, factors, weights)
    return weighted({n: _share(columns[n], way) for n, way in directions.items()}, shares)


def topsis(scores: Any, factors: Factors, weights: Weights = None) -> Values:
    """Relative closeness of each candidate to the ideal, the best on all factors: TOPSIS.

    Parameters
    ----------
    scores : frame, or mapping of str to numbers
    factors : mapping of str to {"max", "min"}, or strings such as "accuracy:max"
    weights : mapping, string or None
        As in `evaluation`.

    Returns
    -------
    array of float
        In [0, 1]; 1 if a candidate is the best on every factor with a weight above 0.

    Notes
    -----
    Hwang and Yoon (1981): columns are divided by their Euclidean length and weighted; the score is
    the distance to the worst divided by the sum of the distances to the worst and the best.

    Examples
    --------
    >>> topsis({"accuracy": [0.9, 0.8], "pbi": [-0.1, 0.1]}, ["accuracy:max", "pbi:min"]).tolist()
    [1.0, 0.0]
    """
    directions, shares, columns = _read(scores, factors, weights)
    placed = np.column_stack(
        [shares[n] * _turned(_unit(columns[n]), way) for n, way in directions.items()]
    )
    best = np.linalg.norm(placed - placed.max(axis=0), axis=1)
    worst = np.linalg.norm(placed - placed.min(axis=0), axis=1)
    apart = best + worst
    # If all candidates are equal, each is the best on every factor.
    closeness: Values = np.where(apart > 0, worst / np.where(apart > 0, apart, 1), 1.0)
    return closeness


def _read(
    scores: Any, factors: Factors, weights: Weights
) -> tuple[dict[str, Direction], dict[str, float], dict[str, Values]]:
    directions = read_factors(factors)
    return directions, read_weights(weights, directions), read_scores(scores, directions)


def _turned(values: Values, direction: Direction) -> Values:
    return values if direction == "max" else -values


def _share(values: Values, direction: Direction) -> Values:
    good = _turned(values, direction)
    if not levels(good).any():
        return np.ones(len(good))
    scaled: Values = (good - good.min()) / np.ptp(good)
    return scaled


def _unit(values: Values) -> Values:
    """Values divided by their Euclidean length; those all equal up to rounding become identical."""
    steady = values if levels(values).any() else np.full(len(values), values[0])
    length = float(np.linalg.norm(steady))
    return steady / length if length else steady
