"""Counts of equivalence classes: their sizes, and the distributions of sensitive values in them.

Tables in memory, nodes of a lattice and engines all give their counts as a `ClassCounts`, which
every requirement is checked on. The sensitive values of all groups are a `Spread`, from which a
measure is computed for all groups at once. It is counted only when needed, since most groups of a
search already fail by their size. A missing value is a value of its own.
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
    """Sparse counts of sensitive values by class: an entry for each value that occurs in a class.

    Entries are sorted by class, then by value; there are never more of them than rows. Missing is a
    value of its own, the last one.

    Parameters
    ----------
    classes, values, counts : arrays, one per entry
        The class, the sensitive value, and the number of people of the class who have it. A person
        with several values counts once for each.
    first : array, one per class
        The first entry of each class.
    sizes : array, one per class
        The sum of the counts of each class: its people, if each has one value.
    totals : array, one per value
        The number of people of the table with each value.
    number, missing : bool
        Whether the sensitive column is numeric, and whether some values are missing.
    people : array, one per class
        The number of people in each class.
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
        """Each entry's share of its class."""
        return np.divide(self.counts, self.sizes[self.classes], dtype=np.float64)

    def summed(self, figures: NDArray[Any]) -> NDArray[Any]:
        """The sum over the entries of each class."""
        return np.add.reduceat(figures, self.first)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Counts of equivalence classes.

    Parameters
    ----------
    people : array, one per group
        The number of people in each group.
    count_spread : callable, optional
        Counts the sensitive values of each group, if there is a sensitive column.
    mean_risk : callable, optional
        Computes the mean over people of 1 / the size of their smallest group. `None`: each person
        is in one group, so that it follows from sizes.
    count_holders : callable, optional
        For 0/1 records: given a number of absences and a number of people that is enough, gives the
        fewest people who match what one person has and that many things that they lack.
    count_holders_of_rows : callable, optional
        Given a number of rows, gives the fewest people who match that many known rows of a person.
        `None`: each row is a person.

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
        """Counts of groups whose sensitive values are counted already."""
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
        """The mean over people of 1 / the size of their smallest group."""
        if self.mean_risk is not None:
            return self.mean_risk()
        return len(self.people) / int(self.people.sum())

    def holders(self, absences: int, enough: int) -> int:
        """The fewest people who match what one person has; 0 if columns are not 0/1."""
        return 0 if self.count_holders is None else self.count_holders(absences, enough)

    def holders_of_rows(self, rows: int) -> int:
        """The fewest people who match so many known rows of one person."""
        if self.count_holders_of_rows is None:
            return int(self.people.min())
        return self.count_holders_of_rows(rows)

    def distinct_values(self) -> Integers:
        """Number of sensitive values of each group, at most its number of people."""
        return distinct_values(self.spread)

    def effective_values(self) -> Floats:
        """Effective number of sensitive values of each group: e to the entropy."""
        return effective_values(self.spread)

    def distances(self, distance: Distance | None = None) -> Floats:
        """Earth mover's distance of each group's sensitive values from the table's."""
        return distances(self.spread, distance)

    def recursive_ratios(self, least: int) -> Floats:
        """Ratio of each group's most frequent value to all those ranked `least` and below."""
        return recursive_ratios(self.spread, least)

    def largest_shares(self) -> Floats:
        """The largest share of one value in each group."""
        return largest_shares(self.spread)

    def surpluses(self, kind: BetaKind = "basic") -> Floats:
        """Largest relative excess of a value's share in each group over its share in the table."""
        return surpluses(self.spread, kind)

    def disclosures(self) -> Floats:
        """Largest absolute log-ratio of a value's shares in each group and in the table."""
        return disclosures(self.spread)


def distinct_values(spread: Spread) -> Integers:
    """Number of sensitive values in each class, at most its number of people."""
    return np.minimum(_entries(spread), spread.people)


def effective_values(spread: Spread) -> Floats:
    """Effective number of sensitive values in each class: e to the entropy."""
    shares = spread.shares
    entropy = spread.summed(-shares * np.log(shares))
    # Capped, since people with several values can make more values than people.
    return np.asarray(np.exp(np.minimum(entropy, np.log(spread.people))))


def _entries(spread: Spread) -> Integers:
    """Number of entries in each class."""
    return np.diff(spread.first, append=len(spread.counts))


def recursive_ratios(spread: Spread, least: int) -> Floats:
    """In each class the ratio of the most frequent value to all those ranked `least` and below."""
    # Sort counts in descending order within each class by one sort of packed keys: class first,
    # then the distance of the count from the largest one.
    most = int(spread.counts.max())
    falling = most - np.sort(spread.classes * (most + 1) + (most - spread.counts)) % (most + 1)
    running = np.concatenate(([0], np.cumsum(falling)))
    head = running[spread.first + np.minimum(least - 1, _entries(spread))] - running[spread.first]
    tail = spread.sizes - head
    lacking = (tail == 0) | (spread.people < least)
    return np.where(lacking, np.inf, falling[spread.first] / np.maximum(tail, 1))


def distances(spread: Spread, distance: Distance | None = None) -> Floats:
    """Earth mover's distance of each class's sensitive values from the table's.

    For ordered values, missing ones count as below all others or above, whichever is worse.
    """
    if distance == "equal" or not spread.number:
        return _equal(spread)
    ordered = _ordered(spread)
    return np.maximum(ordered, _ordered(_missing_first(spread))) if spread.missing else ordered


def _equal(spread: Spread) -> Floats:
    """Distance of unordered values: the sum of the surpluses over the table's shares.

    It equals half the sum of all differences, and only values that occur can have a surplus, so
    entries suffice.
    """
    usual = spread.totals / spread.totals.sum()
    surplus = np.maximum(spread.shares - usual[spread.values], 0)
    return spread.summed(surplus)


def _ordered(spread: Spread) -> Floats:
    """Distance of ordered values: the area between two cumulative distributions.

    It is summed by entry instead of by class and value. From the value of one entry to that of the
    next, the class's cumulative share is constant while the table's rises: below it until they
    cross, above it afterwards. Prefix sums of the table's give each piece in constant time.
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
    """The spread with the missing value below all others instead of above them."""
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
    """The largest share of one value in each class."""
    return np.maximum.reduceat(found.counts / found.people[found.classes], found.first)


def surpluses(found: Spread, kind: BetaKind = "basic") -> Floats:
    """Largest relative excess of a value's share in each class over its share in the table."""
    usual = (found.totals / found.totals.sum())[found.values]
    surplus = np.maximum(found.shares / usual - 1, 0)
    if kind == "enhanced":
        surplus = np.where(exceeds(surplus, -np.log(usual)), np.inf, surplus)
    return np.maximum.reduceat(surplus, found.first)


def disclosures(found: Spread) -> Floats:
    """Largest absolute log-ratio of a value's shares in each class and in the table.

    Infinite if the class lacks some value.
    """
    usual = (found.totals / found.totals.sum())[found.values]
    apart = np.maximum.reduceat(np.abs(np.log(found.shares / usual)), found.first)
    return np.where(_entries(found) < len(found.totals), np.inf, apart)


def fewest_holders(classes: Integers, people: Integers, most: int) -> Integers:
    """For each person, the fewest people who match what may be known of up to `most` of their rows.

    Parameters
    ----------
    classes, people : arrays of int, one per row
        The class and the person of each row, from 0 without gaps.

    Notes
    -----
    What is known is a multiset of classes. Multisets are grown row by row, for all people at once.
    In the rows of a person, sorted by class, a multiset is extended by the next row if that has the
    same class, or by the first row of any later class. So each multiset of a person is made exactly
    once, and the number of people who hold a multiset is the number of times it was made. Larger
    multisets have fewer holders, so only each person's largest ones count: those of `most` rows, or
    of all rows if there are fewer.

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
