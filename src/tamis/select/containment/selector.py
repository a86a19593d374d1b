"""`ContainmentSelector`: select predictive features in which each row hides among at least k."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.binary.matrix import Binary, class_numbers, sparse_columns, two_classes, zero_one
from tamis.charts import Picture
from tamis.errors import CannotMeet, InputError, listed
from tamis.people import People
from tamis.select.containment.greedy import (
    Model,
    OnViolation,
    SetUtility,
    greedy,
)
from tamis.select.containment.selection import Privacy, Selection, check_k, labelled_rows, selected

SEARCHES = ("greedy", "maximal", "improve", "exact")


class ContainmentSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select 0/1 features under anonymity by containment.

    In the released columns, at least k rows have everything that any given row *has*.

    Parameters
    ----------
    k : int
        The anonymity to keep: at least k rows have all the ones of any given row; k people do if
        `fit` is given `people`.
    utility : str or callable
        What to maximise; see `tamis.select.containment.greedy.greedy`. To predict well, take
        ``"difference"``, or ``"best"``, which takes seconds: their mean AUC on held-out rows of
        six real tables was .886 and .892 at k = 5, and .878 and .881 at k = 11. ``"distcnt"``
        reached .874 and .863 at these k, the paper's ``"hamdist"`` with ``on_violation="stop"``
        .853 and .844 (`bench/bench_utilities.py`).
    search : {"greedy", "maximal", "improve", "exact"}
        `greedy` adds the best feature that fits; `maximal` takes the best of the largest maximal
        frequent itemsets; `improve` is a local search that starts from greedy; `exact` finds the
        optimum, or a bound of it within `time_limit`.
    privacy : {"containment", "equality"}
        Whether a row hides among the rows that contain it, or only among equal rows
        (k-anonymity).
    on_violation : {"skip", "stop"}
        What greedy does at a feature that does not fit: skip it, or stop as the paper does.
    extend : bool
        Afterwards add whatever still fits; greedy with ``on_violation="stop"`` does not.
    largest : int
        How many maximal itemsets `maximal` compares.
    time_limit : float, optional
        Seconds for `improve` and `exact`.
    drop_rare : bool
        Leave out features with fewer than k ones, at which ``on_violation="stop"`` would stop.
    max_features : int, optional
        The most features that greedy chooses.
    min_gain : float
        Greedy chooses a feature only if it gains more than this.
    model : {"linear", "bayes"}
        The model of the utilities `likelihood` and `auc`.
    random_state : int
        Draws the held-out rows of `likelihood` and `auc`, and the moves of `improve`.
    absences : int
        How many things that a person lacks an attacker may know besides all that they have. With
        0 this is anonymity by containment, with all columns it is k-anonymity. More than 0 needs
        ``search="greedy"``, ``on_violation="skip"`` and the utility `distcnt` or a sum over the
        features; its time may grow with the number of features to the power of `absences`, see
        `tamis.risk.containment.absence_anonymity`.
    preset : {"paper"} or None
        `"paper"`: the printed algorithms, Maximal with its 20 largest itemsets or Greedy, by
        `hamdist`, `distcnt` or `cm`. They stop at the first feature that does not fit and add
        nothing afterwards; by default such a feature is skipped, which finds more at the same k.

    Attributes
    ----------
    support_ : array of bool
        Which features are selected.
    anonymity_ : int
        The anonymity of the selected columns.
    utility_ : float
        Their utility.
    bound_ : float or None
        A proven upper bound of the utility, if the search gives one.
    selection_ : Selection
        Features in the order of choice, with the path.
    unit_ : {"people", "rows"}
        What the anonymity counts.
    classes_ : array
        The labels; of two the second one counts as true.

    See Also
    --------
    tamis.risk.containment.containment_anonymity : measures any 0/1 table.

    Notes
    -----
    Zhang, Mohammed, Dave and Al Hasan (2017), "Feature selection for classification under
    anonymity constraint". The promise covers an attacker who knows what a person has, not one
    who knows what they lack; ``absences=m`` covers up to m things that they lack, and
    ``privacy="equality"`` all of them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]])
    >>> selector = ContainmentSelector(k=2).fit(X, [1, 1, 1, 0, 0, 0])
    >>> selector.get_feature_names_out().tolist(), selector.anonymity_
    (['x0', 'x1'], 2)
    """

    def __init__(
        self,
        k: int = 5,
        *,
        utility: str | SetUtility = "distcnt",
        search: str = "greedy",
        privacy: Privacy = "containment",
        on_violation: OnViolation = "skip",
        extend: bool = True,
        largest: int = 20,
        time_limit: float | None = None,
        drop_rare: bool = False,
        max_features: int | None = None,
        min_gain: float = 0.0,
        model: Model = "linear",
        random_state: int = 0,
        absences: int = 0,
        preset: Literal["paper"] | None = None,
    ) -> None:
        self.k = k
        self.utility = utility
        self.search = search
        self.privacy = privacy
        self.on_violation = on_violation
        self.extend = extend
        self.largest = largest
        self.time_limit = time_limit
        self.drop_rare = drop_rare
        self.max_features = max_features
        self.min_gain = min_gain
        self.model = model
        self.random_state = random_state
        self.absences = absences
        self.preset = preset

    def fit(self, X: Any, y: Any, people: Any = None, labelled: Any = None) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : 0/1 array, CSR or CSC array, or frame
        y : labels of classes
            Two or more; `tamis.select.containment.several` defines the utilities for more than
            two. With these, `maximal`, `improve` and `exact` under containment maximise `hamdist`
            (`maximal` also `cm` and `size`), not `distcnt`.
        people : array, optional
            The person of each row, by name or number, if people may have several rows: k and every
            anonymity then count people. The search itself counts rows and is run for more and more
            of them until k people are kept; `time_limit` applies to each run.
        labelled : array of bool, optional
            The rows whose labels any search may use; the others count only for the anonymity. The
            choice can then be tested on rows that are released but whose labels it has not seen.
        """
        if self.search not in SEARCHES:
            raise InputError(f"search must be one of {', '.join(SEARCHES)}, got {self.search!r}")
        self._check_preset()
        names = [str(name) for name in getattr(X, "columns", [])]
        # Cells are checked to be 0 or 1 and finite below, where a message can name the columns.
        X, y = validate_data(
            self, X, y, accept_sparse=("csr", "csc"), dtype=None, ensure_all_finite=False
        )
        table, y = self._read(X, y, names)
        check_k(self.k, table.shape[0])
        who = People.named(people, table.shape[0])
        label = two_classes(y) if len(self.classes_) < 3 else class_numbers(y)
        known = labelled_rows(labelled, label)
        search = partial(self._search, table, label, who, known)
        if self.absences:
            chosen = self._with_absences(table, label, who, known)
        elif who.each_row:
            chosen = search(self.k)
        else:
            chosen = selected(table, who, self.k, search, self.privacy)
        if not chosen.features:
            raise CannotMeet(self._why_nothing(table, who))
        self.selection_ = chosen
        self.support_ = np.zeros(table.shape[1], dtype=bool)
        self.support_[list(chosen.features)] = True
        self.anonymity_, self.utility_ = chosen.anonymity, chosen.utility
        self.bound_ = chosen.bound
        self.unit_: Literal["people", "rows"] = "rows" if who.each_row else "people"
        return self

    def plot(self) -> Picture:
        """Picture of the utility and the anonymity after each chosen feature."""
        from tamis.select.containment.selection import path_picture

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        utility = self.utility if isinstance(self.utility, str) else "utility"
        return path_picture(self.selection_, [*map(str, names)], self.k, utility, self.unit_)

    def _read(self, X: Any, y: Any, names: list[str]) -> tuple[Binary, NDArray[Any]]:
        labels = np.asarray(y)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 3:
            two_classes(labels)
        return zero_one(X, names), labels

    def _check_preset(self) -> None:
        if self.preset not in (None, "paper"):
            raise InputError(f'preset must be "paper" or None, got {self.preset!r}')
        if self.preset and (
            self.search not in ("greedy", "maximal")
            or self.utility not in ("hamdist", "distcnt", "cm")
        ):
            raise InputError(
                "preset='paper' needs search='greedy' or 'maximal' and the utility 'hamdist', "
                f"'distcnt' or 'cm', got {self.search!r} and {self.utility!r}"
            )

    def _search(
        self,
        table: Binary,
        label: NDArray[Any],
        people: People,
        known: NDArray[np.bool_] | None,
        k: int,
    ) -> Selection:
        on_violation: OnViolation = "stop" if self.preset else self.on_violation
        extend = self.extend and self.preset is None
        if self.search == "greedy":
            return greedy(
                table,
                label,
                k,
                utility=self.utility,
                privacy=self.privacy,
                on_violation=on_violation,
                drop_rare=self.drop_rare,
                extend=extend and on_violation == "skip",
                max_features=self.max_features,
                min_gain=self.min_gain,
                model=self.model,
                random_state=self.random_state,
                labelled=known,
                groups=people.groups,
            )
        self._check_other_search()
        choices: dict[str, Any] = {"utility": self.utility, "labelled": known}
        if self.search == "maximal":
            from tamis.select.containment.itemsets import maximal

            return maximal(table, label, k, largest=self.largest, extend=extend, **choices)
        choices["time_limit"] = self.time_limit
        if self.privacy == "equality":
            from tamis.select.containment.exact_equal import exact_equal

            return exact_equal(table, label, k, **choices)
        if self.search == "exact":
            from tamis.select.containment.exact import exact

            return exact(table, label, k, **choices)
        from tamis.select.containment.improve import improve

        return improve(table, label, k, random_state=self.random_state, **choices)

    def _with_absences(
        self,
        table: Binary,
        label: NDArray[Any],
        people: People,
        known: NDArray[np.bool_] | None,
    ) -> Selection:
        from tamis.select.containment.paths import greedy_with_absences

        odd = {
            "search": self.search != "greedy",
            "privacy": self.privacy != "containment",
            "on_violation": self.on_violation != "skip",
            "min_gain": self.min_gain != 0,
        }
        if wrong := [name for name, is_odd in odd.items() if is_odd]:
            raise InputError(
                f"absences={self.absences!r} needs the default {listed(wrong)}; leave it out"
            )
        return greedy_with_absences(
            table,
            label,
            self.k,
            self.absences,
            utility=self.utility,
            extend=self.extend,
            max_features=self.max_features,
            people=people,
            labelled=known,
        )

    def _why_nothing(self, table: Binary, people: People) -> str:
        if not people.each_row:
            return (
                f"no feature was found that keeps k = {self.k} people ({people.count} "
                f"people have {table.shape[0]} rows); ask for a smaller k"
            )
        support = np.diff(sparse_columns(table).indptr)
        rows, k = table.shape[0], self.k
        useful = support[(support > 0) & (support < rows)]
        if len(useful) == 0:
            return "no feature separates anything: every column is constant"
        # Under equality the rows without the feature are a group as well.
        alone = useful if self.privacy == "containment" else np.minimum(useful, rows - useful)
        if alone.max() < k:
            return (
                f"no feature fits at k = {k}: the largest k that any single feature allows is "
                f"{int(alone.max())}"
            )
        if self.on_violation == "stop" or self.preset:
            return (
                f"the first feature does not fit at k = {k}, or adds nothing to the utility "
                f"{self.utility!r}, and on_violation='stop' ends there; use on_violation='skip' or "
                "drop_rare=True"
            )
        return (
            f"features fit at k = {k}, but none adds to the utility {self.utility!r}; use "
            "another one, such as 'distcnt'"
        )

    def _check_other_search(self) -> None:
        """Refuse what only greedy supports: most utilities, and limits on the features chosen."""
        known = ("hamdist", "distcnt", *(("cm", "size") if self.search == "maximal" else ()))
        if self.utility not in known:
            raise InputError(
                f"search={self.search!r} needs the utility {listed(known)}, got {self.utility!r}; "
                "use search='greedy' for others"
            )
        if self.privacy != "containment" and self.search != "exact":
            raise InputError(
                f"search={self.search!r} needs privacy='containment', got {self.privacy!r}; use "
                "search='greedy' or 'exact' for others"
            )
        if self.max_features is not None or self.min_gain:
            raise InputError(
                f"max_features and min_gain need search='greedy', got {self.search!r}; leave them "
                "out"
            )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags
