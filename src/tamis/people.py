"""`People`: whom each row is about, and what is asked of that everywhere.

Most tables have a row for each person, some have several rows of one. Whoever counts asks one
record either way, which knows the quick answers where nothing has to be counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.arrays import Codes
from tamis.errors import InputError, plural

PeopleLike: TypeAlias = "People | ArrayLike | None"
"""What may say whom rows are about: people, their names or numbers, or nothing, see `named`."""


@dataclass(frozen=True, eq=False)
class People:
    """The number of the person each row is about.

    Examples
    --------
    >>> stays = People.of([0, 0, 2, 1])
    >>> stays.codes.tolist(), stays.count, stays.each_row
    ([0, 0, 2, 1], 3, False)
    >>> stays[stays.codes > 0].count
    2
    >>> People.of_rows(3).codes.tolist(), People.of_rows(3).each_row
    ([0, 1, 2], True)
    """

    rows: int
    groups: Codes | None = field(default=None, repr=False)
    """The numbers, as scikit-learn takes groups: `None` where each row is a person."""

    @classmethod
    def of_rows(cls, rows: int) -> People:
        """Each row is a person."""
        return cls(rows)

    @classmethod
    def of(cls, numbers: Any) -> People:
        """People by numbers from 0 without gaps; each row is a person where none comes twice."""
        codes = np.asarray(numbers, dtype=np.int64)
        return cls(len(codes), None if codes.max(initial=-1) + 1 == len(codes) else codes)

    @classmethod
    def named(cls, names: Any, rows: int) -> People:
        """People by whatever distinguishes them: names or numbers; `None`: each row is a person.

        >>> People.named(["eve", "bob", "eve"], 3).codes.tolist(), People.named(None, 2).each_row
        ([1, 0, 1], True)
        """
        if names is None:
            return cls.of_rows(rows)
        each = names.codes if isinstance(names, People) else np.asarray(names)
        if each.shape != (rows,):
            raise InputError(
                "people must name one person per row: "
                f"{plural(rows, 'row')}, got shape {each.shape}"
            )
        if isinstance(names, People):
            return names
        try:
            return cls.of(np.unique(each, return_inverse=True)[1])
        except TypeError:
            raise InputError(
                "people has missing or mixed values; name a person for every row"
            ) from None

    @property
    def each_row(self) -> bool:
        """Whether each row is a person: rows need not be looked at to count people."""
        return self.groups is None

    @cached_property
    def codes(self) -> Codes:
        """The number of the person of each row; without gaps unless rows were taken."""
        return np.arange(self.rows) if self.groups is None else self.groups

    @cached_property
    def radix(self) -> int:
        """No number is so high."""
        return self.rows if self.groups is None else int(self.groups.max(initial=-1)) + 1

    @cached_property
    def count(self) -> int:
        """How many people there are."""
        return self.rows if self.groups is None else len(np.unique(self.groups))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.codes, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: Any) -> People:
        """The people of some rows, by a mask, a slice or the numbers of rows."""
        if self.groups is not None:
            taken = self.groups[rows]
            return People(len(taken), taken)
        if isinstance(rows, slice):
            return People.of_rows(len(range(*rows.indices(self.rows))))
        which = np.asarray(rows)
        return People.of_rows(int(which.sum()) if which.dtype == np.bool_ else len(which))

    def renumbered(self) -> People:
        """The same people without gaps in their numbers."""
        if self.groups is None:
            return self
        return People.of(np.unique(self.groups, return_inverse=True)[1])

    def and_others(self, others: People) -> People:
        """These people and after them others, of whom nobody is one of these.

        >>> People.of([0, 0]).and_others(People.of_rows(2)).codes.tolist()
        [0, 0, 1, 2]
        """
        if self.each_row and others.each_row:
            return People.of_rows(self.rows + others.rows)
        return People.of(np.concatenate([self.codes, others.codes + self.radix]))

    def among(self, rows: NDArray[Any]) -> int:
        """How many people the rows are about.

        >>> People.of([0, 0, 1]).among(np.array([True, True, False]))
        1
        """
        return self[rows].count

    def all_rows(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Every row of whoever has one of the rows.

        >>> People.of([0, 0, 1]).all_rows(np.array([True, False, False])).tolist()
        [True, True, False]
        """
        if self.groups is None:
            return rows
        theirs = np.zeros(self.radix, dtype=np.bool_)
        theirs[self.groups[rows]] = True
        return theirs[self.groups]

    def worst(self, of_row: NDArray[Any]) -> NDArray[Any]:
        """For each person the largest number of their rows.

        >>> People.of([0, 0, 1]).worst(np.array([3, 5, 4])).tolist()
        [5, 4]
        """
        if self.groups is None:
            return of_row
        worst = np.full(self.radix, of_row.min(initial=0), dtype=of_row.dtype)
        np.maximum.at(worst, self.groups, of_row)
        return worst

    def least(self, of_row: NDArray[Any]) -> NDArray[Any]:
        """For each person the smallest number of their rows.

        >>> People.of([0, 0, 1]).least(np.array([3, 5, 4])).tolist()
        [3, 4]
        """
        return -self.worst(-of_row)
