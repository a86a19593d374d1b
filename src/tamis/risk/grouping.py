"""Equivalence classes: one grouping of the rows, from which every measure is computed.

If a release shows which rows belong to one person, an attacker who finds one row has found all of
them. People are then alike only if all of their rows are, row for row (`seen_together`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Integers
from tamis.coding import Coded, coded, counted, dense, joined
from tamis.errors import InputError, listed, listed_as
from tamis.people import People, PeopleLike
from tamis.read import polars_frame
from tamis.read.types import SHORT
from tamis.require.counts import fewest_holders
from tamis.table import Table, only

NO_QUASI = (
    "there are no quasi-identifiers to group the rows by; name at least one column with "
    "quasi=[...] or --quasi a,b"
)


def fewest_alike(columns: Iterable[Coded], people: People | None = None) -> int:
    """k of some columns, at least one: the number of people in the smallest class.

    >>> fewest_alike([Coded(np.array([0, 1, 1]), 2)]), fewest_alike([Coded(np.array([0, 0]), 1)])
    (1, 2)
    """
    classes = reduce(joined, columns)
    who = People.named(people, len(classes.codes))
    return int(sizes_of(seen_together(classes, who), who).min())


def seen_together(classes: Coded, people: People) -> Coded:
    """Classes of rows for attackers who see which rows belong to one person.

    Two rows are alike if they are equal, and if their people's rows as a whole are: both people
    have the same multiset of classes. If the release does not link the rows of a person, the
    classes stay as they are.

    >>> jobs, people = Coded(np.array([0, 1, 1, 0, 1]), 2), People.of([0, 0, 1, 1, 2]).linked()
    >>> dense(seen_together(jobs, people)).codes.tolist()
    [1, 2, 2, 1, 0]
    """
    if people.each_row or not people.together:
        return classes
    return joined(alike_in_all_rows(classes, people), dense(classes))


def alike_in_all_rows(classes: Coded, people: People) -> Coded:
    """The class of each row's person: people with the same multiset of row classes share one.

    Notes
    -----
    Each person's classes are sorted into a list. Lists are compared place by place: people whose
    lists have been the same so far share a number, which at each place is joined with the class
    there and renumbered. Lists of different lengths never share a number.

    Examples
    --------
    >>> jobs, people = Coded(np.array([0, 1, 1, 0, 1]), 2), People.of([0, 0, 1, 1, 2])
    >>> alike_in_all_rows(jobs, people).codes.tolist()
    [1, 1, 1, 1, 0]
    """
    alike, who = dense(classes), people.renumbered().codes
    order = np.lexsort((alike.codes, who))
    rows = np.bincount(who)
    first = np.cumsum(rows) - rows
    # Starting from their lengths, so that lists which share a number end at the same place.
    lists = rows.astype(np.int64)
    for place in range(int(rows.max())):
        longer = np.flatnonzero(rows > place)
        here = alike.codes[order[first[longer] + place]]
        lists[longer] = np.unique(lists[longer] * alike.radix + here, return_inverse=True)[1]
    # Lists that ended earlier keep numbers of an earlier place: the length tells them apart again.
    whole = joined(dense(Coded(rows, int(rows.max()) + 1)), Coded(lists, int(lists.max()) + 1))
    return dense(Coded(whole.codes[who], whole.radix))


def people_in(column: Coded, people: People) -> Integers:
    """The number of distinct people behind each code that occurs, in code order.

    Examples
    --------
    >>> people_in(Coded(np.array([7, 2, 7]), 9), People.of([0, 1, 0])).tolist()
    [1, 1]
    """
    pairs, _ = counted(joined(dense(column), Coded(people.codes, people.radix)))
    return np.bincount(pairs // people.radix)


def sizes_of(classes: Coded, people: People) -> Integers:
    """The number of people in each class that occurs, in code order."""
    return counted(classes)[1] if people.each_row else people_in(classes, people)


@dataclass(frozen=True)
class ClassSize:
    """The number of classes of one size, and of the rows in them.

    `size` is a number of people; `people` are those with no row in a smaller class.
    """

    size: int
    classes: int
    rows: int
    people: int


class Members(NamedTuple):
    """Each person in each class once: the class, the person, and the rows of theirs in it."""

    classes: Integers
    people: Integers
    rows: Integers


@dataclass(frozen=True, eq=False)
class Grouping:
    """Classes of rows that are equal on some columns, missing being a value of its own.

    `coded` are the columns, in the order of `columns`; `keys` has the same code for rows in the
    same class; `sizes` has the number of people in each class, in key order; `people` has the
    person of each row, numbered without gaps.
    """

    columns: tuple[str, ...]
    coded: tuple[Coded, ...]
    keys: Coded
    sizes: Integers
    people: People

    @classmethod
    def of_classes(cls, classes: Coded, people: People | None = None) -> Grouping:
        """A grouping by known classes, without its columns."""
        who = People.named(people, len(classes.codes))
        return cls((), (), classes, sizes_of(classes, who), who)

    @property
    def rows(self) -> int:
        return len(self.keys.codes)

    @property
    def everybody(self) -> int:
        """The number of people."""
        return self.people.count

    @cached_property
    def class_of(self) -> Integers:
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
        """The people in each class; if each row is a person, each row is a member."""
        if self.people.each_row:
            rows = self.people.codes
            return Members(self.class_of, rows, np.ones_like(rows))
        everybody = Coded(self.people.codes, self.people.radix)
        pairs, rows = counted(joined(dense(self.keys), everybody))
        return Members(*np.divmod(pairs, self.people.radix), rows)

    @cached_property
    def of_person(self) -> Integers:
        """For each person, the size of the smallest class with one of their rows."""
        return self.people.least(self.sizes[self.class_of])

    def holders_of_rows(self, most: int) -> Integers:
        """For each person, the fewest people who share any `most` of the person's rows."""
        return fewest_holders(self.class_of, self.people.codes, most)

    @property
    def k_anonymity(self) -> int:
        """The size of the smallest class."""
        return int(self.sizes.min())

    @property
    def unique_rows(self) -> int:
        """The number of rows whose class contains no other person."""
        alone = self.sizes == 1
        return int(np.count_nonzero(alone if self.people.each_row else alone[self.class_of]))

    @property
    def unique_people(self) -> int:
        """The number of people who are alone in at least one class."""
        if self.people.each_row:
            return self.unique_rows
        return int(np.count_nonzero(self.of_person == 1))

    @property
    def class_sizes(self) -> tuple[ClassSize, ...]:
        """The distribution of the class sizes, small sizes first."""
        sizes, counts = counted(Coded(self.sizes, int(self.sizes.max()) + 1))
        rows = people = sizes * counts
        if not self.people.each_row:
            rows = np.bincount(self.sizes[self.class_of])[sizes]
            people = np.bincount(self.of_person, minlength=sizes[-1] + 1)[sizes]
        columns = (sizes, counts, rows, people)
        return tuple(ClassSize(*each) for each in zip(*(c.tolist() for c in columns)))


def grouped(frame: pl.DataFrame, columns: Sequence[str], people: PeopleLike = None) -> Grouping:
    """Group the rows of a frame by some of its columns.

    Parameters
    ----------
    frame : polars frame
    columns : sequence of str
    people : People or array, optional
        The person each row is about; by default each row is a person.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 30, None, None], "job": ["cook", "cook", None, "cook"]})
    >>> grouped(frame, ["age", "job"]).sizes.tolist()
    [2, 1, 1]
    """
    columns_coded = _all_coded(only(frame, columns))
    who = People.named(people, frame.height)
    keys = seen_together(reduce(joined, columns_coded), who)
    return Grouping(tuple(columns), columns_coded, keys, sizes_of(keys, who), who)


def _all_coded(frame: pl.DataFrame) -> tuple[Coded, ...]:
    # For few rows starting threads would take longer than coding does.
    if frame.height < SHORT:
        return tuple(map(coded, frame.get_columns()))
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(coded, frame.get_columns()))


@dataclass(frozen=True, eq=False)
class Scope:
    """A frame with rows, its quasi-identifiers (at least one) and its sensitive column, if any.

    `people` has the person each row is about.
    """

    frame: pl.DataFrame
    quasi: tuple[str, ...]
    sensitive: str | None
    people: People

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
    people: PeopleLike = None,
) -> Scope:
    """Resolve and check the columns and people that a measure is about.

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
    who = People.named(table.people if people is None else people, table.rows)
    return Scope(table.frame, tuple(quasi), sensitive, who)


def as_table(data: Any) -> Table:
    """A table as it is; a bare frame as one in which each row is a person."""
    return data if isinstance(data, Table) else Table(polars_frame(data))


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
        raise InputError(NO_QUASI)
    if table.rows == 0:
        raise InputError("the table has no rows, so there is no risk to measure")
