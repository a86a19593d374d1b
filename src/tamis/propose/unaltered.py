"""Releases of unaltered columns: the front of kept and told, and candidates by breach increase."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.catalogue.methods import BREACH, BREACH_SEARCHES, FRONT, MethodRecord
from tamis.coding import Coded, dense, joined
from tamis.errors import InputError, TamisWarning
from tamis.evaluate.bits import KeptTold, chosen
from tamis.evaluate.subset_bits import Columns, SubsetBits
from tamis.learn.boosting import shares
from tamis.learn.score_test import expected_bits
from tamis.people import People
from tamis.propose.problem import Method, Problem, set_name
from tamis.release import Recipe, Release, released
from tamis.risk.containment import absence_anonymity, containment_anonymity
from tamis.risk.grouping import fewest_alike
from tamis.select.front import BUDGET, WHOLE, Front, search_front, thinned
from tamis.table import Table

if TYPE_CHECKING:
    from tamis.select.breach import BreachSelector
    from tamis.select.breach.candidate import Candidate
    from tamis.select.breach.search import Trials

CAUTIONS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Weights of told against kept, for each of which the best set is proposed."""
STABLE_ROWS = 5000
"""From this many rows on, one round of folds is stable enough."""
REPEATS = 5
"""Rounds of folds on fewer rows."""
MOST_SEARCHED = 300
"""Most columns to search; of more, the most promising ones about the target."""
Worth = Callable[[Sequence[Sequence[str]]], list[int]]


@dataclass(frozen=True)
class KeptToldFront(Method):
    """The front of kept and told: sets of columns that are best for some weight of told.

    Parameters
    ----------
    budget : int
        The most sets to fit; tables of at most ten columns have all their sets fitted.
    most : int
        The most sets of the front to propose, besides the best for some weights, and the columns
        that attackers cannot know, alone and with what k allows beside them.
    """

    about: ClassVar[MethodRecord] = FRONT

    budget: int = BUDGET
    most: int = 8

    def __post_init__(self) -> None:
        if self.budget < 1 or self.most < 1:
            raise InputError(
                f"budget and most must be 1 or more, got {self.budget} and {self.most}"
            )

    def applies(self, problem: Problem) -> str | None:
        if problem.yardstick is None or not problem.table.features:
            return "There is no column to release."
        return problem.too_few

    def propose(self, problem: Problem) -> list[Release]:
        assert problem.yardstick is not None
        bits, unknown = problem.yardstick.searching, unknowable(problem)
        front, keeps = searched_front(problem, self.budget)
        sets = [columns for columns in front.scores if columns]
        if not sets:
            return []
        measured = bits.measured(sets)
        scores = {
            columns: (float(kept), float(told))
            for columns, kept, told in zip(sets, measured.kept, measured.told)
        }
        best = [*preferred(measured, sets), *thinned(scores, self.most)]
        if problem.most_columns is not None:
            best += preferred(measured, sets, problem.most_columns)
        if unknown:
            best += [unknown, filled(bits, keeps, unknown)]
        recipe = Recipe(self.name, {"search": "all sets" if front.whole else "beam"})
        every = problem.yardstick.features
        return [
            released(
                problem.table,
                names := in_order(problem.table, {every[c] for c in columns}),
                set_name(names),
                recipe,
            )
            for columns in dict.fromkeys(best)
            if columns and keeps(columns)
        ]


def searched_front(
    problem: Problem, budget: int = BUDGET
) -> tuple[Front, Callable[[Columns], bool]]:
    """The cached search of whole columns, with its check that sets keep k."""
    assert problem.yardstick is not None
    bits = problem.yardstick.searching
    most = None if len(bits) <= WHOLE else budget
    if most not in problem.fronts:
        keeps = keeps_k(problem)
        front = search_front(bits, keeps, seeds=[unknowable(problem)], budget=most)
        problem.fronts[most] = front, keeps
    searched: tuple[Front, Callable[[Columns], bool]] = problem.fronts[most]
    return searched


def in_order(table: Table, names: Collection[str]) -> list[str]:
    """Some features, in the order of the table."""
    return [name for name in table.features if name in names]


def preferred(measured: KeptTold, sets: list[Columns], most: int | None = None) -> list[Columns]:
    """The best set for each weight of `CAUTIONS`, among sets of at most `most` columns."""
    sizes = [len(columns) for columns in sets]
    allowed = np.array([most is None or size <= most for size in sizes])
    cautions = CAUTIONS if allowed.any() else ()
    return [sets[chosen(measured, sizes, allowed, caution=caution)] for caution in cautions]


def unknowable(problem: Problem) -> Columns:
    """The columns that attackers cannot know: features that are no quasi-identifiers."""
    if problem.table.roles.quasi is None:
        return ()
    known = set(problem.table.quasi)
    return tuple(i for i, name in enumerate(sorted(problem.table.features)) if name not in known)


def filled(bits: SubsetBits, keeps: Callable[[Columns], bool], start: Columns) -> Columns:
    """A set extended greedily by every column that k allows, the most promising first."""
    teaches, _ = bits.expected(start)
    for column in np.argsort(-teaches, kind="stable"):
        grown = tuple(sorted({*start, int(column)}))
        if grown != start and keeps(grown):
            start = grown
    return start


def contained(cells: NDArray[np.uint8], k: int, absences: int, people: People) -> bool:
    """Whether 0/1 cells have containment anonymity k against so many known absences."""
    if containment_anonymity(cells, people=people) < k:
        return False
    return not absences or absence_anonymity(cells, absences, people=people, enough=k) >= k


def keeps_k(problem: Problem) -> Callable[[Columns], bool]:
    """A check that a set of columns meets the requirements, over all rows of the table."""
    table, k = problem.table, problem.k
    features = sorted(table.features)
    if problem.is_binary and problem.by_containment:
        cells = table.only(features).to_numpy().astype(np.uint8)
        if problem.suppression is not None:
            allows = problem.suppression.allows_contained
            return lambda columns: not columns or allows(cells[:, list(columns)], k)
        lacked, people = problem.absences, table.people
        return lambda columns: contained(cells[:, list(columns)], k, lacked, people)
    known = set(table.quasi)
    quasi = {i: name for i, name in enumerate(features) if name in known}
    if problem.only_k:
        return lambda columns: problem.keep_alike([quasi[c] for c in columns if c in quasi])
    return lambda columns: (
        not (asked := [(quasi[c], problem.coded[quasi[c]]) for c in columns if c in quasi])
        or problem.keeps(asked)
    )


@dataclass(frozen=True)
class Breach(Method):
    """Candidates of the breach-aware search, as found and reduced until they satisfy k.

    Parameters
    ----------
    search : {"auto", "walk", "exhaustive", "forward", "backward"}
        As in `BreachSelector`.
    attacker : str, optional
        The attacker of the search, by its short name; `None`: the classifier itself. The scorecard
        tries further ones.
    folds : int
    most : int
        The most candidates to propose, the best by E(S) first.
    """

    about: ClassVar[MethodRecord] = BREACH

    search: str = "auto"
    attacker: str | None = None
    folds: int = 10
    most: int = 4

    def __post_init__(self) -> None:
        if self.search not in BREACH_SEARCHES:
            raise InputError(
                f"search must be one of {', '.join(BREACH_SEARCHES)}, got {self.search!r}"
            )
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
        selector, trials = self._searched(problem)
        order = [c for c in selector.order_ if c is not selector.baseline_]
        asked = [c for c in order if _is_asked_for(problem, c)]
        ordered = [c.features for c in (*order[: self.most], *asked[: self.most])]
        worth = self._worth(problem, trials)
        every = (problem.table.features, *ordered)
        trimmed = [kept_to(problem, features, worth) for features in every]
        table, model = problem.table, type(problem.classifier).__name__
        sets = dict.fromkeys(tuple(in_order(table, set(f))) for f in (*ordered, *trimmed) if f)
        recipe = Recipe(
            self.name, {"search": selector.search_, "folds": self.folds, "model": model}
        )
        return [
            released(table, features, set_name(features), recipe)
            for features in sets
            if len(features) < len(table.features)
        ]

    def _worth(self, problem: Problem, trials: Trials) -> Worth:
        """Number of rows that naive Bayes predicts correctly in one round of folds, by set.

        Naive Bayes costs little for dozens of sets. If the search used it too, its cached scores
        are reused: their first round of folds is this one.
        """
        from tamis.learn.bayes import AdditiveNaiveBayes
        from tamis.learn.subset_scores import SubsetScores

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
                groups=_groups(problem),
                random_state=problem.random_state,
            )
        return lambda sets: [sum(score.correct[: self.folds]) for score in scores.many(sets)]

    def _searched(self, problem: Problem) -> tuple[BreachSelector, Trials]:
        from tamis.select.breach import BreachSelector

        table, seen = problem.table, problem.split.seen
        rows = table.frame[seen]
        selector = BreachSelector(
            problem.classifier,
            weights=dict(problem.weights) if any(problem.weights.values()) else None,
            search=self.search,
            attackers=self.attacker,
            cv=self.folds,
            repeats=1 if len(seen) >= STABLE_ROWS else REPEATS,
            random_state=problem.random_state,
        )
        sensitive = None if table.sensitive == table.target else rows[table.sensitive or ""]
        with warnings.catch_warnings():  # the choice among releases is made and evaluated later
            warnings.simplefilter("ignore", TamisWarning)
            trials = selector.searched(
                table.only(table.features)[seen],
                rows[table.target].to_numpy(),
                sensitive,
                _groups(problem),
            )
        return selector, trials


def _is_asked_for(problem: Problem, candidate: Candidate) -> bool:
    """Whether there are limits on columns or breach increase, and a candidate meets them."""
    columns, pbi = problem.most_columns, problem.most_pbi
    if columns is None and pbi is None:
        return False
    return (columns is None or candidate.size <= columns) and (pbi is None or candidate.pbi <= pbi)


def _narrowed(problem: Problem) -> Problem:
    """The problem with the most promising columns only, by rows that a search may see."""
    if len(problem.table.features) <= MOST_SEARCHED or problem.yardstick is None:
        return problem
    bits = problem.yardstick.searching
    rows, target = bits.parts.learn, bits.target
    proba = np.tile(shares(target.label[rows], target.classes), (len(rows), 1))
    expected = expected_bits(bits.table, rows, proba, target.label[rows])[: len(bits)]
    best = np.argsort(-expected, kind="stable")[:MOST_SEARCHED]
    names = [problem.yardstick.features[c] for c in best]
    return replace(problem, table=problem.table.select(names))


def kept_to(problem: Problem, features: Sequence[str], worth: Worth) -> tuple[str, ...]:
    """A subset of features that keeps k, selected greedily by `worth`.

    Features that attackers cannot know are all kept. Of the others, the most useful one that fits
    is added, again and again; one that does not fit is dropped for good, since k never rises when a
    column is added. `worth` gives a whole number for each of some sets of features.
    """
    known = [f for f in problem.table.quasi if f in set(features)]
    kept = [f for f in features if f not in set(known)]
    together = Coded(np.zeros(problem.table.rows, np.int64), 1)
    chosen: list[str] = []

    def fits(feature: str) -> bool:
        if problem.suppression is not None or problem.requirements.several:
            return problem.keeps([(name, problem.coded[name]) for name in (*chosen, feature)])
        if problem.table.people.each_row:
            return problem.keep_alike([*chosen, feature])
        return fewest_alike([together, problem.coded[feature]], problem.table.people) >= problem.k

    while known := [f for f in known if fits(f)]:
        worths = worth([[*kept, *chosen, f] for f in known])
        best = max(range(len(known)), key=worths.__getitem__)
        chosen.append(known.pop(best))
        together = dense(joined(together, problem.coded[chosen[-1]]))
    return (*kept, *chosen)


def _groups(problem: Problem) -> NDArray[np.int64] | None:
    """The person of each seen row, as scikit-learn's `groups`."""
    return problem.split.people_of(problem.table)[problem.split.seen].groups
