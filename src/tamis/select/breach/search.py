"""Searches for sets of features that predict the target but do not reveal the sensitive column.

::

    walk         the paper's: along both rankings, removing one feature after another
    exhaustive   all subsets; the exact Pareto front
    forward      from no feature, adding the one with the best E(S)
    backward     from all features, removing the one with the best E(S)
    best-first   a wrapper by performance alone, from no feature and from all

All of them work on `Trials`, which score the performance and the breach of any set once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
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
from tamis.rank.evaluation import Direction, front, goodness, levels, ordered, ranked, weighted
from tamis.risk.breach import Attack, Guess
from tamis.risk.cut import CutRule, SensitiveCut, cut_sensitive
from tamis.select.breach.candidate import BASELINE, EQUAL_MEANS, Candidate, region
from tamis.table import bare

Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CodedInput:
    """The input of a selector: features, and codes of the target and of the sensitive column."""

    features: Features
    """Coded once, for the target and for the sensitive column."""
    y: NDArray[np.int64]
    """The target, coded in the order of `classes`."""
    classes: Labels
    hidden: NDArray[np.int64] | None
    """The sensitive column in classes; `None` where it is the target."""
    cut: SensitiveCut | None
    """How the sensitive column was cut into classes."""


def open_table(selector: Any, X: Any, y: Any, sensitive: Any, rule: CutRule) -> CodedInput:
    """Check and encode the input of a selector."""
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
    """The sensitive column, given in any form, as a polars series with NaN as missing."""
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
    """Whether the sensitive column equals the target, value by value."""
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
    """Scores of feature sets: predicting the target, and guessing the sensitive column."""

    scores: SubsetScores
    """For the target."""
    attack: Attack
    """For the sensitive column."""
    level: float = 0.05
    """The p-value below which a difference in performance is significant."""
    limit: float | None = None
    """The largest breach increase that the search may keep; `None`: no limit."""
    same: bool = False
    """Whether the target is also the sensitive column, guessed by the same classifier."""
    progress: Callable[[str], object] = str
    """Called with a short message as the search proceeds."""

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
        """p-value of the paired test of fold scores against those of the baseline."""
        return fold_p_value(fold_scores, self.all.scores, self.folds)

    def worthy(self, fold_scores: Sequence[float] | NDArray[np.float64]) -> bool:
        """Whether fold scores are not significantly below the baseline (equation 2)."""
        if np.mean(fold_scores) >= self.all.mean - EQUAL_MEANS:
            return True
        return self.p_value(fold_scores) >= self.level

    def all_worthy(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """`worthy` for many sets of features, one in each row."""
        met = np.asarray(scores.mean(axis=1) >= self.all.mean - EQUAL_MEANS)
        met[~met] = fold_p_values(scores[~met], self.all.scores, self.folds) >= self.level
        return met

    def safe(self, pbi: float) -> bool:
        """Whether a breach increase is within the limit of the search."""
        return self.limit is None or pbi <= self.limit + EQUAL_MEANS

    def keeps(self, features: Iterable[str]) -> bool:
        """Whether a set of features meets both constraints."""
        named = tuple(features)
        # Performance first: attackers are trained only where it suffices and there is a limit.
        if not self.worthy(self.scores.of(named).scores):
            return False
        return self.limit is None or self.safe(self.attack.pbi(self.attack.strongest(named)))

    def candidate(self, features: Iterable[str], origin: Iterable[str]) -> Candidate:
        """Score a set of features and make its record."""
        scored = self.scores.of(features)
        return self.record(scored, self.attack.strongest(scored.features), origin)

    def record(self, scored: FoldScores, guess: Guess, origin: Iterable[str]) -> Candidate:
        """Make the record of a set of features that was scored already."""
        pbi = self.attack.pbi(guess)
        whole = len(scored.features) == len(self.features)
        return Candidate(
            features=scored.features,
            performance=scored.mean,
            performance_interval=fold_interval(scored.scores, self.folds),
            p_value=self.p_value(scored.scores),
            pbi=pbi,
            pbi_interval=self.attack.interval(guess),
            attacker=guess.attacker,
            region=None if whole else region(scored.mean - self.all.mean, pbi),
            origin=tuple(origin),
        )

    @cached_property
    def performance_ranking(self) -> tuple[str, ...]:
        """Features by the loss of performance without them, largest first (PerfR)."""
        self.progress(f"ranking {plural(len(self.features), 'feature')} by performance")
        without = self.scores.drop_ones()
        if self.scores.by_count:  # whole numbers decide ties
            left = np.array([without[name].pooled for name in self.features])
        else:
            left = levels([without[name].mean for name in self.features])
        return self._ordered(left)

    @cached_property
    def privacy_ranking(self) -> tuple[str, ...]:
        """Features by the loss of the attacker without them, smallest first (PrivR).

        If the target is the sensitive column, it is the performance ranking reversed, with its
        ties.
        """
        if self.same:
            return self.performance_ranking[::-1]
        self.progress(f"ranking {plural(len(self.features), 'feature')} by privacy")
        without = self.attack.without_each()
        left = np.array([without[name].strength for name in self.features])
        return self._ordered(-left)

    def _ordered(self, key: NDArray[np.int64]) -> tuple[str, ...]:
        return tuple(self.features[i] for i in np.argsort(key, kind="stable"))


Subset = tuple[str, ...]
FACTORS: dict[str, Direction] = {"performance": "max", "privacy": "min", "size": "min"}


def walk(trials: Trials) -> list[Candidate]:
    """Remove features along each ranking, from last to first, while the constraints are met.

    A removal is kept if performance is not significantly below the baseline and, if there is a
    limit, the breach is within it; else the feature is put back and the next one tried. At least
    one feature stays.

    Notes
    -----
    Jafer, Matwin and Sokolova (2017), Figure 5.
    """
    origins: dict[Subset, list[str]] = {}
    rankings = {
        "performance ranking": trials.performance_ranking,
        "privacy ranking": trials.privacy_ranking,
    }
    for origin, ranking in rankings.items():
        kept = ranking
        for tried, feature in enumerate(reversed(ranking)):
            trials.progress(f"{origin}: {tried} of {len(ranking)} removals tried")
            left = tuple(name for name in kept if name != feature)
            if left and trials.keeps(left):
                kept = left
                origins.setdefault(_in_order(trials, left), []).append(origin)
    return _with_baseline(trials, origins)


def exhaustive(trials: Trials) -> list[Candidate]:
    """Score all subsets; the candidates are the Pareto front of those that meet the constraints.

    The front is by performance, breach increase and size.
    """
    trials.progress(f"scoring all {2 ** len(trials.features) - 1:,} subsets")
    subsets = _Masks(trials)
    # A subset is the bits of its number; 0, the empty one, is no candidate.
    masks = 1 + np.flatnonzero(trials.all_worthy(subsets.scores[1:]))
    pbi = subsets.guessed[masks].mean(axis=1) / trials.attack.all.accuracy - 1
    within = np.array([trials.safe(p) for p in pbi], dtype=bool)
    masks, pbi = masks[within], pbi[within]
    sizes = np.bitwise_count(masks).astype(float)
    values = {"performance": subsets.scores[masks].mean(axis=1), "privacy": pbi, "size": sizes}
    good = np.column_stack([goodness(values[name], way) for name, way in FACTORS.items()])
    chosen = masks[front(good)] if len(masks) else masks
    records = [subsets.candidate(int(mask)) for mask in chosen]
    return [_baseline(trials), *(c for c in records if c.size < len(trials.features))]


def backward(trials: Trials, weights: Mapping[str, float]) -> list[Candidate]:
    """Remove the feature whose removal has the best E(S), while the weighted vote favours it.

    Removals that break a constraint are not considered.
    """
    state = trials.features
    origins: dict[Subset, list[str]] = {}
    while len(state) > 1:
        trials.progress(f"backward: {plural(len(state), 'feature')} left")
        trials.scores.drop_ones(state)  # scores all removals at once, which is cheaper
        removals = [tuple(n for n in state if n != gone) for gone in state]
        moves = [left for left in removals if trials.keeps(left)]
        best = _best_move(trials, state, moves, weights)
        if best is None:
            break
        state = best
        origins[state] = ["backward"]
    return _with_baseline(trials, origins)


def forward(trials: Trials, weights: Mapping[str, float]) -> list[Candidate]:
    """Add the feature whose addition has the best E(S), while the weighted vote favours it.

    Sets that do not meet the constraints are not candidates. Until they are met, the feature that
    raises performance most is added, and E(S) only breaks ties.
    """
    state: Subset = ()
    origins: dict[Subset, list[str]] = {}
    while len(state) < len(trials.features):
        trials.progress(f"forward: {plural(len(state), 'feature')} chosen")
        trials.scores.add_ones(state)  # scores all additions at once, which is cheaper
        others = [n for n in trials.features if n not in state]
        moves = [_in_order(trials, (*state, new)) for new in others]
        must = state not in origins
        if must:
            moves = _best_performing(trials, moves)
        best = _best_move(trials, state, moves, weights, must=must)
        if best is None:
            break
        state = best
        if trials.keeps(state):
            origins[state] = ["forward"]
    return _with_baseline(trials, origins)


def best_first(trials: Trials) -> list[Candidate]:
    """Expand the best set seen so far, again and again, until nothing better is found.

    A wrapper by performance alone. One run starts from no feature and adds, another starts from
    all and removes, one feature at a time; both return to earlier sets that perform better than the
    newest. A run ends after `STALE` sets in a row that lead to nothing better. Candidates are the
    sets that were the best at the time they were found.

    Notes
    -----
    Kohavi and John (1997). Jafer, Matwin and Sokolova (2017) compare with it.
    """
    origins: dict[Subset, list[str]] = {}
    for origin, start in (("best-first, adding", ()), ("best-first, removing", trials.features)):
        for subset in _records(trials, origin, start):
            if subset and trials.keeps(subset):
                origins.setdefault(subset, []).append(origin)
    return _with_baseline(trials, origins)


STALE = 5
"""Number of sets in a row without improvement after which best-first ends, as in Weka."""


def _records(trials: Trials, origin: str, start: Subset) -> list[Subset]:
    """The sets that performed best when they were found, in that order."""
    open_sets = [(-trials.scores.of(start).mean, 0, start)]
    seen, records, best, stale = {start}, [start], -open_sets[0][0], 0
    while open_sets and stale < STALE:
        trials.progress(f"{origin}: {plural(len(seen), 'set')} seen")
        _, _, state = heappop(open_sets)
        stale += 1
        for near, performance in _neighbours(trials, state, adding=not start):
            if near in seen:
                continue
            # Among equals the set seen first is expanded first.
            heappush(open_sets, (-performance, len(seen), near))
            seen.add(near)
            if performance > best + EQUAL_MEANS:
                best, stale = performance, 0
                records.append(near)
    return records


def _neighbours(trials: Trials, state: Subset, adding: bool) -> list[tuple[Subset, float]]:
    """Sets with one feature more or one less, with their performance; never the empty set."""
    if not adding and len(state) < 2:
        return []
    scored = trials.scores.add_ones(state) if adding else trials.scores.drop_ones(state)
    return [(_in_order(trials, s.features), s.mean) for s in scored.values()]


def _best_performing(trials: Trials, moves: list[Subset]) -> list[Subset]:
    """The moves with the highest performance, all of them if several tie."""
    performance = levels([scored.mean for scored in trials.scores.many(moves)])
    return [move for move, level in zip(moves, performance) if level == performance.max()]


def _best_move(
    trials: Trials,
    state: Subset,
    moves: list[Subset],
    weights: Mapping[str, float],
    must: bool = False,
) -> Subset | None:
    """The move with the largest E(S), or `None` if the vote prefers the current state.

    With `must`, there is no vote.
    """
    if not moves:
        return None
    # The current state is ranked among the moves, so that ranks are those of all alternatives.
    columns = _factors(trials, [*moves, state] if state else moves)
    ranks = {name: ranked(columns[name], way) for name, way in FACTORS.items()}
    total = weighted(ranks, weights)[: len(moves)]
    best = ordered(total, columns["size"][: len(moves)])[0]
    if must or _vote(columns, best, len(moves), weights) > 0:
        return moves[best]
    return None


def _vote(
    columns: Mapping[str, NDArray[np.float64]], one: int, other: int, weights: Mapping[str, float]
) -> float:
    """Total weight of the factors in which one is better, minus that in which it is worse.

    This is the difference of E(S) when the two are ranked against each other alone. Unlike E(S)
    among all moves, it does not change with sets that nobody chose.
    """
    total = 0.0
    for name, way in FACTORS.items():
        pair = goodness(columns[name][[one, other]], way)
        total += weights[name] * float(np.sign(pair[0] - pair[1]))
    return round(total, 12)  # weights such as .5, .25 and .25 cancel to 0 exactly


def _factors(trials: Trials, subsets: list[Subset]) -> dict[str, NDArray[np.float64]]:
    performance = [scored.mean for scored in trials.scores.many(subsets)]
    breach = [trials.attack.pbi(trials.attack.strongest(subset)) for subset in subsets]
    sizes = [float(len(subset)) for subset in subsets]
    return dict(zip(FACTORS, (np.array(performance), np.array(breach), np.array(sizes))))


class _Masks:
    """Every subset as the bits of a number, with its fold scores and those of the attacker."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        counts = trials.scores.all_subsets()
        self.scores = trials.scores.all_scores(counts)
        self._counts = counts
        if trials.same:
            self.guessed, self._who = self.scores, np.zeros(len(counts), dtype=np.int64)
        else:
            self.guessed, self._who = trials.attack.all_subsets()

    def names(self, mask: int) -> Subset:
        return tuple(n for bit, n in enumerate(self._trials.features) if mask >> bit & 1)

    def candidate(self, mask: int) -> Candidate:
        names = self.names(mask)
        found = FoldScores(
            names, tuple(self.scores[mask].tolist()), tuple(self._counts[mask].tolist())
        )
        who = self._trials.attack.names[int(self._who[mask])]
        guess = Guess(names, who, self.guessed[mask], 0)  # its strength only picked the attacker
        return self._trials.record(found, guess, ["exhaustive"])


def _with_baseline(trials: Trials, origins: Mapping[Subset, Iterable[str]]) -> list[Candidate]:
    records = [
        trials.candidate(subset, dict.fromkeys(origin))
        for subset, origin in origins.items()
        if len(subset) < len(trials.features)
    ]
    return [_baseline(trials), *records]


def _baseline(trials: Trials) -> Candidate:
    return trials.candidate(trials.features, [BASELINE])


def _in_order(trials: Trials, subset: Iterable[str]) -> Subset:
    named = set(subset)
    return tuple(name for name in trials.features if name in named)
