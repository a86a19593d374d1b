"""Which rows may leave where a few may be left out: those whose groups keep what is asked.

A group that is too small, or too alike in the sensitive column, goes as a whole. A person goes with
all rows or stays with all, so that other groups may become too small in turn: groups are left out
until the rest keeps all that is asked, counted on the rest alone.

`AlikeRows` is asked about many sets of columns: rows alike in all columns are counted once for all
sets. Classes only become smaller with more columns, so a column that breaks k alone is in no set
that keeps it, and is left out from the start.
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
"""Which of some rows, if these are all there are, break what is asked."""
Key = TypeVar("Key", bound=Hashable)


def most_suppressed(share: float, total: int) -> int:
    """The most rows or people that may be left out, given their share.

    >>> most_suppressed(0.29, 100)
    29
    """
    return math.floor(share * total * (1 + 1e-12))  # 0.29 * 100 is just below 29


def all_but_few(classes: Coded, weights: Integers, k: int, most: int = 0) -> bool:
    """Whether classes that stand for fewer than k rows have at most so many rows in all.

    `weights` are the rows that each entry stands for, see `tamis.risk.grouping.counted_with`.

    >>> classes, weights = Coded(np.array([0, 1, 2]), 3), np.array([7, 2, 1])
    >>> [all_but_few(classes, weights, k=5, most=most) for most in (3, 2, 0)]
    [True, False, False]
    """
    if not most:
        return all_stand_for(classes, weights, k)
    sizes = counted_with(classes, weights)
    return int(sizes[sizes < k].sum()) <= most < int(sizes.sum())


def rows_left(rows: int, breaking: Sequence[Breaking], people: PeopleLike = None) -> Bools:
    """Leave out rows that break what is asked, people whole, until none of the rest does.

    Of conditions that only more people can meet, such as k and distinct l, what is left is the
    largest set of people that keeps them.

    Parameters
    ----------
    rows : int
    breaking : sequence of callable
        Each takes row numbers and says which of them break a condition among themselves.
    people : People or array, optional
        Whose each row is. `None`: each row is a person.

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
        left &= ~who.all_rows(~left)
    return left


def breaking_classes(
    classes: Coded,
    asked: Requirements,
    secrets: Secrets | None = None,
    people: PeopleLike = None,
) -> Breaking:
    """Rows whose class does not keep what every class is judged by.

    Parameters
    ----------
    classes : Coded
        Of rows that are alike in what an attacker may know.
    asked : Requirements
    secrets : mapping of column to series, or frame, optional
        The sensitive columns that anything is asked about.
    people : People or array, optional
        Whose each row is.
    """
    everybody = People.named(people, len(classes.codes))
    columns = {} if secrets is None else {c: secrets[c] for c in asked.by_secret if c is not None}

    def breaks(rows: Integers) -> Bools:
        some = dense(Coded(classes.codes[rows], classes.radix))
        who = everybody[rows].renumbered()
        here = {name: column.gather(rows) for name, column in columns.items()}
        broken = [
            part.breaking(counts)[alike.codes]
            for part, alike, counts in count_asked(asked, some, who, here)
        ]
        return np.asarray(reduce(np.logical_or, broken))

    return breaks


def breaking_attackers(
    known: Known, asked: Requirements, secrets: Secrets, people: People
) -> list[Breaking]:
    """The same for every attacker: each sees classes of the known columns of its own.

    Who is left out goes with all rows, so that what all rows of the others are stays as it is.
    """
    return [
        breaking_classes(seen_classes(known, columns, len(people), people), some, secrets, people)
        for columns, some in asked.views.items()
    ]


def breaking_containment(cells: NDArray[np.uint8], k: int, people: PeopleLike = None) -> Breaking:
    """Rows of 0 and 1 all whose ones fewer than k people have.

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
    """A few people who may be left out of a release, so that all others keep what is asked.

    Parameters
    ----------
    most : int
        The most people who may be left out.
    asked : Requirements
        Of each attacker.
    secrets : polars.DataFrame
        The original, for its sensitive columns.
    people : People or array, optional
        Whose each row is. `None`: each row is a person.
    learnt : sequence of arrays of int
        Rows that are learnt from: of each of them some must be left.

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
        """Whether few enough must be left out for columns of all rows to keep what is asked."""
        breaking = breaking_attackers(known, self.asked, self.secrets, self.people)
        return self.few(rows_left(self.secrets.height, breaking, self.people))

    def allows_contained(self, cells: NDArray[np.uint8], k: int) -> bool:
        """The same for rows of 0 and 1 that hide among all who have what they have."""
        breaking = breaking_containment(cells, k, self.people)
        return self.few(rows_left(len(cells), [breaking], self.people))

    def few(self, left: Bools) -> bool:
        """Whether those left out are few enough, and there are rows left to learn from."""
        return self.people.among(~left) <= self.most and all(
            left[rows].any() for rows in self.learnt
        )

    def trimmed(self, release: Release) -> Release:
        """The release without the rows that keep it from what is asked, if these are few.

        Where they are too many, and where values were altered or rows are synthetic, it stays as
        it is.
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
    """The rows of a table by some columns, to be asked which of these leave k rows alike.

    Parameters
    ----------
    columns : mapping of key to Coded
    k : int
        The fewest rows that must be alike.
    most : int
        The most rows that may be left out so that the rest keeps k.

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
        fit = {key: each for key, each in columns.items() if _alone(each, k, most)}
        self._columns = dict(fit)
        if fit:
            rows = collapsed(list(fit.values()))
            self._counts = rows.counts
            self._columns = {k: Coded(c.codes[rows.first], c.radix) for k, c in fit.items()}

    def keep(self, keys: Collection[Key]) -> bool:
        """Whether k rows or more are alike in all these columns, but for the few left out."""
        asked = frozenset(keys)
        if asked not in self._found:
            self._found[asked] = not asked or (asked <= self._columns.keys() and self._kept(asked))
        return self._found[asked]

    def _kept(self, asked: frozenset[Key]) -> bool:
        together = [column for key, column in self._columns.items() if key in asked]
        return all_but_few(reduce(joined, together), self._counts, self._k, self._most)


def _alone(column: Coded, k: int, most: int) -> bool:
    return all_but_few(column, np.ones(len(column.codes), dtype=np.int64), k, most)
