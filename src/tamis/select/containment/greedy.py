"""Greedy forward selection: add the best feature that still fits, again and again.

Utilities that are sums over the features are computed from how many rows of each class have a
feature; `several` defines them for more than two classes. The gain ratio (information divided by
the entropy of the column) prefers rare columns. Rare columns seldom occur in the same row, so far
more of them fit together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from tamis.arrays import Floats, Ints
from tamis.binary.matrix import Binary, class_numbers, differing_pairs, two_classes, zero_one
from tamis.catalogue.methods import UTILITIES
from tamis.errors import InputError, listed
from tamis.select.containment.selection import (
    Privacy,
    Selection,
    StopRule,
    check_k,
    check_privacy,
    labelled_rows,
)

if TYPE_CHECKING:
    from tamis.select.containment.source import ColumnSource


def hamming(support: Ints, ones: Ints, rows: int, positives: int) -> Floats:
    """Fraction of the pairs of opposite classes in which the feature differs."""
    pairs = differing_pairs(support, ones, rows, positives)
    return pairs / (positives * (rows - positives))


def difference(support: Ints, ones: Ints, rows: int, positives: int) -> Floats:
    """Absolute difference between the shares of ones in the two classes."""
    # Over a common denominator, the numerators are whole numbers: equal columns tie exactly.
    apart = np.abs(ones * (rows - positives) - (support - ones) * positives)
    return apart / (positives * (rows - positives))


def mutual_information(support: Ints, ones: Ints, rows: int, positives: int) -> Floats:
    """Mutual information of feature and label, in nats.

    >>> mutual_information(np.array([2, 4]), np.array([2, 2]), 4, 2).round(3).tolist()
    [0.693, 0.0]
    """
    total = np.zeros(len(support))
    for cell, feature, label in (
        (ones, support, positives),
        (support - ones, support, rows - positives),
        (positives - ones, rows - support, positives),
        (rows - positives - support + ones, rows - support, rows - positives),
    ):
        present = cell > 0
        share = cell[present] / rows
        total[present] += share * np.log(cell[present] * rows / (feature[present] * label))
    # Rounded so that columns of equal information tie rather than differ in the last bit.
    return np.maximum(np.round(total, 12), 0.0)


def gain_ratio(support: Ints, ones: Ints, rows: int, positives: int) -> Floats:
    """Mutual information of feature and label divided by the entropy of the feature.

    >>> gain_ratio(np.array([2, 1]), np.array([2, 1]), 4, 2).round(3).tolist()
    [1.0, 0.384]
    """
    return ratio_to_entropy(mutual_information(support, ones, rows, positives), support, rows)


def ratio_to_entropy(information: Floats, support: Ints, rows: int) -> Floats:
    """Information divided by the entropy of the feature; 0 for a constant feature."""
    share = support / rows
    varies = (support > 0) & (support < rows)
    # A constant feature has entropy 0 and information 0: dividing by 1 instead gives the 0.
    entropy = np.where(varies, -(xlogy(share, share) + xlog1py(1 - share, -share)), 1.0)
    return np.asarray(np.round(information / entropy, 12))


MODULAR: dict[str, Callable[[Ints, Ints, int, int], Floats]] = {
    "hamdist": hamming,
    "difference": difference,
    "information": mutual_information,
    "ratio": gain_ratio,
}


Model = Literal["linear", "bayes"]

SetUtility = Callable[[Any, Any, Sequence[int]], float]


@dataclass(frozen=True)
class SearchTask:
    """A checked table with its labels, the stopping rule and the options of a search."""

    table: Binary
    positive: NDArray[np.bool_]
    """The rows of the true class, where there are two."""
    labelled: NDArray[np.bool_] | None
    rule: StopRule
    drop_rare: bool = False
    extend: bool = False
    groups: NDArray[np.int64] | None = None
    model: Model = "linear"
    random_state: int = 0
    sources: list[ColumnSource] = field(default_factory=list)
    several: Ints | None = None
    """The class of each row, where there are more than two."""

    def at(self, k: int) -> SearchTask:
        """The same task for another k."""
        return replace(self, rule=self.rule._replace(k=int(k)))

    @property
    def source(self) -> ColumnSource:
        """The table by column, with its counts; read once and shared by all k."""
        from tamis.select.containment.source import ColumnSource

        if not self.sources:
            self.sources.append(ColumnSource.of(self.table, self.positive, self.labelled))
        return self.sources[0]

    @cached_property
    def rows(self) -> int:
        """The number of rows that have a label."""
        return len(self.positive) if self.labelled is None else int(self.labelled.sum())

    @cached_property
    def positives(self) -> int:
        known = self.positive if self.labelled is None else self.positive & self.labelled
        return int(np.count_nonzero(known))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have a label."""
        return np.ones(len(self.positive), bool) if self.labelled is None else self.labelled

    @property
    def label(self) -> NDArray[Any]:
        """Class of each row: a boolean for two classes, else its number."""
        return self.positive if self.several is None else self.several

    def may_fit(self, support: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Columns to consider; one with fewer than k ones never fits, but may end the search."""
        if self.rule.stop and not self.drop_rare:
            return np.asarray(support > 0)
        return np.asarray(support >= self.rule.k)


OnViolation = Literal["skip", "stop"]

PREDICTIVE = ("likelihood", "auc")


def greedy(
    X: Any, y: Any, k: int, *, utility: str | SetUtility = "distcnt", **options: Any
) -> Selection:
    """Add features one by one by gain in utility while the anonymity stays at k or above.

    Ties go to the lowest column. A feature without any gain, such as a constant one, is never
    chosen.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes or more
        `tamis.select.containment.several` defines the utilities for more than two.
    k : int
        The anonymity to keep.
    utility : str or callable
        Functions of the set: the fraction of pairs of opposite classes told apart (`distcnt`), or
        of rows in the majority class of their group (`cm`; ties by `distcnt`). Sums over the
        features: the Hamming distance (`hamdist`), the difference between the classes' shares of
        ones (`difference`), the mutual information with the label (`information`), or that divided
        by the entropy of the feature (`ratio`). Models: `likelihood` and `auc` fit one on two
        thirds of the rows and evaluate it on the rest. `best` is a contest: `difference`,
        `hamdist`, `information`, `cm`, `auc` and, where no limit forbids it, the largest itemsets
        of `tamis.select.containment.itemsets.maximal` each choose by the labels of two thirds of
        the rows, over three draws, and the one whose linear model ranks the other rows best wins;
        its utility is the AUC on the first draw. A callable takes ``(X, y, features)`` and returns
        a number, larger is better; `X` is then CSC, and `y` boolean or the number of the class.
    **options
        Of `GreedySearch`.

    Notes
    -----
    Algorithms 2 and 3 of Zhang et al. (2017), where ``until AC >= k`` should read ``AC < k``.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]
    >>> greedy(X, [1, 1, 1, 0, 0, 0], k=2, utility="hamdist").features
    (0, 1)
    """
    return GreedySearch(X, y, **options).of(k, utility)


class GreedySearch:
    """`greedy` for many k and utilities: the table is checked and counted once.

    Parameters
    ----------
    X : 0/1 array, sparse array or frame
    y : labels of two classes or more
    privacy : {"containment", "equality"}
        Whether a row hides among the rows that contain it, or only among equal rows.
    on_violation : {"skip", "stop"}
        At a feature that does not fit: go on with the next, or stop there as the paper does.
    drop_rare : bool
        Leave out features with fewer than k ones beforehand. They never fit, and with
        ``on_violation="stop"`` the first of them would end the search.
    extend : bool
        If the search ends because nothing gains, go on with what still fits, by mutual
        information with the label.
    max_features : int, optional
        The most features to choose.
    min_gain : float
        A feature is chosen only if it gains more than this.
    model : {"linear", "bayes"}
        The model of `likelihood` and `auc`: logistic regression or naive Bayes.
    random_state : int
        Draws the held-out rows of `likelihood` and `auc`.
    labelled : array of bool, optional
        The rows whose labels may be used; the others count only for the anonymity. The choice
        can then be evaluated on rows that are released but whose labels it has not seen.
    groups : array of int, optional
        The person of each row, if people have several rows: `likelihood`, `auc` and `best` then
        hold out all rows of a person or none.

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
        codes = class_numbers(y, table.shape[0])
        several = codes if codes.max(initial=0) > 1 else None
        positive = two_classes(y) if several is None else np.zeros(len(codes), bool)
        check_privacy(privacy)
        _check_choices(on_violation, max_features, min_gain, model)
        most = table.shape[1] if max_features is None else min(max_features, table.shape[1])
        rule = StopRule(1, privacy == "equality", on_violation == "stop", most, float(min_gain))
        known = labelled_rows(labelled, positive if several is None else several)
        choices = (drop_rare, extend, groups, model, random_state)
        self._task = SearchTask(table, positive, known, rule, *choices, several=several)

    def of(self, k: int, utility: str | SetUtility) -> Selection:
        """Search with one k and utility."""
        from tamis.select.containment.paths import choose_columns

        check_k(k, len(self._task.positive))
        if not callable(utility) and utility not in UTILITIES:
            raise InputError(
                f"utility is one of {listed(UTILITIES)} or a function, got {utility!r}"
            )
        return choose_columns(self._task.at(k), utility)


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
