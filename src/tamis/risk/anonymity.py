"""k-anonymity, and the re-identification risk by prosecutor, journalist and marketer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from tamis.arrays import Integers
from tamis.errors import InputError, plural
from tamis.risk.grouping import ClassSize, Grouping, Scope, as_table, grouped, scope
from tamis.risk.presence import stacked


def k_anonymity(data: Any, quasi: Sequence[str] | None = None, *, people: Any = None) -> int:
    """The number of people in the smallest class of rows that are equal on the quasi-identifiers.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    quasi : sequence of str, optional
        The columns an attacker may know; by default the quasi-identifiers of the table, else all
        features; in a bare frame, all columns.
    people : array, optional
        The person each row belongs to, by name or number; by default from the identifiers, see
        `Table.people`; in a bare frame each row is a person.

    Returns
    -------
    int
        Each person shares their quasi-identifiers with at least this many people, themselves
        included.

    Notes
    -----
    If a person has several rows, a class counts each person once: eight rows of one person are
    a crowd of one.

    Missing is a value of its own: a missing cell equals other missing cells and differs from
    every present value. Leaving such rows out, as many tools do, overstates k.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [30, 30, 40, 40], "job": ["cook", "cook", None, None]})
    >>> k_anonymity(frame)
    2
    >>> k_anonymity(frame, people=["ann", "bob", "eve", "eve"])
    1
    """
    return scope(data, quasi, people=people).grouped().k_anonymity


THRESHOLD = 0.2
"""The risk in a class of five; people in smaller classes are above it."""


@dataclass(frozen=True)
class Reidentification:
    """The risk from three kinds of attacker, after El Emam and Dankar 2008.

    A person in a class of f people, whose class has F people in the population, is matched with
    probability 1/f by an attacker who knows that the person is in the table, else with 1/F. For
    people with rows in several classes, the largest 1/f and 1/F count.

    Parameters
    ----------
    threshold : float
        The risk above which a person counts as exposed.
    prosecutor : float
        The largest 1/f: the attacker looks for someone known to be in the table.
    prosecutor_above : float
        The share of the people whose 1/f is above the threshold.
    journalist : float
        The largest 1/F: the attacker wants to match anyone at all.
    journalist_above : float
        The share of the people whose 1/F is above the threshold.
    marketer : float
        The share of people that an attacker who matches everyone expects to get right: the mean
        of 1/F over the people, which is classes / rows if each row is a person and the table
        is its own population.
    """

    threshold: float
    prosecutor: float
    prosecutor_above: float
    journalist: float
    journalist_above: float
    marketer: float


def reidentification(
    data: Any,
    quasi: Sequence[str] | None = None,
    *,
    population: Any = None,
    threshold: float = THRESHOLD,
    people: Any = None,
) -> Reidentification:
    """The probability that a person is matched to one of their rows.

    Parameters
    ----------
    data, quasi, people
        As in `k_anonymity`.
    population : Table or frame, optional
        The people the table was drawn from, including those in the table, with the
        quasi-identifiers as columns; one row each, unless it is a `Table` with people.
        By default the table is its own population, which never understates the risk.
    threshold : float
        The risk above which a person counts as exposed.

    Returns
    -------
    Reidentification

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "cook", "judge"]})
    >>> found = reidentification(frame, threshold=0.5)
    >>> found.prosecutor, found.prosecutor_above, found.marketer
    (1.0, 0.25, 0.5)
    >>> town = pl.DataFrame({"job": ["cook"] * 6 + ["judge"] * 2})
    >>> found = reidentification(frame, population=town, threshold=0.5)
    >>> found.journalist, found.journalist_above, found.marketer
    (0.5, 0.0, 0.25)
    """
    scoped = scope(data, quasi, people=people)
    return matched(scoped, scoped.grouped(), population, threshold)


def matched(
    scoped: Scope, grouping: Grouping, population: Any = None, threshold: float = THRESHOLD
) -> Reidentification:
    """Like `reidentification`, for rows that are already grouped."""
    if population is None:
        return matched_by_sizes(grouping.class_sizes, threshold)
    _check_threshold(threshold)
    people = people_there(scoped, grouping, population)
    smallest = grouping.people.least(people[grouping.class_of])
    inside, outside = 1 / grouping.of_person, 1 / smallest
    return Reidentification(
        threshold=threshold,
        prosecutor=float(inside.max()),
        prosecutor_above=float((inside > threshold).mean()),
        journalist=float(outside.max()),
        journalist_above=float((outside > threshold).mean()),
        marketer=float(outside.mean()),
    )


def matched_by_sizes(sizes: Sequence[ClassSize], threshold: float = THRESHOLD) -> Reidentification:
    """`Reidentification` of a table that is its own population, from ascending class sizes.

    >>> found = matched_by_sizes([ClassSize(1, 1, 1, 1), ClassSize(3, 1, 3, 3)], threshold=0.5)
    >>> found.prosecutor, found.prosecutor_above, found.marketer
    (1.0, 0.25, 0.5)
    """
    _check_threshold(threshold)
    everybody = sum(entry.people for entry in sizes)
    above = sum(entry.people for entry in sizes if 1 / entry.size > threshold) / everybody
    marketer = fsum(entry.people / entry.size for entry in sizes) / everybody
    largest = 1 / sizes[0].size
    return Reidentification(threshold, largest, above, largest, above, marketer)


def _check_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise InputError(f"threshold must be a risk above 0 and at most 1, got {threshold}")


def people_there(scoped: Scope, grouping: Grouping, population: Any) -> Integers:
    """The number of people of the population in each class of the table."""
    both = stacked(scoped, population, scoped.quasi)
    class_of = grouped(both.frame, scoped.quasi).class_of
    own, everyones = np.split(class_of, [both.rows])
    who = as_table(population).people
    if not who.each_row:  # each person once in each class
        everyones = np.unique(np.column_stack([everyones, who.codes]), axis=0)[:, 0]
    counts = np.bincount(everyones, minlength=class_of.max() + 1)
    people = np.empty_like(grouping.sizes)
    people[grouping.class_of] = counts[own]
    if short := int((people < grouping.sizes)[grouping.class_of].sum()):
        raise InputError(
            "some classes have fewer people in the population than in the table "
            f"({plural(short, 'row')}); the population must include everyone in the table"
        )
    return people
