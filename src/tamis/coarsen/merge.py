"""Groups that are merged two at a time, where that costs least of what is wanted and tells least.

What a model gets wrong in the rows of a group, squared and by its curvature, is what one Newton
step for that group would gain (Rao's score test, as in `learn.score_test`). Two groups in one can
take one step only; the difference is what merging them costs about a label. The bits that chance
gives are the same for every pair, so that they change no order and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.learn.coded_table import Codes

Floats = NDArray[np.float64]

LEAST_BEND = 0.25
"""A bend of less than one row's at most is too little to divide by."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """What some model got wrong about a label, and what a bit about that label is worth.

    Parameters
    ----------
    residual, curvature : arrays of float, rows by classes
        1 or 0 less the probability; the probability times its rest.
    worth : float
        Of one bit a row: above 0 for what should be kept, below 0 for what should not be told.

    Examples
    --------
    >>> Residuals.of(np.array([[0.5, 0.5]]), np.array([1]), worth=1.0).residual.tolist()
    [[-0.5, 0.5]]
    """

    residual: Floats
    curvature: Floats
    worth: float

    @classmethod
    def of(
        cls, probabilities: Floats, label: NDArray[np.integer[Any]], *, worth: float
    ) -> Residuals:
        """Of what a model said about rows that it did not learn from, and of what is true."""
        residual = -np.asarray(probabilities, dtype=np.float64)
        residual[np.arange(len(label)), label] += 1
        return cls(residual, np.asarray(probabilities * (1 - probabilities)), worth)

    def sums(self, codes: Codes, leaves: int) -> tuple[Floats, Floats]:
        """The residuals and curvatures of each leaf, leaves by classes; code 0 is left out."""
        return _sums(codes, leaves, self.residual), _sums(codes, leaves, self.curvature)

    @property
    def scale(self) -> float:
        """What a unit of slope squared by bend is worth."""
        rows, classes = self.residual.shape
        # The residuals of a row sum to 0 over the classes, so one of them is not free.
        return float(self.worth * (classes - 1) / classes / (2 * max(rows, 1) * log(2)))


def merged_groups(
    codes: Codes,
    leaves: int,
    evidence: Sequence[Residuals],
    sizes: Sequence[int],
    *,
    ordered: bool,
) -> dict[int, tuple[int, ...]]:
    """Merge the leaves of a column step by step, and give the groups at some numbers of them.

    Parameters
    ----------
    codes : array of uint8
        The leaf of each row of the evidence, from 1; 0 is a missing value.
    leaves : int
        How many there are.
    evidence : sequence of Residuals
        About each label that counts, on the same rows.
    sizes : sequence of int
        The numbers of groups wanted; those that are not below the number of leaves are left out.
    ordered : bool
        Whether only neighbours are merged.

    Returns
    -------
    dict of int to tuple of int
        By number of groups the group of each leaf, numbered in the order of their first leaves.

    Examples
    --------
    >>> label = np.array([0, 0, 1, 1, 0, 1] * 20)
    >>> codes = np.array([1, 1, 2, 2, 3, 4] * 20, dtype=np.uint8)
    >>> about = Residuals.of(np.full((120, 2), 0.5), label, worth=1.0)
    >>> merged_groups(codes, 4, [about], [2], ordered=False)
    {2: (0, 1, 0, 1)}
    """
    state = _Merging(codes, leaves, evidence, ordered)
    found = {}
    for groups in sorted({size for size in sizes if 1 <= size < leaves}, reverse=True):
        while state.groups > groups:
            state.merge()
        found[groups] = state.numbered()
    return found


class _Merging:
    """The groups so far, their sums, and what each pair of them would cost."""

    def __init__(
        self, codes: Codes, leaves: int, evidence: Sequence[Residuals], ordered: bool
    ) -> None:
        self.group_of = np.arange(leaves)
        self.groups = leaves
        self.scales = [each.scale for each in evidence]
        self.sums = [each.sums(codes, leaves) for each in evidence]
        self.ordered = ordered
        self.cost = np.full((leaves, leaves), np.inf)
        for group in range(leaves):
            self._renew(group)

    def merge(self) -> None:
        """Merge the two groups that cost least; the one of the larger number is gone."""
        one, other = divmod(int(self.cost.argmin()), len(self.cost))
        one, other = min(one, other), max(one, other)
        self.group_of[self.group_of == other] = one
        self.groups -= 1
        for slope, bend in self.sums:
            slope[one] += slope[other]
            bend[one] += bend[other]
        self.cost[other, :] = self.cost[:, other] = np.inf
        self._renew(one)

    def _renew(self, group: int) -> None:
        """Count again what merging this group with any other costs."""
        cost = np.zeros(len(self.cost))
        for scale, (slope, bend) in zip(self.scales, self.sums):
            apart = _gain(slope, bend) + _gain(slope[group], bend[group])
            cost += scale * (apart - _gain(slope + slope[group], bend + bend[group]))
        free = np.isin(np.arange(len(cost)), self._partners(group))
        self.cost[group, :] = self.cost[:, group] = np.where(free, cost, np.inf)

    def _partners(self, group: int) -> NDArray[np.intp]:
        """The groups that this one may be merged with; a group has the number of its first leaf."""
        heads = np.unique(self.group_of)
        if not self.ordered:
            return np.asarray(heads[heads != group])
        place = int(np.searchsorted(heads, group))
        return np.asarray(heads[[p for p in (place - 1, place + 1) if 0 <= p < len(heads)]])

    def numbered(self) -> tuple[int, ...]:
        """The group of each leaf, without gaps."""
        return tuple(np.unique(self.group_of, return_inverse=True)[1].tolist())


def _gain(slope: Floats, bend: Floats) -> Floats:
    return np.asarray((slope**2 / np.maximum(bend, LEAST_BEND)).sum(axis=-1))


def _sums(codes: Codes, leaves: int, values: Floats) -> Floats:
    each = [np.bincount(codes, weights=column, minlength=leaves + 1) for column in values.T]
    return np.asarray(np.stack(each, axis=1)[1:], dtype=np.float64)
