"""Individual risk in a weighted sample, after Benedetti and Franconi 1998.

A weight says how many people of the population a row stands for. Missing is a value of its own, as
everywhere; as an option it matches anything, as in R's sdcMicro.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tamis.arrays import Floats, Integers
from tamis.coding import Coded, dense, joined
from tamis.errors import InputError
from tamis.risk.grouping import Grouping, scope

Matching = Literal["value", "anything"]


class Matches(NamedTuple):
    """For each row, the rows it matches, itself included, and the sum of their weights."""

    sample: Floats
    population: Floats


def frequencies(
    data: Any,
    quasi: Sequence[str] | None = None,
    *,
    weights: ArrayLike | None = None,
    missing: Matching = "value",
    credit: float = 1.0,
) -> Matches:
    """Count, for each row, the rows with matching quasi-identifiers and the sum of their weights.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        Every row a different person.
    quasi : sequence of str, optional
        The columns an attacker may know; by default the quasi-identifiers of the table, else all
        features; in a bare frame, all columns.
    weights : array of float, optional
        How many people of the population each row stands for; by default 1.
    missing : {"value", "anything"}
        Whether a missing cell is a value of its own, or matches anything.
    credit : float
        How much a row counts, from 0 to 1, that matches only because of its own missing cells.

    Returns
    -------
    Matches

    Notes
    -----
    A row without any value matches every row, and every row matches it. sdcMicro counts the first
    and not the second.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [30, 30, 40, None], "job": ["cook", "cook", "cook", "cook"]})
    >>> frequencies(frame, missing="anything").sample.tolist()
    [3.0, 3.0, 2.0, 4.0]
    >>> frequencies(frame, weights=[10, 20, 5, 5]).population.tolist()
    [30.0, 30.0, 5.0, 5.0]
    """
    if missing not in ("value", "anything"):
        raise InputError(f"missing is value or anything, got {missing!r}")
    if not 0 <= credit <= 1:
        raise InputError(f"credit must be between 0 and 1, got {credit:g}")
    scoped = scope(data, quasi)
    if not scoped.people.each_row:
        raise InputError(
            "weights are of people, but people have several rows here; give a table with one row "
            "for each person"
        )
    grouping = scoped.grouped()
    each = checked_weights(weights, grouping.rows)
    ones = np.ones(grouping.rows)
    if missing == "anything":
        patterns = _Patterns(grouping, credit)
        return Matches(patterns.matched(ones), patterns.matched(each))
    return Matches(*(_sums(grouping, w)[grouping.class_of] for w in (ones, each)))


def checked_weights(weights: ArrayLike | None, rows: int) -> Floats:
    """Weights as an array, checked: one number per row, at least 1; by default all 1."""
    if weights is None:
        return np.ones(rows)
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one for each row") from None
    if numbers.shape != (rows,):
        raise InputError(
            f"weights must have one number for each of {rows} rows, got {numbers.shape}"
        )
    if not (np.isfinite(numbers).all() and (numbers >= 1).all()):
        raise InputError(
            "weights must be 1 or more in every row: each person stands at least for themselves"
        )
    return numbers


def individual_risk(found: Matches, *, exact: bool = False) -> Floats:
    """For each row the expected 1/F, where F is the number of people in the population who match.

    Parameters
    ----------
    found : Matches
    exact : bool
        By default rows with more than two matches get the usual approximation, which is slightly
        too large.

    Notes
    -----
    With f matches in the sample, F is taken to be negative binomial: the number of draws, each
    sampled with probability p = f / (sum of weights), until f are sampled. The mean of 1/F is then
    (p / f) 2F1(1, 1; f + 1; 1 - p).

    Examples
    --------
    >>> individual_risk(Matches(np.array([1.0, 4.0]), np.array([100.0, 4.0]))).round(4).tolist()
    [0.0465, 0.25]
    """
    f, p = found.sample, np.minimum(found.sample / found.population, 1.0)
    risk = p / f * _hypergeometric(f, 1 - p)
    if not exact:
        many = f > 2
        risk[many] = p[many] / (f[many] - (1 - p[many]))
    return np.where(p == 1, 1 / f, risk)


def _hypergeometric(f: Floats, z: Floats) -> Floats:
    """2F1(1, 1; f + 1; z); by its series for large f, for which scipy's own fails."""
    from scipy.special import hyp2f1

    values = np.asarray(hyp2f1(1.0, 1.0, np.minimum(f, 50.0) + 1, z))
    # For large f the ratio of successive terms is small enough that 60 of them are plenty.
    large = f > 50
    term = np.ones(int(large.sum()))
    total = term.copy()
    for n in range(60):  # the last term is below 1e-30
        term = term * (n + 1) * z[large] / (f[large] + 1 + n)
        total += term
    values[large] = total
    return values


def _sums(grouping: Grouping, weights: Floats) -> Floats:
    return np.asarray(np.bincount(grouping.class_of, weights=weights), dtype=np.float64)


class _Patterns:
    """Classes by pattern of missing cells; two classes match if they agree where both have values.

    Classes are compared pattern by pattern, of which there are far fewer than pairs of classes.
    """

    def __init__(self, grouping: Grouping, credit: float) -> None:
        self.grouping, self.credit, self.codes = grouping, credit, grouping.class_codes
        self.absent = np.stack([c.codes == c.radix - 1 for c in self.codes])
        patterns, self.pattern = np.unique(self.absent, axis=1, return_inverse=True)
        self.patterns = patterns.T

    def matched(self, weights: Floats) -> Floats:
        """For each row the sum of the weights of all rows that it matches."""
        sums = _sums(self.grouping, weights)
        total = sums.copy()
        for a, own in enumerate(self.patterns):
            mine = np.flatnonzero(self.pattern == a)
            if own.all():  # without any value it matches every row, at full weight
                total[mine] = sums.sum()
                continue
            for b, there in enumerate(self.patterns):
                if b == a:
                    continue  # classes of one pattern match only where they are equal
                theirs, columns = np.flatnonzero(self.pattern == b), np.flatnonzero(~own & ~there)
                worth = self.credit if there.any() else 1.0
                total[mine] += worth * self._agreeing(mine, theirs, columns, sums)
        return total[self.grouping.class_of]

    def _agreeing(
        self, mine: Integers, theirs: Integers, columns: Integers, sums: Floats
    ) -> Floats:
        """For each class of one pattern, the weights of those of another that agree in columns."""
        if not len(columns):
            return np.full(len(mine), sums[theirs].sum())
        both = np.concatenate([mine, theirs])
        parts = [Coded(self.codes[c].codes[both], self.codes[c].radix) for c in columns]
        keys = dense(reduce(joined, parts)).codes
        there = np.bincount(keys[len(mine) :], sums[theirs], minlength=int(keys.max()) + 1)
        return np.asarray(there[keys[: len(mine)]], dtype=np.float64)
