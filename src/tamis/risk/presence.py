"""Delta-presence: how likely it is that somebody of a population is in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tamis.errors import InputError, listed_as
from tamis.read import polars_frame
from tamis.risk.grouping import Coded, Ints, dense, grouped, people_in, people_of, scope
from tamis.table import Table, only

ROUNDING = 1e-12


@dataclass(frozen=True)
class Presence:
    """The smallest and the largest chance that a person of the population is in the table.

    Parameters
    ----------
    least, most : float
        Of the people of the table by those of the population, over all classes of the population;
        0 where nobody of a class is in the table.
    """

    least: float
    most: float

    def within(self, low: float, high: float) -> bool:
        """Whether the table is (low, high)-present.

        >>> Presence(0.25, 0.5).within(0.2, 0.6), Presence(0.0, 0.5).within(0.1, 0.6)
        (True, False)
        """
        low, high = presence_bounds((low, high))
        return self.least >= low - ROUNDING and self.most <= high + ROUNDING


def presence_bounds(given: Sequence[float]) -> tuple[float, float]:
    """Two shares, the smaller first.

    >>> presence_bounds([0.1, 0.5])
    (0.1, 0.5)
    """
    shares = tuple(map(float, given))
    if len(shares) != 2 or not 0 <= shares[0] <= shares[1] <= 1:
        raise InputError(
            "delta-presence is asked for as LOW,HIGH within 0 and 1, got "
            f"{','.join(f'{share:g}' for share in shares)}"
        )
    return shares


def delta_presence(
    data: Any, population: Any, quasi: Sequence[str] | None = None, *, people: Any = None
) -> Presence:
    """How likely it is that people of a population are in the table, by what is released.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    population : Table or frame
        Everybody, including those in the table, with the quasi-identifiers in the forms in which
        they are released; one row each, unless it is a `Table` with people.
    quasi : sequence of str, optional
        The columns an attacker may know; by default the quasi-identifiers of the table, else all
        features; in a bare frame, all columns.
    people : array, optional
        The person each row belongs to; by default from the identifiers, see `Table.people`.

    Returns
    -------
    Presence

    Notes
    -----
    Nergiz, Atzori and Clifton (2007): a table is (low, high)-present if for each person of the
    population the chance of being in the table, given the release, is from low to high. A person
    with several rows counts once in each class. A missing value is a value of its own.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"job": ["cook", "cook", "judge"]})
    >>> town = pl.DataFrame({"job": ["cook"] * 8 + ["judge"] * 2 + ["smith"]})
    >>> delta_presence(table, town)
    Presence(least=0.0, most=0.5)
    """
    scoped = scope(data, quasi, people=people)
    everybody = population.frame if isinstance(population, Table) else polars_frame(population)
    if unknown := [c for c in scoped.quasi if c not in everybody.columns]:
        raise InputError(
            f"the population has no {listed_as('column', unknown)}; it needs every quasi-identifier"
        )
    who = population.people if isinstance(population, Table) else None
    inside, outside = _counts(scoped.frame, scoped.people, everybody, who, scoped.quasi)
    if (inside > outside).any():
        raise InputError(
            "some classes have fewer people in the population than in the table; the population "
            "must include everyone in the table"
        )
    shares = inside / outside
    return Presence(float(shares.min()), float(shares.max()))


def _counts(
    table: pl.DataFrame,
    of_table: Ints | None,
    everybody: pl.DataFrame,
    of_everybody: Ints | None,
    quasi: Sequence[str],
) -> tuple[Ints, Ints]:
    """The people of each class, in the table and in the population."""
    try:
        both = pl.concat([only(table, quasi), only(everybody, quasi)], how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise InputError(
            "the population's quasi-identifiers have different types from the table's; "
            "read both with the same schema"
        ) from None
    keys = dense(grouped(both, quasi).keys)
    inside, outside = np.split(keys.codes, [table.height])
    return (
        _people_of_classes(inside, keys.radix, of_table),
        _people_of_classes(outside, keys.radix, of_everybody),
    )


def _people_of_classes(codes: Ints, classes: int, people: Ints | None) -> Ints:
    if people is None:
        return np.bincount(codes, minlength=classes)
    found = np.zeros(classes, dtype=np.int64)
    found[np.unique(codes)] = people_in(Coded(codes, classes), people_of(people))
    return found
