"""Privacy breach increase: how much better an attacker guesses a secret from some features."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, TamisWarning
from tamis.learn.bayes.model import ContributionCache, NaiveBayes
from tamis.learn.columns import Task
from tamis.learn.cv import Folds, Interval, fold_interval
from tamis.learn.holdout import held_rows
from tamis.learn.models import classifier
from tamis.risk.cut import CutRule, SensitiveCut, cut_sensitive
from tamis.risk.grouping import as_table
from tamis.table import Table, bare, only

if TYPE_CHECKING:
    from tamis.learn.subset_scores import FoldScores, SubsetScores

Attackers = str | Any | Sequence[Any] | Mapping[str, Any] | None
Shares = NDArray[np.float64]

_NOTHING_GUESSED = (
    "no attacker guesses a single sensitive value from all features, so there is "
    "nothing to compare with; try other attackers, or fewer classes"
)
_NO_RATIO = (
    "the attackers score 0 or less with all features, so there is nothing to compare with; the "
    "breach increase is a ratio and takes scorings above 0 of which more is better, such as "
    "accuracy or roc_auc"
)
_STEPS = 10**9
"""Scores other than counts are compared as multiples of 1e-9, so that rounding breaks no tie."""
TRIED = ("c45", "nb", "boosting", "neighbours")
"""The default attackers."""
MOST_GUESSED = 50_000
"""Rows to use at most: the number sampled from a table behind an engine."""


@dataclass(frozen=True, eq=False)
class Guess:
    """The score of the best attacker who guesses the sensitive column from some features."""

    features: tuple[str, ...]
    attacker: str
    shares: Shares
    """The score in each fold: by default the share of rows guessed correctly."""
    strength: int
    """The key that ranks guesses: a whole number, so that ties are exact."""

    @property
    def accuracy(self) -> float:
        return float(self.shares.mean())


class Attack:
    """Attackers who guess one column from any set of features, all on the same folds.

    For every set of features the classifier that guesses best counts.

    Parameters
    ----------
    scores : mapping of str to SubsetScores
        By name; all with the same features, folds and scoring.
    """

    def __init__(self, scores: Mapping[str, SubsetScores]) -> None:
        self._scores = dict(scores)
        first = next(iter(self._scores.values()))
        self.features, self.folds = first.features, first.folds
        self.by_count = first.by_count
        self.all = self.strongest(self.features)
        if self.all.accuracy <= 0:
            raise InputError(_NOTHING_GUESSED if self.by_count else _NO_RATIO)
        # Without features: guessing the most common value of the training rows, on the same folds.
        self.floor = first.of([]).mean / self.all.accuracy - 1

    def strongest(self, features: Iterable[str]) -> Guess:
        """The best guess from some features; the first attacker among equals."""
        named = tuple(features)
        guesses = [self._guess(who, s.of(named)) for who, s in self._scores.items()]
        return max(guesses, key=lambda guess: guess.strength)

    def without_each(self) -> dict[str, Guess]:
        """The best guess without each feature in turn."""
        drops = {who: s.drop_ones() for who, s in self._scores.items()}
        return {
            feature: max(
                (self._guess(who, found[feature]) for who, found in drops.items()),
                key=lambda guess: guess.strength,
            )
            for feature in self.features
        }

    def pbi(self, guess: Guess) -> float:
        """Privacy breach increase of a guess (Definition 1)."""
        return guess.accuracy / self.all.accuracy - 1

    def interval(self, guess: Guess) -> Interval:
        """Confidence interval of the PBI, by the delta method over the folds."""
        ratio = guess.accuracy / self.all.accuracy
        # The ratio linearised around both means: each fold's residual, which sum to 0.
        residuals = (guess.shares - ratio * self.all.shares) / self.all.accuracy
        return fold_interval(ratio - 1 + residuals, self.folds)

    def all_subsets(self) -> tuple[Shares, NDArray[np.int64]]:
        """The best score of every subset in each fold, and the number of the attacker who has it.

        Row `mask` of both is as in `SubsetScores.all_subsets`.
        """
        shares, strengths = [], []
        for scores in self._scores.values():
            counts = scores.all_subsets()
            shares.append(scores.all_scores(counts))
            means = shares[-1].mean(axis=1)
            strengths.append(
                counts.sum(axis=1) if self.by_count else np.rint(means * _STEPS).astype(int)
            )
        # As in `strongest`: of equally strong attackers the first one.
        who = np.stack(strengths).argmax(axis=0)
        return np.stack(shares)[who, np.arange(len(who))], who

    def each(self, features: Iterable[str]) -> dict[str, float]:
        """The breach increase of each attacker relative to its own score with all features."""
        named = tuple(features)
        return {
            who: s.of(named).mean / s.of(self.features).mean - 1 for who, s in self._scores.items()
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._scores)

    def _guess(self, who: str, found: FoldScores) -> Guess:
        strength = found.pooled if self.by_count else round(found.mean * _STEPS)
        return Guess(found.features, who, np.asarray(found.scores), strength)


def named_attackers(attackers: Attackers) -> dict[str, Any]:
    """Attackers by name, from names, classifiers or a mapping.

    >>> named_attackers("nb")
    {'nb': AdditiveNaiveBayes()}
    """
    if isinstance(attackers, str):
        attackers = [name.strip() for name in attackers.split(",")]
    if isinstance(attackers, Mapping):
        by_name = dict(attackers)
    else:
        several = attackers if isinstance(attackers, list | tuple) else [attackers]
        by_name = {}
        for one in several:
            name = one if isinstance(one, str) else type(one).__name__
            by_name[name] = classifier(one) if isinstance(one, str) else one
    if not by_name:
        raise InputError("name at least one attacker, such as c45 or nb")
    return by_name


@dataclass(frozen=True)
class BreachIncrease:
    """What an attacker gains from some features, relative to all of them.

    Attributes
    ----------
    features : tuple of str
    pbi : float
        Privacy breach increase: the attacker's accuracy (or `scoring`) from these features, divided
        by that from all, minus one. Below 0 is safer than releasing everything.
    interval : tuple of float
        95 % interval of `pbi` over the folds.
    accuracy, baseline : float
        The strongest attacker's accuracy from these features, and from all.
    attacker : str
        The strongest attacker on these features.
    floor : float
        The `pbi` of an attacker who knows only the distribution and guesses the most common value.
    by_attacker : dict of str to float
        Each attacker's accuracy from these features divided by its accuracy from all, minus one.
    cut : SensitiveCut or None
        How a numeric sensitive column was cut into classes.
    """

    features: tuple[str, ...]
    pbi: float
    interval: Interval
    accuracy: float
    baseline: float
    attacker: str
    floor: float
    by_attacker: dict[str, float]
    cut: SensitiveCut | None = None


def breach_increase(
    table: Any,
    features: Iterable[str],
    *,
    sensitive: str | None = None,
    target: str | None = None,
    attackers: Attackers = TRIED,
    cv: Any = 10,
    scoring: Any = "accuracy",
    cut: CutRule = "auto",
    n_jobs: int | None = None,
    random_state: int = 0,
) -> BreachIncrease:
    """How much releasing some features helps to guess the sensitive column.

    Parameters
    ----------
    table : Table or frame of polars, pandas or pyarrow
    features : iterable of str
        The columns to release.
    sensitive : str, optional
        The column to guess; by default the sensitive column of a `Table`, which is its target if
        none was named.
    target : str, optional
        The column that recipients predict, which is no feature; by default the target of a `Table`.
        For a frame without it, the target counts as a feature that is always released.
    attackers : names, classifiers, or mapping of names to classifiers
        Each is tried and the strongest is reported. Names are those of `tamis.learn.models`;
        by default C4.5, naive Bayes, gradient boosting and nearest neighbours.
    cv : int, Folds, array of fold numbers, or scikit-learn splitter, default 10
        Folds are stratified by the sensitive column; all rows of a person in a `Table` are in one.
    scoring : str or scorer, default "accuracy"
        The score of a guess, as in scikit-learn; it must be above 0, and higher is better.
    cut : {"auto", "mdl", "quantiles", "none"} or sequence of float
        How a numeric sensitive column is cut into classes; see `cut_sensitive`.
    n_jobs : int, optional
        The number of processes, as in joblib.
    random_state : int, default 0
        Draws the folds and seeds the attackers.

    Returns
    -------
    BreachIncrease

    Notes
    -----
    Jafer, Matwin and Sokolova (2017), Definitions 1 and 2. All features of the table are the
    baseline (BLP), except the target and the sensitive column.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [20, 25, 30, 35, 50, 55, 60, 65] * 3, "coin": [0, 1] * 12,
    ...                       "ill": (["no"] * 4 + ["yes"] * 4) * 3})
    >>> found = breach_increase(frame, ["coin"], sensitive="ill", attackers="nb", cv=3)
    >>> round(found.accuracy, 3), found.baseline, round(found.pbi, 3)
    (0.333, 1.0, -0.667)
    """
    from tamis.learn.subset_scores import SubsetScores

    table = as_table(table)
    if target is not None:
        table = Table(table.frame, replace(table.roles, target=target))
    task, made = _guessing(table, sensitive, cut)
    who = named_attackers(attackers)
    folds = Folds.of(cv, task.y, random_state, table.people.groups)
    attack = Attack(
        {
            name: SubsetScores(
                task, one, cv=folds, scoring=scoring, n_jobs=n_jobs, random_state=random_state
            )
            for name, one in who.items()
        }
    )
    warn_of_floor(attack.floor)
    guess = attack.strongest(features)
    return BreachIncrease(
        guess.features,
        attack.pbi(guess),
        attack.interval(guess),
        guess.accuracy,
        attack.all.accuracy,
        guess.attacker,
        attack.floor,
        attack.each(guess.features),
        made if made.points else None,
    )


class BayesGuess(NamedTuple):
    """Accuracy of naive Bayes, that of always guessing the commonest value, and the rows used."""

    accuracy: float
    majority: float
    rows: int


def bayes_accuracy(table: Table, folds: int = 5, most: int = MOST_GUESSED) -> BayesGuess:
    """Cross-validated accuracy of naive Bayes on the sensitive column, and of the majority guess.

    These are `accuracy` and the floor of `breach_increase` with all features and naive Bayes alone,
    without loading scikit-learn. Tables of more than `most` rows are sampled, by whole people: a
    model of so few parameters would hardly be better with all of them.

    Examples
    --------
    >>> from tamis import Roles
    >>> frame = pl.DataFrame({"age": [20, 25, 30, 35, 50, 55, 60, 65] * 3,
    ...                       "ill": (["no"] * 4 + ["yes"] * 4) * 3})
    >>> bayes_accuracy(Table(frame, Roles(target="ill")), folds=3)
    BayesGuess(accuracy=1.0, majority=0.5, rows=24)
    """
    task, _ = _guessing(table)
    columns, y, groups = task.features.columns, task.y, table.people.groups
    if most < table.rows:
        rows = held_rows(y, most / table.rows, 0, groups)
        columns, y = [column.take(rows) for column in columns], y[rows]
        groups = None if groups is None else groups[rows]
    drawn = Folds.of(folds, y, 0, groups)
    cache = ContributionCache(NaiveBayes(), columns, y, drawn)
    correct = cache.correct([range(len(columns)), []])
    if not correct[0].any():
        raise InputError(_NOTHING_GUESSED)
    accuracy, majority = (correct / drawn.sizes).mean(axis=1).tolist()
    return BayesGuess(accuracy, majority, len(y))


def _guessing(
    table: Table, sensitive: str | None = None, cut: CutRule = "auto"
) -> tuple[Task, SensitiveCut]:
    """The attacker's task: the features, and the sensitive column as classes to predict."""
    frame, target = table.frame, table.roles.target
    sensitive = sensitive or table.sensitive
    if sensitive is None:
        raise InputError("name the column an attacker guesses with sensitive=...")
    if sensitive not in frame.columns:
        raise InputError(f"no column {sensitive!r} in the table")
    # A target is a label already; only another sensitive column may need cutting.
    rule = "none" if sensitive == target else cut
    made = cut_sensitive(frame[sensitive], _labels(frame, target), rule)
    names = [n for n in table.features if n not in (sensitive, target)]
    coded = only(frame, names).with_columns(pl.Series(sensitive, made.codes(frame[sensitive])))
    return Task.of(coded, sensitive), made


def warn_of_floor(floor: float) -> None:
    """Warn if the attackers are worse than one who knows only the distribution."""
    if floor > 0:
        warnings.warn(
            "always guessing the most common sensitive value is right more often than the "
            f"attackers are with all features (PBI {floor:+.4f}): a threshold on PBI is "
            "meaningless here",
            TamisWarning,
            stacklevel=3,
        )


def _labels(frame: pl.DataFrame, target: str | None) -> NDArray[Any]:
    """The labels the cut is based on; constant if there is no target."""
    if target is None:
        return np.zeros(frame.height, dtype=np.int64)
    return bare(frame[target]).cast(pl.String).fill_null("").to_numpy()
