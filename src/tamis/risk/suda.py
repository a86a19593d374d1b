"""Which few values single a person out: minimal unique combinations, and who has the worst ones.

Elliot's special uniques: a person is singled out by a set of columns if nobody else has their
values in it; by a smaller set, more of what attackers may know suffices.
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
"""Of more columns, sets cannot be told apart by the bits of a number."""
WORK = 60_000_000
"""Rows looked at in all sets together, by default: a few seconds at most."""
FRACTION = 0.01
"""The share of the population that a sample is taken for, where nobody says it."""


class UniqueSet(NamedTuple):
    """Columns whose values single people out, none of them being superfluous."""

    columns: tuple[str, ...]
    people: int


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """Who is singled out by few columns, and by which.

    Parameters
    ----------
    columns : tuple of str
    most : int
        The most columns in a set; larger sets were not looked at.
    scores : array of float
        For each row: the sum over its minimal unique sets of a weight that falls with their size.
    shares : array of float, rows x columns
        The share of the row's score from sets that contain the column; 0 if the score is 0.
    sizes : array of int, rows x most
        How many minimal unique sets of 1, 2, ... columns the row has.
    sets : tuple of UniqueSet
        All sets that single somebody out, those with the most people first.
    pairs : int
        The rows that exactly one other row equals.
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
        """For each row the chance that somebody who matches it has found the right person.

        Parameters
        ----------
        fraction : float
            The share of the population that the table is a sample of.

        Notes
        -----
        Elliot's DIS-SUDA: the chance that a match is right, estimated from the rows that are
        unique and those in pairs, spread over the unique rows by their scores.
        """
        if not 0 < fraction < 1:
            raise InputError(f"the sampled fraction must be between 0 and 1, got {fraction:g}")
        power = 1 + (8 - len(self.columns)) / 20
        some = self.scores > 0
        raised = self.scores[some] ** power
        wrong = self.pairs * (1 - fraction) / fraction
        found = np.zeros(len(self.scores))
        found[some] = 1 / (1 + wrong / (raised * (1 / raised).sum())) if some.any() else 0.0
        return found

    @property
    def worst_columns(self) -> tuple[str, ...]:
        """What to make coarser first: the columns with at least half of the largest share."""
        shares = self.column_shares
        least = max(shares.values()) / 2
        return tuple(c for c, share in shares.items() if share >= least and share > 0)[:3]

    def to_dict(self, sets: int = 20, fraction: float | None = None) -> dict[str, Any]:
        """What holds for columns and for all people, as plain values; nobody's own score."""
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
        The most columns in a set; by default as many as can be looked at in a few seconds.
    scoring : {"original", "weighted"}
        What a set S of M columns weighs: (M - |S|)!, or that times (2^(M - |S|) - 1) |S|! / M!.
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
    """The most columns in a set for which all sets can be looked at in a few seconds.

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
    """The same for grouped rows: what holds for a class holds for each of its rows."""
    kinds = _DistinctKinds.of(grouping, missing)
    width = len(grouping.columns)
    most = affordable(width, len(kinds.owner)) if most is None else min(most, width)
    found, total = kinds.walked(most, _weights(width, most, scoring))
    times = found.times
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
    """What a set of each size adds to a score."""
    weights = np.zeros(most + 1)
    for size in range(1, most + 1):
        rest = columns - size
        weights[size] = factorial(rest)
        if scoring == "weighted":
            weights[size] *= (2**rest - 1) * factorial(size) / factorial(columns)
    return weights


def _named(columns: tuple[str, ...], most: int, times: Integers) -> tuple[UniqueSet, ...]:
    """The sets that single somebody out, in the order in which the kernel numbers them."""
    found, number = [], 1
    for size in range(1, most + 1):
        # By their largest column first: the order of bit masks among sets of one size.
        for each in sorted(combinations(range(len(columns)), size), key=lambda s: s[::-1]):
            if times[number]:
                found.append(UniqueSet(tuple(columns[i] for i in each), int(times[number])))
            number += 1
    return tuple(sorted(found, key=lambda s: (-s.people, len(s.columns))))


@dataclass(frozen=True, eq=False)
class _DistinctKinds:
    """The classes of a grouping as rows: those of several people can only hide others."""

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
        """What is found in sets of at most so many columns, `room` of it as a list; how much."""
        columns, rows = self.codes.shape
        choose = np.array([[comb(n, r) for r in range(most + 1)] for n in range(columns + 1)])
        offsets = np.concatenate([[0], np.cumsum(choose[columns])])
        found = _SetsFound.nothing(rows, columns, most, int(offsets[-1]), room)
        if (self.owner < 0).all():  # nobody is unique, so that no kernel need be loaded
            return found, 0
        from tamis.risk.suda_kernels import minimal_uniques

        radix = max(int(self.codes.max()) + 1, 1)
        work = _WalkRoom.empty(rows, most, int(offsets[most]), radix)
        total = minimal_uniques(
            self.codes, self.missing, self.owner, weights, choose, offsets, found, work
        )
        return found, int(total)

    def people_by_set(self, most: int, total: int) -> Integers:
        """For each set the number of people; one may have several rows that it singles out."""
        found, _ = self.walked(most, np.zeros(most + 1), max(total, 1))
        pairs = np.unique(np.column_stack([found.sets, self.owner[found.rows]])[:total], axis=0)
        return np.bincount(pairs[:, 0], minlength=len(found.times))


class _SetsFound(NamedTuple):
    """What the kernel finds: figures of rows, the rows of each set, and both as a list."""

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
    """Arrays that the kernel works in: made here, since each kind takes it long to compile."""

    unique: NDArray[np.uint64]
    """Of each set of fewer than the most columns, the rows that it makes unique, as bits."""
    kept: NDArray[np.int32]
    """At each depth, the rows that are not unique yet, by class; `ends` of those classes."""
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
    """The codes of a column without gaps, and the code that equals nothing, or -1."""
    absent = column.codes == column.radix - 1
    packed = dense(column).codes.astype(np.int32)
    nothing = missing == "nothing" and bool(absent.any())
    return packed, int(packed[absent][0]) if nothing else -1
