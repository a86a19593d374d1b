"""Rows that no attacker can distinguish: one grouping, from which every measure is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, listed, listed_as, plural
from tamis.read import polars_frame
from tamis.read.types import SHORT
from tamis.table import Table, bare, only

Ints = NDArray[Any]
NARROW = 1 << 20
"""Whole numbers within a range of this width are coded by their distance from the smallest."""
LARGEST = 1 << 62
"""No code reaches this, so that products of codes stay within 64 bits."""
ROOMY = 4
"""Codes are counted in an array while it has at most this many cells for each row."""


@dataclass(frozen=True, eq=False)
class Coded:
    """One integer for each row, from 0 up to `radix`; equal codes mean equal values."""

    codes: Ints = field(repr=False)
    radix: int


def coded(column: pl.Series) -> Coded:
    """The values of a column as integers, numbers in ascending order, text in order of appearance.

    Missing is the last code: equal to other missing cells, different from every present value.

    Examples
    --------
    >>> coded(pl.Series([7.5, None, 3.0, 7.5])).codes.tolist()
    [1, 2, 0, 1]
    """
    present, width = _present(bare(column))
    if present.null_count():
        present = present.cast(pl.UInt32).fill_null(width)
    return Coded(present.to_numpy().astype(np.min_scalar_type(width)), width + 1)


class CodedFrame:
    """The columns of a frame as codes, each coded when it is first asked for, and once.

    Examples
    --------
    >>> columns = CodedFrame(pl.DataFrame({"age": [31, 47, 31]}))
    >>> columns["age"].codes.tolist(), columns["age"] is columns["age"]
    ([0, 16, 0], True)
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame
        self._known: dict[str, Coded] = {}

    def __getitem__(self, name: str) -> Coded:
        if name not in self._known:
            self._known[name] = coded(self._frame.get_column(name))
        return self._known[name]


def fewest_alike(columns: Iterable[Coded], people: Coded | None = None) -> int:
    """The people in the smallest class of rows alike in some columns, at least one.

    >>> fewest_alike([Coded(np.array([0, 1, 1]), 2)]), fewest_alike([Coded(np.array([0, 0]), 1)])
    (1, 2)
    """
    return int(sizes_of(reduce(joined, columns), people).min())


def _present(column: pl.Series) -> tuple[pl.Series, int]:
    """Codes of the present values, null where missing, and how many codes there can be."""
    if column.dtype == pl.String:
        # Separate categories: the global ones would number the values of other columns too.
        text = column.cast(pl.Categorical(pl.Categories.random())).to_physical()
        return text, _width(text.max())
    if column.dtype.is_float():
        column = column.fill_nan(None)
    whole = column.cast(pl.UInt8) if column.dtype == pl.Boolean else column.to_physical()
    if whole.dtype.is_integer():
        least: Any = whole.min()
        most: Any = whole.max()
        if least is not None and most - least < NARROW and max(-least, most) < LARGEST:
            return whole.cast(pl.Int64) - least, _width(most - least)
    ranks = column.rank("dense") - 1
    return ranks, _width(ranks.max())


def _width(highest: Any) -> int:
    """The number of codes up to the highest one; 0 if no value is present."""
    return 0 if highest is None else int(highest) + 1


def joined(left: Coded, right: Coded) -> Coded:
    """One code for each pair of codes, ordered by the left code, then by the right one.

    The right one is a column from `coded`, so that a dense left one leaves room for it.

    Examples
    --------
    >>> joined(Coded(np.array([0, 1, 1]), 2), Coded(np.array([4, 0, 4]), 5)).codes.tolist()
    [4, 5, 9]
    """
    if left.radix * right.radix >= LARGEST:
        left = dense(left)
    codes = np.multiply(left.codes, right.radix, dtype=np.int64)
    codes += right.codes
    return Coded(codes, left.radix * right.radix)


def dense(column: Coded) -> Coded:
    """The same column with every code in use, in the same order.

    Examples
    --------
    >>> dense(Coded(np.array([7, 2, 7]), 9)).codes.tolist()
    [1, 0, 1]
    """
    if _roomy(column):
        used = np.bincount(column.codes, minlength=column.radix) > 0
        place = np.cumsum(used) - 1
        return Coded(place[column.codes], int(place[-1]) + 1)
    values, codes = np.unique(column.codes, return_inverse=True)
    return Coded(codes, len(values))


def counted(column: Coded) -> tuple[Ints, Ints]:
    """The codes that occur, in order, and how often each does.

    Examples
    --------
    >>> codes, counts = counted(Coded(np.array([7, 2, 7]), 9))
    >>> codes.tolist(), counts.tolist()
    ([2, 7], [1, 2])
    """
    if _roomy(column):
        counts = np.bincount(column.codes, minlength=column.radix)
        codes = np.flatnonzero(counts)
        return codes, counts[codes]
    return np.unique(column.codes, return_counts=True)


def counted_with(column: Coded, weights: Ints) -> Ints:
    """How many rows each code that occurs stands for, where each row stands for one or more.

    >>> counted_with(Coded(np.array([7, 2, 7]), 9), np.array([5, 1, 2])).tolist()
    [1, 7]
    """
    codes = column.codes if _roomy(column) else dense(column).codes
    sums = np.bincount(codes, weights=weights)
    return np.asarray(sums[sums > 0], dtype=np.int64)


def all_stand_for(column: Coded, weights: Ints, least: int) -> bool:
    """Whether each code that occurs stands for so many rows or more, see `counted_with`.

    Where codes have a wide range they share buckets first: one that stands for too few rows has a
    code that does, and most that fail are found so. Only codes that share one are then sorted.

    >>> column = Coded(np.array([7, 2, 7]), 9)
    >>> [all_stand_for(column, np.array([5, 3, 2]), least) for least in (3, 4)]
    [True, False]
    """
    if not _roomy(column):
        place = column.codes % (2 * len(column.codes) + 1)
        sums = np.bincount(place, weights=weights)
        if sums[sums > 0].min() < least:
            return False
        sharing = _sharing(column.codes, place)
        column, weights = Coded(column.codes[sharing], column.radix), weights[sharing]
    return not len(weights) or int(counted_with(column, weights).min()) >= least


def _sharing(codes: Ints, place: Ints) -> NDArray[np.bool_]:
    """Which codes share their place with other ones."""
    last = np.empty(int(place.max()) + 1, dtype=codes.dtype)
    last[place] = codes
    shared = np.zeros(len(last), dtype=np.bool_)
    shared[place[last[place] != codes]] = True
    return np.asarray(shared[place])


class DistinctRows(NamedTuple):
    """The rows that are first of their kind, and how many are of each kind."""

    first: Ints
    counts: Ints


def collapsed(columns: Sequence[Coded]) -> DistinctRows:
    """The distinct rows of some columns: what holds for their classes holds for all rows.

    >>> collapsed([Coded(np.array([0, 1, 0, 0]), 2), Coded(np.array([1, 0, 1, 0]), 2)])
    DistinctRows(first=array([3, 0, 1]), counts=array([1, 2, 1]))
    """
    keys = reduce(joined, columns)
    _, first, counts = np.unique(keys.codes, return_index=True, return_counts=True)
    return DistinctRows(first, counts)


def people_of(numbers: Ints) -> Coded:
    """The person of each row, from numbers that have no gaps."""
    return Coded(numbers, int(numbers.max()) + 1)


def people_in(column: Coded, people: Coded) -> Ints:
    """The number of distinct people behind each code that occurs, in code order.

    Examples
    --------
    >>> people_in(Coded(np.array([7, 2, 7]), 9), people_of(np.array([0, 1, 0]))).tolist()
    [1, 1]
    """
    pairs, _ = counted(joined(dense(column), people))
    return np.bincount(pairs // people.radix)


def sizes_of(classes: Coded, people: Coded | None) -> Ints:
    """The people in each class that occurs, in code order; without people, its rows."""
    return counted(classes)[1] if people is None else people_in(classes, people)


def _roomy(column: Coded) -> bool:
    return column.radix <= ROOMY * len(column.codes)


@dataclass(frozen=True)
class ClassSize:
    """How many classes have this size, and how many rows they contain.

    `size` is a number of people; `people` are those with no row in a smaller class.
    """

    size: int
    classes: int
    rows: int
    people: int


class Members(NamedTuple):
    """Each person in each class once: the class, the person, and the rows of theirs in it."""

    classes: Ints
    people: Ints
    rows: Ints


@dataclass(frozen=True, eq=False)
class Grouping:
    """Classes of rows that are equal on some columns, missing being a value of its own.

    `coded` are the columns, in the order of `columns`; `keys` has the same code for rows in the
    same class; `sizes` has the number of people in each class, in key order; `people` has the
    person of each row, and is `None` if each row is a person.
    """

    columns: tuple[str, ...]
    coded: tuple[Coded, ...]
    keys: Coded
    sizes: Ints
    people: Coded | None = None

    @classmethod
    def of_classes(cls, classes: Coded, people: Coded | None = None) -> Grouping:
        """Rows whose classes are known, whatever columns they come from."""
        return cls((), (), classes, sizes_of(classes, people), people)

    @property
    def rows(self) -> int:
        return len(self.keys.codes)

    @property
    def everybody(self) -> int:
        """The number of people."""
        return self.rows if self.people is None else self.people.radix

    @cached_property
    def class_of(self) -> Ints:
        """For each row, the number of its class, from 0: the position of its size in `sizes`."""
        return dense(self.keys).codes

    @cached_property
    def row_of(self) -> NDArray[np.intp]:
        """For each class, one of its rows."""
        row_of = np.empty(len(self.sizes), dtype=np.intp)
        row_of[self.class_of] = np.arange(self.rows)
        return row_of

    @property
    def class_codes(self) -> list[Coded]:
        """The columns with one entry for each class."""
        return [Coded(c.codes[self.row_of], c.radix) for c in self.coded]

    @cached_property
    def members(self) -> Members:
        """Who is in which class; if each row is a person, each row is a member."""
        if self.people is None:
            rows = np.arange(self.rows)
            return Members(self.class_of, rows, np.ones_like(rows))
        pairs, rows = counted(joined(dense(self.keys), self.people))
        return Members(*np.divmod(pairs, self.people.radix), rows)

    @cached_property
    def of_person(self) -> Ints:
        """For each person, the size of the smallest class with one of their rows."""
        if self.people is None:
            return self.sizes[self.class_of]
        least = np.full(self.people.radix, self.people.radix)
        np.minimum.at(least, self.members.people, self.sizes[self.members.classes])
        return least

    @property
    def k_anonymity(self) -> int:
        """The size of the smallest class."""
        return int(self.sizes.min())

    @property
    def unique_rows(self) -> int:
        """The number of rows whose class contains no other person."""
        if self.people is None:
            return int(np.count_nonzero(self.sizes == 1))
        return int(np.count_nonzero(self.sizes[self.class_of] == 1))

    @property
    def unique_people(self) -> int:
        """The number of people who are alone in at least one class."""
        if self.people is None:
            return self.unique_rows
        return int(np.count_nonzero(self.of_person == 1))

    @property
    def class_sizes(self) -> tuple[ClassSize, ...]:
        """The distribution of the class sizes, small sizes first."""
        sizes, counts = counted(Coded(self.sizes, int(self.sizes.max()) + 1))
        rows = people = sizes * counts
        if self.people is not None:
            rows = np.bincount(self.sizes[self.class_of])[sizes]
            people = np.bincount(self.of_person, minlength=sizes[-1] + 1)[sizes]
        columns = (sizes, counts, rows, people)
        return tuple(ClassSize(*each) for each in zip(*(c.tolist() for c in columns)))


def grouped(frame: pl.DataFrame, columns: Sequence[str], people: Ints | None = None) -> Grouping:
    """Group the rows of a frame by some of its columns.

    Parameters
    ----------
    frame : polars frame
    columns : sequence of str
    people : array of int, optional
        The number of the person each row is about, from 0 without gaps; by default each row is
        a person.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 30, None, None], "job": ["cook", "cook", None, "cook"]})
    >>> grouped(frame, ["age", "job"]).sizes.tolist()
    [2, 1, 1]
    """
    columns_coded = _all_coded(only(frame, columns))
    keys = reduce(joined, columns_coded)
    who = None if people is None else people_of(people)
    return Grouping(tuple(columns), columns_coded, keys, sizes_of(keys, who), who)


def _all_coded(frame: pl.DataFrame) -> tuple[Coded, ...]:
    if frame.height < SHORT:
        return tuple(map(coded, frame.get_columns()))
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(coded, frame.get_columns()))


@dataclass(frozen=True, eq=False)
class Scope:
    """A frame with rows, its quasi-identifiers (at least one) and its sensitive column, if any.

    `people` has the number of the person each row is about, from 0 without gaps; `None` if
    each row is a person.
    """

    frame: pl.DataFrame
    quasi: tuple[str, ...]
    sensitive: str | None
    people: Ints | None = None

    def grouped(self) -> Grouping:
        """The rows in classes by the quasi-identifiers."""
        return grouped(self.frame, self.quasi, self.people)

    @property
    def sensitive_column(self) -> pl.Series:
        """The sensitive column; an error if none was named."""
        if self.sensitive is None:
            raise InputError(
                "this needs a sensitive column; name it with sensitive=... or --sensitive COL"
            )
        if self.sensitive in self.quasi:
            raise InputError(
                f"column {self.sensitive!r} is both sensitive and a quasi-identifier; "
                "give it one role"
            )
        return self.frame[self.sensitive]


def scope(
    data: Any,
    quasi: Sequence[str] | None = None,
    sensitive: str | None = None,
    people: Any = None,
) -> Scope:
    """Check the arguments and find what they refer to.

    Whatever is not named comes from the roles of a `Table`. A frame has no roles: its
    quasi-identifiers are all columns except the sensitive one, and each row is a person.

    Examples
    --------
    >>> scope(pl.DataFrame({"age": [31], "job": ["cook"], "ill": [1]}), sensitive="ill").quasi
    ('age', 'job')
    """
    table = as_table(data)
    sensitive = table.sensitive if sensitive is None else sensitive
    if isinstance(quasi, str):
        raise InputError("quasi must be a list of column names, got a string; write quasi=[...]")
    if quasi is None:
        quasi = [c for c in table.quasi if c != sensitive]
    _check(table, quasi, sensitive)
    who = table.people if people is None else numbered(people, table.rows)
    return Scope(table.frame, tuple(quasi), sensitive, who)


def as_table(data: Any) -> Table:
    """A table as it is; a bare frame as one in which each row is a person."""
    return data if isinstance(data, Table) else Table(polars_frame(data))


def numbered(people: Any, rows: int) -> Ints | None:
    """People as numbers from 0 without gaps; `None` if each row is a different person.

    Examples
    --------
    >>> numbered(["eve", "bob", "eve"], 3).tolist(), numbered(["eve", "bob"], 2)
    ([1, 0, 1], None)
    """
    each = np.asarray(people)
    if each.shape != (rows,):
        raise InputError(
            f"people must name one person per row: {plural(rows, 'row')}, got shape {each.shape}"
        )
    try:
        names, numbers = np.unique(each, return_inverse=True)
    except TypeError:
        raise InputError(
            "people has missing or mixed values; name a person for every row"
        ) from None
    return None if len(names) == rows else numbers


def _check(table: Table, quasi: Sequence[str], sensitive: str | None) -> None:
    columns = table.frame.columns
    named = [*quasi] if sensitive is None else [*quasi, sensitive]
    known = set(columns)
    if unknown := [c for c in named if c not in known]:
        raise InputError(
            f"no {listed_as('column', unknown)} in the table; its columns are "
            f"{listed(columns, most=30)}"
        )
    if twice := [c for c, times in Counter(quasi).items() if times > 1]:
        raise InputError(f"quasi-identifier {listed(twice)} is named twice; name each once")
    if not quasi:
        raise InputError(
            "there are no quasi-identifiers to group the rows by; name at least one column "
            "with quasi=[...] or --quasi a,b"
        )
    if table.rows == 0:
        raise InputError("the table has no rows, so there is no risk to measure")
