"""Views: features hidden in the form of values, and which of them predict a label.

A learner that cuts numbers at quantiles and codes texts by their most frequent values sees neither
the last digit of an income nor the weekday of a date. So each column with more values than the
learner tells apart is also tested in other forms: those of `tamis.learn.value_views`, and the
frequency of its value. Combinations of columns are the parity of several flags (columns of two
values, missingness, odd numbers; see `parities`), sums and differences of two whole numbers by a
modulus, differences and ratios of two numbers or times, equality of two texts, and whether a number
in a text is that of another column. `find_views` keeps those that predict the label.

A view is kept if the label's counts by its values deviate from what the columns it is made of lead
to expect by more than chance explains: the smaller of the G and the chi-squared statistic is tested
at `LEVEL`, divided by the number of views tested (Bonferroni). Rows of one person are not
independent, so one row of each person is tested.
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
"""Family-wise error: probability that any view of a table is kept by chance."""
FLAGS = 16
"""Most flags whose parities are tested: all 2**16 sets of them are."""
TOGETHER = 8
"""Most flags in one parity."""
PAIRED = 8
"""Most columns of a kind that are paired: the pairs grow with its square."""
BANDS = 24
"""Quantile bands of the difference of two numbers."""
OF_A_COLUMN = 3
"""Most views of the same columns that are kept."""
OF_SEVERAL = 12
"""Most parities, and most views of pairs, that go on to the second test."""
MOST_CLASSES = 10
"""Classes of a label that are tested; the rarest beyond the first nine are one class."""


@dataclass(frozen=True, eq=False)
class View:
    """A feature derived from some columns, as codes of the coded rows of a table."""

    columns: tuple[int, ...]
    words: str
    codes: NDArray[np.uint8]
    width: int
    lacking: tuple[int, ...] = ()
    """Columns of which only missingness matters: any released form of them shows it."""

    __repr__ = by_fields


@dataclass(frozen=True, eq=False)
class Views:
    """The views of a table that predict its label.

    Attributes
    ----------
    kept : tuple of View
    tested : int
        The number of views that were tested.
    """

    kept: tuple[View, ...] = ()
    tested: int = 0

    __repr__ = by_fields

    def of(self, columns: Sequence[int], sources: Sequence[int]) -> list[int]:
        """Numbers of the views that can be made of `columns`, which are forms of `sources`."""
        have, there = set(columns), set(sources)
        return [
            i
            for i, view in enumerate(self.kept)
            if there.issuperset(view.lacking)
            and have.issuperset(set(view.columns).difference(view.lacking))
        ]

    def among(self, numbers: Mapping[int, int]) -> list[View]:
        """The views whose columns another table also has, with the column numbers of that table."""
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
        """The table with the views appended as nominal columns."""
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
    """The views of a frame that add to what their columns and another label tell of a label.

    Parameters
    ----------
    frame : polars.DataFrame
    table : CodedTable
        The columns of the frame, coded, and as column `beside` the other label.
    label, given : arrays of int
        The label to predict and the other one: the classes of every row, from 0.
    rows : array of int
        The training rows, one of each person.
    classes : int
        The number of classes of the label.
    known : sequence of View
        Views found before, in columns that are not searched again.
    fresh : collection of int, optional
        The columns to search. `None`: all.

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
    # First every view is tested at LEVEL, cheaply; then, with their number known, those that
    # passed are tested again at the level that all of them share.
    bar, kept = LEVEL / max(search.tested, 1), list(known)
    for candidates in passed:
        if candidates:
            kept += search.chosen(candidates, kept, bar)
    return Views(tuple(kept), search.tested)


@dataclass(frozen=True, eq=False)
class _ViewToTest:
    """A candidate view, with its value in all coded rows."""

    columns: tuple[int, ...]
    words: str
    values: Ints
    lacking: tuple[int, ...] = ()


class _Flag(NamedTuple):
    """A 0/1 value of every row: a column of two values, whether one is missing, or odd."""

    column: int
    words: str
    values: Ints
    lacks: bool = False


@dataclass(eq=False)
class _ViewSearch:
    """The data and the running count that all tests of views share."""

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
        """One-hot rows of the classes as they are tested, with rare ones merged."""
        self.seen = np.asarray(self.merged[self.label[self.rows]])

    def cells(self, column: int) -> pl.Series:
        """A column on the coded rows."""
        if column not in self._cells:
            cells = self.frame[:, column].alias("")  # polars takes "^a.*$" for a pattern
            self._cells[column] = cells if len(self.coded) == len(cells) else cells[self.coded]
        return self._cells[column]

    def _distinct(self, column: int) -> int:
        """The number of distinct values of a column, cached."""
        if column not in self._counts:
            self._counts[column] = self.cells(column).n_unique()
        return self._counts[column]

    def of_columns(self, columns: Sequence[int]) -> Iterator[list[_ViewToTest]]:
        """Views of each column that has more values than codes."""
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
        """The frequency of a row's value: rows that share a number may be one household."""
        cells = self.cells(column)
        codes = coded(cells).codes
        often = np.minimum(np.bincount(codes)[codes], CODES - 2)
        yield "how often a value of {} occurs", np.where(cells.is_null(), -1, often)

    def of_flags(self, columns: Sequence[int]) -> Iterator[list[_ViewToTest]]:
        """Parities of flags: columns of two values, missingness, and odd numbers."""
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
        """Columns of two values, missingness of others and, if room is left, odd integers.

        If there are too many, those most associated with the given label are taken.
        """
        flags: list[_Flag] = []
        odd: list[_Flag] = []
        for column in range(self.frame.width):
            codes, used = self.table.codes[column], self._used(column)
            name = self.frame.columns[column]
            if len(used) == 2 and 0 not in used:
                flags.append(_Flag(column, name, (codes == used[1]).astype(np.int64)))
            elif len(used) > 1 and 0 in used:
                flags.append(_Flag(column, f"{name} missing", (codes == 0).astype(np.int64), True))
            elif self.cells(column).dtype.is_integer():
                # A tested row has one; others, such as released rows with blanks, may have none.
                number = self.cells(column).to_physical().cast(pl.Int64).fill_null(0)
                odd.append(_Flag(column, name, number.to_numpy() % 2))
        if len(flags) > FLAGS:
            taught = np.eye(int(self.given.max()) + 1)[self.given[self.rows]]
            taught -= taught.mean(axis=0)
            order = [
                -float((taught[flag.values[self.at] == 1].sum(axis=0) ** 2).sum()) for flag in flags
            ]
            flags = [flags[i] for i in sorted(np.argsort(order, kind="stable")[:FLAGS])]
        return flags + odd[: FLAGS - len(flags)]

    def _used(self, column: int) -> RowNumbers:
        """The codes of a column that occur in the tested rows."""
        return np.flatnonzero(np.bincount(self.table.codes[column][self.at], minlength=CODES))

    def of_pairs(self, fresh: Collection[int]) -> Iterator[list[_ViewToTest]]:
        """Views of two columns, at least one of which is to be searched."""
        expected = self.known_seen
        passed: list[tuple[float, _ViewToTest]] = []
        for pair, words, values in self._paired(fresh):
            if gain := self.tells(values, expected, LEVEL):
                passed.append((gain, _ViewToTest(pair, words, values)))
        best = sorted(passed, key=lambda scored: -scored[0])[:OF_SEVERAL]
        by_pair: dict[tuple[int, ...], list[_ViewToTest]] = {}
        for _, candidate in best:
            by_pair.setdefault(candidate.columns, []).append(candidate)
        yield from by_pair.values()

    def _paired(self, fresh: Collection[int]) -> Iterator[Paired]:
        return chain(self._sums(fresh), self._gaps(fresh), self._same(fresh), self._named(fresh))

    def _sums(self, fresh: Collection[int]) -> Iterator[Paired]:
        """Sums and differences of whole numbers, or of days, by a modulus."""
        for pair, (one, other) in self._pairs(self._is_whole, fresh):
            first, second = (self.frame.columns[c] for c in pair)
            there = ~(np.isnan(one) | np.isnan(other))
            left, right = (np.where(there, each, 0).astype(np.int64) for each in (one, other))
            for modulus in (*MODULI, 10):
                for sign, between in ((1, "plus"), (-1, "less")):
                    if modulus == 2 and sign < 0:  # the parities of sum and difference are the same
                        continue
                    words = f"the remainder of {first} {between} {second} by {modulus}"
                    yield pair, words, np.where(there, (left + sign * right) % modulus, -1)

    def _gaps(self, fresh: Collection[int]) -> Iterator[Paired]:
        """Differences of two numbers or times, and ratios of positive numbers, in bands."""
        for pair, (one, other) in self._pairs(self._is_fine, fresh):
            first, second = (self.frame.columns[c] for c in pair)
            yield pair, f"{second} less {first}", self._banded(other - one)
            numbers = all(self.cells(c).dtype.is_numeric() for c in pair)
            if numbers and min(np.nanmin(one), np.nanmin(other)) > 0:
                yield pair, f"{second} by {first}", self._banded(np.log(other) - np.log(one))

    def _same(self, fresh: Collection[int]) -> Iterator[Paired]:
        """Whether two texts are equal."""
        texts = [c for c in range(self.frame.width) if self.cells(c).dtype == pl.String]
        for pair in combinations(texts[:PAIRED], 2):
            if not set(pair).intersection(fresh) or not self._share_values(*pair):
                continue
            one, other = (self.cells(c) for c in pair)
            values = (one == other).cast(pl.Int64).fill_null(-1).to_numpy()
            words = " and ".join(self.frame.columns[c] for c in pair)
            yield pair, f"whether {words} are the same", values

    def _named(self, fresh: Collection[int]) -> Iterator[Paired]:
        """Whether a number in a text is that of another column, such as the year of a date."""
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
        """Pairs of the columns that fit, with their values as numbers, dates as days."""
        fitting = [c for c in range(self.frame.width) if fits(c)][:PAIRED]
        pairs = [pair for pair in combinations(fitting, 2) if set(pair).intersection(fresh)]
        points = {c: points_of(self.cells(c)) for c in set(chain.from_iterable(pairs))}
        for one, other in pairs:
            yield (one, other), (points[one], points[other])

    def _is_whole(self, column: int) -> bool:
        cells = self.cells(column)
        whole = cells.dtype.is_integer() or cells.dtype == pl.Date
        return whole and self._distinct(column) > 2

    def _is_fine(self, column: int) -> bool:
        """Whether a column has more distinct numbers, or times, than codes."""
        cells = self.cells(column)
        kind = cells.dtype.is_numeric() or cells.dtype in (pl.Date, pl.Datetime)
        return kind and self._distinct(column) >= CODES

    def _banded(self, values: Floats) -> Ints:
        """Numbers in quantile bands, with cuts from the tested rows."""
        seen = values[self.at]
        seen = seen[np.isfinite(seen)]
        cuts = np.unique(np.quantile(seen, np.arange(1, BANDS) / BANDS)) if len(seen) else seen
        place = np.searchsorted(cuts, values, side="left")
        return np.where(np.isfinite(values), place, -1).astype(np.int64)

    @property
    def known_seen(self) -> Floats:
        """Class probabilities of the tested rows given the other label alone."""
        return np.asarray(self.known[self.rows] @ self.merged)

    def expected(self, columns: Sequence[int], more: Views | None = None) -> Floats:
        """Class probabilities of the tested rows given some columns, views and the other label."""
        table = self.table if more is None else more.beside(self.table)
        every = [*columns, self.beside, *range(len(self.table), len(table))]
        proba = Boosting().probabilities(
            table, self.label, self.rows, self.rows,
            columns=every, start=self.known, classes=self.classes,
        )  # fmt: skip
        return np.asarray(proba @ self.merged)

    def tells(self, values: Ints, expected: Floats, level: float) -> float:
        """A view's score, to rank views by; 0 if its p-value is above the level."""
        self.tested += 1
        statistic, free = divergence(values[self.at], self.seen, expected)
        if free < 1 or chdtrc(free, statistic) > level:
            return 0.0
        # Penalised as in BIC, so that views of many values do not win by that; a view that passed
        # the test keeps a score above 0.
        return max(statistic - free * float(np.log(len(self.rows))), 1e-9)

    def chosen(
        self, candidates: Sequence[_ViewToTest], before: Sequence[View], bar: float
    ) -> list[View]:
        """Forward selection among views of the same columns, given those kept before."""
        kept: list[View] = []
        # Testing the same view again is not another one for Bonferroni: the count is put back.
        tested, left, columns = self.tested, list(candidates), candidates[0].columns
        inside = [view for view in before if set(view.columns) <= set(columns)]
        while left and len(kept) < OF_A_COLUMN:
            expected = self.expected(columns, Views((*inside, *kept)))
            gains = [self.tells(view.values, expected, bar) for view in left]
            best = int(np.argmax(gains))
            if not gains[best]:
                break
            kept.append(self._view(left[best]))
            # A view that once failed is not tried again: each round costs a fit and tests of all.
            left = [view for view, gain in zip(left, gains) if gain and view is not left[best]]
        self.tested = tested
        return kept

    def _view(self, candidate: _ViewToTest) -> View:
        values = candidate.values
        codes, width = nominal_codes(values, int(values.max()) + 1, self.at, rare=1)
        return View(candidate.columns, candidate.words, codes, width, candidate.lacking)


def divergence(values: Ints, seen: Floats, expected: Floats) -> tuple[float, int]:
    """Test statistic of a view's class counts against expected ones, and its degrees of freedom.

    `seen` and `expected` are rows by classes. The statistic is the smaller of G and chi-squared:
    with few rows per cell one of them is too large, but never both.

    >>> seen = np.eye(2)[[0, 0, 1, 1] * 10]
    >>> divergence(np.array([0, 0, 1, 1] * 10), seen, np.full((40, 2), 0.5))[1]
    1
    """
    places = values + 1  # -1, no value, is a value like any other
    counts = np.bincount(places)
    rare = counts < RARE
    if rare.any():
        places = np.where(rare, len(counts), np.arange(len(counts)))[places]
        counts = np.bincount(places)
    used = counts > 0
    observed, hoped = (
        np.stack([np.bincount(places, weights, len(counts))[used] for weights in rows.T])
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
    """The parities of two to eight flags that differ between classes by more than chance.

    `flags` are 0 or 1, flags by rows; `seen` and `expected` are rows by classes. Returns the sets
    of flags as bit masks, the strength of each (its deviation in standard errors, squared), and the
    number of sets tested. One Walsh-Hadamard transform of the residuals, summed by combination of
    flags, gives all parities at once.

    >>> flags = np.array([[0, 0, 1, 1] * 50, [0, 1, 0, 1] * 50])
    >>> found = parities(flags, np.eye(2)[flags.sum(axis=0) % 2], np.full((200, 2), 0.5))
    >>> found[0].tolist(), found[2]
    ([3], 1)
    """
    size = len(flags)
    place = (np.asarray(flags, dtype=np.int64) << np.arange(size)[:, None]).sum(axis=0)
    strength = np.zeros(1 << size)
    for truth, proba in zip(seen.T, expected.T):
        variance = float((proba * (1 - proba)).sum())
        if variance > 0:
            sums = walsh_hadamard(np.bincount(place, truth - proba, 1 << size).astype(np.float64))
            strength = np.maximum(strength, sums**2 / variance)
    sizes = np.array([i.bit_count() for i in range(1 << size)])
    tested = (sizes >= 2) & (sizes <= TOGETHER)
    count = int(tested.sum())
    # Bonferroni over the sets and the classes, since `strength` is the largest of all classes.
    significant = chdtrc(1, strength) * seen.shape[1] * max(count, 1) <= LEVEL
    masks = np.flatnonzero(tested & significant)
    return masks.astype(np.int64), strength[masks], count


def walsh_hadamard(values: Floats) -> Floats:
    """For each mask m, the sum of all values i, negated where i & m has an odd number of bits.

    >>> walsh_hadamard(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    sums = np.array(values, dtype=np.float64)
    half = 1
    while half < len(sums):  # one butterfly per bit
        pairs = sums.reshape(-1, 2, half)
        sums = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return sums


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}"
