"""`PrivateSelector`: 0/1 features selected with noise, and synthetic rows of the selected ones."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.binary.matrix import class_counts, differing_pairs, two_classes, zero_one
from tamis.binary.records import BinaryTable
from tamis.dp.budget import Budget, Unit, check_epsilon, exponential, laplace, opendp
from tamis.dp.domain import Axis, axis
from tamis.dp.histogram import DPHistogram, DPMarginals
from tamis.dp.private_table import MAX_CELLS, check_most, limited, unit_of
from tamis.errors import InputError, TamisWarning, check_whole, listed, plural
from tamis.table import Roles, Table

Mechanism = Literal["exponential", "laplace"]
MECHANISMS = ("exponential", "laplace")


class PrivateSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the 0/1 features that differ most between two classes, with noise.

    Parameters
    ----------
    features : int
        Number of features to select.
    epsilon : float
        The privacy budget of the selection, split equally over the features to select.
    mechanism : {"exponential", "laplace"}
        `exponential` draws features without replacement, each with a probability proportional
        to exp(epsilon D / (2 S features)), D being the number of pairs of rows of opposite classes
        that the feature distinguishes and S its sensitivity; `laplace` adds noise to D and takes
        the largest.
    classes : sequence of two labels, optional
        The publicly known labels; any other label counts as the first. `None`: those of `y`, which
        are then taken to be public.

    Attributes
    ----------
    support_ : array of bool
        The mask of the selected features.
    budget_ : Budget
        What was spent, for neighbours ``"substitute"``.

    See Also
    --------
    tamis.dp.histogram.DPHistogram : releases a table of the selected features.

    Notes
    -----
    Laplace-DP and Exponential-DP of Zhang et al. (2017), section 5.2. Neighbours are tables of n
    rows, n being public, that differ in one row, its label included. The scores are D = n1 n2 H,
    the number of pairs of rows of opposite classes that a feature distinguishes, n1 and n2 being
    the sizes of the classes. D consists of the pairs among the n - 1 common rows, which are the
    same in both tables, and of the pairs of the one other row with these, from 0 to n - 1 in either
    table; so D changes by at most S = n - 1. The paper holds the label fixed and takes
    max(n1, n2), a number that one label changes.

    With Laplace noise of scale 2 S features / epsilon the *set* of the largest costs epsilon: in
    a neighbouring table every value moves by at most S, so raising the noise of each selected
    feature by 2 S keeps the set, and that costs epsilon / features for each of them.

    The paper prints the scale S / epsilon and divides epsilon equally by feature, so that its noise
    has the scale S features / epsilon, half of ours: to move a selected feature by 2 S then costs
    2 epsilon / features, and the set 2 epsilon. To get that noise, ask for twice the epsilon, which
    is what it costs.

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
            The budget to spend epsilon from; `None`: a budget of its own.
        """
        check_epsilon(self.epsilon)
        if self.mechanism not in MECHANISMS:
            raise InputError(
                f"mechanism must be one of {', '.join(MECHANISMS)}, got {self.mechanism!r}"
            )
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
    """The positions of high scores, ascending, at the cost of epsilon."""
    if picks == len(scores):  # the choice is known without looking
        return list(range(len(scores)))
    if mechanism == "exponential":
        return sorted(exponential(scores, sensitivity, epsilon, picks))
    # The cost covers the set alone: neither the noisy values nor their order may be revealed.
    noisy = laplace(scores, 2 * picks * sensitivity, epsilon)
    return sorted(int(i) for i in np.argsort(-noisy, kind="stable")[:picks])


def hamming_scores(table: Any, positive: NDArray[np.bool_]) -> tuple[NDArray[np.int64], int]:
    """The number of pairs of opposite classes that each column distinguishes, and the sensitivity.

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
        raise InputError(f"classes must be the two labels, each once, got {len(classes)}")
    return np.asarray([label == classes[1] for label in np.asarray(y).tolist()], dtype=bool)


def _check_features(features: Any, width: int) -> None:
    check_whole("features", features)
    if features > width:
        has = plural(width, "column")
        raise InputError(f"features = {features}, but the table has {has}; ask for fewer")


LABEL_CELLS = 2
MOST_TOGETHER = int(np.log2(MAX_CELLS // LABEL_CELLS))
"""Most 0/1 columns that a histogram can count together with the label."""
Counting = Literal["auto", "histogram", "marginals"]
COUNTS = ("auto", "histogram", "marginals")
ZERO_ONE = {"type": "integer", "low": 0, "high": 1}


@dataclass(frozen=True, eq=False)
class PrivateRecords:
    """Synthetic rows, and the recipe with their privacy cost."""

    frame: pl.DataFrame
    recipe: dict[str, Any]


def private_records(
    records: BinaryTable,
    features: int,
    epsilon: float,
    *,
    labels: Any = None,
    mechanism: Mechanism = "exponential",
    unit: Unit = "row",
    counts: Counting = "auto",
    random_state: int | np.random.Generator | None = None,
) -> PrivateRecords:
    """Choose columns of 0/1 records and draw a table of them, both under one budget.

    Parameters
    ----------
    records : BinaryTable
        With labels; its columns and the number of its rows are public.
    features : int
        Number of columns to choose.
    epsilon : float
        The privacy budget of both steps together.
    labels : sequence or mapping, optional
        The two publicly known labels, see `tamis.dp.domain.axis`; another label counts as the
        declared `other`, or else as the first. `None`: they are taken from the records, which
        voids the guarantee and issues a warning.
    mechanism : {"exponential", "laplace"}
        The mechanism of the choice; see `PrivateSelector`.
    unit : {"row", "person"}
        What each record stands for.
    counts : {"auto", "histogram", "marginals"}
        The counts to take with noise: all chosen columns together, each column by the label, or
        together if they have few enough cells (up to 17 columns).
    random_state : int, numpy Generator or None
        For drawing rows from the noisy counts. The noise itself cannot be seeded.

    Returns
    -------
    PrivateRecords
        Columns of 0 and 1 and the label.

    Notes
    -----
    Laplace-DP and Exponential-DP of Zhang et al. (2017), section 5.2. The sensitivity of the
    choice is that of substituting one row, so the counts are made noisy for the same neighbours;
    the paper's Laplace(1/epsilon) would only hide adding or removing a row.

    Examples
    --------
    >>> from tamis.binary.records import from_matrix
    >>> y = np.repeat(["no", "yes"], 300)
    >>> ones = (y == "yes").astype(int)
    >>> records = from_matrix(np.column_stack([ones, 1 - ones, 0 * ones]), ["a", "b", "c"], y)
    >>> drawn = private_records(records, 2, epsilon=4.0, labels=["no", "yes"])
    >>> drawn.frame.columns, drawn.frame.height, drawn.recipe["epsilon"]
    (['a', 'b', 'label'], 600, 4.0)
    """
    if records.labels is None:
        raise InputError("choosing columns needs labels; name them with --target COL or --labels")
    budget = Budget(epsilon, neighbours="substitute", unit=unit)
    if counts not in COUNTS:
        raise InputError(f"counts must be one of {listed(COUNTS)}, got {counts!r}")
    if counts == "auto":
        counts = "histogram" if features <= MOST_TOGETHER else "marginals"
    if counts == "histogram" and features > MOST_TOGETHER:
        raise InputError(
            f"{features} features make 2^{features + 1} cells with the label; at most "
            f"{MOST_TOGETHER} features can be counted together, use counts='marginals' for more"
        )
    label = _label_axis(records, labels)
    classes = label.brought(pl.Series(records.target, records.labels.tolist()))
    selector = PrivateSelector(
        features, epsilon=epsilon / 2, mechanism=mechanism, classes=label.levels
    )
    selector.fit(records.matrix, np.asarray(classes.to_list()), budget=budget)
    chosen = records.select([int(i) for i in selector.get_support(indices=True)])
    counted = {**dict.fromkeys(chosen.features, ZERO_ONE), records.target: label.to_dict()}
    model = (DPHistogram if counts == "histogram" else DPMarginals)(
        epsilon / 2, bounds=counted, neighbours="substitute", random_state=random_state
    )
    roles = Roles(target=records.target, person=() if unit == "person" else None)
    whole = Table(chosen.frame().with_columns(classes.alias(records.target)), roles)
    frame = model.fit_sample(whole, budget=budget).frame
    recipe = {"features": list(chosen.features), "mechanism": mechanism, **model.recipe_}
    return PrivateRecords(frame, recipe if labels is not None else recipe | _void(records.target))


def zero_one_records(table: Table, items: Sequence[str] = ()) -> tuple[BinaryTable, Unit]:
    """The records of a table's public 0/1 columns, at most one per person, and their unit.

    Other numbers count as the nearer of 0 and 1, and cells that are no number as 0. `items` are the
    publicly known columns to choose among; by default all features.
    """
    check_most(1, table.roles, "substitute")
    table = limited(table, 1)
    if strange := [c for c in items if c not in table.features]:
        raise InputError(
            f"the items {listed(strange)} are not columns to release; the columns are "
            f"{listed(table.features)}"
        )
    names = tuple(items or table.features)
    cells = [axis(c, ZERO_ONE).codes(table.frame.get_column(c)) for c in names]
    ones = sparse.csr_array(np.column_stack(cells).astype(np.uint8))
    labels = table.frame.get_column(table.target).cast(pl.String).fill_null("")
    records = BinaryTable(ones, names, labels.to_numpy().astype(np.str_), table.target)
    return records, unit_of(table.roles)


def within_items(records: BinaryTable, items: Sequence[str]) -> BinaryTable:
    """The same records with exactly the public items as columns, in that order.

    >>> from tamis.binary.records import from_matrix
    >>> records = from_matrix([[1, 0], [1, 1]], ["bread", "milk"], labels=["a", "b"])
    >>> within_items(records, ["milk", "salt"]).matrix.toarray().tolist()
    [[0, 0], [1, 0]]
    """
    place = {name: i for i, name in enumerate(records.features)}
    known = [(place[name], i) for i, name in enumerate(items) if name in place]
    move = sparse.csr_array(
        (np.ones(len(known), np.uint8), ([a for a, _ in known], [b for _, b in known])),
        shape=(len(place), len(items)),
    )
    return replace(records, matrix=sparse.csr_array(records.matrix @ move), features=tuple(items))


def _label_axis(records: BinaryTable, labels: Any) -> Axis:
    assert records.labels is not None
    if labels is None:
        warnings.warn(
            "NO DIFFERENTIAL PRIVACY: the labels were taken from the data, which reveals them; "
            "give the two labels before anything is published",
            TamisWarning,
            stacklevel=3,
        )
        labels = [str(label) for label in np.unique(records.labels)]
    found = axis(records.target, labels, label=True)
    if len(found.levels) != LABEL_CELLS or found.missing:
        raise InputError(
            f"columns can only be chosen for a target of two labels, none missing; the bounds give "
            f"{records.target!r} {found.bins}"
        )
    return found


def _void(target: str) -> dict[str, Any]:
    return {"bounds_from_data": [target], "guarantee": False}
