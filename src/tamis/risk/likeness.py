"""How much the sensitive values of people alike differ from those of all: alpha, beta and delta.

Each is measured for every class, from the same counts as l-diversity and t-closeness. A missing
sensitive value is a value of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.risk.diversity import Spread, spread
from tamis.risk.grouping import scope

Floats = NDArray[np.float64]
BetaKind = Literal["basic", "enhanced"]
ROUNDING = 1e-12


@dataclass(frozen=True)
class Likeness:
    """What the class that is least like the table reaches.

    Parameters
    ----------
    alpha : float
        The largest share of people in a class who have the same sensitive value.
    beta : float
        How far a value's share in a class exceeds its share in the table, at most, as a multiple
        of the latter.
    enhanced_beta : float
        The same; infinite if some value exceeds its share p by more than ``-ln p`` times.
    delta_disclosure : float
        The largest absolute logarithm of the ratio of both shares; infinite if some class lacks a
        value.
    """

    alpha: float
    beta: float
    enhanced_beta: float
    delta_disclosure: float


def likeness(
    data: Any,
    sensitive: str | None = None,
    quasi: Sequence[str] | None = None,
    *,
    people: Any = None,
) -> Likeness:
    """How unlike the table its classes are in the sensitive column.

    Parameters
    ----------
    data, sensitive, quasi, people
        As in `tamis.l_diversity`.

    Returns
    -------
    Likeness

    Notes
    -----
    With q the share of a value in a class and p in the table: (alpha, k)-anonymity asks for
    q <= alpha (Wong et al. 2006); basic beta-likeness for (q - p) / p <= beta, and enhanced for at
    most min(beta, -ln p) (Cao and Karras 2012); delta-disclosure privacy for abs(ln(q / p)) < delta
    (Brickell and Shmatikov 2008). All are lost, never won, when a class is split.

    If a person has several rows, alpha counts the people of a class who have the value; the other
    shares are of the distinct pairs of a person and a value, as for t-closeness.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook"] * 4 + ["judge"] * 4, "ill": list("yynnynnn")})
    >>> found = likeness(frame, sensitive="ill")
    >>> found.alpha, round(found.beta, 3), round(found.delta_disclosure, 3)
    (0.75, 0.333, 0.405)
    """
    scoped = scope(data, quasi, sensitive, people)
    column = scoped.sensitive_column
    return worst_likeness(spread(scoped.grouped(), column))


def worst_likeness(found: Spread) -> Likeness:
    """What the worst class reaches of each."""
    return Likeness(
        float(largest_shares(found).max()),
        float(surpluses(found).max()),
        float(surpluses(found, "enhanced").max()),
        float(disclosures(found).max()),
    )


def largest_shares(found: Spread) -> Floats:
    """In each class the largest share of its people who have the same value."""
    people = found.sizes if found.people is None else found.people
    return np.maximum.reduceat(found.counts / people[found.classes], found.first)


def surpluses(found: Spread, kind: BetaKind = "basic") -> Floats:
    """In each class by how much a value exceeds its share in the table, as a multiple of it."""
    usual = (found.totals / found.totals.sum())[found.values]
    surplus = np.maximum(found.shares / usual - 1, 0)
    if kind == "enhanced":
        surplus = np.where(surplus > -np.log(usual) + ROUNDING, np.inf, surplus)
    return np.maximum.reduceat(surplus, found.first)


def disclosures(found: Spread) -> Floats:
    """In each class the largest absolute logarithm of a share over that in the table."""
    usual = (found.totals / found.totals.sum())[found.values]
    apart = np.maximum.reduceat(np.abs(np.log(found.shares / usual)), found.first)
    present = np.diff(found.first, append=len(found.counts))
    return np.where(present < len(found.totals), np.inf, apart)
