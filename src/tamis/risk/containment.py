"""Anonymity by containment: among how many rows does a row hide that has all it has?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.zero_one import Binary, sparse_columns, sparse_rows, zero_one

WORD = 64
CUBE = 22
"""Columns up to which all sets of columns are counted at once."""


def containment_anonymity(X: Any) -> int:
    """The least number of rows that hold all the ones of some row, itself counted.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
        Rows are entities, columns features.

    Notes
    -----
    AC(D) of Zhang et al. (2017), Definitions 4 to 6. A row that lies inside another is held by
    all the rows that hold the other, so only *maximal* rows can be the weakest, and nobody but
    its equals holds a maximal row: AC(D) is the least number of equal rows among the maximal.

    Examples
    --------
    >>> containment_anonymity([[1, 1], [1, 0], [1, 1]])
    2
    """
    table = _with_rows(X)
    from tamis.risk import supersets

    if table.shape[1] <= WORD:
        masks, weight = _counted_narrow(table)
        return int(supersets.least_maximal_mask(masks, weight, supersets.longest_first(masks)))
    rows = sparse_rows(table)
    first, weight, _ = supersets.distinct_rows(rows.indptr, rows.indices)
    columns = sparse_columns(rows[first])
    found = rows[first]
    return int(
        supersets.least_maximal_row(
            found.indptr, found.indices, columns.indptr, columns.indices, weight
        )
    )


def entity_anonymity(X: Any) -> NDArray[np.int64]:
    """For each row the number of rows that hold all its ones, itself counted.

    The weakest entities are those of the smallest numbers; the least of all is
    `containment_anonymity`.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame

    Notes
    -----
    AC(e) of Zhang et al. (2017). A row of zeros is held by every row.

    Examples
    --------
    >>> entity_anonymity([[1, 1], [1, 0], [1, 1], [0, 0]]).tolist()
    [2, 3, 2, 4]
    """
    table = _with_rows(X)
    from tamis.risk import supersets

    if table.shape[1] <= CUBE:
        masks, weight, of_row = _distinct_narrow(table)
        cube = np.zeros(1 << table.shape[1], np.int64)
        cube[masks] = weight
        supersets.sum_over_supersets(cube)
        return cube[masks][of_row]
    rows = sparse_rows(table)
    first, weight, of_row = supersets.distinct_rows(rows.indptr, rows.indices)
    found = rows[first]
    columns = sparse_columns(found)
    held = supersets.weight_of_supersets(
        found.indptr, found.indices, columns.indptr, columns.indices, weight
    )
    return np.asarray(held[of_row])


def _with_rows(X: Any) -> Binary:
    table = zero_one(X)
    if table.shape[0] == 0:
        raise InputError("anonymity needs at least one row, got an empty table")
    return table


def _distinct_narrow(
    table: Binary,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32]]:
    from tamis.distinct import distinct_masks, row_masks

    found = distinct_masks(row_masks(table))
    return found.mask, found.weight, found.of_row


def _counted_narrow(table: Binary) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Distinct rows and their weights; few columns are counted in a plain table of all sets."""
    from tamis.distinct import row_masks

    rows, width = table.shape
    if width > CUBE or 1 << width > 8 * rows:
        return _distinct_narrow(table)[:2]
    cube = np.bincount(row_masks(table).view(np.int64), minlength=1 << width)
    masks = np.flatnonzero(cube)
    return masks.astype(np.uint64), cube[masks]
