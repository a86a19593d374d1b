"""What counts in a choice: factors with a direction, and their weights."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError, TamisWarning, listed

Direction = Literal["max", "min"]
Factors = Mapping[str, str] | Iterable[str]
Weights = Mapping[str, float] | str | None
Values = NDArray[np.float64]

WEIGHTS = {"performance": 0.5, "privacy": 0.25, "size": 0.25}
"""What counts how much in the choice of columns and of releases, where nobody says."""
ROUNDING = 1e-9
"""Numbers that differ by no more than this share of the largest are equal."""
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
    found: dict[str, Direction] = {}
    for name, direction in factors.items():
        if not name or direction not in ("max", "min"):
            raise InputError(
                f"a factor must be NAME:max or NAME:min, got {name!r} with direction {direction!r}"
            )
        found[name] = "max" if direction == "max" else "min"
    if not found:
        raise InputError("name at least one factor, such as accuracy:max")
    return found


def read_weights(weights: Weights, factors: Iterable[str]) -> dict[str, float]:
    """The weight of each factor; factors that are not named have weight 0.

    Weights may be ratios: if they do not sum to one, they are divided by their sum, with a
    warning. `None`: `WEIGHTS` for the factors that it names, and equal weights for others.

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
    found = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise InputError(
                f"weights must be written like performance=.5,privacy=.25, got {part.strip()!r}"
            ) from None
    return found


def read_scores(scores: Any, names: Iterable[str]) -> dict[str, Values]:
    """Some columns of a frame or a mapping, each as an array of numbers."""
    columns = scores if isinstance(scores, Mapping) else {c: scores[c] for c in scores.columns}
    found = {}
    for name in names:
        if name not in columns:
            raise InputError(
                f"there are no scores named {name!r}; the scores are {listed(map(str, columns))}"
            )
        found[name] = _numbers(columns[name], name)
    lengths = {len(values) for values in found.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise InputError(
            "every factor needs one score for each candidate, and there must be at least one "
            "candidate"
        )
    return found


def _numbers(column: Any, name: str) -> Values:
    try:
        values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the scores of {name!r} are not all numbers") from None
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError(f"the scores of {name!r} must have one finite number for each candidate")
    return values


def levels(values: Sequence[float] | Values) -> NDArray[np.int64]:
    """Numbers as 0, 1, 2, ... from the lowest; equal ones share a level despite rounding.

    >>> levels([0.3, 0.1 + 0.2, 0.1]).tolist()
    [1, 1, 0]
    """
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    same = ROUNDING * float(np.abs(values).max(initial=0.0))
    steps = np.diff(values[order], prepend=values[order][:1]) > same
    found = np.empty(len(values), dtype=np.int64)
    found[order] = np.cumsum(steps)
    return found


def goodness(values: Values, direction: Direction) -> NDArray[np.int64]:
    """Levels oriented so that more is better."""
    return levels(values if direction == "max" else -values)
