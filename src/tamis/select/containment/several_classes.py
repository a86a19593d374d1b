"""Greedy selection by a target of any number of classes.

The utilities of the paper separate two classes. Of several, a column is worth the information that
it has about the label, or that by its own entropy; columns are offered in this order, and each that
keeps the anonymity is taken. The ratio prefers what few rows have: such columns seldom meet in a
row, so that far more of them fit together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import rel_entr

from tamis.binary.matrix import Binary, zero_one
from tamis.errors import InputError, listed, plural
from tamis.select.containment.paths import SearchTask, in_turn
from tamis.select.containment.projection import check_k
from tamis.select.containment.selection import Selection, StopRule
from tamis.select.containment.utilities import ratio_to_entropy

SEVERAL = ("information", "ratio")
"""The utilities that are defined for any number of classes."""


class SeveralClassesSearch:
    """Greedy choices for many k and both utilities: the table is checked and counted once.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels
    labelled : array of bool, optional
        The rows whose labels may be used; the others count only for the anonymity.

    Examples
    --------
    >>> X = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1], [0, 0, 0], [0, 0, 0]]
    >>> search = SeveralClassesSearch(X, ["a", "a", "b", "b", "c", "c"])
    >>> search.of(2, "information").features
    (0, 1)
    """

    def __init__(self, X: Any, y: Any, *, labelled: NDArray[np.bool_] | None = None) -> None:
        table = zero_one(X)
        rows, columns = table.shape
        label = np.unique(np.asarray(y), return_inverse=True)[1]
        if len(label) != rows:
            raise InputError(f"expected {plural(rows, 'label')}, one per row, got {len(label)}")
        known = np.ones(rows, bool) if labelled is None else labelled
        self._information, support = _informed(table, label, known)
        self._ratio = ratio_to_entropy(self._information, support, int(known.sum()))
        rule = StopRule(1, equality=False, stop=False, most=columns, least_gain=0.0)
        nobody = np.zeros(rows, bool)  # no two classes are told apart: columns come with a score
        self._task = SearchTask(table, nobody, None, rule, drop_rare=False, extend=False)

    @property
    def rows(self) -> int:
        return len(self._task.positive)

    def of(self, k: int, utility: str) -> Selection:
        """The choice for one k and utility."""
        check_k(k, self.rows)
        if utility not in SEVERAL:
            raise InputError(
                f"of several classes the utility is one of {listed(SEVERAL)}, got {utility!r}"
            )
        score = self._information if utility == "information" else self._ratio
        return in_turn(replace(self._task, rule=self._task.rule._replace(k=int(k))), score)


def _informed(
    table: Binary, label: NDArray[np.intp], known: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The mutual information of each column with the label, in nats, and the ones of each."""
    rows = np.flatnonzero(known)
    ones = _by_class(table, label[rows], rows)
    classes = np.bincount(label[rows], minlength=len(ones))[:, None]
    support = ones.sum(axis=0)
    total = np.zeros(len(support))
    for cell, of_column in ((ones, support), (classes - ones, len(rows) - support)):
        expected = of_column * (classes / len(rows))
        total += rel_entr(cell, expected).sum(axis=0) / len(rows)
    # Rounded, so that columns of equal worth tie instead of differing in the last bit.
    return np.maximum(np.round(total, 12), 0.0), support


def _by_class(table: Binary, label: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """The ones of each column in each class, among some rows: classes by columns."""
    shape = int(label.max()) + 1, table.shape[0]
    members = sparse.csr_array((np.ones(len(rows), np.int64), (label, rows)), shape=shape)
    counts = members @ table
    return np.asarray(counts if isinstance(counts, np.ndarray) else counts.toarray(), np.int64)
