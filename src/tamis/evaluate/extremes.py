"""The few that a mean hides: about whom most is told, alone or in a group, and surest guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from tamis.errors import InputError
from tamis.evaluate.bits import Floats, Gains, mean
from tamis.evaluate.figure import Figure, wilson_share

Numbers = NDArray[np.integer[Any]]

SHARES = (0.01, 0.05)
"""The parts of all rows that a model is surest of which are looked at."""
SURE = 0.95
"""From this probability on a label is as good as known."""


@dataclass(frozen=True)
class Surest:
    """How right a model is about the rows that it holds most likely to have a label."""

    part: float
    """The part of all rows that is looked at."""
    precision: Figure
    """Of these rows, how many have the label."""
    recall: Figure
    """Of the rows that have the label, how many are among these."""


@dataclass(frozen=True)
class Group:
    """People that are alike in a release, and what it tells of them on average, in bits."""

    number: int
    people: int
    gain: Figure


def surest(
    likely: Floats, is_so: NDArray[np.bool_], parts: Sequence[float] = SHARES
) -> tuple[Surest, ...]:
    """Precision and recall among the rows that a model is surest of.

    Parameters
    ----------
    likely : array of float
        How likely each unseen row is to have the label.
    is_so : array of bool
        Whether it has.
    parts : sequence of float, default 1 and 5 of 100

    Returns
    -------
    tuple of Surest
        Rows that are equally likely at the edge count in the order in which they stand. Empty
        where no row has the label.

    Examples
    --------
    >>> found = surest(np.array([0.9, 0.8, 0.2, 0.1]), np.array([True, False, True, False]), [0.5])
    >>> found[0].precision.value, found[0].recall.value
    (0.5, 0.5)
    """
    if not is_so.any():
        return ()
    order = np.argsort(-likely, kind="stable")
    found = []
    for part in parts:
        first = order[: max(1, round(part * len(order)))]
        hits = int(is_so[first].sum())
        found.append(
            Surest(part, wilson_share(hits, len(first)), wilson_share(hits, int(is_so.sum())))
        )
    return tuple(found)


def known_correctly(probabilities: Floats, baseline: Floats, truth: Numbers) -> Figure:
    """The share of rows whose true label is as good as known with a release, and was not without.

    >>> told = np.array([[0.99, 0.01], [0.4, 0.6]])
    >>> known_correctly(told, np.full((2, 2), 0.5), np.array([0, 1]))
    Figure(value=0.5, low=0.09..., high=0.90...)
    """
    rows = np.arange(len(truth))
    now, before = probabilities[rows, truth] >= SURE, baseline[rows, truth] >= SURE
    return wilson_share(int((now & ~before).sum()), len(truth))


def largest_gains(gains: Gains, people: Numbers | None = None, most: int = 5) -> Floats:
    """The largest gains of single people, in bits; of several rows of one the largest counts.

    >>> largest_gains(np.array([0.1, 2.0, 1.0, 0.3]), np.array([0, 1, 1, 2]), most=2).tolist()
    [2.0, 0.3]
    """
    each = np.asarray(gains, dtype=np.float64)
    if people is not None:
        _, person = np.unique(people, return_inverse=True)
        largest = np.full(int(person.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(largest, person, each)
        each = largest
    return np.sort(each)[::-1][:most]


def largest_group(
    gains: Gains, groups: Numbers, k: int, people: Numbers | None = None
) -> Group | None:
    """The group of at least k people that is told most, on average.

    Parameters
    ----------
    gains : array of float
        In bits, one a row, of rows that nothing was learnt from.
    groups : array of int
        The number of each row's group, such as that of the released values it shares.
    k : int
        Smaller groups are left out: of a few rows the mean gain is chance.
    people : array of int, optional
        Whose each row is. `None`: each row is a person.

    Returns
    -------
    Group, or None
        The largest of many means is partly luck, so its interval is as wide as that of one among
        as many as there are groups. `None` where no group is large enough.

    Examples
    --------
    >>> gains = np.array([1.0, 1.2, 0.8, 0.1, 0.0, -0.1, 9.0])
    >>> found = largest_group(gains, np.array([0, 0, 0, 1, 1, 1, 2]), k=3)
    >>> found.number, found.people, round(found.gain.value, 2)
    (0, 3, 1.0)
    """
    if k < 2:
        raise InputError(f"a group is of two people or more, got k = {k}")
    numbers, group = np.unique(groups, return_inverse=True)
    whose = np.arange(len(group)) if people is None else np.unique(people, return_inverse=True)[1]
    pairs = np.unique(np.column_stack([group, whose]), axis=0)
    sizes = np.bincount(pairs[:, 0], minlength=len(numbers))
    large = np.flatnonzero(sizes >= k)
    if len(large) == 0:
        return None
    sums = np.bincount(group, weights=gains) / np.bincount(group)
    best = int(large[np.argmax(sums[large])])
    rows = group == best
    told = mean(np.asarray(gains)[rows], whose[rows])
    chance = 0.025 / len(large)  # at the level 0.95, for as many groups as were looked at
    half = float(stdtrit(sizes[best] - 1, 1 - chance)) * told.error
    figure = Figure(told.value, told.value - half, told.value + half)
    return Group(int(numbers[best]), int(sizes[best]), figure)
