"""Anonymity by containment: the number of people who have everything that a row has.

`absence_anonymity` is against an attacker who also knows a few things that a person lacks. With no
absences it is anonymity by containment; with as many as there are columns it is k-anonymity over
all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Integers
from tamis.binary.matrix import Binary, sparse_columns, sparse_rows, zero_one
from tamis.coding import Coded, counted, joined
from tamis.errors import InputError, check_whole, plural
from tamis.people import People
from tamis.risk.grouping import people_in

WORD = 64
CUBE = 22
"""Most columns for which the counts of all 2**22 sets of ones are kept in one array (32 MiB)."""


def containment_anonymity(X: Any, *, people: Any = None) -> int:
    """The smallest number of people who have all the ones of a row, its own person included.

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
    who = People.named(people, table.shape[0])
    from tamis.risk import kernels

    if table.shape[1] <= WORD:
        masks, weight = _counted_narrow(table, who)
        return int(kernels.least_maximal_mask(masks, weight, kernels.longest_first(masks)))
    distinct, weight, of_row = _distinct_wide(table)
    weight = weight if who.each_row else _people_by(of_row, who)
    return int(kernels.least_maximal_row(*distinct, weight))


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
    who = People.named(people, table.shape[0])
    from tamis.risk import kernels

    if not who.each_row:
        return _people_holding(table, who)
    if table.shape[1] <= CUBE:
        masks, weight, of_row = _distinct_narrow(table)
        # Counts by set of ones; summed over supersets, each becomes the rows that contain the set.
        cube = np.zeros(1 << table.shape[1], np.int64)
        cube[masks] = weight
        kernels.sum_over_supersets(cube)
        return cube[masks][of_row]
    distinct, weight, of_row = _distinct_wide(table)
    return np.asarray(kernels.weight_of_supersets(*distinct, weight)[of_row])


def containment_group(X: Any, row: int) -> NDArray[np.int64]:
    """The rows that have all the ones of a row, itself among them: those it hides among.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    row : int
        The position of the row.

    Notes
    -----
    Definition 5 of Zhang et al. (2017). `entity_anonymity` is the size of the group of every row.

    Examples
    --------
    >>> containment_group([[1, 1], [1, 0], [1, 1], [0, 0]], 1).tolist()
    [0, 1, 2]
    """
    table = sparse_rows(_with_rows(X))
    check_whole("row", row, least=0)
    if row >= table.shape[0]:
        raise InputError(
            f"there is no row {row}: the table has {plural(table.shape[0], 'row')}, counted from 0"
        )
    needed = table.indices[table.indptr[row] : table.indptr[row + 1]]
    held = np.asarray(table[:, needed].sum(axis=1)).reshape(-1)
    return np.flatnonzero(held == len(needed))


def absence_anonymity(X: Any, absences: int, *, people: Any = None, enough: int = 0) -> int:
    """Containment anonymity if the attacker also knows up to `absences` things that a person lacks.

    The attacker knows all the ones of a row, and those of its zeros that leave the fewest people.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    absences : int
        Most zeros of a row that the attacker knows.
    people : array, optional
        The person each row belongs to, by name or number. By default each row is a person.
    enough : int
        Stop at the first row that hides among fewer people than this; the result is then only
        known to be below it.

    Notes
    -----
    For a row e with ones S and m absences: the minimum over sets A of at most m columns that e
    lacks of the number of people with a row that has all of S and none of A. The least over all
    rows is the anonymity; it never rises when a column or an absence is added. Choosing A is a
    maximum coverage problem, solved exactly by branch and bound over the columns, those that rule
    out most people first. With u distinct rows of d columns it takes u^2 d steps to find which rows
    contain which, and at worst u d^m more for each row; up to 3 absences are practical.

    Examples
    --------
    >>> X = [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]
    >>> [absence_anonymity(X[:3], m) for m in (0, 1, 2)]
    [1, 1, 1]
    >>> basket = [[1, 0, 0]] + [[1, 1, 0]] * 3 + [[1, 0, 1]] * 2
    >>> [absence_anonymity(basket, m) for m in (0, 1, 2)]
    [2, 2, 1]
    """
    rows = sparse_rows(_with_rows(X))
    check_absences(absences)
    who = People.named(people, rows.shape[0])
    cells, owner, weight = _held_rows(rows.toarray().astype(np.uint8), who)
    from tamis.risk.kernels import least_with_absences

    most = min(int(absences), rows.shape[1])
    return int(least_with_absences(cells, owner, weight, most, int(enough)))


def check_absences(absences: Any, most: int | None = None) -> None:
    """Raise unless the number of absences is a whole number from 0 to `most`."""
    check_whole("absences", absences, least=0)
    if most is not None and absences > most:
        raise InputError(
            f"absences must be {most} or fewer, got {absences}: more would take too long to count; "
            "k-anonymity covers all absences"
        )


def _held_rows(
    cells: NDArray[np.uint8], people: People
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows, the owner of each, and the number of people that each owner stands for.

    If each row is a person, every distinct row is an owner that stands for all people who have it.
    Otherwise owners are people, and each pair of a distinct row and a person is one row.
    """
    if people.each_row:
        distinct, counts = np.unique(cells, axis=0, return_counts=True)
        return np.ascontiguousarray(distinct), np.arange(len(distinct)), counts.astype(np.int64)
    _, pattern = np.unique(cells, axis=0, return_inverse=True)
    pairs = np.stack([pattern.reshape(-1), people.codes])
    _, first = np.unique(pairs, axis=1, return_index=True)
    weight = np.ones(people.radix, np.int64)
    return np.ascontiguousarray(cells[first]), people.codes[first], weight


def _people_holding(table: Binary, people: People) -> NDArray[np.int64]:
    from tamis.risk.kernels import people_of_supersets

    distinct, weight, of_row = _distinct_wide(table)
    everybody = Coded(people.codes, people.radix)
    pairs, _ = counted(joined(Coded(of_row, len(weight)), everybody))
    row, person = np.divmod(pairs, everybody.radix)
    starts = np.searchsorted(row, np.arange(len(weight) + 1))
    # `person[starts[r]:starts[r + 1]]` are the people who have distinct row r.
    held = people_of_supersets(*distinct, starts, person, everybody.radix)
    return np.asarray(held[of_row])


def _distinct_wide(
    table: Binary,
) -> tuple[tuple[Integers, Integers, Integers, Integers], Integers, Integers]:
    """The distinct rows by row and by column, their weights, and the distinct row of each row."""
    from tamis.risk.kernels import distinct_rows

    rows = sparse_rows(table)
    first, weight, of_row = distinct_rows(rows.indptr, rows.indices)
    distinct = rows[first]
    columns = sparse_columns(distinct)
    return (distinct.indptr, distinct.indices, columns.indptr, columns.indices), weight, of_row


def _people_by(of_row: Integers, people: People) -> NDArray[np.int64]:
    """The number of people who have each distinct row."""
    return people_in(Coded(of_row, int(of_row.max()) + 1), people)


def _with_rows(X: Any) -> Binary:
    table = zero_one(X)
    if table.shape[0] == 0:
        raise InputError("anonymity needs at least one row, got an empty table")
    return table


def _distinct_narrow(
    table: Binary,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32]]:
    from tamis.binary.kernels import distinct_masks, row_masks

    found = distinct_masks(row_masks(table))
    return found.mask, found.weight, found.of_row


def _counted_narrow(table: Binary, people: People) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Distinct rows as masks, with their weights; of few columns, counted in an array of all sets.

    That array is only worth it if it is not much larger than the number of rows.
    """
    from tamis.binary.kernels import row_masks

    rows, width = table.shape
    if not people.each_row:
        masks, _, of_row = _distinct_narrow(table)
        return masks, _people_by(of_row, people)
    if width > CUBE or 1 << width > 8 * rows:
        return _distinct_narrow(table)[:2]
    cube = np.bincount(row_masks(table).view(np.int64), minlength=1 << width)
    used = np.flatnonzero(cube)
    return used.astype(np.uint64), cube[used]
