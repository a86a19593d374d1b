"""What the breach search works on: the coded input; performance and breach of any set, once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from tamis.errors import InputError, TamisWarning, listed_as, plural
from tamis.learn.columns import Coding, Features, estimator_frame
from tamis.learn.cv import Folds, fold_interval, fold_p_value, fold_p_values
from tamis.learn.subset_scores import FoldScores, SubsetScores
from tamis.rank.evaluation import levels
from tamis.risk.breach import Attack, Guess
from tamis.risk.cut import CutRule, SensitiveCut, cut_sensitive
from tamis.select.breach.candidate import EQUAL_MEANS, Candidate, region
from tamis.table import bare

Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CodedInput:
    """What is given to a selector: features, and codes of the target and of what is hidden."""

    features: Features
    """Coded once, for the target and for the sensitive column."""
    y: NDArray[np.int64]
    """The target, coded in the order of `classes`."""
    classes: Labels
    hidden: NDArray[np.int64] | None
    """The sensitive column in classes; `None` where it is the target."""
    cut: SensitiveCut | None
    """How the sensitive column was made into classes."""


def open_table(selector: Any, X: Any, y: Any, sensitive: Any, rule: CutRule) -> CodedInput:
    """Check the input of a selector and code it."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None")
    frame = _features(selector, X)
    labels = column_or_1d(y, warn=True)
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise InputError(f"the target must consist of classes: {error}") from None
    check_consistent_length(frame, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"cross-validation needs at least two classes of the target, got {len(classes)} class"
        )
    hidden, cut = None, None
    if sensitive is not None:
        column = sensitive_series(sensitive)
        check_consistent_length(frame, column)
        _warn_of_copies(frame, column)
        if not _same(column, labels):
            cut = cut_sensitive(column, codes, rule)
            hidden = cut.codes(column)
            if len(np.unique(hidden)) < 2:
                raise InputError("the sensitive column has one class; there is nothing to guess")
    return CodedInput(Features.of(frame), codes.astype(np.int64), classes, hidden, cut)


def sensitive_series(sensitive: Any) -> pl.Series:
    """The sensitive column in any form, as polars; NaN is missing."""
    if isinstance(sensitive, pl.Series):
        column = sensitive
    elif nw.dependencies.is_into_series(sensitive):
        column = nw.from_native(sensitive, series_only=True).to_polars()
    else:
        values = np.asarray(sensitive)
        if values.ndim != 1:
            raise InputError(f"sensitive must have one value per row, got shape {values.shape}")
        column = pl.Series("sensitive", values.tolist(), strict=False)
    column = bare(column)
    return column.fill_nan(None) if column.dtype.is_float() else column


def _same(column: pl.Series, labels: Labels) -> bool:
    """Whether the sensitive column is the target, value by value."""
    return bool(column.to_list() == np.asarray(labels).tolist())


def _warn_of_copies(frame: pl.DataFrame, sensitive: pl.Series) -> None:
    """Warn if the sensitive column is itself among the features."""
    hidden = sensitive.cast(pl.String)
    copies = [c.name for c in frame if c.cast(pl.String).equals(hidden, null_equal=True)]
    if copies:
        warnings.warn(
            f"{listed_as('feature', copies, 'is', 'are')} identical to the sensitive column: "
            "anyone who sees such a feature need not guess; leave it out",
            TamisWarning,
            stacklevel=4,
        )


def _features(selector: Any, X: Any) -> pl.DataFrame:
    nominal = getattr(selector.estimator, "nominal", None)
    frame, declared = estimator_frame(selector, X, reset=True, nominal=nominal, min_rows=2)
    return Coding.of(frame, declared=declared).declare(frame)


@dataclass(frozen=True, eq=False)
class Trials:
    """A target to predict and a column to hide, on the same features and folds."""

    scores: SubsetScores
    """For the target."""
    attack: Attack
    """For the sensitive column."""
    level: float = 0.05
    """The p-value below which a difference in performance is significant."""
    limit: float | None = None
    """The largest breach that the search may keep."""
    same: bool = False
    """Whether the target is also the sensitive column, guessed by the same classifier."""
    progress: Callable[[str], object] = str
    """Called with a short progress message now and then."""

    @property
    def features(self) -> tuple[str, ...]:
        return self.scores.features

    @property
    def folds(self) -> Folds:
        return self.scores.folds

    @cached_property
    def all(self) -> FoldScores:
        """The performance of all features: the baseline."""
        return self.scores.of(self.features)

    def p_value(self, fold_scores: Sequence[float] | NDArray[np.float64]) -> float:
        """The p-value of the test that some fold scores equal those of the baseline."""
        return fold_p_value(fold_scores, self.all.scores, self.folds)

    def worthy(self, fold_scores: Sequence[float] | NDArray[np.float64]) -> bool:
        """No worse than the baseline, or not significantly so (equation 2)."""
        if np.mean(fold_scores) >= self.all.mean - EQUAL_MEANS:
            return True
        return self.p_value(fold_scores) >= self.level

    def all_worthy(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """`worthy` of many sets of features, one a row."""
        found = np.asarray(scores.mean(axis=1) >= self.all.mean - EQUAL_MEANS)
        found[~found] = fold_p_values(scores[~found], self.all.scores, self.folds) >= self.level
        return found

    def safe(self, pbi: float) -> bool:
        """Within the limit of the search."""
        return self.limit is None or pbi <= self.limit + EQUAL_MEANS

    def keeps(self, features: Iterable[str]) -> bool:
        """Whether a set of features meets both constraints; the breach only if needed."""
        named = tuple(features)
        if not self.worthy(self.scores.of(named).scores):
            return False
        return self.limit is None or self.safe(self.attack.pbi(self.attack.strongest(named)))

    def candidate(self, features: Iterable[str], origin: Iterable[str]) -> Candidate:
        """The record of a set of features."""
        found = self.scores.of(features)
        return self.record(found, self.attack.strongest(found.features), origin)

    def record(self, found: FoldScores, guess: Guess, origin: Iterable[str]) -> Candidate:
        """The record of a set of features whose scores are known."""
        pbi = self.attack.pbi(guess)
        whole = len(found.features) == len(self.features)
        return Candidate(
            features=found.features,
            performance=found.mean,
            performance_interval=fold_interval(found.scores, self.folds),
            p_value=self.p_value(found.scores),
            pbi=pbi,
            pbi_interval=self.attack.interval(guess),
            attacker=guess.attacker,
            region=None if whole else region(found.mean - self.all.mean, pbi),
            origin=tuple(origin),
        )

    @cached_property
    def performance_ranking(self) -> tuple[str, ...]:
        """Features by what performance loses without them, most first (PerfR)."""
        self.progress(f"ranking {plural(len(self.features), 'feature')} by performance")
        without = self.scores.drop_ones()
        if self.scores.by_count:  # whole numbers decide ties
            left = np.array([without[name].pooled for name in self.features])
        else:
            left = levels([without[name].mean for name in self.features])
        return self._ordered(left)

    @cached_property
    def privacy_ranking(self) -> tuple[str, ...]:
        """Features by what the attacker loses without them, least first (PrivR).

        If the target is the sensitive column, it is the reverse of the other list, including ties.
        """
        if self.same:
            return self.performance_ranking[::-1]
        self.progress(f"ranking {plural(len(self.features), 'feature')} by privacy")
        without = self.attack.without_each()
        left = np.array([without[name].strength for name in self.features])
        return self._ordered(-left)

    def _ordered(self, key: NDArray[np.int64]) -> tuple[str, ...]:
        return tuple(self.features[i] for i in np.argsort(key, kind="stable"))
