"""Anonymity by containment: how many people have everything that a row has?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import Binary, sparse_columns, sparse_rows, zero_one
from tamis.errors import InputError
from tamis.risk.grouping import Coded, Ints, counted, joined, numbered, people_in, people_of

WORD = 64
CUBE = 22
"""The most columns for which all sets of columns are counted at once."""


def containment_anonymity(X: Any, *, people: Any = None) -> int:
    """The fewest people who have all the ones of any row, including its own person.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
        Rows are entities, columns are features.
    people : array, optional
        The person each row belongs to, by name or number. A person has what a single row of theirs
        has. By default each row is a person.

    Notes
    -----
    AC(D) of Zhang et al. (2017), Definitions 4 to 6. A row that lies inside another is contained in
    all the rows that contain the other, so only *maximal* rows can be the weakest, and only its
    equals contain a maximal row: AC(D) is the smallest number of equal rows among maximal ones.
    If people have several rows, it is the smallest number of people among such equals.

    Examples
    --------
    >>> containment_anonymity([[1, 1], [1, 0], [1, 1]])
    2
    >>> containment_anonymity([[1, 1], [1, 0], [1, 1]], people=["ann", "bob", "ann"])
    1
    """
    table = _with_rows(X)
    who = None if people is None else numbered(people, table.shape[0])
    from tamis.risk import kernels

    if table.shape[1] <= WORD:
        masks, weight = _counted_narrow(table, who)
        return int(kernels.least_maximal_mask(masks, weight, kernels.longest_first(masks)))
    rows = sparse_rows(table)
    first, weight, of_row = kernels.distinct_rows(rows.indptr, rows.indices)
    weight = weight if who is None else _people_by(of_row, who)
    columns = sparse_columns(rows[first])
    found = rows[first]
    return int(
        kernels.least_maximal_row(
            found.indptr, found.indices, columns.indptr, columns.indices, weight
        )
    )


def entity_anonymity(X: Any, *, people: Any = None) -> NDArray[np.int64]:
    """For each row, the number of people who have all its ones, including its own person.

    The weakest entities have the smallest numbers; the smallest of all is
    `containment_anonymity`.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    people : array, optional
        As in `containment_anonymity`.

    Notes
    -----
    AC(e) of Zhang et al. (2017). A row of zeros is contained in every row.

    Examples
    --------
    >>> entity_anonymity([[1, 1], [1, 0], [1, 1], [0, 0]]).tolist()
    [2, 3, 2, 4]
    """
    table = _with_rows(X)
    who = None if people is None else numbered(people, table.shape[0])
    from tamis.risk import kernels

    if who is not None:
        return _people_holding(table, who)
    if table.shape[1] <= CUBE:
        masks, weight, of_row = _distinct_narrow(table)
        cube = np.zeros(1 << table.shape[1], np.int64)
        cube[masks] = weight
        kernels.sum_over_supersets(cube)
        return cube[masks][of_row]
    rows = sparse_rows(table)
    first, weight, of_row = kernels.distinct_rows(rows.indptr, rows.indices)
    found = rows[first]
    columns = sparse_columns(found)
    held = kernels.weight_of_supersets(
        found.indptr, found.indices, columns.indptr, columns.indices, weight
    )
    return np.asarray(held[of_row])


def _people_holding(table: Binary, people: Ints) -> NDArray[np.int64]:
    from tamis.risk import kernels

    rows = sparse_rows(table)
    first, _, of_row = kernels.distinct_rows(rows.indptr, rows.indices)
    found = rows[first]
    columns = sparse_columns(found)
    everybody = people_of(people)
    pairs, _ = counted(joined(Coded(of_row, len(first)), everybody))
    row, person = np.divmod(pairs, everybody.radix)
    starts = np.searchsorted(row, np.arange(len(first) + 1))
    held = kernels.people_of_supersets(
        found.indptr,
        found.indices,
        columns.indptr,
        columns.indices,
        starts,
        person,
        everybody.radix,
    )
    return np.asarray(held[of_row])


def _people_by(of_row: Ints, people: Ints) -> NDArray[np.int64]:
    """The number of people who have each distinct row."""
    return people_in(Coded(of_row, int(of_row.max()) + 1), people_of(people))


def _with_rows(X: Any) -> Binary:
    table = zero_one(X)
    if table.shape[0] == 0:
        raise InputError("anonymity needs at least one row, got an empty table")
    return table


def _distinct_narrow(
    table: Binary,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32]]:
    from tamis.binary.distinct import distinct_masks, row_masks

    found = distinct_masks(row_masks(table))
    return found.mask, found.weight, found.of_row


def _counted_narrow(
    table: Binary, people: Ints | None
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Distinct rows and their weights; few columns are counted in a plain table of all sets."""
    from tamis.binary.distinct import row_masks

    rows, width = table.shape
    if people is not None:
        found, _, of_row = _distinct_narrow(table)
        return found, _people_by(of_row, people)
    if width > CUBE or 1 << width > 8 * rows:
        return _distinct_narrow(table)[:2]
    cube = np.bincount(row_masks(table).view(np.int64), minlength=1 << width)
    masks = np.flatnonzero(cube)
    return masks.astype(np.uint64), cube[masks]
