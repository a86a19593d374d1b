"""Record suppression: leave out the groups that fail a requirement, if these are few.

A group that is too small, or too uniform in the sensitive column, is left out as a whole. A person
is left out with all rows or not at all, so that other groups may become too small in turn: this is
repeated until the remaining rows, counted by themselves, meet the requirements.

`AlikeRows` answers for many sets of columns: rows that are equal in all columns are counted once
for all sets. More columns only make classes smaller, so a column that breaks k by itself is in no
set that keeps k, and is excluded from the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Generic, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Bools, Integers
from tamis.coding import Coded, all_stand_for, coded, collapsed, counted_with, dense, joined
from tamis.people import People, PeopleLike
from tamis.release import Release
from tamis.require.base import Requirements
from tamis.risk.attackers import Known, Secrets, count_asked, seen_classes
from tamis.risk.containment import entity_anonymity

Breaking = Callable[[Integers], Bools]
"""Takes row numbers; says which of these rows fail a requirement if there are no others."""
Key = TypeVar("Key", bound=Hashable)


def most_suppressed(share: float, total: int) -> int:
    """The largest number of rows or people that a share of them allows to leave out.

    >>> most_suppressed(0.29, 100)
    29
    """
    # 0.29 * 100 is just below 29 in floating point: rounded up by a hair before it is floored.
    return math.floor(share * total * (1 + 1e-12))


def all_but_few(classes: Coded, weights: Integers, k: int, most: int = 0) -> bool:
    """Whether the classes of fewer than k rows have at most `most` rows in all, but not all rows.

    `weights` are the rows that each entry stands for, see `tamis.coding.counted_with`.

    >>> classes, weights = Coded(np.array([0, 1, 2]), 3), np.array([7, 2, 1])
    >>> [all_but_few(classes, weights, k=5, most=most) for most in (3, 2, 0)]
    [True, False, False]
    """
    if not most:
        return all_stand_for(classes, weights, k)
    sizes = counted_with(classes, weights)
    return int(sizes[sizes < k].sum()) <= most < int(sizes.sum())


def rows_left(rows: int, breaking: Sequence[Breaking], people: PeopleLike = None) -> Bools:
    """Leave out failing rows, with all rows of their people, until none of the rest fails.

    For conditions that leaving out people can only break, such as k and distinct l, what is left is
    the largest set of people that meets them.

    Parameters
    ----------
    rows : int
    breaking : sequence of callable
        Each takes row numbers and says which of them break a condition among themselves.
    people : People or array, optional
        The person of each row. `None`: each row is a person.

    Examples
    --------
    >>> jobs = Coded(np.array([0, 0, 1, 1, 1]), 2)
    >>> from tamis.require import requirements
    >>> rows_left(5, [breaking_classes(jobs, requirements(k=3))]).tolist()
    [False, False, True, True, True]
    >>> people = np.array([0, 1, 0, 2, 3])  # the first one's going takes a row of the other job
    >>> rows_left(5, [breaking_classes(jobs, requirements(3), people=people)], people).any()
    np.False_
    """
    left, who = np.ones(rows, dtype=np.bool_), People.named(people, rows)
    while breaking and left.any():
        here = np.flatnonzero(left)
        gone = here[reduce(np.logical_or, [breaks(here) for breaks in breaking])]
        if len(gone) == 0:
            break
        left[gone] = False
        left &= ~who.all_rows(~left)  # and all other rows of the same people
    return left


def breaking_classes(
    classes: Coded,
    asked: Requirements,
    secrets: Secrets | None = None,
    people: PeopleLike = None,
) -> Breaking:
    """A function that finds the rows whose class fails a requirement on classes.

    Parameters
    ----------
    classes : Coded
        The classes of all rows by what an attacker may know.
    asked : Requirements
    secrets : mapping of column to series, or frame, optional
        The sensitive columns of the requirements.
    people : People or array, optional
        The person of each row.
    """
    everybody = People.named(people, len(classes.codes))
    columns = {} if secrets is None else {c: secrets[c] for c in asked.by_secret if c is not None}

    def breaks(rows: Integers) -> Bools:
        left = dense(Coded(classes.codes[rows], classes.radix))
        who = everybody[rows].renumbered()
        here = {name: column.gather(rows) for name, column in columns.items()}
        broken = [
            part.breaking(counts)[alike.codes]
            for part, alike, counts in count_asked(asked, left, who, here)
        ]
        return np.asarray(reduce(np.logical_or, broken))

    return breaks


def breaking_attackers(
    known: Known, asked: Requirements, secrets: Secrets, people: People
) -> list[Breaking]:
    """`breaking_classes` for every attacker, each with classes by the columns they know.

    People are left out with all rows, so the classes by all rows of a person need no update.
    """
    return [
        breaking_classes(seen_classes(known, columns, len(people), people), some, secrets, people)
        for columns, some in asked.views.items()
    ]


def breaking_containment(cells: NDArray[np.uint8], k: int, people: PeopleLike = None) -> Breaking:
    """A function that finds the 0/1 rows all of whose ones fewer than k people have.

    >>> breaking_containment(np.array([[1, 1], [1, 0], [0, 0]]), 2)(np.arange(3)).tolist()
    [True, False, False]
    """
    everybody = People.named(people, len(cells))

    def breaks(rows: Integers) -> Bools:
        whose = everybody[rows].renumbered()
        return np.asarray(entity_anonymity(cells[rows], people=whose) < k)

    return breaks


@dataclass(frozen=True, eq=False)
class Suppression:
    """Suppression of a limited number of people, so that the others meet the requirements.

    Parameters
    ----------
    most : int
        The most people who may be left out.
    asked : Requirements
        Those against each attacker.
    secrets : polars.DataFrame
        The original, for its sensitive columns.
    people : People or array, optional
        The person of each row. `None`: each row is a person.
    learnt : sequence of arrays of int
        Sets of training and evaluation rows, of each of which some must be left.

    Examples
    --------
    >>> from tamis.require import requirements
    >>> few = Suppression(1, requirements(k=2), pl.DataFrame({"ill": ["flu", "flu", "cold"]}))
    >>> jobs, ages = Coded(np.array([0, 0, 1]), 2), Coded(np.array([0, 1, 2]), 3)
    >>> few.allows([("job", jobs)]), few.allows([("age", ages)])
    (True, False)
    """

    most: int
    asked: Requirements
    secrets: pl.DataFrame
    people: People = None  # type: ignore[assignment]  # each row is a person
    learnt: tuple[NDArray[np.intp], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", People.named(self.people, self.secrets.height))

    def allows(self, known: Known) -> bool:
        """Whether a release of these columns meets the requirements with few enough left out."""
        breaking = breaking_attackers(known, self.asked, self.secrets, self.people)
        return self.few(rows_left(self.secrets.height, breaking, self.people))

    def allows_contained(self, cells: NDArray[np.uint8], k: int) -> bool:
        """Whether 0/1 rows reach containment anonymity k with few enough left out."""
        breaking = breaking_containment(cells, k, self.people)
        return self.few(rows_left(len(cells), [breaking], self.people))

    def few(self, left: Bools) -> bool:
        """Whether few enough people are left out, and rows to learn from are left."""
        return self.people.among(~left) <= self.most and all(
            left[rows].any() for rows in self.learnt
        )

    def trimmed(self, release: Release) -> Release:
        """The release without the rows that fail the requirements, if these are few enough.

        Otherwise it is returned as it is, and so are releases with altered values or synthetic
        rows.
        """
        if release.is_altered or release.is_suppressed or release.n_unlisted:
            return release
        left = rows_left(release.table.rows, self._breaking(release), self.people)
        return release if left.all() or not self.few(left) else release.keeping(left)

    def _breaking(self, release: Release) -> list[Breaking]:
        table = release.table
        known = [(release.source(c), coded(table.frame[c])) for c in table.quasi]
        asked = self.asked.beyond_k if release.by_containment else self.asked
        found = breaking_attackers(known, asked, self.secrets, self.people)
        contained = [p for p in release.promises if p.key == "containment_anonymity"]
        for promise in contained if table.features else ():
            cells = table.only(promise.columns).to_numpy().astype(np.uint8)
            found.append(breaking_containment(cells, promise.k, self.people))
        return found


class AlikeRows(Generic[Key]):
    """Answers, for any set of columns of a table, whether at least k rows are alike in it.

    Parameters
    ----------
    columns : mapping of key to Coded
    k : int
        The least number of rows that must be alike.
    most : int
        The most rows that may be suppressed to reach k.

    Examples
    --------
    >>> age, job = Coded(np.array([0, 0, 1, 1]), 2), Coded(np.array([0, 1, 0, 1]), 2)
    >>> rows = AlikeRows({"age": age, "job": job}, k=2)
    >>> rows.keep(["age"]), rows.keep(["age", "job"]), rows.keep([])
    (True, False, True)
    """

    def __init__(self, columns: Mapping[Key, Coded], k: int, most: int = 0) -> None:
        self._k, self._most = k, most
        self._found: dict[frozenset[Key], bool] = {}
        # Columns that break k by themselves are dropped: `keep` answers no to any set with one.
        fit = {key: each for key, each in columns.items() if _alone(each, k, most)}
        self._columns = dict(fit)
        if fit:
            rows = collapsed(list(fit.values()))
            self._counts = rows.counts
            self._columns = {k: Coded(c.codes[rows.first], c.radix) for k, c in fit.items()}

    def keep(self, keys: Collection[Key]) -> bool:
        """Whether at least k rows are alike in all these columns, apart from the suppressed few."""
        asked = frozenset(keys)
        if asked not in self._found:
            self._found[asked] = not asked or (asked <= self._columns.keys() and self._kept(asked))
        return self._found[asked]

    def _kept(self, asked: frozenset[Key]) -> bool:
        together = [column for key, column in self._columns.items() if key in asked]
        return all_but_few(reduce(joined, together), self._counts, self._k, self._most)


def _alone(column: Coded, k: int, most: int) -> bool:
    return all_but_few(column, np.ones(len(column.codes), dtype=np.int64), k, most)
