"""Special uniques (SUDA): the minimal sets of columns that single people out, and risk scores.

A set of columns singles a person out if nobody else has the same values in it. The smaller such a
set, the less an attacker has to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, factorial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Floats, Integers
from tamis.coding import Coded, dense
from tamis.errors import InputError
from tamis.people import People
from tamis.risk.grouping import Grouping, scope

Scoring = Literal["original", "weighted"]
Missing = Literal["value", "nothing"]

MOST_COLUMNS = 62
"""More columns than this do not fit into a set as the bits of a signed 64-bit number."""
WORK = 60_000_000
"""Default limit of the rows looked at, summed over all sets: a few seconds at most."""
FRACTION = 0.01
"""The default sampling fraction of `SpecialUniques.disclosure`."""


class UniqueSet(NamedTuple):
    """A minimal set of columns that singles people out, and the number of these people."""

    columns: tuple[str, ...]
    people: int


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The people who are singled out by few columns, and the sets that do it.

    Parameters
    ----------
    columns : tuple of str
    most : int
        The largest size of a set; larger sets were not searched.
    scores : array of float
        SUDA score of each row: the sum over its minimal unique sets of a weight that decreases with
        their size.
    shares : array of float, rows x columns
        The share of the row's score from sets that contain the column; 0 if the score is 0.
    sizes : array of int, rows x most
        The number of minimal unique sets of 1, 2, ... columns that the row has.
    sets : tuple of UniqueSet
        All sets that single somebody out, those with the most people first.
    pairs : int
        The number of rows that are equal to exactly one other row.
    people : People
        The person of each row.
    """

    columns: tuple[str, ...]
    most: int
    scores: Floats
    shares: Floats
    sizes: Integers
    sets: tuple[UniqueSet, ...]
    pairs: int
    people: People

    @cached_property
    def of_person(self) -> Floats:
        """The largest score of a row of each person."""
        return self.people.worst(self.scores)

    @property
    def exposed(self) -> int:
        """The number of people whom some set singles out."""
        return int(np.count_nonzero(self.of_person))

    @property
    def by_size(self) -> tuple[int, ...]:
        """The number of people whose smallest set has 1, 2, ... columns."""
        smallest = np.where(self.sizes.any(1), (self.sizes > 0).argmax(1), self.most)
        least = self.people.least(smallest)
        return tuple(np.bincount(least, minlength=self.most + 1)[: self.most].tolist())

    @property
    def column_shares(self) -> dict[str, float]:
        """The share of all scores from sets that contain each column, the largest first.

        A set counts for each of its columns, so that the shares add up to more than 1.
        """
        total = self.scores.sum()
        parts = self.scores @ self.shares / total if total else np.zeros(len(self.columns))
        order = np.argsort(-parts, kind="stable")
        return {self.columns[i]: float(parts[i]) for i in order}

    def disclosure(self, fraction: float = FRACTION) -> Floats:
        """For each row the probability that a match with it is the right person (DIS-SUDA).

        Parameters
        ----------
        fraction : float
            The sampling fraction of the table.

        Notes
        -----
        Elliot's DIS-SUDA: the probability that a match is right, estimated from the numbers of
        unique rows and of rows in pairs, and distributed over the unique rows by their scores.
        """
        if not 0 < fraction < 1:
            raise InputError(f"the sampled fraction must be between 0 and 1, got {fraction:g}")
        power = 1 + (8 - len(self.columns)) / 20
        scored = self.scores > 0
        raised = self.scores[scored] ** power
        wrong = self.pairs * (1 - fraction) / fraction
        dis = np.zeros(len(self.scores))
        dis[scored] = 1 / (1 + wrong / (raised * (1 / raised).sum())) if scored.any() else 0.0
        return dis

    @property
    def worst_columns(self) -> tuple[str, ...]:
        """The columns to coarsen first: up to three with at least half of the largest share."""
        shares = self.column_shares
        least = max(shares.values()) / 2
        return tuple(c for c, share in shares.items() if share >= least and share > 0)[:3]

    def to_dict(self, sets: int = 20, fraction: float | None = None) -> dict[str, Any]:
        """The figures of columns and of all people together, as plain values; no single score."""
        dis = None if fraction is None or fraction == 1 else self.disclosure(fraction)
        return {
            "disclosure": None
            if dis is None
            else {"fraction": fraction, "largest": float(dis.max()), "average": float(dis.mean())},
            "columns": list(self.columns),
            "most": self.most,
            "exposed": self.exposed,
            "by_size": list(self.by_size),
            "column_shares": self.column_shares,
            "worst_columns": list(self.worst_columns),
            "sets": [{"columns": list(s.columns), "people": s.people} for s in self.sets[:sets]],
        }


def special_uniques(
    data: Any,
    quasi: Sequence[str] | None = None,
    *,
    most: int | None = None,
    scoring: Scoring = "original",
    missing: Missing = "value",
    people: Any = None,
) -> SpecialUniques:
    """Find the smallest sets of columns that single people out.

    Parameters
    ----------
    data, quasi, people
        As in `k_anonymity`; at most 62 columns.
    most : int, optional
        The largest size of a set; by default as large as can be searched in a few seconds.
    scoring : {"original", "weighted"}
        The weight of a set S of M columns: (M - |S|)!, or that times (2^(M - |S|) - 1) |S|! / M!.
    missing : {"value", "nothing"}
        Whether a missing cell is a value of its own, or equals nothing and singles out nobody.

    Returns
    -------
    SpecialUniques

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"sex": list("ffmm"), "job": ["cook", "cook", "cook", "judge"]})
    >>> found = special_uniques(frame)
    >>> found.scores.tolist(), found.by_size
    ([0.0, 0.0, 1.0, 1.0], (1, 1))
    >>> found.sets
    (UniqueSet(columns=('job',), people=1), UniqueSet(columns=('sex', 'job'), people=1))
    """
    scoped = scope(data, quasi, people=people)
    _check(len(scoped.quasi), most, scoring, missing)
    return singled_out(scoped.grouped(), most, scoring, missing)


def _check(columns: int, most: int | None, scoring: str, missing: str) -> None:
    if columns > MOST_COLUMNS:
        raise InputError(
            f"sets of columns are told apart for at most {MOST_COLUMNS} columns, got {columns}; "
            "name those that attackers may know with quasi=[...] or --quasi"
        )
    if most is not None and most < 1:
        raise InputError(f"a set has at least one column, got most={most}")
    if scoring not in ("original", "weighted"):
        raise InputError(f"scoring is original or weighted, got {scoring!r}")
    if missing not in ("value", "nothing"):
        raise InputError(f"missing is value or nothing, got {missing!r}")


def affordable(columns: int, rows: int, work: int = WORK) -> int:
    """The largest size of sets that can all be searched with a given amount of work.

    >>> affordable(7, 30_000), affordable(40, 30_000)
    (7, 2)
    """
    sets = 0
    for size in range(1, columns + 1):
        sets += comb(columns, size)
        if sets * rows > work:
            return max(1, size - 1)
    return columns


def singled_out(
    grouping: Grouping,
    most: int | None = None,
    scoring: Scoring = "original",
    missing: Missing = "value",
) -> SpecialUniques:
    """`special_uniques` of grouped rows: classes are searched, and give their rows the result."""
    kinds = _DistinctKinds.of(grouping, missing)
    width = len(grouping.columns)
    most = affordable(width, len(kinds.owner)) if most is None else min(most, width)
    found, total = kinds.walked(most, _weights(width, most, scoring))
    times = found.times  # counts of rows; people with several rows are counted by another walk
    if not grouping.people.each_row and total:
        times = kinds.people_by_set(most, total)
    scores = found.scores[:, None]
    shares = np.divide(found.shares, scores, where=scores > 0, out=found.shares)
    of_row = grouping.class_of
    return SpecialUniques(
        grouping.columns,
        most,
        found.scores[of_row],
        shares[of_row],
        found.sizes[of_row],
        _named(grouping.columns, most, times),
        2 * int(np.count_nonzero(np.bincount(of_row) == 2)),
        grouping.people,
    )


def _weights(columns: int, most: int, scoring: Scoring) -> Floats:
    """The weight that a set of each size adds to a score."""
    weights = np.zeros(most + 1)
    for size in range(1, most + 1):
        rest = columns - size
        weights[size] = factorial(rest)
        if scoring == "weighted":
            weights[size] *= (2**rest - 1) * factorial(size) / factorial(columns)
    return weights


def _named(columns: tuple[str, ...], most: int, times: Integers) -> tuple[UniqueSet, ...]:
    """The sets that single somebody out, in the order in which the kernel numbers them."""
    sets, number = [], 1
    for size in range(1, most + 1):
        # By their largest column first: the order of bit masks among sets of one size.
        for members in sorted(combinations(range(len(columns)), size), key=lambda s: s[::-1]):
            if times[number]:
                sets.append(UniqueSet(tuple(columns[i] for i in members), int(times[number])))
            number += 1
    return tuple(sorted(sets, key=lambda s: (-s.people, len(s.columns))))


@dataclass(frozen=True, eq=False)
class _DistinctKinds:
    """The classes of a grouping, one row each.

    Classes of several people (owner -1) cannot be singled out, but keep others from being.
    """

    codes: Integers
    missing: Integers
    owner: Integers

    @classmethod
    def of(cls, grouping: Grouping, missing: Missing) -> _DistinctKinds:
        packed = [_packed(column, missing) for column in grouping.class_codes]
        rows = grouping.row_of
        owner = np.where(grouping.sizes == 1, grouping.people.codes[rows], -1).astype(np.int64)
        return cls(np.stack([p for p, _ in packed]), np.array([m for _, m in packed]), owner)

    def walked(self, most: int, weights: Floats, room: int = 0) -> tuple[_SetsFound, int]:
        """Search sets of at most `most` columns; return the result and the number of hits.

        Hits, pairs of a row and a set that singles it out, are listed up to `room` of them.
        """
        columns, rows = self.codes.shape
        choose = np.array([[comb(n, r) for r in range(most + 1)] for n in range(columns + 1)])
        offsets = np.concatenate([[0], np.cumsum(choose[columns])])
        found = _SetsFound.nothing(rows, columns, most, int(offsets[-1]), room)
        if (self.owner < 0).all():  # nobody is unique, and the kernel need not be loaded
            return found, 0
        from tamis.risk.suda_kernels import minimal_uniques

        radix = max(int(self.codes.max()) + 1, 1)
        work = _WalkRoom.empty(rows, most, int(offsets[most]), radix)
        total = minimal_uniques(
            self.codes, self.missing, self.owner, weights, choose, offsets, found, work
        )
        return found, int(total)

    def people_by_set(self, most: int, total: int) -> Integers:
        """For each set the number of people, some of whom it may single out in several rows.

        A second search with room for all hits, whose number the first one has counted.
        """
        found, _ = self.walked(most, np.zeros(most + 1), max(total, 1))
        pairs = np.unique(np.column_stack([found.sets, self.owner[found.rows]])[:total], axis=0)
        return np.bincount(pairs[:, 0], minlength=len(found.times))


class _SetsFound(NamedTuple):
    """Results of the kernel: figures by row, hits by set (`times`), and hits as a list."""

    scores: Floats
    shares: Floats
    sizes: Integers
    times: Integers
    rows: Integers
    sets: Integers

    @classmethod
    def nothing(cls, rows: int, columns: int, most: int, sets: int, room: int) -> _SetsFound:
        return cls(
            np.zeros(rows),
            np.zeros((rows, columns)),
            np.zeros((rows, most), np.int64),
            np.zeros(sets, np.int64),
            np.empty(room, np.int64),
            np.empty(room, np.int64),
        )


class _WalkRoom(NamedTuple):
    """Work arrays of the kernel, allocated here: allocating inside makes it slow to compile."""

    unique: NDArray[np.uint64]
    """For each set below the largest size, the rows that it makes unique, as bits."""
    kept: NDArray[np.int32]
    """At each depth the rows that are not unique yet, by class; `ends` are those of the classes."""
    ends: Integers
    single: NDArray[np.int32]
    depths: Integers
    of_codes: Integers

    @classmethod
    def empty(cls, rows: int, most: int, sets: int, radix: int) -> _WalkRoom:
        return cls(
            np.zeros((sets, (rows + 63) // 64), np.uint64),
            np.empty((most + 1, rows), np.int32),
            np.zeros((most + 1, rows + 1), np.int64),
            np.empty(rows, np.int32),
            np.zeros((4, most + 1), np.int64),
            np.zeros((4, radix), np.int64),
        )


def _packed(column: Coded, missing: Missing) -> tuple[Integers, int]:
    """The codes of a column without gaps, and the code that equals no other cell (-1: none)."""
    absent = column.codes == column.radix - 1
    packed = dense(column).codes.astype(np.int32)
    nothing = missing == "nothing" and bool(absent.any())
    return packed, int(packed[absent][0]) if nothing else -1
