"""Coarser forms of a column that are learnt: the finest groups, and which of them to merge.

Numbers are cut at round points that are nobody's cell, dates at the first day of a month, with k
people or more in each interval. Nominal values that k people have are groups of their own; all
others are one group together, so that no mapping names a rare value. What is missing stays so.

Groups are merged two at a time, where that costs least of what is wanted and tells least. What a
model gets wrong in the rows of a group, squared and by its curvature, is what one Newton step for
that group would gain (Rao's score test, as in `learn.score_test`). Two groups in one can take one
step only; the difference is what merging them costs about a label. The bits that chance gives are
the same for every pair, so that they change no order and are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.cuts import populous, rounded_cuts
from tamis.errors import InputError
from tamis.learn.coded_table import CODES, RARE, Codes
from tamis.learn.columns import Coding
from tamis.learn.score_test import bits_of, residuals
from tamis.table import bare

People = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]

OTHERS = "other"
"""What all values without a group of their own are called together."""
NAMED = 3
"""The most values that the name of a group spells out."""
MOST = CODES - 2
"""The most groups to start from: there is a code for what is missing, and one for the others."""
MONTHS = 8
"""Dates that span fewer months than this are cut at any day."""
LEAST_BEND = 0.25
"""A bend of less than one row's at most is too little to divide by."""
_DAY_ONE = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class FinestForm:
    """The groups of one column that merges start from; as codes, 0 is missing, they are 1 and up.

    Parameters
    ----------
    cuts : tuple of float, optional
        Where numbers are cut, ascending, or dates, as ordinal days; a group begins at a cut and
        includes it. `None`: the column is nominal.
    values : tuple of str
        The nominal values that are groups of their own, the most frequent first.
    others : bool
        Whether the first group is that of all other values; if not, they count as missing.
    dated : bool
        Whether the cuts are dates.

    Examples
    --------
    >>> jobs = FinestForm(values=("cook", "judge"), others=True)
    >>> jobs.codes(pl.Series(["judge", None, "baker", "cook"])).tolist()
    [3, 0, 1, 2]
    >>> FinestForm((17.5, 64.5)).codes(pl.Series([70, 17, 18])).tolist()
    [3, 1, 2]
    """

    cuts: tuple[float, ...] | None = None
    values: tuple[str, ...] = ()
    others: bool = False
    dated: bool = False

    @classmethod
    def of(
        cls,
        column: pl.Series,
        codes: Codes,
        rows: NDArray[np.intp],
        *,
        k: int = RARE,
        people: People | None = None,
    ) -> FinestForm:
        """The finest groups of a column by some of its rows.

        Parameters
        ----------
        column : polars.Series
        codes : array of uint8
            Its codes in a `CodedTable`: numbers are cut near where these are.
        rows : array of int
            The rows to look at.
        k : int, default 5
            The fewest people of a group among these rows.
        people : array of int, optional
            Whose each row of the column is. `None`: each row is a person.
        """
        k, who = max(k, 1), None if people is None else people[rows]
        if column.dtype == pl.Time:
            return cls(())
        if column.dtype in (pl.Date, pl.Datetime):
            return cls(_date_cuts(_days(column[rows]), k, who), dated=True)
        (known,) = Coding.of(column.to_frame()).known
        if known is None:
            cuts = _number_cuts(_numbers(column[rows]), codes[rows], k, who)
            every = _numbers(column)  # a cut is nobody's value, of the other rows either
            return cls(tuple(cut for cut in cuts if not (every == cut).any()))
        return cls._of_values(column, known, rows, k, who)

    @classmethod
    def _of_values(
        cls,
        column: pl.Series,
        known: tuple[str, ...],
        rows: NDArray[np.intp],
        k: int,
        people: People | None,
    ) -> FinestForm:
        (every,) = Coding((known,)).columns(column.to_frame())
        counts = _crowds(every.values[rows], len(known), people)
        order = np.argsort(-counts, kind="stable")[:MOST]
        own = order[counts[order] >= k]
        others = bool((~np.isin(every.values, [-1, *own])).any())
        return cls(None, tuple(known[i] for i in own), others)

    @property
    def ordered(self) -> bool:
        """Whether only neighbours can be merged."""
        return self.cuts is not None

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.values) + self.others if self.cuts is None else len(self.cuts) + 1

    def codes(self, column: pl.Series) -> Codes:
        """The code of each row of the column, or of the same column of another table."""
        if self.cuts is not None:
            at = _days(column) if self.dated else _numbers(column)
            place = 1 + np.searchsorted(self.cuts, at, side="right")
            return np.where(np.isnan(at), 0, place).astype(np.uint8)
        (nominal,) = Coding((self.values,)).columns(bare(column).to_frame())
        unlisted = np.where(bare(column).is_null().to_numpy(), 0, int(self.others))
        own = nominal.values + 1 + self.others
        return np.where(nominal.values < 0, unlisted, own).astype(np.uint8)

    def names(self) -> list[str]:
        """What each group is called: an interval, a value, or the others."""
        if self.cuts is None:
            return [*[_unused(OTHERS, self.values)][: self.others], *self.values]
        return self.intervals(self.cuts)

    def intervals(self, cuts: Sequence[float]) -> list[str]:
        """What the intervals between some cuts are called."""
        ends = [None, *map(self.written, cuts), None]
        return [_interval(low, high) for low, high in pairwise(ends)]

    def written(self, cut: float) -> str:
        """A cut as text."""
        if self.dated:
            return date.fromordinal(int(cut)).isoformat()
        return repr(float(cut)).removesuffix(".0")


@dataclass(frozen=True)
class CoarserForm:
    """A coarser form of a column: which of its groups each finest one is in.

    Parameters
    ----------
    finest : FinestForm
    group_of : tuple of int
        The group of each finest one, numbered from 0 in the order of the first in each.

    Examples
    --------
    >>> ages = CoarserForm(FinestForm((17.5, 29.5, 64.5)), (0, 1, 1, 2))
    >>> ages.applied(pl.Series("age", [30, None, 15])).to_list()
    ['[17.5, 64.5)', None, '< 17.5']
    >>> jobs = CoarserForm(FinestForm(values=("cook", "judge", "clerk"), others=True), (0, 0, 1, 1))
    >>> jobs.mapping()
    {'other': 'cook | other', 'cook': 'cook | other', 'judge': 'judge | clerk', 'clerk': 'judge | clerk'}
    >>> jobs.description()
    {'groups': {'cook | other': ['cook'], 'judge | clerk': ['judge', 'clerk']}, 'unlisted': 'cook | other'}
    """  # noqa: E501

    finest: FinestForm
    group_of: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.group_of) != len(self.finest):
            raise InputError(
                f"each of {len(self.finest)} finest groups needs one, got {len(self.group_of)}"
            )
        if list(dict.fromkeys(self.group_of)) != list(range(self.groups)):
            raise InputError("groups are numbered from 0 in the order of their first members")
        if self.finest.ordered and any(b not in (a, a + 1) for a, b in pairwise(self.group_of)):
            raise InputError("a group of intervals must have no gap")

    @property
    def groups(self) -> int:
        """How many there are, what is missing not counted."""
        return max(self.group_of, default=-1) + 1

    def codes(self, column: pl.Series) -> Codes:
        """The group of each row, from 1; 0 is what is missing."""
        return self.merged(self.finest.codes(column))

    def merged(self, finest: Codes) -> Codes:
        """The same from the codes of the finest groups, which all coarser forms share."""
        of_finest = np.array([0, *(1 + group for group in self.group_of)], dtype=np.uint8)
        return of_finest[finest]

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where the groups of numbers or dates begin, but the first."""
        steps = enumerate(pairwise(self.group_of))
        return tuple((self.finest.cuts or ())[i] for i, (one, next_one) in steps if one != next_one)

    def names(self) -> list[str]:
        """What each group is called, all different."""
        if self.finest.ordered:
            return self.finest.intervals(self.cuts)
        found: list[str] = []
        for group in range(self.groups):
            members = self._members(group)
            if self.finest.others and self.group_of[0] == group:
                members.append(self.finest.names()[0])
            found.append(_unused(_together(members), found))
        return found

    def mapping(self) -> dict[str, str]:
        """What each finest group becomes, by their names."""
        names = self.names()
        return {own: names[group] for own, group in zip(self.finest.names(), self.group_of)}

    def description(self) -> dict[str, Any]:
        """The form as a ladder of one level, as a schema has it: `cuts`, or `groups`."""
        if self.finest.dated:
            return {"cuts": [self.finest.written(cut) for cut in self.cuts]}
        if self.finest.ordered:
            return {"cuts": list(self.cuts)}
        names = self.names()
        groups = {name: members for g, name in enumerate(names) if (members := self._members(g))}
        others = {"unlisted": names[self.group_of[0]]} if self.finest.others else {}
        return {"groups": groups, **others}

    def applied(self, column: pl.Series) -> pl.Series:
        """The column in this form: the names of its groups, what is missing staying so."""
        names = self.names()
        places = pl.Series(column.name, self.codes(column).astype(np.int64)) - 1
        return pl.Series(names, dtype=pl.String).gather(places.set(places < 0, None))

    def _members(self, group: int) -> list[str]:
        """The values of a nominal group that have a name of their own."""
        own = self.group_of[self.finest.others :]
        return [value for value, g in zip(self.finest.values, own) if g == group]


def _interval(low: str | None, high: str | None) -> str:
    """How an interval is written, which includes its lower end."""
    if low is None:
        return "any" if high is None else f"< {high}"
    return f">= {low}" if high is None else f"[{low}, {high})"


def _together(names: Sequence[str]) -> str:
    """One name of several: all of them if they are few, else the first and how many more."""
    if len(names) <= NAMED:
        return " | ".join(names)
    return f"{' | '.join(names[: NAMED - 1])} | {len(names) - NAMED + 1} more"


def _unused(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"({name})"
    return name


def _numbers(column: pl.Series) -> Floats:
    (numbers,) = Coding((None,)).columns(column.to_frame())
    return numbers.values


def _days(column: pl.Series) -> Floats:
    """Dates as ordinal days, NaN where missing; of times the day."""
    days = bare(column).cast(pl.Date).to_physical().cast(pl.Float64) + _DAY_ONE
    return days.fill_null(float("nan")).to_numpy()


def _number_cuts(values: Floats, codes: Codes, k: int, people: People | None) -> tuple[float, ...]:
    """Round numbers near where the codes change."""
    present = ~np.isnan(values)
    values, codes = values[present], codes[present]
    order = np.argsort(values, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order]))
    points = (values[order[ends]] + values[order[ends + 1]]) / 2
    who = None if people is None else people[present]
    return tuple(rounded_cuts(values, points, k=k, people=who, off_cells=True))


def _date_cuts(days: Floats, k: int, people: People | None) -> tuple[float, ...]:
    """First days of the months next to quantiles; where there are few months, any days."""
    present = ~np.isnan(days)
    days = days[present]
    if len(days) == 0:
        return ()
    points = np.quantile(days, np.arange(1, MOST + 1) / (MOST + 1), method="lower")
    if np.ptp(days) >= MONTHS * 31:
        points = np.array([_month_start(day) for day in points])
    who = None if people is None else people[present]
    # A group begins at its cut, so that what is at the cut counts above it.
    return tuple(cut + 0.5 for cut in populous(days, points - 0.5, k, who))


def _month_start(day: float) -> float:
    """The first day of this month or of the next one, whichever is nearer."""
    this = date.fromordinal(int(day)).replace(day=1).toordinal()
    following = date.fromordinal(this + 31).replace(day=1).toordinal()
    return float(this if day - this <= following - day else following)


def _crowds(codes: NDArray[Any], categories: int, people: People | None) -> NDArray[np.int64]:
    """How many people have each category."""
    if people is not None:
        codes = np.unique(np.column_stack([codes, people]), axis=0)[:, 0]
    return np.bincount(codes + 1, minlength=categories + 1)[1:]


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
        return cls(*residuals(probabilities, label), worth)

    def sums(self, codes: Codes, leaves: int) -> tuple[Floats, Floats]:
        """The residuals and curvatures of each leaf, leaves by classes; code 0 is left out."""
        return _sums(codes, leaves, self.residual), _sums(codes, leaves, self.curvature)

    @property
    def scale(self) -> float:
        """What a unit of slope squared by bend is worth."""
        rows, classes = self.residual.shape
        return float(bits_of(self.worth, max(rows, 1), classes))


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
