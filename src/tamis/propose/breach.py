"""Releases of unaltered columns that predict the target without revealing the sensitive column."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError, TamisWarning
from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.boosting import shares
from tamis.learn.score_test import promised_bits
from tamis.learn.subset_scores import SubsetScores
from tamis.propose.problem import Problem
from tamis.release import Recipe, Release, released
from tamis.risk.grouping import Coded, dense, fewest_alike, joined
from tamis.select.breach import SEARCHES, BreachSelector
from tamis.select.breach.candidate import Trials

LARGE = 5000
"""From this many rows on, one round of folds is stable enough."""
REPEATS = 5
MOST = 300
"""The most columns that are searched: of more, those that promise most about the target."""

Worth = Callable[[Sequence[Sequence[str]]], list[int]]


@dataclass(frozen=True)
class Breach:
    """Candidates of the breach-aware search, and the same reduced until they satisfy k.

    Parameters
    ----------
    search : {"auto", "walk", "exhaustive", "forward", "backward"}
        As in `BreachSelector`.
    attacker : str, optional
        Who guesses the sensitive column during the search, by its short name; `None`: the
        classifier itself. The scorecard tries more of them.
    folds : int
    most : int
        How many candidates are proposed at most, the best by E(S) first.
    """

    name: ClassVar[str] = "breach"
    words: ClassVar[str] = (
        "Looks for columns that teach as much as all of them but reveal less to an attacker."
    )

    search: str = "auto"
    attacker: str | None = None
    folds: int = 10
    most: int = 4

    def __post_init__(self) -> None:
        if self.search not in SEARCHES:
            raise InputError(f"search must be one of {', '.join(SEARCHES)}, got {self.search!r}")
        if self.folds < 2 or self.most < 1:
            raise InputError(
                "folds must be 2 or more and most must be 1 or more, got "
                f"{self.folds} and {self.most}"
            )

    def applies(self, problem: Problem) -> str | None:
        if len(problem.table.features) < 2:
            return "It leaves out columns, and there are fewer than two."
        return None

    def propose(self, problem: Problem) -> list[Release]:
        problem = _narrowed(problem)
        found, trials = self._searched(problem)
        ordered = [c.features for c in found.order_ if c is not found.baseline_][: self.most]
        worth = self._worth(problem, trials)
        every = (problem.table.features, *ordered)
        trimmed = [kept_to(problem, features, worth) for features in every]
        sets = dict.fromkeys([*(_sorted(problem, f) for f in (*ordered, *trimmed) if f)])
        recipe = Recipe(
            self.name,
            {
                "search": found.search_,
                "folds": self.folds,
                "model": type(problem.classifier).__name__,
            },
        )
        return [
            released(
                problem.table, features, set_name(features), recipe, problem.promises(features)
            )
            for features in sets
            if len(features) < len(problem.table.features)
        ]

    def _worth(self, problem: Problem, trials: Trials) -> Worth:
        """Rows that naive Bayes predicts correctly in one round of folds, for any sets of features.

        It costs little for dozens of sets. Where it is also what the search went by, the scores of
        the search are asked: their first round of folds is this one.
        """
        model = AdditiveNaiveBayes()
        same = type(problem.classifier) is AdditiveNaiveBayes
        if same and problem.classifier.get_params() == model.get_params():
            scores = trials.scores
        else:
            table = problem.table
            scores = SubsetScores(
                table.only([*table.features, table.target])[problem.split.seen],
                model,
                target=table.target,
                cv=self.folds,
                groups=_people(problem),
                random_state=problem.random_state,
            )
        return lambda sets: [sum(found.correct[: self.folds]) for found in scores.many(sets)]

    def _searched(self, problem: Problem) -> tuple[BreachSelector, Trials]:
        table, seen = problem.table, problem.split.seen
        rows = table.frame[seen]
        selector = BreachSelector(
            problem.classifier,
            weights=dict(problem.weights) if any(problem.weights.values()) else None,
            search=self.search,
            attackers=self.attacker,
            cv=self.folds,
            repeats=1 if len(seen) >= LARGE else REPEATS,
            random_state=problem.random_state,
        )
        sensitive = None if table.sensitive == table.target else rows[table.sensitive or ""]
        with warnings.catch_warnings():  # the choice among releases is made and evaluated later
            warnings.simplefilter("ignore", TamisWarning)
            trials = selector.searched(
                table.only(table.features)[seen],
                rows[table.target].to_numpy(),
                sensitive,
                _people(problem),
            )
        return selector, trials


def _narrowed(problem: Problem) -> Problem:
    """The same problem with the most promising columns alone, by rows that a search may see."""
    if len(problem.table.features) <= MOST or problem.yardstick is None:
        return problem
    bits = problem.yardstick.choosing
    rows, target = bits.parts.learn, bits.target
    said = np.tile(shares(target.label[rows], target.classes), (len(rows), 1))
    promised = promised_bits(bits.table, rows, said, target.label[rows])[: len(bits)]
    best = np.argsort(-promised, kind="stable")[:MOST]
    names = _sorted(problem, (problem.yardstick.features[c] for c in best))
    return replace(problem, table=problem.table.select(names))


def kept_to(problem: Problem, features: Sequence[str], worth: Worth) -> tuple[str, ...]:
    """The most useful of some features that together leave k people alike.

    What attackers cannot know is kept; from the rest, the feature that helps most and fits is
    added, again and again, because k never rises when a column is added.

    Parameters
    ----------
    problem : Problem
    features : sequence of str
    worth : callable
        What sets of features are worth, each a whole number.
    """
    known = [f for f in problem.table.quasi if f in set(features)]
    kept = [f for f in features if f not in set(known)]
    together = Coded(np.zeros(problem.table.rows, np.int64), 1)
    chosen: list[str] = []

    def fits(feature: str) -> bool:
        if problem.suppression is not None:
            return problem.kept(joined(together, problem.coded[feature]))
        if problem.people is None:
            return problem.alike.keep([*chosen, feature])
        return fewest_alike([together, problem.coded[feature]], problem.people) >= problem.k

    while known := [f for f in known if fits(f)]:
        found = worth([[*kept, *chosen, f] for f in known])
        best = max(range(len(known)), key=found.__getitem__)
        chosen.append(known.pop(best))
        together = dense(joined(together, problem.coded[chosen[-1]]))
    return (*kept, *chosen)


def set_name(features: Sequence[str]) -> str:
    """A short name for a set of columns.

    >>> set_name(["a", "b"]), set_name(["a", "b", "c", "d", "e", "f"])
    ('a + b', 'a + b + c + 3 more')
    """
    if len(features) <= 4:
        return " + ".join(features)
    return " + ".join([*features[:3], f"{len(features) - 3} more"])


def _sorted(problem: Problem, features: Iterable[str]) -> tuple[str, ...]:
    chosen = set(features)
    return tuple(f for f in problem.table.features if f in chosen)


def _people(problem: Problem) -> NDArray[np.int64] | None:
    """The person of each row that may be seen."""
    people = problem.table.people
    return None if people is None else people[problem.split.seen]
