"""Rows that no attacker can tell apart: one grouping, from which every measure is read."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
import polars as pl

from tamis.risk.coding import Coded, Ints, coded, counted, dense, joined, people_in, people_of
from tamis.table import only


@dataclass(frozen=True)
class ClassSize:
    """How many classes have this size, and how many rows they hold.

    `size` is a number of people; `people` are those of whom no row is in a smaller class.
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

    `coded` are the columns, in the order of `columns`; `keys` has the same code for rows of the
    same class; `sizes` has the people of each class, in the order of the keys; `people` has the
    person of each row, and is `None` where each row is a person.
    """

    columns: tuple[str, ...]
    coded: tuple[Coded, ...]
    keys: Coded
    sizes: Ints
    people: Coded | None = None

    @property
    def rows(self) -> int:
        return len(self.keys.codes)

    @property
    def everybody(self) -> int:
        """The number of people."""
        return self.rows if self.people is None else self.people.radix

    @cached_property
    def class_of(self) -> Ints:
        """For each row the number of its class, from 0 on: the place of its size in `sizes`."""
        return dense(self.keys).codes

    @cached_property
    def members(self) -> Members:
        """Who is in which class; of rows that are people, each is a member."""
        if self.people is None:
            rows = np.arange(self.rows)
            return Members(self.class_of, rows, np.ones_like(rows))
        pairs, rows = counted(joined(dense(self.keys), self.people))
        return Members(*np.divmod(pairs, self.people.radix), rows)

    @cached_property
    def of_person(self) -> Ints:
        """For each person the size of the smallest class that holds a row of theirs."""
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
        """The number of rows in whose class there is nobody else."""
        if self.people is None:
            return int(np.count_nonzero(self.sizes == 1))
        return int(np.count_nonzero(self.sizes[self.class_of] == 1))

    @property
    def unique_people(self) -> int:
        """The number of people who are alone in some class."""
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
        The number of the person that each row is about, from 0 without gaps. `None`: each row is
        a person.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 30, None, None], "job": ["cook", "cook", None, "cook"]})
    >>> grouped(frame, ["age", "job"]).sizes.tolist()
    [2, 1, 1]
    """
    with ThreadPoolExecutor() as pool:
        columns_coded = tuple(pool.map(coded, only(frame, columns).get_columns()))
    keys = reduce(joined, columns_coded)
    if people is None:
        return Grouping(tuple(columns), columns_coded, keys, counted(keys)[1])
    who = people_of(people)
    return Grouping(tuple(columns), columns_coded, keys, people_in(keys, who), who)
