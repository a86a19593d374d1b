"""Greedy selection that also withstands an attacker who knows a few things that a person lacks."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heapreplace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.matrix import class_counts, sparse_columns, two_classes
from tamis.errors import InputError, listed
from tamis.risk.absences import absence_anonymity, check_absences
from tamis.risk.grouping import Ints
from tamis.select.containment.projection import check_k, labelled_rows
from tamis.select.containment.selection import Selection, Step
from tamis.select.containment.utilities import MODULAR, mutual_information


def greedy_with_absences(
    X: Any,
    y: Any,
    k: int,
    absences: int,
    *,
    utility: Any = "distcnt",
    extend: bool = True,
    max_features: int | None = None,
    people: Ints | None = None,
    labelled: Any = None,
) -> Selection:
    """Choose features one by one by gain in utility while k people fit whatever is known.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes
    k : int
    absences : int
        How many things that a person lacks an attacker may know; see
        `tamis.risk.absences.absence_anonymity`.
    utility : str
        `distcnt` or a sum over the features, as in `tamis.select.containment.greedy.greedy`.
    extend : bool
        If nothing gains any more under `distcnt`, go on with what still fits, in the order of
        mutual information with the label.
    max_features : int, optional
    people : array of int, optional
        The person of each row.
    labelled : array of bool, optional
        The rows whose labels may be used, as in `tamis.select.containment.greedy.greedy`.

    Notes
    -----
    Anonymity never rises with a column, so a column that does not fit never will: each is measured
    at most once, at the cost that `absence_anonymity` states.

    Examples
    --------
    >>> X = [[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]]
    >>> y = [0, 0, 1, 1, 0, 0]
    >>> greedy_with_absences(X, y, 2, absences=1).features
    (1, 0)
    """
    table = sparse_columns(X)
    positive = two_classes(y, table.shape[0])
    check_absences(absences)
    check_k(k, table.shape[0])
    most = table.shape[1] if max_features is None else max_features
    known = labelled_rows(labelled, positive)
    search = _AbsenceSearch(table, positive, k, absences, most, people, known)
    if utility in MODULAR:
        search.in_turn(search.scores(MODULAR[utility]))
    elif utility == "distcnt":
        search.by_gain()
        if extend:
            search.in_turn(search.scores(mutual_information), counted=False)
    else:
        allowed = listed([*MODULAR, "distcnt"])
        raise InputError(f"with absences the utility is one of {allowed}, got {utility!r}")
    return search.selection


class _AbsenceSearch:
    """The features chosen so far, and which rows they do not tell apart."""

    def __init__(
        self,
        table: sparse.csc_array,
        positive: NDArray[np.bool_],
        k: int,
        absences: int,
        most: int,
        people: Ints | None,
        known: NDArray[np.bool_] | None = None,
    ) -> None:
        self.table, self.people = table, people
        self.known = np.ones(len(positive), bool) if known is None else known
        self.label = positive[self.known]
        self.k, self.absences, self.most = k, absences, most
        self.steps: list[Step] = []
        self.tried: set[int] = set()
        self.alike = np.zeros(table.shape[0], np.int64)

    @property
    def selection(self) -> Selection:
        if not self.steps:
            return Selection((), self.table.shape[0], 0.0)
        last = self.steps[-1]
        chosen = tuple(step.feature for step in self.steps)
        return Selection(chosen, last.anonymity, last.utility, steps=tuple(self.steps))

    def scores(self, score: Callable[..., NDArray[Any]]) -> NDArray[Any]:
        """A score for each column, from how many rows of each class have it."""
        support, ones = class_counts(self.table[np.flatnonzero(self.known)], self.label)
        return score(support, ones, len(self.label), int(self.label.sum()))

    def in_turn(self, scores: NDArray[Any], *, counted: bool = True) -> None:
        """Offer columns by descending score; it is their gain, where it counts."""
        for column in np.argsort(-scores, kind="stable").tolist():
            if scores[column] <= 0 or len(self.steps) >= self.most:
                return
            self._offer(column, float(scores[column]) if counted else self._parted(column))

    def by_gain(self) -> None:
        """Offer the column that tells most pairs of opposite classes apart, again and again.

        A gain never grows, so a column is counted again only when it comes first.
        """
        queue = [(-self._parted(c), c) for c in range(self.table.shape[1])]
        heapify(queue)
        while queue and len(self.steps) < self.most:
            promised, column = queue[0]
            gain = self._parted(column)
            if gain <= 0 and promised >= 0:
                return
            if gain < -promised:
                heapreplace(queue, (-gain, column))
                continue
            heappop(queue)
            self._offer(column, gain)

    def _offer(self, column: int, gain: float) -> None:
        if column in self.tried:
            return
        self.tried.add(column)
        chosen = [*(step.feature for step in self.steps), column]
        cells = self.table[:, chosen]
        reached = absence_anonymity(cells, self.absences, people=self.people, enough=self.k)
        if reached < self.k:
            return
        before = self.steps[-1].utility if self.steps else 0.0
        self.steps.append(Step(column, gain, before + gain, reached))
        self.alike = np.unique(2 * self.alike + self._has(column), return_inverse=True)[1]

    def _has(self, column: int) -> NDArray[np.int64]:
        has = np.zeros(self.table.shape[0], np.int64)
        has[self.table.indices[self.table.indptr[column] : self.table.indptr[column + 1]]] = 1
        return has

    def _parted(self, column: int) -> float:
        """The share of pairs of opposite classes that this column would newly tell apart."""
        groups = int(self.alike.max()) + 1
        parts = (2 * self.alike + self._has(column))[self.known] * 2 + self.label
        counts = np.bincount(parts, minlength=4 * groups).reshape(groups, 2, 2)
        pairs = counts[:, 0, 0] * counts[:, 1, 1] + counts[:, 0, 1] * counts[:, 1, 0]
        positives = int(self.label.sum())
        return float(pairs.sum() / (positives * (len(self.label) - positives)))
