"""Releases of unaltered columns that no other set beats in both what it keeps and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.evaluate.bits import KeptTold, chosen
from tamis.evaluate.subset_bits import Columns, SubsetBits
from tamis.propose.breach import set_name
from tamis.propose.problem import Problem
from tamis.release import Recipe, Release, released
from tamis.risk.containment import absence_anonymity, containment_anonymity
from tamis.risk.grouping import joined
from tamis.select.front import BUDGET, WHOLE, Front, search_front, thinned
from tamis.table import Table

CAUTIONS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""What told may weigh against kept: the best set for each is proposed."""


@dataclass(frozen=True)
class KeptToldFront:
    """The sets of columns that a holder may want, whatever told weighs against kept.

    Parameters
    ----------
    budget : int
        The most sets to fit; all sets of tables of at most ten columns.
    most : int
        How many sets of the front are proposed at most, besides the best for some weights and all
        columns that attackers cannot know, alone and with what fits within k.
    """

    name: ClassVar[str] = "front"
    words: ClassVar[str] = (
        "Searches for columns that teach much about the target and tell little about the "
        "sensitive column."
    )

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
        bits, unknown = problem.yardstick.choosing, unknowable(problem)
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
                problem.promises(names),
            )
            for columns in dict.fromkeys(best)
            if columns and keeps(columns)
        ]


def searched_front(
    problem: Problem, budget: int = BUDGET
) -> tuple[Front, Callable[[Columns], bool]]:
    """The search of whole columns, and what it asked of sets; run once, whoever needs it."""
    assert problem.yardstick is not None
    bits = problem.yardstick.choosing
    most = None if len(bits) <= WHOLE else budget
    if most not in problem.fronts:
        keeps = keeps_k(problem)
        front = search_front(bits, keeps, seeds=[unknowable(problem)], budget=most)
        problem.fronts[most] = front, keeps
    found: tuple[Front, Callable[[Columns], bool]] = problem.fronts[most]
    return found


def in_order(table: Table, names: Collection[str]) -> list[str]:
    """Some features in the order of the table."""
    return [name for name in table.features if name in names]


def preferred(measured: KeptTold, sets: list[Columns]) -> list[Columns]:
    """The best set for some weights of told against kept."""
    sizes = [len(columns) for columns in sets]
    return [sets[chosen(measured, sizes, caution=caution)] for caution in CAUTIONS]


def unknowable(problem: Problem) -> Columns:
    """The columns that attackers cannot know."""
    if problem.is_binary:
        return ()
    known = set(problem.table.quasi)
    return tuple(i for i, name in enumerate(sorted(problem.table.features)) if name not in known)


def filled(bits: SubsetBits, keeps: Callable[[Columns], bool], start: Columns) -> Columns:
    """A set with every column added that k allows, the most promising ones first."""
    teaches, _ = bits.promises(start)
    for column in np.argsort(-teaches, kind="stable"):
        grown = tuple(sorted({*start, int(column)}))
        if grown != start and keeps(grown):
            start = grown
    return start


def contained(
    cells: NDArray[np.uint8], k: int, absences: int, people: NDArray[np.int64] | None
) -> bool:
    """Whether k people have all that anybody has, and lack what is known to be lacking."""
    if containment_anonymity(cells, people=people) < k:
        return False
    return not absences or absence_anonymity(cells, absences, people=people, enough=k) >= k


def keeps_k(problem: Problem) -> Callable[[Columns], bool]:
    """Whether sets of columns keep the anonymity asked for, over all rows of the table."""
    table, k = problem.table, problem.k
    features = sorted(table.features)
    if problem.is_binary:
        cells = table.only(features).to_numpy().astype(np.uint8)
        if problem.suppression is not None:
            allows = problem.suppression.allows_contained
            return lambda columns: not columns or allows(cells[:, list(columns)], k)
        lacked, people = problem.absences, table.people
        return lambda columns: contained(cells[:, list(columns)], k, lacked, people)
    known = set(table.quasi)
    quasi = {i: name for i, name in enumerate(features) if name in known}
    if problem.only_k:
        return lambda columns: problem.alike.keep([quasi[c] for c in columns if c in quasi])
    return lambda columns: (
        not (asked := [problem.coded[quasi[c]] for c in columns if c in quasi])
        or problem.kept(reduce(joined, asked))
    )
