"""`BreachSelector`: select features that predict the target and hide the sensitive column."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from tamis.catalogue.methods import BREACH_SEARCHES
from tamis.charts import Picture
from tamis.errors import CannotMeet, InputError, TamisWarning
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.columns import Task
from tamis.learn.cv import Folds, fold_p_value
from tamis.learn.models import Encoding
from tamis.learn.subset_scores import SubsetScores
from tamis.learn.weka_folds import WEKA_SEED, WekaFolds
from tamis.rank.evaluation import WEIGHTS, Evaluation, Weights, evaluation, read_weights
from tamis.risk.breach import Attack, Attackers, named_attackers, warn_of_floor
from tamis.risk.cut import CutRule
from tamis.select.breach.candidate import BASELINE, EQUAL_MEANS, Candidate
from tamis.select.breach.search import (
    FACTORS,
    CodedInput,
    Trials,
    backward,
    best_first,
    exhaustive,
    forward,
    open_table,
    walk,
)

FOLDS, REPEATS = 10, 5
MOST_NAMED = 24
"""The most candidates that a picture names by their features; above this it shows their sizes."""
CHEAP = 1_000_000_000
"""The most additions for which `auto` scores every subset: a few seconds."""


class BreachSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select features that keep performance and make the sensitive column harder to guess.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The classifier that a recipient is expected to use.
    weights : mapping or text, optional
        Weights of `performance`, `privacy` and `size` in the choice, such as
        ``"performance=2,privacy=1"``; by default 0.5, 0.25 and 0.25.
    alpha : float, "distp" or None
        The largest privacy breach increase that may be chosen. `"distp"`: that of an attacker who
        knows only the distribution of the sensitive column.
    alpha_in_search : bool
        Whether the search respects `alpha` too; by default only the choice does.
    cv : int, Folds, array of fold numbers, or scikit-learn splitter, optional
        By default ten folds, stratified by the column that is predicted: by the target for
        performance, by the sensitive column for the breach. Differences are tested by the paired
        t-test, corrected if folds overlap.
    repeats : int, optional
        How often folds are drawn, if `cv` is a number or not given: five times by default,
        once if `cv` is a number.
    search : {"auto", "walk", "exhaustive", "forward", "backward", "best-first"}
        See `tamis.select.breach.search`. `"auto"`: exhaustive if naive Bayes makes that cheap,
        else walk.
    preset : {"paper"} or None
        `"paper"`: parameters that are not set are as in the paper: ten folds once, drawn as Weka
        draws them, walk, and equal weights.
    attackers : names, classifiers or mapping, optional
        Who guesses the sensitive column; the strongest counts. By default the estimator itself.
    scoring : str or scorer
        Score of the performance.
    attack_scoring : str or scorer
        Score of the attackers. The breach increase is the ratio of two of these scores, minus one,
        so they must be above 0, and larger must be better.
    level : float
        The p-value below which a difference is significant.
    cut : {"auto", "mdl", "quantiles", "none"} or sequence of float
        How a sensitive column of many numbers is cut into classes; see `tamis.risk.cut`.
    encode : {"auto", "onehot", "ordinal", "none"}
        How nominal columns are encoded for classifiers; see `SubsetScores`.
    n_jobs : int, optional
    random_state : int, optional
        Seeds the folds and the classifiers; by default 0, and with the preset 1, as in Weka.
    progress : bool or callable
        `True` shows a progress bar on a terminal while subsets are fitted. A callable is passed a
        short message as the search proceeds.

    Attributes
    ----------
    candidates_ : tuple of Candidate
        The baseline, then the others in the order in which they were found.
    baseline_, best_ : Candidate
        All features, and the chosen ones.
    order_ : tuple of Candidate
        From best to worst by score.
    performance_ranking_ : tuple of str
        Features by the loss of performance without them, largest first.
    privacy_ranking_ : tuple of str
        Features by the loss of the attacker without them, smallest first.
    floor_ : float
        The breach increase of an attacker who knows only the distribution (DistP).
    alpha_ : float or None
        `alpha` as a number.
    search_ : str
        The search that was used.
    cut_ : Cut or None
        How the sensitive column was cut.
    evaluation_ : Evaluation
        Ranks and scores of the candidates.
    folds_ : Folds
        The folds on which performance is measured.
    random_state_ : int
        The seed that was used.
    support_ : array of bool
    classes_ : array

    Notes
    -----
    Jafer, Matwin and Sokolova (2017), "A multi-dimensional privacy-aware evaluation function in
    automatic feature selection". The selector uses all rows it is given, so its scores of the
    chosen set are optimistic; `tamis.select.breach.summary.fit_held_out` evaluates the choice on
    held-out rows.

    Examples
    --------
    >>> import warnings
    >>> import polars as pl
    >>> X = pl.DataFrame({"age": list(range(40)), "coin": [0, 1] * 20, "dose": [1, 1, 2, 3] * 10})
    >>> ill = ["no"] * 20 + ["yes"] * 20
    >>> smokes = ["no", "no", "yes", "yes"] * 10
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     chosen = BreachSelector(AdditiveNaiveBayes(), cv=4).fit(X, ill, sensitive=smokes)
    >>> chosen.best_.features, round(chosen.best_.pbi, 2)
    (('age',), -0.65)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        weights: Weights = None,
        alpha: float | Literal["distp"] | None = None,
        alpha_in_search: bool = False,
        cv: Any = None,
        repeats: int | None = None,
        search: str = "auto",
        preset: Literal["paper"] | None = None,
        attackers: Attackers = None,
        scoring: Any = "accuracy",
        attack_scoring: Any = "accuracy",
        level: float = 0.05,
        cut: CutRule = "auto",
        encode: Encoding = "auto",
        n_jobs: int | None = None,
        random_state: int | None = None,
        progress: bool | Callable[[str], object] = False,
    ) -> None:
        self.estimator = estimator
        self.weights = weights
        self.alpha = alpha
        self.alpha_in_search = alpha_in_search
        self.cv = cv
        self.repeats = repeats
        self.search = search
        self.preset = preset
        self.attackers = attackers
        self.scoring = scoring
        self.attack_scoring = attack_scoring
        self.level = level
        self.cut = cut
        self.encode = encode
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any, sensitive: Any = None, groups: Any = None) -> Self:
        """Search for candidates, score them and choose the best.

        Parameters
        ----------
        X : frame of polars, pandas or pyarrow, or array of shape (rows, features)
        y : array of class labels
            The target.
        sensitive : array, optional
            What must stay hard to guess; by default the target. It is not a feature.
        groups : array, optional
            The person of each row, if people have several rows; no fold splits a person.
        """
        self.searched(X, y, sensitive, groups)
        return self

    def plot(
        self, sensitive: str = "the sensitive column", weightings: Sequence[Weights] = ()
    ) -> Picture:
        """Picture of all candidates by performance and breach increase, or by E(S).

        Parameters
        ----------
        sensitive : str
            The name of the sensitive column.
        weightings : sequence of weights, optional
            If given, the picture shows E(S) of every candidate instead, one line for each
            weighting, as Figures 9 to 16 of the paper do.
        """
        from tamis.select.breach.candidate import region_picture

        check_is_fitted(self)
        if weightings:
            return self.evaluation_.plot(self._names(), weightings)
        return region_picture(
            self.candidates_, self.best_, floor=self.floor_, alpha=self.alpha_, sensitive=sensitive
        )

    def _names(self) -> list[str]:
        """Names of the candidates: their features, most useful first, or their sizes if many."""
        if len(self.candidates_) > MOST_NAMED:
            return [str(c.size) for c in self.candidates_]
        return [
            BASELINE
            if c is self.baseline_
            else " ".join(n for n in self.performance_ranking_ if n in c.features)
            for c in self.candidates_
        ]

    def searched(self, X: Any, y: Any, sensitive: Any = None, groups: Any = None) -> Trials:
        """Fit, and return the `Trials`, by which further sets can be scored."""
        self._check_parameters()
        self.random_state_ = self._seed()
        coded = open_table(self, X, y, sensitive, self.cut)
        self.classes_, self.cut_ = coded.classes, coded.cut
        trials = self._trials(coded, groups)
        self.folds_, self.floor_ = trials.folds, trials.attack.floor
        self.alpha_ = self.floor_ if self.alpha == "distp" else self.alpha
        if self.alpha_in_search:
            trials = replace(trials, limit=self.alpha_)
        self.search_ = self._kind(trials, coded)
        candidates = self._searched(trials)
        self.performance_ranking_ = trials.performance_ranking
        self.privacy_ranking_ = trials.privacy_ranking
        self._choose(candidates)
        self.support_ = np.isin(trials.features, self.best_.features)
        warn(self, trials, coded)
        return trials

    def _trials(self, coded: CodedInput, groups: Any) -> Trials:
        settings: dict[str, Any] = {
            "encode": self.encode,
            "n_jobs": self.n_jobs,
            "random_state": self.random_state_,
            "progress": self.progress is True,
        }
        target = Task(coded.features, coded.y)
        folds = self._folds(coded.y, groups)
        scores = SubsetScores(target, self.estimator, scoring=self.scoring, cv=folds, **settings)
        # Where the target is the sensitive column and the estimator the attacker, both scores are
        # one: share it, so that each set is fitted once.
        same = (
            coded.hidden is None and self.attackers is None and self.attack_scoring == self.scoring
        )
        if same:
            attack = Attack({type(self.estimator).__name__: scores})
        else:
            hidden = target
            if coded.hidden is not None:
                # An attacker who guesses another column is tested on folds stratified by it, as in
                # `breach_increase`; stratified by the target, they may lack some of its values.
                hidden = Task(coded.features, coded.hidden)
                with warnings.catch_warnings():  # `warn` says so for the sensitive column
                    warnings.filterwarnings("ignore", message=".* classes have fewer")
                    folds = self._folds(coded.hidden, groups)
            attack = Attack(
                {
                    name: SubsetScores(
                        hidden, one, scoring=self.attack_scoring, cv=folds, **settings
                    )
                    for name, one in attackers_of(self).items()
                }
            )
        progress = self.progress if callable(self.progress) else str
        return Trials(scores, attack, level=self.level, same=same, progress=progress)

    def _folds(self, y: NDArray[Any], groups: Any) -> Folds:
        dealt = self.cv is None or isinstance(self.cv, int | np.integer)
        if not dealt:
            if self.repeats is not None:
                raise InputError(
                    "repeats needs cv to be a number of folds, but these folds are predefined"
                )
            return Folds.of(self.cv, y, self.random_state_, groups)
        paper = self.preset == "paper"
        number, seed = int(self.cv or FOLDS), self.random_state_
        repeats = self.repeats or (1 if paper or self.cv is not None else REPEATS)
        if paper and groups is None:
            return Folds.of(WekaFolds(number, repeats=repeats, random_state=seed), y)
        return Folds.stratified(y, number, repeats=repeats, random_state=seed, groups=groups)

    def _kind(self, trials: Trials, coded: CodedInput) -> str:
        if self.search != "auto":
            return self.search
        learners = (self.estimator, *attackers_of(self).values())
        additive = all(isinstance(learner, AdditiveNaiveBayes) for learner in learners)
        width = len(trials.features)
        classes = len(coded.classes) - 1
        if coded.hidden is not None:
            classes += len(np.unique(coded.hidden)) - 1
        # All subsets, times the test rows of all folds, times log odds to add for each class but
        # one: of the target and, if it is another column, of the sensitive one.
        cost = 2**width * int(trials.folds.sizes.sum()) * classes
        cheap = additive and width <= 24 and cost <= CHEAP
        cheap = cheap and trials.scores.by_count and trials.attack.by_count
        return "exhaustive" if cheap and self.preset is None else "walk"

    def _searched(self, trials: Trials) -> list[Candidate]:
        alone = {"walk": walk, "exhaustive": exhaustive, "best-first": best_first}
        if self.search_ in alone:
            return alone[self.search_](trials)
        step = forward if self.search_ == "forward" else backward
        return step(trials, _shares(self._weights()))

    def _choose(self, candidates: list[Candidate]) -> None:
        self.evaluation_ = rate_candidates(candidates, self._weights())
        limit = np.inf if self.alpha_ is None else self.alpha_ + EQUAL_MEANS
        self.candidates_ = tuple(
            replace(
                candidate,
                allowed=candidate.pbi <= limit,
                ranks={name: int(ranks[i]) for name, ranks in self.evaluation_.ranks.items()},
                score=float(self.evaluation_.scores[i]),
            )
            for i, candidate in enumerate(candidates)
        )
        self.baseline_ = self.candidates_[0]
        self.order_ = tuple(self.candidates_[i] for i in self.evaluation_.order)
        allowed = [candidate for candidate in self.order_ if candidate.allowed]
        if not allowed:
            least = min(candidate.pbi for candidate in candidates)
            harder = "" if self.search_ == "exhaustive" else ", or try search='exhaustive'"
            raise CannotMeet(
                f"no candidate keeps the breach increase at or below {self.alpha_:.4f}; the "
                f"smallest found is {least:.4f}. Raise alpha{harder}"
            )
        self.best_ = allowed[0]

    def _seed(self) -> int:
        if self.random_state is not None:
            return self.random_state
        return WEKA_SEED if self.preset == "paper" else 0

    def _weights(self) -> Weights:
        if self.weights is None and self.preset == "paper":
            return dict.fromkeys(WEIGHTS, 1 / len(WEIGHTS))
        return self.weights

    def _check_parameters(self) -> None:
        if self.search not in BREACH_SEARCHES:
            raise InputError(
                f"search must be one of {', '.join(BREACH_SEARCHES)}, got {self.search!r}"
            )
        if self.preset not in (None, "paper"):
            raise InputError(f'preset must be "paper" or None, got {self.preset!r}')
        if isinstance(self.alpha, str) and self.alpha != "distp":
            raise InputError(f'alpha must be a number, "distp" or None, got {self.alpha!r}')
        if not 0 < self.level < 1:
            raise InputError(f"level must be between 0 and 1, got {self.level!r}")

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def rate_candidates(candidates: list[Candidate], weights: Weights) -> Evaluation:
    """Rank candidates by performance, privacy and size, and compute their E(S)."""
    return evaluation(factor_scores(candidates), FACTORS, weights)


def factor_scores(candidates: Sequence[Candidate]) -> dict[str, list[float]]:
    """Values of each factor, one for each candidate."""
    return {
        "performance": [candidate.performance for candidate in candidates],
        "privacy": [candidate.pbi for candidate in candidates],
        "size": [candidate.size for candidate in candidates],
    }


def attackers_of(selector: BreachSelector) -> dict[str, Any]:
    """The classifiers that guess the sensitive column, by name; by default the estimator itself."""
    if selector.attackers is None:
        return {type(selector.estimator).__name__: selector.estimator}
    return named_attackers(selector.attackers)


def _shares(weights: Weights) -> Mapping[str, float]:
    """The weights as used, for a search that votes, without the warning that the choice issues."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_weights(weights, FACTORS)


def warn(selector: Any, trials: Trials, coded: CodedInput) -> None:
    """Issue all warnings that apply to a fitted selector."""
    if trials.same:
        _say(_one_column(selector.evaluation_.weights))
    warn_of_floor(trials.attack.floor)
    if coded.hidden is not None:
        _warn_of_rare(coded.hidden, trials.attack.folds)
    if selector.best_ is selector.baseline_ and len(selector.candidates_) > 1:
        _say("no smaller set of features scores better than releasing all of them")
    allowed = [candidate for candidate in selector.order_ if candidate.allowed]
    if len(allowed) > 1 and (words := within_noise(trials, allowed[0], allowed[1])):
        _say(words)


def within_noise(trials: Trials, first: Candidate, second: Candidate) -> str:
    """A warning if the folds cannot distinguish the winner from the runner-up, else no text."""
    scores = trials.scores.many([first.features, second.features])
    guesses = [trials.attack.strongest(c.features) for c in (first, second)]
    teach = fold_p_value(scores[0].scores, scores[1].scores, trials.folds)
    tell = fold_p_value(guesses[0].shares, guesses[1].shares, trials.attack.folds)
    if min(teach, tell) < trials.level:
        return ""
    return (
        "the chosen features and the next best differ significantly in neither performance nor "
        f"breach (p {teach:.2f} and {tell:.2f}): other folds may swap them; look at both"
    )


def _one_column(weights: dict[str, float]) -> str:
    words = (
        "the target is also the sensitive column: the breach increase is performance on another "
        "scale, and what is gained in one is lost in the other"
    )
    if np.isclose(weights["performance"], weights["privacy"]):
        words += "; if both weigh the same, the choice depends only on the number of features"
    return words


def _warn_of_rare(hidden: NDArray[Any], folds: Folds) -> None:
    counts = np.unique(hidden, return_counts=True)[1]
    once = len(folds) // folds.repeats
    if counts.min() < once:
        _say(
            f"{int((counts < once).sum())} of {len(counts)} classes of the sensitive column have "
            f"fewer rows than the {once} folds: some folds cannot test them"
        )


def _say(words: str) -> None:
    warnings.warn(words, TamisWarning, stacklevel=4)
