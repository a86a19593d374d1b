"""What is counted of groups of people alike: how many they are, and how their secrets are spread.

Whoever counts makes a `ClassCounts` of it, and every requirement is asked of that: tables in
memory, the nodes of a lattice of coarser forms, engines. The sensitive values of all groups are a
`Spread`, from which a measure is read off for all groups at once. It is counted only when asked
for, since most groups of a search fail for their size. A missing value is a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Floats, Integers
from tamis.errors import InputError
from tamis.figures import exceeds

Distance = Literal["equal", "ordered"]
BetaKind = Literal["basic", "enhanced"]


@dataclass(frozen=True, eq=False)
class Spread:
    """One entry for each class and sensitive value that occurs in it.

    The entries are ordered by class, then by value; there are never more of them than rows.
    Missing is a value of its own, the last one.

    Parameters
    ----------
    classes, values, counts : arrays, one per entry
        The class, the sensitive value, and the people of the class that have it. A person who has
        several values counts once for each.
    first : array, one per class
        The first entry of each class.
    sizes : array, one per class
        The sum of the counts of each class: its people, if each has one value.
    totals : array, one per value
        The people of the table that have each value.
    number, missing : bool
        Whether the sensitive column is numeric, and whether some values are missing.
    people : array, one per class
        The people in each class.
    """

    classes: Integers
    values: Integers
    counts: Integers
    first: Integers
    sizes: Integers
    totals: Integers
    people: Integers
    number: bool
    missing: bool

    @property
    def shares(self) -> Floats:
        """The share of its class that each entry makes up."""
        return np.divide(self.counts, self.sizes[self.classes], dtype=np.float64)

    def summed(self, figures: NDArray[Any]) -> NDArray[Any]:
        """The sum over the entries of each class."""
        return np.add.reduceat(figures, self.first)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Groups of people alike, counted.

    Parameters
    ----------
    people : array, one per group
        How many people each has.
    count_spread : callable, optional
        Counts the sensitive values of each group, where there is a sensitive column.
    mean_risk : callable, optional
        Gives the mean over people of 1 by the people of their smallest group. `None`: each person
        is in one group, so that sizes tell it.
    count_holders : callable, optional
        Given a number of absences and of people that are enough, gives the fewest people who have
        all that somebody has and lack that many things; for 0/1 records.
    count_holders_of_rows : callable, optional
        Given a number of rows, gives the fewest people who have all that somebody may know of so
        many rows of a person. `None`: each row is a person.

    Examples
    --------
    >>> ClassCounts(np.array([3, 1])).average_risk
    0.5
    """

    people: Integers
    count_spread: Callable[[], Spread] | None = None
    mean_risk: Callable[[], float] | None = None
    count_holders: Callable[[int, int], int] | None = None
    count_holders_of_rows: Callable[[int], int] | None = None

    @classmethod
    def of_spread(cls, spread: Spread) -> ClassCounts:
        """Groups of which the sensitive values are counted already."""
        return cls(spread.people, lambda: spread)

    @cached_property
    def spread(self) -> Spread:
        """The sensitive values of each group."""
        if self.count_spread is None:
            raise InputError(
                "this is asked of a sensitive column, and there is none; name it with "
                "sensitive=... or --sensitive COL"
            )
        return self.count_spread()

    @cached_property
    def average_risk(self) -> float:
        """The mean over people of 1 by the people of their smallest group."""
        if self.mean_risk is not None:
            return self.mean_risk()
        return len(self.people) / int(self.people.sum())

    def holders(self, absences: int, enough: int) -> int:
        """The fewest people who have all that somebody has; 0 where columns are not 0/1."""
        return 0 if self.count_holders is None else self.count_holders(absences, enough)

    def holders_of_rows(self, rows: int) -> int:
        """The fewest people who have all that may be known of so many rows of somebody."""
        if self.count_holders_of_rows is None:
            return int(self.people.min())
        return self.count_holders_of_rows(rows)

    def distinct_values(self) -> Integers:
        """The number of sensitive values of each group, at most that of its people."""
        return distinct_values(self.spread)

    def effective_values(self) -> Floats:
        """The effective number of sensitive values of each group: e to the entropy."""
        return effective_values(self.spread)

    def distances(self, distance: Distance | None = None) -> Floats:
        """How far the sensitive values of each group are from those of the table."""
        return distances(self.spread, distance)

    def recursive_ratios(self, least: int) -> Floats:
        """By how much the commonest value of each group outnumbers those ranked `least` on."""
        return recursive_ratios(self.spread, least)

    def largest_shares(self) -> Floats:
        """The largest share of each group who have the same value."""
        return largest_shares(self.spread)

    def surpluses(self, kind: BetaKind = "basic") -> Floats:
        """By how much a value of each group exceeds its usual share, as a multiple of it."""
        return surpluses(self.spread, kind)

    def disclosures(self) -> Floats:
        """The largest absolute logarithm of a share of each group over the usual one."""
        return disclosures(self.spread)


def distinct_values(spread: Spread) -> Integers:
    """The number of sensitive values in each class, at most that of its people."""
    return np.minimum(_entries(spread), spread.people)


def effective_values(spread: Spread) -> Floats:
    """The effective number of sensitive values in each class: e to the entropy."""
    shares = spread.shares
    entropy = spread.summed(-shares * np.log(shares))
    return np.asarray(np.exp(np.minimum(entropy, np.log(spread.people))))


def _entries(spread: Spread) -> Integers:
    """The number of entries in each class."""
    return np.diff(spread.first, append=len(spread.counts))


def recursive_ratios(spread: Spread, least: int) -> Floats:
    """In each class the ratio of the most common value to those ranked `least` on together."""
    most = int(spread.counts.max())
    falling = most - np.sort(spread.classes * (most + 1) + (most - spread.counts)) % (most + 1)
    running = np.concatenate(([0], np.cumsum(falling)))
    head = running[spread.first + np.minimum(least - 1, _entries(spread))] - running[spread.first]
    tail = spread.sizes - head
    lacking = (tail == 0) | (spread.people < least)
    return np.where(lacking, np.inf, falling[spread.first] / np.maximum(tail, 1))


def distances(spread: Spread, distance: Distance | None = None) -> Floats:
    """How far the sensitive values of each class are from those of the table."""
    if distance == "equal" or not spread.number:
        return _equal(spread)
    found = _ordered(spread)
    return np.maximum(found, _ordered(_missing_first(spread))) if spread.missing else found


def _equal(spread: Spread) -> Floats:
    """Half the sum of the differences is the sum of the surpluses, which only entries can have."""
    usual = spread.totals / spread.totals.sum()
    surplus = np.maximum(spread.shares - usual[spread.values], 0)
    return spread.summed(surplus)


def _ordered(spread: Spread) -> Floats:
    """Sum the distance of two step functions piece by piece, never class by value.

    From the value of an entry to that of the next one, the cumulative share of the class
    stays constant while that of the table rises: below it until they cross, above it afterwards.
    """
    distinct = len(spread.totals)
    if distinct == 1:
        return np.zeros(len(spread.sizes))
    usual = np.cumsum(spread.totals) / spread.totals.sum()
    area = np.concatenate(([0.0], np.cumsum(usual)))
    running = np.cumsum(spread.counts)
    before = running[spread.first] - spread.counts[spread.first]
    held = (running - before[spread.classes]) / spread.sizes[spread.classes]
    start = spread.values
    end = np.append(start[1:], distinct)
    end[spread.first[1:] - 1] = distinct
    cross = np.clip(np.searchsorted(usual, held), start, end)
    apart = held * (2 * cross - start - end) + area[start] + area[end] - 2 * area[cross]
    total = area[start[spread.first]] + spread.summed(apart)
    return np.asarray(np.maximum(total, 0.0) / (distinct - 1))


def _missing_first(spread: Spread) -> Spread:
    """The same spread with the missing value below all others instead of above them."""
    distinct = len(spread.totals)
    values = (spread.values + 1) % distinct
    order = np.argsort(spread.classes * distinct + values)
    return replace(
        spread,
        values=values[order],
        counts=spread.counts[order],
        totals=np.roll(spread.totals, 1),
    )


def largest_shares(found: Spread) -> Floats:
    """In each class the largest share of its people who have the same value."""
    return np.maximum.reduceat(found.counts / found.people[found.classes], found.first)


def surpluses(found: Spread, kind: BetaKind = "basic") -> Floats:
    """In each class by how much a value exceeds its share in the table, as a multiple of it."""
    usual = (found.totals / found.totals.sum())[found.values]
    surplus = np.maximum(found.shares / usual - 1, 0)
    if kind == "enhanced":
        surplus = np.where(exceeds(surplus, -np.log(usual)), np.inf, surplus)
    return np.maximum.reduceat(surplus, found.first)


def disclosures(found: Spread) -> Floats:
    """In each class the largest absolute logarithm of a share over that in the table."""
    usual = (found.totals / found.totals.sum())[found.values]
    apart = np.maximum.reduceat(np.abs(np.log(found.shares / usual)), found.first)
    return np.where(_entries(found) < len(found.totals), np.inf, apart)


def fewest_holders(classes: Integers, people: Integers, most: int) -> Integers:
    """For each person, the fewest people who hold what may be known of up to `most` of the rows.

    Parameters
    ----------
    classes, people : arrays of int, one per row
        What each row is alike in, and whose it is, from 0 without gaps.

    Notes
    -----
    The sets are grown row by row, for all people at once. In the rows of a person, ordered by their
    class, a set is continued by the next row if that has the same class, or by the first row of
    any later class: so each multiset of a person is made once, and who holds a multiset is counted
    by how often it was made. Larger sets have fewer holders, so that of each person the largest
    count: those of `most` rows, or of all where there are fewer.

    Examples
    --------
    >>> jobs, who = np.array([0, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 2])
    >>> [fewest_holders(jobs, who, most).tolist() for most in (1, 2)]
    [[2, 2, 3], [2, 2, 3]]
    """
    order = np.lexsort((classes, people))
    of, whose = classes[order].astype(np.int64), people[order]
    rows, width = len(of), int(of.max()) + 1
    opens_person = np.append(True, whose[1:] != whose[:-1])
    opens_class = opens_person | np.append(True, of[1:] != of[:-1])
    starts = np.flatnonzero(opens_person)
    owned = np.diff(starts, append=rows)[np.cumsum(opens_person) - 1]  # the rows of the same person
    end = (starts + np.diff(starts, append=rows))[np.cumsum(opens_person) - 1]
    firsts = np.flatnonzero(opens_class)
    before = np.concatenate(([0], np.cumsum(opens_class)))  # first rows of a class before a row
    again = np.append(~opens_class[1:], False)  # whether the next row is alike and of the person
    last, made = firsts, of[firsts]
    fewest = np.full(int(whose.max()) + 1, rows)
    for size in range(1, most + 1):
        kinds, made = np.unique(made, return_inverse=True)
        holders = np.bincount(made, minlength=len(kinds))[made]
        whole = owned[last] == size
        counting = whole | (size == most)
        np.minimum.at(fewest, whose[last[counting]], holders[counting])
        last, made = last[~counting], made[~counting]
        if not len(last):
            break
        later, here = before[end[last]] - before[last + 1], again[last]
        several = np.repeat(np.arange(len(last)), later)
        step = np.arange(len(several)) - np.repeat(np.cumsum(later) - later, later)
        following = firsts[before[last + 1][several] + step]
        parent = np.concatenate([several, np.flatnonzero(here)])
        last = np.concatenate([following, last[here] + 1])
        made = made[parent] * width + of[last]
    return fewest
