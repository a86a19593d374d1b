"""Sets of features that may be released: what is known about each, and where it comes from.

A `Candidate` is the record of a set; `Trials` computes performance and breach of any set, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.errors import plural
from tamis.learn.cv import Folds, Interval, fold_interval, fold_p_value, fold_p_values
from tamis.learn.subset_scores import FoldScores, SubsetScores
from tamis.notebook import in_short
from tamis.rank.factors import levels
from tamis.risk.breach import Attack, Guess

Region = Literal["I", "II", "III", "IV"]


@dataclass(frozen=True)
class Candidate:
    """A set of features with its performance, its breach and its place among the others.

    Attributes
    ----------
    features : tuple of str
        In the order of the table.
    performance : float
        Mean score of predicting the target over the folds, with its 95 % interval.
    p_value : float
        For the test that its performance equals that of the baseline.
    pbi : float
        Privacy breach increase, with its 95 % interval; below 0 is safer than releasing all.
    attacker : str
        The strongest attacker.
    region : {"I", "II", "III", "IV"} or None
        Where it lies relative to the baseline, which itself has no region; see `region`.
    origin : tuple of str
        The list or search that found it.
    allowed : bool
        Whether `pbi` is within the threshold.
    ranks : mapping of str to int
        Ranks in performance, privacy and size among all candidates; 1 is the worst.
    score : float
        The weighted sum of the ranks.
    """

    features: tuple[str, ...]
    performance: float
    performance_interval: Interval
    p_value: float
    pbi: float
    pbi_interval: Interval
    attacker: str
    region: Region | None
    origin: tuple[str, ...]
    allowed: bool = True
    ranks: Mapping[str, int] = field(default_factory=dict)
    score: float = float("nan")

    def __repr__(self) -> str:
        figures = f"performance {self.performance:.4g}, breach increase {self.pbi:+.4g}"
        return in_short(self, plural(self.size, "feature"), figures)

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.features)

    def to_dict(self) -> dict[str, Any]:
        """A plain record with the stable field names of the command line."""
        return {
            "features": list(self.features),
            "size": self.size,
            "performance": self.performance,
            "performance_interval": list(self.performance_interval),
            "p_value": self.p_value,
            "pbi": self.pbi,
            "pbi_interval": list(self.pbi_interval),
            "attacker": self.attacker,
            "region": self.region,
            "origin": list(self.origin),
            "allowed": self.allowed,
            "ranks": dict(self.ranks),
            "score": self.score,
        }


def region(gain: float, pbi: float) -> Region:
    """Where a set of features lies relative to the baseline (Figure 2).

    I: worse and more exposed. II: better, more exposed. III: worse, safer. IV: at least as good
    and no more exposed.

    Parameters
    ----------
    gain : float
        Its performance minus that of the baseline.
    pbi : float

    Examples
    --------
    >>> region(0.0, 0.0), region(-0.01, -0.02), region(0.01, 0.02), region(-0.01, 0.02)
    ('IV', 'III', 'II', 'I')
    """
    if pbi > ROUNDING:
        return "II" if gain >= -ROUNDING else "I"
    return "IV" if gain >= -ROUNDING else "III"


ROUNDING = 1e-12
"""Means over folds that differ by no more than this are equal."""


BASELINE = "baseline"


@dataclass(frozen=True, eq=False)
class Trials:
    """A target to predict and a column to hide, on the same features and folds.

    Parameters
    ----------
    scores : SubsetScores
        For the target.
    attack : Attack
        For the sensitive column.
    level : float
        The p-value below which a difference in performance is significant.
    limit : float or None
        The largest breach that the search may keep.
    by_count : bool
        Whether performance is accuracy, so that whole numbers decide ties.
    same : bool
        Whether the target is also the sensitive column, guessed by the same classifier.
    progress : callable
        Called with a short progress message now and then.
    """

    scores: SubsetScores
    attack: Attack
    level: float = 0.05
    limit: float | None = None
    by_count: bool = True
    same: bool = False
    progress: Callable[[str], object] = str

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
        if np.mean(fold_scores) >= self.all.mean - ROUNDING:
            return True
        return self.p_value(fold_scores) >= self.level

    def all_worthy(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """`worthy` of many sets of features, one a row."""
        found = np.asarray(scores.mean(axis=1) >= self.all.mean - ROUNDING)
        found[~found] = fold_p_values(scores[~found], self.all.scores, self.folds) >= self.level
        return found

    def safe(self, pbi: float) -> bool:
        """Within the limit of the search."""
        return self.limit is None or pbi <= self.limit + ROUNDING

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
        if self.by_count:
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
        left = np.array([without[name].pooled for name in self.features])
        return self._ordered(-left)

    def _ordered(self, key: NDArray[np.int64]) -> tuple[str, ...]:
        return tuple(self.features[i] for i in np.argsort(key, kind="stable"))
