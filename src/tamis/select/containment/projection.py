"""A growing projection that answers: does this column still fit?"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.binary.matrix import sparse_columns
from tamis.errors import CannotMeet, InputError, check_whole, plural

Privacy = Literal["containment", "equality"]


class Projection:
    """A table projected on a growing set of columns, kept at anonymity k or above.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    k : int
        The anonymity to keep.
    privacy : {"containment", "equality"}
        Whether a row hides among the rows that contain it, or only among equal rows.
    weight : array of int, optional
        How many entities each row stands for.

    Examples
    --------
    >>> projection = Projection([[1, 1], [1, 0], [1, 1]], k=2)
    >>> projection.offer(0), projection.offer(1), projection.anonymity
    (True, True, 2)
    >>> Projection([[1, 1], [1, 0], [1, 1]], k=2, privacy="equality").fits(1)
    False
    """

    def __init__(
        self, X: Any, k: int, *, privacy: Privacy = "containment", weight: Any = None
    ) -> None:
        from tamis.select.containment import kernels

        self._kernels = kernels
        self._table = sparse_columns(X)
        self.k, self.privacy = k, privacy
        self.features: list[int] = []
        rows = self._table.shape[0]
        each = None if weight is None else kernels.packed(weight, 0)
        self._patterns = kernels.start(rows, each)
        check_k(k, self.anonymity)
        check_privacy(privacy)

    @property
    def anonymity(self) -> int:
        """The anonymity of the projection; that of no columns is the number of rows."""
        return int(self._patterns.state[self._kernels.ANONYMITY])

    def fits(self, column: int) -> bool:
        """Whether the anonymity stays at k or above with this column added."""
        equality = self.privacy == "equality"
        return bool(self._kernels.fits(self._rows(column), self.k, equality, self._patterns))

    def offer(self, column: int) -> bool:
        """Add the column if it fits; returns whether it did."""
        equality = self.privacy == "equality"
        self._patterns = self._kernels.widen(self._patterns)
        fitted = self._kernels.offer_column(self._rows(column), self.k, equality, self._patterns)
        if fitted:
            self.features.append(column)
        return bool(fitted)

    def _rows(self, column: int) -> NDArray[np.int32]:
        indptr = self._table.indptr
        rows: NDArray[np.int32] = self._table.indices[indptr[column] : indptr[column + 1]]
        return rows


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
