"""What a user must know to read a breach selection correctly."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import TamisWarning
from tamis.learn.cv import Folds, fold_p_value
from tamis.risk.breach import warn_of_floor
from tamis.select.breach.candidate import Candidate
from tamis.select.breach.input import CodedInput
from tamis.select.breach.trials import Trials


def warn(selector: Any, trials: Trials, coded: CodedInput) -> None:
    """Issue all warnings that apply to a fitted selector."""
    if trials.same:
        _say(_one_column(selector.evaluation_.weights))
    warn_of_floor(trials.attack.floor)
    if coded.hidden is not None:
        _warn_of_rare(coded.hidden, trials.folds)
    if selector.best_ is selector.baseline_ and len(selector.candidates_) > 1:
        _say("no smaller set of features scores better than releasing all of them")
    allowed = [candidate for candidate in selector.order_ if candidate.allowed]
    if len(allowed) > 1 and (words := within_noise(trials, allowed[0], allowed[1])):
        _say(words)


def within_noise(trials: Trials, first: Candidate, second: Candidate) -> str:
    """The warning if the folds cannot distinguish the winner from the next best."""
    scores = trials.scores.many([first.features, second.features])
    guesses = [trials.attack.strongest(c.features) for c in (first, second)]
    teach = fold_p_value(scores[0].scores, scores[1].scores, trials.folds)
    tell = fold_p_value(guesses[0].shares, guesses[1].shares, trials.folds)
    if min(teach, tell) < trials.level:
        return ""
    return (
        "the chosen features and the next best differ in neither performance nor breach beyond "
        f"what other folds would change (p {teach:.2f} and {tell:.2f}); look at both"
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
