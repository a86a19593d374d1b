"""`PrivateSelector`: which columns separate the classes, told with differential privacy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.binary.matrix import two_classes, zero_one
from tamis.errors import InputError
from tamis.evaluate.separation import class_counts, differing_pairs
from tamis.perturb.budget import Budget, check_epsilon
from tamis.perturb.draws import exponential, laplace, opendp

Mechanism = Literal["exponential", "laplace"]
MECHANISMS = ("exponential", "laplace")


class PrivateSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the 0/1 features that differ most between two classes, under noise.

    Parameters
    ----------
    features : int
        How many to select.
    epsilon : float
        What the selection may cost, split evenly over the features to select.
    mechanism : {"exponential", "laplace"}
        `exponential` draws features without replacement, each with a probability proportional
        to exp(epsilon D / (2 S features)), D being the pairs of rows of opposite classes that the
        feature tells apart and S its sensitivity; `laplace` adds noise to D and takes the largest.
    classes : sequence of two labels, optional
        The labels, as is publicly known; any other label counts as the first. `None`: those of
        `y`, which are public then.

    Attributes
    ----------
    support_ : array of bool
        Which features are selected.
    budget_ : Budget
        What was spent, for neighbours ``"substitute"``.

    See Also
    --------
    tamis.perturb.histogram.DPHistogram : releases a table of the selected features.

    Notes
    -----
    Laplace-DP and Exponential-DP of Zhang et al. (2017), section 5.2. Neighbours are tables of n
    rows, n being public, that differ in one row, its label included. The scores are D = n1 n2 H,
    the pairs of rows of opposite classes that a feature tells apart, n1 and n2 being the sizes of
    the classes. D is the pairs among the n - 1 common rows, which both tables have, and the pairs
    of the one row with these, from 0 to n - 1 in either table; so D changes by at most
    S = n - 1. The paper holds the label fixed and takes max(n1, n2), a number that one label moves.

    With Laplace noise of scale 2 S features / epsilon the *set* of the largest costs epsilon: in
    a neighbouring table every value moves by at most S, so raising the noise of each selected
    feature by 2 S keeps the set, and that costs epsilon / features for each of them. (The scale
    S / epsilon that the paper prints would cost far more than epsilon.)

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], 500)
    >>> X = np.column_stack([y, np.zeros_like(y), np.zeros_like(y), y])
    >>> PrivateSelector(2, epsilon=2.0).fit(X, y).get_support(indices=True).tolist()
    [0, 3]
    """

    def __init__(
        self,
        features: int = 5,
        *,
        epsilon: float = 0.5,
        mechanism: Mechanism = "exponential",
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.features = features
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.classes = classes

    def fit(self, X: Any, y: Any, *, budget: Budget | None = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : 0/1 array, sparse array or frame
        y : labels of two classes
        budget : Budget, optional
            Where to spend epsilon; `None`: a budget of its own.
        """
        check_epsilon(self.epsilon)
        if self.mechanism not in MECHANISMS:
            raise InputError(f"mechanism is one of {', '.join(MECHANISMS)}, got {self.mechanism!r}")
        opendp()
        X, y = validate_data(
            self, X, y, accept_sparse=("csr", "csc"), dtype=None, ensure_all_finite=False
        )
        table = zero_one(X)
        _check_features(self.features, table.shape[1])
        positive = two_classes(y) if self.classes is None else _is_second(y, self.classes)
        self.budget_ = Budget(self.epsilon, neighbours="substitute") if budget is None else budget
        self.budget_.check_neighbours("substitute", self.budget_.unit)
        self.budget_.spend(self.epsilon, f"choosing {self.features} features")
        scores, sensitivity = hamming_scores(table, positive)
        self.support_ = np.zeros(table.shape[1], dtype=bool)
        chosen = chosen_places(scores, sensitivity, self.epsilon, self.features, self.mechanism)
        self.support_[chosen] = True
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def chosen_places(
    scores: NDArray[np.int64], sensitivity: int, epsilon: float, picks: int, mechanism: Mechanism
) -> list[int]:
    """The places of high scores, told at the cost of epsilon; their order is of no meaning."""
    if picks == len(scores):
        return list(range(len(scores)))
    if mechanism == "exponential":
        return sorted(exponential(scores, sensitivity, epsilon, picks))
    # Only the set may be told: neither the noisy values nor their order.
    noisy = laplace(scores, 2 * picks * sensitivity, epsilon)
    return sorted(int(i) for i in np.argsort(-noisy, kind="stable")[:picks])


def hamming_scores(table: Any, positive: NDArray[np.bool_]) -> tuple[NDArray[np.int64], int]:
    """For each column the pairs of opposite classes that it tells apart, and the sensitivity.

    Examples
    --------
    >>> table = zero_one([[1, 0], [1, 1], [0, 1]])
    >>> scores, sensitivity = hamming_scores(table, np.array([True, True, False]))
    >>> scores.tolist(), sensitivity
    ([2, 1], 2)
    """
    support, ones = class_counts(table, positive)
    rows, positives = len(positive), int(positive.sum())
    return differing_pairs(support, ones, rows, positives), max(1, rows - 1)


def _is_second(y: Any, classes: Sequence[Any]) -> NDArray[np.bool_]:
    """Whether each label is the second of the classes."""
    if isinstance(classes, str) or len(set(classes)) != 2 or len(classes) != 2:
        raise InputError(f"classes are the two labels, each once, got {len(classes)}")
    return np.asarray([label == classes[1] for label in np.asarray(y).tolist()], dtype=bool)


def _check_features(features: Any, width: int) -> None:
    if isinstance(features, bool) or not isinstance(features, int | np.integer) or features < 1:
        raise InputError(f"features must be a whole number of at least 1, got {features!r}")
    if features > width:
        raise InputError(f"features = {features} of a table of {width} columns; ask for fewer")
