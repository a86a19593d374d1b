"""Delta-presence: the probability that a person of the population is in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tamis.arrays import Integers
from tamis.coding import Coded, dense
from tamis.errors import InputError, listed_as
from tamis.people import People
from tamis.risk.grouping import Scope, as_table, grouped, scope, sizes_of
from tamis.table import Table, only


@dataclass(frozen=True)
class Presence:
    """The smallest and largest probability that a person of the population is in the table.

    Parameters
    ----------
    least, most : float
        Minimum and maximum, over all classes of the population, of the people in the table divided
        by those in the population; 0 for a class of which nobody is in the table.
    """

    least: float
    most: float


def delta_presence(
    data: Any, population: Any, quasi: Sequence[str] | None = None, *, people: Any = None
) -> Presence:
    """The probability that people of a population are in the table, given the release.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    population : Table or frame
        Everybody, including those in the table, with the quasi-identifiers in the forms in which
        they are released; one row each, unless it is a `Table` with people.
    quasi : sequence of str, optional
        The columns an attacker may know; by default the quasi-identifiers of the table, else all
        features; in a bare frame, all columns. With none, everybody is in one class.
    people : array, optional
        The person each row belongs to; by default from the identifiers, see `Table.people`.

    Returns
    -------
    Presence

    Notes
    -----
    Nergiz, Atzori and Clifton (2007): a table is (low, high)-present if for each person of the
    population the probability of being in the table, given the release, is from low to high. A
    person with several rows counts once in each class. A missing value is a value of its own.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"job": ["cook", "cook", "judge"]})
    >>> town = pl.DataFrame({"job": ["cook"] * 8 + ["judge"] * 2 + ["smith"]})
    >>> delta_presence(table, town)
    Presence(least=0.0, most=0.5)
    """
    if quasi is not None and not len(quasi):
        return _of_everybody(data, population, people)
    scoped = scope(data, quasi, people=people)
    both, who, rows = stacked(scoped, population, scoped.quasi)
    keys = dense(grouped(both, scoped.quasi).keys)
    inside, outside = (
        _people_of_classes(keys.codes[part], keys.radix, who[part])
        for part in (slice(rows), slice(rows, None))
    )
    return presence_of_counts(inside, outside)


def with_left_out(there: Presence, all_rows: Presence) -> Presence:
    """The presence of a release with suppressed rows: `least` of those left, `most` of all rows.

    Otherwise a class could pass by being suppressed, and its absence would show an attacker that
    the probability was too high.
    """
    return Presence(there.least, all_rows.most)


def presence_of_counts(inside: Integers, outside: Integers) -> Presence:
    """`Presence` from the people of each class in the table and in the population.

    >>> presence_of_counts(np.array([0, 2]), np.array([3, 8]))
    Presence(least=0.0, most=0.25)
    """
    if (inside > outside).any():
        raise InputError(
            "some classes have fewer people in the population than in the table; the population "
            "must include everyone in the table"
        )
    shares = inside / outside
    return Presence(float(shares.min()), float(shares.max()))


class Stacked(NamedTuple):
    """The rows of a table followed by those of its population, their people, and the table's rows.

    People are numbered apart: no number occurs in both parts.
    """

    frame: pl.DataFrame
    people: People
    rows: int


def stacked(table: Table | Scope, population: Any, quasi: Sequence[str]) -> Stacked:
    """A table and its population in one frame, so that equal values are equal in both.

    >>> both = stacked(
    ...     Table(pl.DataFrame({"job": ["cook"]})), pl.DataFrame({"job": ["smith"]}), ["job"]
    ... )
    >>> both.frame["job"].to_list(), both.people.count, both.rows
    (['cook', 'smith'], 2, 1)
    """
    everybody = as_table(population).frame
    if unknown := [c for c in quasi if c not in everybody.columns]:
        raise InputError(
            f"the population has no {listed_as('column', unknown)}; it needs every quasi-identifier"
        )
    both = _one_under_the_other(only(table.frame, quasi), only(everybody, quasi))
    return Stacked(both, table.people.and_others(as_table(population).people), table.frame.height)


def _one_under_the_other(table: pl.DataFrame, population: pl.DataFrame) -> pl.DataFrame:
    try:
        return pl.concat([table, population], how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise InputError(
            "the population's quasi-identifiers have different types from the table's; "
            "read both with the same schema"
        ) from None


class CountedClasses(NamedTuple):
    """Classes that were counted by an engine: their cells and their people."""

    cells: pl.DataFrame
    """The cells of each class; no columns if there is a single class."""
    people: Integers

    def beside(self, register: Table) -> tuple[Integers, Integers]:
        """The people of each class here and in a register, sorted by both numbers.

        >>> here = CountedClasses(pl.DataFrame({"job": ["cook"]}), np.array([2]))
        >>> here.beside(Table(pl.DataFrame({"job": ["cook", "cook", "judge"]})))
        (array([0, 2]), array([1, 2]))
        """
        known = self.cells.columns
        if not known:
            return self.people, np.array([register.everybody])
        theirs = grouped(register.frame, known, register.people)
        both = _one_under_the_other(self.cells, only(register.frame, known)[theirs.row_of])
        none = [np.zeros(len(each), dtype=np.int64) for each in (self.people, theirs.sizes)]
        sides = np.append(self.people, none[1]), np.append(none[0], theirs.sizes)
        keys = dense(grouped(both, known).keys)
        inside, outside = (np.zeros(keys.radix, dtype=np.int64) for _ in sides)
        for counts, people in zip((inside, outside), sides):
            np.add.at(counts, keys.codes, people)
        order = np.lexsort((outside, inside))
        return inside[order], outside[order]


def _of_everybody(data: Any, population: Any, people: Any) -> Presence:
    """The presence for an attacker who knows no released column: everybody is in one class."""
    table = as_table(data)
    inside = People.named(table.people if people is None else people, table.rows).count
    return presence_of_counts(np.array([inside]), np.array([as_table(population).everybody]))


def _people_of_classes(codes: Integers, classes: int, people: People) -> Integers:
    counts = np.zeros(classes, dtype=np.int64)
    counts[np.unique(codes)] = sizes_of(Coded(codes, classes), people)
    return counts
