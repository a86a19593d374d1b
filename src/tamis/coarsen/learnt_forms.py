"""Learnt forms of a column: the finest groups that merges start from, and names for merged ones.

Numbers are cut at round points (whole numbers at whole ones, others where no cell lies) and dates
at the first day of a month, with at least k people in each interval. A nominal value that k people
have is a group of its own; the others form one group together, so that no mapping names a rare
value. Where values have an order, a rare value joins the value before it. Missing values stay
missing.

A released form (`named_after`) takes its labels, cuts and ends from the released rows alone, never
from suppressed ones.
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

from tamis.arrays import Floats
from tamis.coarsen.intervals import Cuts
from tamis.coarsen.merging import order_of
from tamis.coarsen.value_groups import plain_text
from tamis.coding import as_floats
from tamis.cuts import all_whole, fewest_digits, populous, rounded_cuts
from tamis.errors import InputError
from tamis.learn.coded_table import CODES, RARE, Codes
from tamis.learn.columns import Coding
from tamis.people import People, PeopleLike
from tamis.table import bare

OTHERS = "other"
"""The name of the group of all values without a group of their own."""
MOST_GROUPS = CODES - 2
"""The most groups to start from; the other two codes are for missing values and for the rest."""
SHARE = 1 / 2
"""How far a cut may move to reach a rounder number, as a share of an average interval's rows."""
MONTHS = 8
"""Dates that span fewer months than this may be cut at any day."""
_DAY_ONE = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class FinestForm:
    """The groups of one column that merges start from; coded from 1, with 0 for missing.

    Parameters
    ----------
    cuts : tuple of float, optional
        Where numbers, or dates as ordinal days, are cut, ascending; a group includes the cut that
        it begins at. `None` for nominal columns.
    values : tuple of str
        The nominal values that are groups of their own, the most frequent first.
    others : bool
        Whether the first group holds all other values; if not, they count as missing.
    dated : bool
        Whether the cuts are dates.
    whole : bool
        Whether the numbers, and so the cuts, are whole.
    ranked : bool
        Whether the nominal values have an order; `values` is then in that order.
    rare : tuple of (str, int)
        Ranked values of too few people, each with the place of the value that it joins.

    Examples
    --------
    >>> jobs = FinestForm(values=("cook", "judge"), others=True)
    >>> jobs.codes(pl.Series(["judge", None, "baker", "cook"])).tolist()
    [3, 0, 1, 2]
    >>> FinestForm((18, 65), whole=True).codes(pl.Series([70, 17, 18])).tolist()
    [3, 1, 2]
    """

    cuts: tuple[float, ...] | None = None
    values: tuple[str, ...] = ()
    others: bool = False
    dated: bool = False
    whole: bool = False
    ranked: bool = False
    rare: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(
        cls,
        column: pl.Series,
        codes: Codes,
        rows: NDArray[np.intp],
        *,
        k: int = RARE,
        people: PeopleLike = None,
    ) -> FinestForm:
        """Find the finest groups of a column from some of its rows.

        Parameters
        ----------
        column : polars.Series
        codes : array of uint8
            Its codes in a `CodedTable`: numbers are cut close to where these change.
        rows : array of int
            The rows to use.
        k : int, default 5
            The fewest people in a group among these rows.
        people : People or array, optional
            Whose each row of the column is. `None`: each row is a person.
        """
        k, who = max(k, 1), People.named(people, column.len())[rows]
        if column.dtype == pl.Time:
            return cls(())
        if column.dtype in (pl.Date, pl.Datetime):
            return cls(_date_cuts(_days(column[rows]), k, who), dated=True)
        (known,) = Coding.of(column.to_frame()).known
        if known is None:
            every = _numbers(column)
            return cls._of_numbers(every, every[rows], codes[rows], k, who)
        return cls._of_values(column, known, rows, k, who)

    @classmethod
    def _of_numbers(
        cls, every: Floats, values: Floats, codes: Codes, k: int, people: People
    ) -> FinestForm:
        cuts = _number_cuts(values, codes, k, people)
        if all_whole(every):
            return cls(
                tuple(dict.fromkeys(_cut_between(every, cut, True) for cut in cuts)), whole=True
            )
        # No cut may equal anybody's value, in the other rows either: published, it would reveal it.
        return cls(tuple(cut for cut in cuts if not (every == cut).any()))

    @classmethod
    def _of_values(
        cls,
        column: pl.Series,
        known: tuple[str, ...],
        rows: NDArray[np.intp],
        k: int,
        people: People,
    ) -> FinestForm:
        (every,) = Coding((known,)).columns(column.to_frame())
        counts = _crowds(every.values[rows], len(known), people)
        order = np.argsort(-counts, kind="stable")[:MOST_GROUPS]
        own = order[counts[order] >= k]
        ranks = order_of(bare(column), known) if len(own) else None
        if ranks is not None:
            return cls._of_ranks(ranks, {known[i] for i in own}, len(ranks) < len(known))
        others = bool((~np.isin(every.values, [-1, *own])).any())
        return cls(None, tuple(known[i] for i in own), others)

    @classmethod
    def _of_ranks(cls, ranks: Sequence[str], own: Collection[str], others: bool) -> FinestForm:
        values = tuple(value for value in ranks if value in own)
        before = np.cumsum([value in own for value in ranks]) - 1
        rare = [(v, max(int(i), 0)) for v, i in zip(ranks, before) if v not in own]
        return cls(None, values, others, ranked=True, rare=tuple(rare))

    @property
    def ordered(self) -> bool:
        """Whether only neighbours may be merged."""
        return self.cuts is not None or self.ranked

    @property
    def roundness(self) -> list[int]:
        """Digits of each cut; for dates 1 to 4, from the first day of a year to any day."""
        return [_date_digits(cut) if self.dated else _digits(cut) for cut in self.cuts or ()]

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.values) + self.others if self.cuts is None else len(self.cuts) + 1

    def codes(self, column: pl.Series) -> Codes:
        """Code of each row of the column, or of the same column of another table."""
        if self.cuts is not None:
            at = _days(column) if self.dated else _numbers(column)
            place = 1 + np.searchsorted(self.cuts, at, side="right")
            return np.where(np.isnan(at), 0, place).astype(np.uint8)
        listed = (*self.values, *(value for value, _ in self.rare))
        (nominal,) = Coding((listed,)).columns(bare(column).to_frame())
        unlisted = np.where(bare(column).is_null().to_numpy(), 0, int(self.others))
        places = np.array([*range(len(self.values)), *(place for _, place in self.rare)], dtype=int)
        own = places[nominal.values] + 1 + self.others
        return np.where(nominal.values < 0, unlisted, own).astype(np.uint8)

    def names(self) -> list[str]:
        """The name of each group: an interval, a value, or that of the others."""
        if self.cuts is None:
            return [*[_unused(OTHERS, self.values)][: self.others], *self.values]
        return self.intervals(self.cuts)

    def intervals(self, cuts: Sequence[float]) -> list[str]:
        """The names of the intervals between some cuts."""
        if not cuts:
            return ["any"]
        # Ordinal days begin at 1, the axis of intervals at 0.
        axis = tuple(cut - self.dated for cut in cuts)
        return Cuts((axis,), self.dated, self.whole).names(1)

    def written(self, cut: float) -> str:
        """A cut as text."""
        if self.dated:
            return date.fromordinal(int(cut)).isoformat()
        return repr(float(cut)).removesuffix(".0")


@dataclass(frozen=True)
class CoarserForm:
    """A coarser form of a column: how its finest groups are merged.

    Parameters
    ----------
    finest : FinestForm
    group_of : tuple of int
        The group of each finest one, numbered from 0 in the order of their first members.

    Examples
    --------
    >>> ages = CoarserForm(FinestForm((18, 30, 65), whole=True), (0, 1, 1, 2))
    >>> ages.applied(pl.Series("age", [30, None, 15])).to_list()
    ['18 to 64', None, '17 or less']
    >>> jobs = CoarserForm(FinestForm(values=("cook", "judge", "clerk"), others=True), (0, 0, 1, 1))
    >>> jobs.mapping()
    {'other': 'cook and others', 'cook': 'cook and others', 'judge': 'judge or clerk', 'clerk': 'judge or clerk'}
    >>> jobs.description()
    {'groups': {'cook and others': ['cook'], 'judge or clerk': ['judge', 'clerk']}, 'unlisted': 'cook and others'}
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
        """Number of groups, not counting missing values."""
        return max(self.group_of, default=-1) + 1

    def codes(self, column: pl.Series) -> Codes:
        """Group of each row, from 1; 0 is missing."""
        return self.merged(self.finest.codes(column))

    def merged(self, finest: Codes) -> Codes:
        """Like `codes`, from the codes of the finest groups, which all coarser forms share."""
        of_finest = np.array([0, *(1 + group for group in self.group_of)], dtype=np.uint8)
        return of_finest[finest]

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where the groups of numbers or dates begin, except the first."""
        steps = enumerate(pairwise(self.group_of))
        return tuple((self.finest.cuts or ())[i] for i, (one, next_one) in steps if one != next_one)

    def names(
        self, named: Collection[str] | None = None, unnamed: Collection[int] | None = None
    ) -> list[str]:
        """The name of each group; no two are the same.

        `named` are the values that may be named, commonest first; `unnamed` are the groups that
        have other values as well.
        """
        if self.finest.cuts is not None:
            return self.finest.intervals(self.cuts)
        named = self.finest.values if named is None else named
        names: list[str] = []
        for group in range(self.groups):
            members = set(self._members(group))
            shown = [value for value in named if value in members]
            rest = self._has_others(group) if unnamed is None else group in unnamed
            name = self._between(shown) if self.finest.ranked else _together(shown, rest)
            # A group may be named after its own value, but "other" must not be anybody's value.
            names.append(_unused(name or OTHERS, [*names, *([] if name else self.finest.values)]))
        return names

    def _between(self, shown: Sequence[str]) -> str:
        """The name of neighbouring values of an order: from the first to the last."""
        ends = [value for value in self.finest.values if value in set(shown)]
        if not ends:
            return ""
        return ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}"

    def _has_others(self, group: int) -> bool:
        return self.finest.others and self.group_of[0] == group

    def mapping(self) -> dict[str, str]:
        """The name of each finest group and that of the group it is merged into."""
        names = self.names()
        return {own: names[group] for own, group in zip(self.finest.names(), self.group_of)}

    def description(
        self, named: Collection[str] | None = None, unnamed: Collection[int] | None = None
    ) -> dict[str, Any]:
        """The form as a ladder of one level, as schemas write it: `cuts` or `groups`."""
        if self.finest.cuts is not None:
            return _described_cuts(self.finest, self.cuts)
        names = self.names(named, unnamed)
        groups = {name: members for g, name in enumerate(names) if (members := self._members(g))}
        others = {"unlisted": names[self.group_of[0]]} if self.finest.others else {}
        return {"groups": groups, **others}

    def applied(self, column: pl.Series) -> pl.Series:
        """The column in this form: the names of its groups; missing values stay missing."""
        names = self.names()
        places = pl.Series(column.name, self.codes(column).astype(np.int64)) - 1
        return pl.Series(names, dtype=pl.String).gather(places.set(places < 0, None))

    def _members(self, group: int) -> list[str]:
        """The listed values of a nominal group; rare ones of an order come last."""
        own = self.group_of[self.finest.others :]
        listed = [value for value, g in zip(self.finest.values, own) if g == group]
        return listed + [value for value, place in self.finest.rare if own[place] == group]


class FinestCodes:
    """Cached codes of a table's rows by finest groups, from which all coarser forms are derived.

    A column is coded when it is first asked for; the key is the column with its finest form.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame
        self._known: dict[tuple[int, FinestForm], Codes] = {}

    def of(self, column: int, form: CoarserForm) -> Codes:
        """Group of each row in a form of a column."""
        asked = column, form.finest
        if asked not in self._known:
            self._known[asked] = form.finest.codes(self._frame[:, column])
        return form.merged(self._known[asked])


def named_after(
    form: CoarserForm, cells: pl.Series, k: int, people: PeopleLike = None
) -> dict[str, Any] | None:
    """A form as a ladder of one level, whose names come from the released rows (`cells`) alone.

    A value that fewer than k of these people have does not appear in a group's name. Cuts are
    round, lie between two of the values, and none lies beyond them. `None` where all rows are in
    one group.

    >>> jobs = CoarserForm(FinestForm(values=("cook", "judge", "bard")), (0, 1, 1))
    >>> named_after(jobs, pl.Series(["cook", "judge", "cook", "judge"]), k=2)
    {'groups': {'cook': ['cook'], 'judge': ['judge', 'bard']}}
    >>> ages = CoarserForm(FinestForm((18, 65, 90), whole=True), (0, 1, 2, 3))
    >>> named_after(ages, pl.Series([3, 9, 21, 48, 71, 88]), k=2)
    {'cuts': [20, 60], 'whole': True}
    """
    groups, finest, who = form.codes(cells), form.finest, People.named(people, cells.len())
    if len(np.unique(groups)) < 2:
        return None
    if finest.cuts is not None:
        at = _days(cells) if finest.dated else _numbers(cells)
        present = ~np.isnan(at)
        cuts = _released_cuts(form, at[present], k, who[present])
        return _described_cuts(finest, cuts) if cuts else None
    texts = plain_text(bare(cells))
    counts = (
        pl.DataFrame({"value": texts, "who": who.codes}).unique().group_by("value").len("people")
    )
    many = counts.filter(pl.col("people") >= max(k, 1)).drop_nulls()
    named = many.sort("people", "value", descending=[True, False])["value"]
    others = groups[(~texts.is_in(named.implode())).fill_null(False).to_numpy()]
    return form.description(named.to_list(), set((others[others > 0] - 1).tolist()))


def agreement(form: CoarserForm, others: Sequence[CoarserForm], finest: Codes) -> float:
    """Mean share of rows on which a form agrees with others of the same finest groups.

    Groups are matched one to one such that the most rows agree. `finest` is the finest group of
    each row, from 1; rows of 0 are missing and do not count.

    >>> jobs = FinestForm(values=("cook", "judge", "bard", "king"))
    >>> one, other = CoarserForm(jobs, (0, 0, 1, 1)), CoarserForm(jobs, (0, 1, 1, 1))
    >>> agreement(one, [one, other], np.array([1, 2, 3, 4], dtype=np.uint8))
    0.875
    """
    from scipy.optimize import linear_sum_assignment

    rows = np.bincount(finest, minlength=len(form.finest) + 1)[1:]
    shares = []
    for other in others:
        both = np.zeros((form.groups, other.groups))
        np.add.at(both, (np.array(form.group_of), np.array(other.group_of)), rows)
        shares.append(both[linear_sum_assignment(both, maximize=True)].sum() / max(rows.sum(), 1))
    return float(np.mean(shares)) if shares else 1.0


def _released_cuts(form: CoarserForm, at: Floats, k: int, people: People) -> tuple[float, ...]:
    """Round cuts between the groups of the released numbers or days; none lies beyond these.

    Where the lowest group holds a single whole number that k people have, that number is named:
    "0" says more than "4 or less".
    """
    finest, known = form.finest, np.unique(at)
    cuts = [cut for cut in form.cuts if len(known) and known[0] < cut <= known[-1]]
    near = [_cut_between(known, cut, finest.whole, finest.dated) for cut in cuts]
    distinct = tuple(dict.fromkeys(near))
    if not (distinct and finest.whole) or known[1] < distinct[0]:
        return distinct
    lowest = at == known[0]
    first = float(known[0])
    return (first, first + 1, *distinct[1:]) if people.among(lowest) >= k else distinct


def _described_cuts(finest: FinestForm, cuts: Sequence[float]) -> dict[str, Any]:
    if finest.dated:
        return {"cuts": [finest.written(cut) for cut in cuts]}
    if finest.whole:
        return {"cuts": [int(cut) for cut in cuts], "whole": True}
    return {"cuts": list(cuts)}


def _cut_between(values: Floats, cut: float, whole: bool, dated: bool = False) -> float:
    """A round number that divides the values as a cut does: above those below, at most the next."""
    below, above = values[values < cut].max(), values[values >= cut].min()
    if dated:
        return _round_day(below + 1, above)
    if whole:
        low, high = float(below) + 1, float(above) + 1
        rounded = fewest_digits(low, high, (below + 1 + above) / 2, fives=True)
        # Where no number of few digits fits, the middle comes back itself, which may not be whole.
        return rounded if rounded == int(rounded) else fewest_digits(low, high, above)
    # Strictly between the two, so that the cut is neither of them.
    low = float(np.nextafter(below, np.inf))
    return fewest_digits(low, float(above), (below + above) / 2, fives=True)


def _round_day(first: float, last: float) -> float:
    """The roundest day of a span: the first of a year, quarter or month, else its last day."""
    starts = _month_starts(first, last)
    return min(starts, key=_date_digits) if starts else last


def _month_starts(first: float, last: float) -> list[float]:
    """The first days of the months within a span."""
    day = _month_start(first)
    starts: list[float] = []
    if day < first:
        day = _next_month(day)
    while day <= last and len(starts) < 1200:  # a century: a wrong date must not take for ever
        starts.append(day)
        day = _next_month(day)
    return starts


def _next_month(day: float) -> float:
    return float(date.fromordinal(int(day) + 31).replace(day=1).toordinal())


def _date_digits(day: float) -> int:
    at = date.fromordinal(int(day))
    if at.day != 1:
        return 4
    return 1 if at.month == 1 else 2 if at.month % 3 == 1 else 3


def _digits(number: float) -> int:
    """Twice the significant digits of a number, less one where the last digit is 5.

    At least 1. A lower figure is a rounder number.

    >>> _digits(57), _digits(50), _digits(25), _digits(0.0)
    (4, 1, 3, 1)
    """
    digits = f"{abs(number):.15g}".replace(".", "").strip("0")
    return max(1, 2 * len(digits) - digits.endswith("5"))


def _together(names: Sequence[str], rest: bool) -> str:
    """One name for several values, commonest first; `rest`: there are others that go unnamed."""
    if not names:
        return ""
    if len(names) == 2 and not rest:
        return f"{names[0]} or {names[1]}"
    return f"{names[0]} and others" if rest or len(names) > 1 else names[0]


def _unused(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"({name})"
    return name


def _numbers(column: pl.Series) -> Floats:
    (numbers,) = Coding((None,)).columns(column.to_frame())
    return numbers.values


def _days(column: pl.Series) -> Floats:
    """Dates as ordinal days, NaN where missing; the time of day is dropped."""
    return as_floats(column.cast(pl.Date)) + _DAY_ONE


def _number_cuts(values: Floats, codes: Codes, k: int, people: People) -> tuple[float, ...]:
    """Round numbers near where the codes change."""
    present = ~np.isnan(values)
    values, codes = values[present], codes[present]
    order = np.argsort(values, kind="stable")
    # Codes rise with the values, so a change of code marks the end of a leaf.
    ends = np.flatnonzero(np.diff(codes[order]))
    points = (values[order[ends]] + values[order[ends + 1]]) / 2
    # Leaves hold about as many rows each; to a rounder number a cut may pass half a leaf's rows.
    slack = max(k - 1, int(SHARE * len(values) / (len(ends) + 1)))
    cuts = rounded_cuts(
        values, points, k=k, people=people[present], off_cells=True, slack=slack, fives=True
    )
    return tuple(cuts)


def _date_cuts(days: Floats, k: int, people: People) -> tuple[float, ...]:
    """Cut dates at the first of the month nearest to each quantile; over few months, at any day."""
    present = ~np.isnan(days)
    days = days[present]
    if len(days) == 0:
        return ()
    points = np.quantile(days, np.arange(1, MOST_GROUPS + 1) / (MOST_GROUPS + 1), method="lower")
    if np.ptp(days) >= MONTHS * 31:
        points = np.array([_month_start(day) for day in points])
    # A group includes its cut, while `populous` counts values at a cut below it: half a day less.
    return tuple(cut + 0.5 for cut in populous(days, points - 0.5, k, people[present]))


def _month_start(day: float) -> float:
    """The first day of this month or of the next one, whichever is nearer."""
    this = date.fromordinal(int(day)).replace(day=1).toordinal()
    following = date.fromordinal(this + 31).replace(day=1).toordinal()
    return float(this if day - this <= following - day else following)


def _crowds(codes: NDArray[Any], categories: int, people: People) -> NDArray[np.int64]:
    """Number of people with each category; code -1 is missing and not counted."""
    if not people.each_row:
        codes = np.unique(np.column_stack([codes, people.codes]), axis=0)[:, 0]
    return np.bincount(codes + 1, minlength=categories + 1)[1:]
