"""Anonymity by containment against an attacker who also knows a few things that a person lacks.

With no absences this is anonymity by containment; with as many as there are columns it is
k-anonymity over all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tamis.binary.matrix import sparse_rows
from tamis.errors import InputError
from tamis.risk.grouping import numbered


def absence_anonymity(X: Any, absences: int, *, people: Any = None, enough: int = 0) -> int:
    """The fewest people that anybody hides among, if up to `absences` things they lack are known.

    The attacker knows everything that a row has, and chooses which of the things that it lacks to
    know: those that leave the fewest people.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    absences : int
        How many things that the row lacks are known, at most.
    people : array, optional
        The person each row belongs to, by name or number. By default each row is a person.
    enough : int
        Stop at the first row that hides among fewer people than this; the result is then only
        known to be below it.

    Notes
    -----
    For a row e with ones S and m absences: the minimum over sets A of at most m columns that e
    lacks of the number of people with a row that has all of S and none of A. The least of all rows
    is the anonymity; it never rises when a column or an absence is added. Choosing A is a problem
    of largest coverage: it is solved exactly by branch and bound over the columns, the one that
    rules out most people first. With u distinct rows of d columns it takes u^2 d steps to find who
    contains whom, and at worst u d^m more for each row; a few absences (up to 3) are practical.

    Examples
    --------
    >>> X = [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]
    >>> [absence_anonymity(X[:3], m) for m in (0, 1, 2)]
    [1, 1, 1]
    >>> basket = [[1, 0, 0]] + [[1, 1, 0]] * 3 + [[1, 0, 1]] * 2
    >>> [absence_anonymity(basket, m) for m in (0, 1, 2)]
    [2, 2, 1]
    """
    rows = sparse_rows(X)
    if rows.shape[0] == 0:
        raise InputError("anonymity needs at least one row, got an empty table")
    check_absences(absences)
    who = None if people is None else numbered(people, rows.shape[0])
    cells, owner, weight = _held_rows(rows.toarray().astype(np.uint8), who)
    return int(_weakest(cells, owner, weight, min(int(absences), rows.shape[1]), int(enough)))


def check_absences(absences: Any, most: int | None = None) -> None:
    """Refuse a number of absences that is not a whole number of at least 0, and `most` at most."""
    whole = isinstance(absences, int | np.integer) and not isinstance(absences, bool)
    if not whole or absences < 0:
        raise InputError(f"absences must be a whole number of at least 0, got {absences!r}")
    if most is not None and absences > most:
        raise InputError(
            f"absences must be {most} or fewer, got {absences}: more would take too long to count; "
            "k-anonymity covers all absences"
        )


def _held_rows(
    cells: NDArray[np.uint8], people: NDArray[Any] | None
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows, who has each, and how many people each owner stands for.

    Without people a distinct row is its own owner, who stands for as many as have it.
    """
    if people is None:
        distinct, counts = np.unique(cells, axis=0, return_counts=True)
        return np.ascontiguousarray(distinct), np.arange(len(distinct)), counts.astype(np.int64)
    _, pattern = np.unique(cells, axis=0, return_inverse=True)
    pairs = np.stack([pattern.reshape(-1), people])
    _, first = np.unique(pairs, axis=1, return_index=True)
    weight = np.ones(int(people.max()) + 1, np.int64)
    return np.ascontiguousarray(cells[first]), people[first].astype(np.int64), weight


@njit(cache=True)
def _weakest(cells: Any, owner: Any, weight: Any, absences: int, enough: int) -> int:
    """The least over all rows of what is left when the attacker has chosen."""
    many, width = cells.shape
    best = weight.sum()
    seen = np.zeros(len(weight), np.int64)
    stamp = np.zeros(1, np.int64)
    for p in range(many):
        alive = np.zeros(many, np.bool_)
        for q in range(many):
            inside = True
            for c in range(width):
                if cells[p, c] > cells[q, c]:
                    inside = False
                    break
            alive[q] = inside
        free = cells[p] == 0
        best = _left(cells, owner, weight, alive, free, absences, best, seen, stamp)
        if best < enough:
            break
    return int(best)


@njit(cache=True)
def _left(
    cells: Any,
    owner: Any,
    weight: Any,
    alive: Any,
    free: Any,
    absences: int,
    best: int,
    seen: Any,
    stamp: Any,
) -> int:
    """The least people left by any choice of absences, or `best` where that is less."""
    many, width = cells.shape
    stamp[0] += 1
    total = 0
    for q in range(many):
        if alive[q] and seen[owner[q]] != stamp[0]:
            seen[owner[q]] = stamp[0]
            total += weight[owner[q]]
    best = min(best, total)
    if absences == 0:
        return best
    # What a column rules out at most; people with several rows may keep another one.
    gain = np.zeros(width, np.int64)
    for c in range(width):
        if not free[c]:
            continue
        stamp[0] += 1
        for q in range(many):
            if alive[q] and cells[q, c] and seen[owner[q]] != stamp[0]:
                seen[owner[q]] = stamp[0]
                gain[c] += weight[owner[q]]
    for c in np.argsort(-gain):
        # The columns that follow rule out no more each, nor does any after them.
        if gain[c] == 0 or total - absences * gain[c] >= best:
            break
        rest = alive.copy()
        for q in range(many):
            if cells[q, c]:
                rest[q] = False
        best = _left(cells, owner, weight, rest, free, absences - 1, best, seen, stamp)
    return best
