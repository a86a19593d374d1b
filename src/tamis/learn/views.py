"""Views of a value: what may be hidden in the form of a column, and which of it tells a label.

A learner that cuts numbers at quantiles and knows texts by their commonest values sees neither the
last digit of an income nor the weekday of a date. So each column with more values than a learner
tells apart is also looked at in other ways: `tamis.learn.value_views`, and how often a value
occurs. Of columns together there are the parity of several that have two values, that are missing
or whole numbers (`parities`), the sum and difference of two whole numbers by a modulus, how far two
numbers or times are apart, whether two texts are the same, and whether one has in it a number that
another column is. `find_views` keeps those that tell.

A view is kept where the label's counts among its values are further from what the columns that it
is made of lead to expect than chance explains: the smaller of the G and the chi-squared statistic,
at the level `LEVEL` shared by all views that were tested (Bonferroni). Rows of one person are one
draw, so one row of each is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import chdtrc

from tamis.arrays import Floats, Ints, RowNumbers
from tamis.coding import coded
from tamis.learn.boosting import Boosting, shares_given
from tamis.learn.coded_table import CODES, CodedTable, nominal_codes
from tamis.learn.value_views import MODULI, RARE, Named, points_of, views_of, whole_parts
from tamis.notebook import by_fields

Labels = NDArray[np.integer[Any]]
Paired = tuple[tuple[int, int], str, Ints]

LEVEL = 0.01
"""The chance that any view of a table is kept by mistake."""
FLAGS = 16
"""The most columns of two values, with missing ones or of whole numbers, in parities."""
TOGETHER = 8
"""The most of them in one parity."""
PAIRED = 8
"""The most columns of a kind that are looked at in pairs."""
BANDS = 24
"""The bands in which it is looked at how far two numbers are apart."""
OF_A_COLUMN = 3
"""The most views of the same columns that are kept."""
OF_SEVERAL = 12
"""The most parities, and the most views of pairs, that are tested one by one and kept."""
MOST_CLASSES = 10
"""Rarer classes of a label are tested as one."""


@dataclass(frozen=True, eq=False)
class View:
    """Something that can be made of some columns, as codes of the rows that a table has coded."""

    columns: tuple[int, ...]
    words: str
    codes: NDArray[np.uint8]
    width: int
    lacking: tuple[int, ...] = ()
    """Those of its columns of which only matters what is missing: any form of them shows that."""

    __repr__ = by_fields


@dataclass(frozen=True, eq=False)
class Views:
    """The views of a table that tell, of the rows that it has coded.

    Attributes
    ----------
    kept : tuple of View
    tested : int
        How many were.
    """

    kept: tuple[View, ...] = ()
    tested: int = 0

    __repr__ = by_fields

    def of(self, columns: Sequence[int], sources: Sequence[int]) -> list[int]:
        """The numbers of the views that can be made of some columns, which are forms of others."""
        have, there = set(columns), set(sources)
        return [
            i
            for i, view in enumerate(self.kept)
            if there.issuperset(view.lacking)
            and have.issuperset(set(view.columns).difference(view.lacking))
        ]

    def among(self, numbers: Mapping[int, int]) -> list[View]:
        """Those of columns that another table has, too, by their numbers there."""
        return [
            replace(
                view,
                columns=tuple(sorted(numbers[c] for c in view.columns)),
                lacking=tuple(sorted(numbers[c] for c in view.lacking)),
            )
            for view in self.kept
            if all(c in numbers for c in view.columns)
        ]

    def beside(self, table: CodedTable) -> CodedTable:
        """The table with the views as columns behind its own."""
        if not self.kept:
            return table
        return table.beside(
            CodedTable(
                np.array([view.codes for view in self.kept]),
                np.array([view.width for view in self.kept], dtype=np.int64),
                np.zeros(len(self.kept), dtype=np.bool_),
            )
        )


def find_views(
    frame: pl.DataFrame,
    table: CodedTable,
    label: Labels,
    given: Labels,
    rows: RowNumbers,
    *,
    beside: int,
    classes: int,
    known: Sequence[View] = (),
    fresh: Collection[int] | None = None,
) -> Views:
    """The views of a frame that tell a label beyond what their columns and another label do.

    Parameters
    ----------
    frame : polars.DataFrame
    table : CodedTable
        Its columns, coded, and at `beside` the label that is given.
    label, given : arrays of int
        The classes of every row, from 0.
    rows : array of int
        The rows to learn from, one of each person.
    classes : int
        Those of the label.
    known : sequence of View
        Views that were found before, of columns that are not looked at again.
    fresh : collection of int, optional
        The columns to look at. `None`: all.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> income, other = draw.integers(0, 10_000, (2, 1000))
    >>> frame = pl.DataFrame({"income": income, "other": other})
    >>> none = np.zeros(1000, dtype=int)
    >>> table = CodedTable.of(frame).beside(CodedTable.of_label(none))
    >>> found = find_views(frame, table, income % 2, none, np.arange(1000), beside=2, classes=2)
    >>> [view.words for view in found.kept]
    ['whether income is even']
    """
    if len(np.unique(label[rows])) < 2:
        return Views()
    columns = range(frame.width) if fresh is None else sorted(fresh)
    search = _ViewSearch(frame, table, label, given, rows, beside, classes)
    passed = [
        *search.of_columns(columns),
        *search.of_flags(columns),
        *search.of_pairs(columns),
    ]
    bar, kept = LEVEL / max(search.tested, 1), list(known)
    for candidates in passed:
        if candidates:
            kept += search.chosen(candidates, kept, bar)
    return Views(tuple(kept), search.tested)


@dataclass(frozen=True, eq=False)
class _ViewToTest:
    """A view that may tell, on all coded rows."""

    columns: tuple[int, ...]
    words: str
    values: Ints
    lacking: tuple[int, ...] = ()


class _Flag(NamedTuple):
    """What is 0 or 1 in every row: a column of two values, whether it is missing, or odd."""

    column: int
    words: str
    values: Ints
    lacks: bool = False


@dataclass(eq=False)
class _ViewSearch:
    """What all tests of views share."""

    frame: pl.DataFrame
    table: CodedTable
    label: Labels
    given: Labels
    rows: RowNumbers
    beside: int
    classes: int
    tested: int = 0
    _cells: dict[int, pl.Series] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.coded = self.table.coded_rows
        self.at = self.table.places(self.rows)
        self.known = shares_given(self.label, self.given, self.rows, self.classes)
        counts = np.bincount(self.label[self.rows], minlength=self.classes)
        order = np.argsort(-counts, kind="stable")
        merged = np.empty(self.classes, dtype=np.intp)
        merged[order] = np.minimum(np.arange(self.classes), MOST_CLASSES - 1)
        self.merged = np.eye(min(self.classes, MOST_CLASSES))[merged]
        """How classes are tested: rare ones as one."""
        self.seen = np.asarray(self.merged[self.label[self.rows]])

    def cells(self, column: int) -> pl.Series:
        """A column on the coded rows."""
        if column not in self._cells:
            cells = self.frame[:, column].alias("")  # polars takes "^a.*$" for a pattern
            self._cells[column] = cells if len(self.coded) == len(cells) else cells[self.coded]
        return self._cells[column]

    def _distinct(self, column: int) -> int:
        """How many values a column has, counted once."""
        if column not in self._counts:
            self._counts[column] = self.cells(column).n_unique()
        return self._counts[column]

    def of_columns(self, columns: Sequence[int]) -> Iterator[list[_ViewToTest]]:
        """The views of each column that the table does not tell all values of."""
        for column in columns:
            cells = self.cells(column)
            if self._distinct(column) < CODES:
                continue
            expected = self.expected((column,))
            yield [
                _ViewToTest((column,), words.format(self.frame.columns[column]), values)
                for words, values in chain(views_of(cells), self._repeats(column))
                if self.tells(values, expected, LEVEL)
            ]

    def _repeats(self, column: int) -> Iterator[Named]:
        """How many rows have the value that a row has: who shares a number is of one household."""
        cells = self.cells(column)
        codes = coded(cells).codes
        often = np.minimum(np.bincount(codes)[codes], CODES - 2)
        yield "how often a value of {} occurs", np.where(cells.is_null(), -1, often)

    def of_flags(self, columns: Sequence[int]) -> Iterator[list[_ViewToTest]]:
        """The parities of columns of two values, of what is missing, and of whole numbers."""
        flags = self._flags()
        if len(flags) < 2 or not {flag.column for flag in flags}.intersection(columns):
            return
        masks, strength, count = parities(
            np.array([flag.values[self.at] for flag in flags]), self.seen, self.known_seen
        )
        self.tested += count
        for mask in masks[np.argsort(-strength, kind="stable")][:OF_SEVERAL].tolist():
            members = [flags[i] for i in range(len(flags)) if mask >> i & 1]
            columns = tuple(flag.column for flag in members)
            lacking = tuple(flag.column for flag in members if flag.lacks)
            values = np.asarray(sum(flag.values for flag in members) % 2, dtype=np.int64)
            words = "the parity of " + _listed([flag.words for flag in members])
            yield [_ViewToTest(columns, words, values, lacking)]

    def _flags(self) -> list[_Flag]:
        """Columns of two values, and whether others are missing; those that teach most if many.

        Where these are few, whole numbers, too: whether they are odd.
        """
        found: list[_Flag] = []
        whole: list[_Flag] = []
        for column in range(self.frame.width):
            codes, used = self.table.codes[column], self._used(column)
            name = self.frame.columns[column]
            if len(used) == 2 and 0 not in used:
                found.append(_Flag(column, name, (codes == used[1]).astype(np.int64)))
            elif len(used) > 1 and 0 in used:
                found.append(_Flag(column, f"{name} missing", (codes == 0).astype(np.int64), True))
            elif self.cells(column).dtype.is_integer():
                # A tested row has one; others, such as released rows with blanks, may have none.
                number = self.cells(column).to_physical().cast(pl.Int64).fill_null(0)
                odd = number.to_numpy() % 2
                whole.append(_Flag(column, name, odd))
        if len(found) > FLAGS:
            taught = np.eye(int(self.given.max()) + 1)[self.given[self.rows]]
            taught -= taught.mean(axis=0)
            order = [
                -float((taught[flag.values[self.at] == 1].sum(axis=0) ** 2).sum()) for flag in found
            ]
            found = [found[i] for i in sorted(np.argsort(order, kind="stable")[:FLAGS])]
        return found + whole[: FLAGS - len(found)]

    def _used(self, column: int) -> RowNumbers:
        """The codes that the tested rows have in a column."""
        return np.flatnonzero(np.bincount(self.table.codes[column][self.at], minlength=CODES))

    def of_pairs(self, fresh: Collection[int]) -> Iterator[list[_ViewToTest]]:
        """What two columns say together, at least one of which is to be looked at."""
        expected = self.known_seen
        found: list[tuple[float, _ViewToTest]] = []
        for pair, words, values in self._paired(fresh):
            if gain := self.tells(values, expected, LEVEL):
                found.append((gain, _ViewToTest(pair, words, values)))
        best = sorted(found, key=lambda each: -each[0])[:OF_SEVERAL]
        by_pair: dict[tuple[int, ...], list[_ViewToTest]] = {}
        for _, candidate in best:
            by_pair.setdefault(candidate.columns, []).append(candidate)
        yield from by_pair.values()

    def _paired(self, fresh: Collection[int]) -> Iterator[Paired]:
        return chain(self._sums(fresh), self._gaps(fresh), self._same(fresh), self._named(fresh))

    def _sums(self, fresh: Collection[int]) -> Iterator[Paired]:
        """The sums and differences of whole numbers, or of days, by a modulus."""
        for pair, (one, other) in self._pairs(self._is_whole, fresh):
            first, second = (self.frame.columns[c] for c in pair)
            there = ~(np.isnan(one) | np.isnan(other))
            left, right = (np.where(there, each, 0).astype(np.int64) for each in (one, other))
            for modulus in (*MODULI, 10):
                for sign, between in ((1, "plus"), (-1, "less")):
                    if modulus == 2 and sign < 0:
                        continue
                    words = f"the remainder of {first} {between} {second} by {modulus}"
                    yield pair, words, np.where(there, (left + sign * right) % modulus, -1)

    def _gaps(self, fresh: Collection[int]) -> Iterator[Paired]:
        """How far two numbers, or times, are apart, and by how many times one is the other."""
        for pair, (one, other) in self._pairs(self._is_fine, fresh):
            first, second = (self.frame.columns[c] for c in pair)
            yield pair, f"{second} less {first}", self._banded(other - one)
            numbers = all(self.cells(c).dtype.is_numeric() for c in pair)
            if numbers and min(np.nanmin(one), np.nanmin(other)) > 0:
                yield pair, f"{second} by {first}", self._banded(np.log(other) - np.log(one))

    def _same(self, fresh: Collection[int]) -> Iterator[Paired]:
        """Whether two texts are the same."""
        texts = [c for c in range(self.frame.width) if self.cells(c).dtype == pl.String]
        for pair in combinations(texts[:PAIRED], 2):
            if not set(pair).intersection(fresh) or not self._share_values(*pair):
                continue
            one, other = (self.cells(c) for c in pair)
            values = (one == other).cast(pl.Int64).fill_null(-1).to_numpy()
            words = " and ".join(self.frame.columns[c] for c in pair)
            yield pair, f"whether {words} are the same", values

    def _named(self, fresh: Collection[int]) -> Iterator[Paired]:
        """Whether a text has in it a number that another column is, such as the year of a date."""
        texts = [c for c in range(self.frame.width) if self.cells(c).dtype == pl.String]
        texts = [c for c in texts if self._distinct(c) >= CODES][:PAIRED]
        others = [c for c in range(self.frame.width) if self._is_whole(c)][:PAIRED]
        pairs = [pair for pair in product(texts, others) if set(pair).intersection(fresh)]
        parts = {
            c: list(whole_parts(self.cells(c), self.frame.columns[c]))
            for c in set(chain.from_iterable(pairs))
        }
        for one, other in pairs:
            for (left, first), (right, second) in product(parts[one], parts[other]):
                values = np.where((first < 0) | (second < 0), -1, first == second)
                yield (one, other), f"whether {left} is {right}", values

    def _share_values(self, one: int, other: int) -> bool:
        every = [self.cells(c).drop_nulls().unique() for c in (one, other)]
        return bool(every[0].is_in(every[1].implode()).any())

    def _pairs(
        self, fits: Callable[[int], bool], fresh: Collection[int]
    ) -> Iterator[tuple[tuple[int, int], tuple[Floats, Floats]]]:
        """Pairs of columns that fit, as numbers, dates as days."""
        some = [c for c in range(self.frame.width) if fits(c)][:PAIRED]
        pairs = [pair for pair in combinations(some, 2) if set(pair).intersection(fresh)]
        points = {c: points_of(self.cells(c)) for c in set(chain.from_iterable(pairs))}
        for one, other in pairs:
            yield (one, other), (points[one], points[other])

    def _is_whole(self, column: int) -> bool:
        cells = self.cells(column)
        whole = cells.dtype.is_integer() or cells.dtype == pl.Date
        return whole and self._distinct(column) > 2

    def _is_fine(self, column: int) -> bool:
        """Whether a column has more numbers, or times, than are told apart."""
        cells = self.cells(column)
        kind = cells.dtype.is_numeric() or cells.dtype in (pl.Date, pl.Datetime)
        return kind and self._distinct(column) >= CODES

    def _banded(self, values: Floats) -> Ints:
        """Numbers in bands of as many rows each."""
        seen = values[self.at]
        seen = seen[np.isfinite(seen)]
        cuts = np.unique(np.quantile(seen, np.arange(1, BANDS) / BANDS)) if len(seen) else seen
        place = np.searchsorted(cuts, values, side="left")
        return np.where(np.isfinite(values), place, -1).astype(np.int64)

    @property
    def known_seen(self) -> Floats:
        """What is expected of the tested rows where the other label alone is known."""
        return np.asarray(self.known[self.rows] @ self.merged)

    def expected(self, columns: Sequence[int], more: Views | None = None) -> Floats:
        """What some columns, and views of them, lead to expect of the tested rows."""
        table = self.table if more is None else more.beside(self.table)
        every = [*columns, self.beside, *range(len(self.table), len(table))]
        said = Boosting().probabilities(
            table, self.label, self.rows, self.rows,
            columns=every, start=self.known, classes=self.classes,
        )  # fmt: skip
        return np.asarray(said @ self.merged)

    def tells(self, values: Ints, expected: Floats, level: float) -> float:
        """How much a view tells, for an order among views; 0 where chance may explain it."""
        self.tested += 1
        statistic, free = divergence(values[self.at], self.seen, expected)
        if free < 1 or chdtrc(free, statistic) > level:
            return 0.0
        return max(statistic - free * float(np.log(len(self.rows))), 1e-9)

    def chosen(
        self, candidates: Sequence[_ViewToTest], before: Sequence[View], bar: float
    ) -> list[View]:
        """The views of the same columns that tell beyond those before; the strongest first."""
        kept: list[View] = []
        tested, left, columns = self.tested, list(candidates), candidates[0].columns
        inside = [view for view in before if set(view.columns) <= set(columns)]
        while left and len(kept) < OF_A_COLUMN:
            expected = self.expected(columns, Views((*inside, *kept)))
            gains = [self.tells(each.values, expected, bar) for each in left]
            best = int(np.argmax(gains))
            if not gains[best]:
                break
            kept.append(self._view(left[best]))
            left = [each for each, gain in zip(left, gains) if gain and each is not left[best]]
        self.tested = tested
        return kept

    def _view(self, candidate: _ViewToTest) -> View:
        values = candidate.values
        codes, width = nominal_codes(values, int(values.max()) + 1, self.at, rare=1)
        return View(candidate.columns, candidate.words, codes, width, candidate.lacking)


def divergence(values: Ints, seen: Floats, expected: Floats) -> tuple[float, int]:
    """How far the counts of classes among the values of a view are from what was expected.

    `seen` and `expected` are rows by classes. The smaller of G and chi-squared: with few rows a
    cell one of them is too large, but never both. With the degrees of freedom.

    >>> seen = np.eye(2)[[0, 0, 1, 1] * 10]
    >>> divergence(np.array([0, 0, 1, 1] * 10), seen, np.full((40, 2), 0.5))[1]
    1
    """
    places = values + 1
    counts = np.bincount(places)
    rare = counts < RARE
    if rare.any():
        places = np.where(rare, len(counts), np.arange(len(counts)))[places]
        counts = np.bincount(places)
    used = counts > 0
    observed, hoped = (
        np.stack([np.bincount(places, each, len(counts))[used] for each in rows.T])
        for rows in (seen, expected)
    )
    least = np.maximum(hoped, 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(observed > 0, observed * np.log(observed / least), 0.0)
    squares = (observed - hoped) ** 2 / least
    free = (int(used.sum()) - 1) * (seen.shape[1] - 1)
    return float(min(2 * parts.sum(), squares.sum())), free


def parities(
    flags: NDArray[np.integer[Any]], seen: Floats, expected: Floats
) -> tuple[Ints, Floats, int]:
    """The parities of two to eight flags that differ between classes more than by chance.

    `flags` are 0 or 1, flags by rows; `seen` and `expected` are rows by classes. Gives sets of
    flags as words of bits, how strong each is in standard errors squared, and how many sets were
    looked at. A Walsh-Hadamard transform of what is unexpected, summed over distinct rows, has
    all parities at once.

    >>> flags = np.array([[0, 0, 1, 1] * 50, [0, 1, 0, 1] * 50])
    >>> found = parities(flags, np.eye(2)[flags.sum(axis=0) % 2], np.full((200, 2), 0.5))
    >>> found[0].tolist(), found[2]
    ([3], 1)
    """
    size = len(flags)
    place = (np.asarray(flags, dtype=np.int64) << np.arange(size)[:, None]).sum(axis=0)
    strength = np.zeros(1 << size)
    for one, hoped in zip(seen.T, expected.T):
        spread = float((hoped * (1 - hoped)).sum())
        if spread > 0:
            sums = walsh_hadamard(np.bincount(place, one - hoped, 1 << size).astype(np.float64))
            strength = np.maximum(strength, sums**2 / spread)
    sizes = np.array([i.bit_count() for i in range(1 << size)])
    looked = (sizes >= 2) & (sizes <= TOGETHER)
    count = int(looked.sum())
    bar = chdtrc(1, strength) * seen.shape[1] * max(count, 1) <= LEVEL
    found = np.flatnonzero(looked & bar)
    return found.astype(np.int64), strength[found], count


def walsh_hadamard(values: Floats) -> Floats:
    """For each set of bits, the sum of all values, those of an odd number of its bits negated.

    >>> walsh_hadamard(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    found = np.array(values, dtype=np.float64)
    half = 1
    while half < len(found):
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}"
