"""The anonymity asked for, checked, and k people from searches that count rows.

A person may have several rows. Asking a search for more rows than k gives crowds of more people;
once any k - 1 people have fewer rows together than requested, each crowd has at least k people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import sparse_rows
from tamis.coding import Coded
from tamis.errors import CannotMeet, InputError, check_whole, plural
from tamis.people import People
from tamis.risk.containment import containment_anonymity
from tamis.risk.grouping import sizes_of
from tamis.select.containment.selection import Selection

Privacy = Literal["containment", "equality"]
Found = TypeVar("Found")

GROWTH = 1.25
"""The smallest factor by which the number of rows is raised next."""


def check_k(k: Any, rows: int) -> None:
    """Refuse a k that is not a whole number of at least 1, or too large for the table."""
    check_whole("k", k)
    if k > rows:
        raise CannotMeet(
            f"k = {k} cannot be met by {plural(rows, 'row')}, since no row can hide among more "
            f"rows than there are; choose k of at most {rows}"
        )


def check_privacy(privacy: Any) -> None:
    """Refuse an unknown kind of anonymity."""
    if privacy not in ("containment", "equality"):
        raise InputError(f"privacy must be 'containment' or 'equality', got {privacy!r}")


def labelled_rows(labelled: Any, positive: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Which rows have a label that may be used, checked; `None`: all."""
    if labelled is None:
        return None
    known = np.asarray(labelled)
    if known.dtype != np.bool_ or known.shape != positive.shape:
        raise InputError(
            f"labelled must have one boolean for each of the {len(positive)} rows, got "
            f"{known.dtype} of shape {known.shape}"
        )
    if len(np.unique(positive[known])) < 2:
        raise InputError("two classes are needed among the labelled rows")
    return known


def enough_rows(k: int, people: People) -> int:
    """The number of rows that always belong to at least k people.

    >>> enough_rows(3, People.of([0, 0, 0, 1, 1, 2]))
    6
    """
    rows = np.sort(np.bincount(people.codes))[::-1]
    if k > len(rows):
        raise CannotMeet(
            f"k = {k} cannot be met by {plural(len(rows), 'person', 'people')} with "
            f"{plural(len(people), 'row')}; choose k "
            f"of at most {len(rows)}"
        )
    return int(rows[: k - 1].sum()) + 1


def keeping(
    k: int, people: People, search: Callable[[int], Found], reached: Callable[[Found], int]
) -> Found:
    """Ask a search for more and more rows until what it finds keeps k people.

    `people` are numbered without gaps; `search` finds something in which every crowd has so many
    rows; `reached` counts the people of its smallest.
    """
    most, rows = enough_rows(k, people), k
    while True:
        found = search(rows)
        crowd = reached(found)
        if crowd >= k:
            return found
        if rows >= most:
            raise CannotMeet(
                f"the smallest group has {plural(crowd, 'person', 'people')}, below k = {k}"
            )
        rows = min(most, int(np.ceil(rows * max(GROWTH, k / crowd))))


def selected(
    table: Any,
    people: People,
    k: int,
    search: Callable[[int], Selection],
    privacy: Privacy = "containment",
) -> Selection:
    """Columns that keep k people, by a search that counts rows; all anonymities are of people."""
    bounds: list[float | None] = []

    def attempt(rows: int) -> Selection:
        found = search(rows)
        bounds.append(found.bound)
        return replace(found, anonymity=crowd_of(table, found.features, people, privacy))

    found = keeping(k, people, attempt, lambda each: each.anonymity)
    chosen = [step.feature for step in found.steps]
    steps = tuple(
        replace(step, anonymity=crowd_of(table, chosen[: i + 1], people, privacy))
        for i, step in enumerate(found.steps)
    )
    # Sets that keep k people also keep k rows, so the first search bounds them too.
    return replace(found, bound=bounds[0], steps=steps)


def crowd_of(table: Any, features: Any, people: People, privacy: Privacy = "containment") -> int:
    """The fewest people who have, in these columns, everything a row has, or who equal it.

    >>> rows = np.array([[1, 1], [1, 0], [1, 1]])
    >>> who = People.of([0, 1, 0])
    >>> crowd_of(rows, [0], who), crowd_of(rows, [0, 1], who)
    (2, 1)
    """
    if not len(features):
        return people.count
    columns = table[:, list(features)]
    if privacy == "containment":
        return containment_anonymity(columns, people=people)
    return equal_people(sparse_rows(columns), people)


def equal_people(rows: Any, people: People) -> int:
    """The people in the smallest class of equal rows of a CSR array."""
    from tamis.risk.kernels import distinct_rows

    first, _, of_row = distinct_rows(rows.indptr, rows.indices)
    return int(sizes_of(Coded(of_row, len(first)), people).min())
