"""Greedy selection: the best feature that still fits, again and again.

`greedy_with_absences` also withstands an attacker who knows a few things that a person lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from heapq import heapify, heappop, heapreplace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.matrix import class_counts, sparse_columns, two_classes, zero_one
from tamis.errors import InputError, listed
from tamis.risk.containment import absence_anonymity, check_absences
from tamis.risk.grouping import Ints
from tamis.select.containment.paths import SearchTask, SetUtility, choose_columns
from tamis.select.containment.projection import Privacy, check_k, check_privacy, labelled_rows
from tamis.select.containment.selection import Selection, Step, StopRule
from tamis.select.containment.utilities import MODULAR, PREDICTIVE, Model, mutual_information

OnViolation = Literal["skip", "stop"]

UTILITIES = (*MODULAR, "distcnt", "cm", *PREDICTIVE, "best")


def greedy(
    X: Any,
    y: Any,
    k: int,
    *,
    utility: str | SetUtility = "distcnt",
    privacy: Privacy = "containment",
    on_violation: OnViolation = "skip",
    drop_rare: bool = False,
    extend: bool = False,
    max_features: int | None = None,
    min_gain: float = 0.0,
    model: Model = "linear",
    random_state: int = 0,
    labelled: Any = None,
    groups: NDArray[np.int64] | None = None,
) -> Selection:
    """Choose features one by one by gain in utility while the anonymity stays at k or above.

    Ties go to the lowest column. A feature that gains nothing is never chosen, so constant
    features are not.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes
    k : int
        The anonymity to keep.
    utility : str or callable
        Of the set: the share of pairs of opposite classes distinguished (`distcnt`), the share of
        rows in the majority class of their group (`cm`; ties by `distcnt`), or the sum over the
        features of the Hamming distance (`hamdist`), of the difference between the classes' shares
        of ones (`difference`), of the mutual information with the label (`information`), or of that
        by the entropy of the feature (`ratio`). `likelihood` and `auc` fit a model on two thirds of
        the rows and judge it on the rest. `best` lets `difference`, `hamdist`, `information`, `cm`,
        `auc` and, where no limit forbids it, the largest itemsets of
        `tamis.select.containment.itemsets.maximal` choose by the labels of two thirds of the rows,
        three times, and takes the one whose linear model ranks the other rows best; its utility is
        the AUC of the first time. A callable takes ``(X, y, features)`` and returns a number, where
        larger is better; `X` is then CSC and `y` boolean.
    privacy : {"containment", "equality"}
        Whether a row hides among the rows that contain it, or only among equal rows.
    on_violation : {"skip", "stop"}
        At a feature that does not fit: go on with the next, or stop there as the paper does.
    drop_rare : bool
        Leave out features with fewer than k ones beforehand. They never fit; with
        ``on_violation="stop"`` the search would stop at the first of them.
    extend : bool
        If the search ends because nothing gains, go on with what still fits, in the order of
        mutual information with the label.
    max_features : int, optional
        The most features to choose.
    min_gain : float
        A feature is chosen only if it gains more than this.
    model : {"linear", "bayes"}
        The model of `likelihood` and `auc`: logistic regression or naive Bayes.
    random_state : int
        Draws the held-out rows of `likelihood` and `auc`.
    labelled : array of bool, optional
        The rows whose labels may be used; the others count only for the anonymity. So a
        choice can be evaluated fairly on rows that are released too.
    groups : array of int, optional
        The person of each row, if people have several: `likelihood`, `auc` and `best` then
        hold out all rows of a person or none.

    Notes
    -----
    Algorithms 2 and 3 of Zhang et al. (2017), where ``until AC >= k`` should read ``AC < k``.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]
    >>> greedy(X, [1, 1, 1, 0, 0, 0], k=2, utility="hamdist").features
    (0, 1)
    """
    search = GreedySearch(
        X,
        y,
        privacy=privacy,
        on_violation=on_violation,
        drop_rare=drop_rare,
        extend=extend,
        max_features=max_features,
        min_gain=min_gain,
        model=model,
        random_state=random_state,
        labelled=labelled,
        groups=groups,
    )
    return search.of(k, utility)


class GreedySearch:
    """`greedy` for many k and utilities: the table is checked and counted once.

    The parameters are those of `greedy`.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]
    >>> search = GreedySearch(X, [1, 1, 1, 0, 0, 0])
    >>> search.of(1, "hamdist").features, search.of(3, "distcnt").features
    ((0, 1, 2), (0,))
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        privacy: Privacy = "containment",
        on_violation: OnViolation = "skip",
        drop_rare: bool = False,
        extend: bool = False,
        max_features: int | None = None,
        min_gain: float = 0.0,
        model: Model = "linear",
        random_state: int = 0,
        labelled: Any = None,
        groups: NDArray[np.int64] | None = None,
    ) -> None:
        table = zero_one(X)
        positive = two_classes(y, table.shape[0])
        check_privacy(privacy)
        _check_choices(on_violation, max_features, min_gain, model)
        most = table.shape[1] if max_features is None else min(max_features, table.shape[1])
        rule = StopRule(1, privacy == "equality", on_violation == "stop", most, float(min_gain))
        known = labelled_rows(labelled, positive)
        self._task = SearchTask(table, positive, known, rule, drop_rare, extend, groups)
        self._privacy, self._model, self._random_state = privacy, model, random_state

    @property
    def rows(self) -> int:
        return len(self._task.positive)

    def of(self, k: int, utility: str | SetUtility) -> Selection:
        """The choice for one k and utility."""
        check_k(k, self.rows)
        if not callable(utility) and utility not in UTILITIES:
            raise InputError(
                f"utility is one of {listed(UTILITIES)} or a function, got {utility!r}"
            )
        task = replace(self._task, rule=self._task.rule._replace(k=int(k)))
        return choose_columns(task, utility, self._privacy, self._model, self._random_state)


def _check_choices(
    on_violation: Any, max_features: int | None, min_gain: float, model: Any
) -> None:
    if on_violation not in ("skip", "stop"):
        raise InputError(f"on_violation must be 'skip' or 'stop', got {on_violation!r}")
    if model not in ("linear", "bayes"):
        raise InputError(f"model must be 'linear' or 'bayes', got {model!r}")
    if max_features is not None and max_features < 0:
        raise InputError(f"max_features must be at least 0, got {max_features}")
    if not min_gain >= 0:
        raise InputError(f"min_gain must be at least 0, got {min_gain}")


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
        `tamis.risk.containment.absence_anonymity`.
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
