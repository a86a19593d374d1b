"""Releases of 0/1 columns such that whatever a person has, at least k people have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.binary.records import BinaryTable, binarise, from_wide, is_binary
from tamis.errors import InputError, listed
from tamis.propose.problem import Problem
from tamis.release import Promise, Recipe, Release
from tamis.select.containment.crowd import selected
from tamis.select.containment.greedy import UTILITIES, GreedySearch, greedy_with_absences
from tamis.select.containment.selection import Selection
from tamis.select.containment.several_classes import SEVERAL, SeveralClassesSearch
from tamis.table import Table

Search = Callable[[int, str], Selection]
"""Chooses columns for a k and a utility."""
TIMES = (4, 2, 1)
"""Which multiples of the requested k are tried, the strongest promise first."""


@dataclass(frozen=True)
class Containment:
    """Selections under anonymity by containment, for several k and utilities.

    Parameters
    ----------
    ks : sequence of int
        The values of k to try; none: the one requested, twice and four times that.
    utilities : sequence of str
        What makes columns good; see `tamis.select.containment.greedy.greedy`. For a target of
        several classes, those of them that are defined for several, or all that are; see
        `tamis.select.containment.several_classes`.
    """

    name: ClassVar[str] = "containment"
    words: ClassVar[str] = (
        "Chooses columns of 0 and 1 such that whatever a person has, enough people have."
    )

    ks: Sequence[int] = ()
    utilities: Sequence[str] = ("difference", "distcnt")

    def __post_init__(self) -> None:
        object.__setattr__(self, "ks", tuple(self.ks))
        object.__setattr__(self, "utilities", tuple(self.utilities))
        if unknown := [u for u in self.utilities if u not in UTILITIES]:
            raise InputError(f"no utility {listed(unknown)}; there are {listed(UTILITIES, 20)}")

    def applies(self, problem: Problem) -> str | None:
        classes = problem.table.frame[problem.table.target].n_unique()
        if classes != 2 and (problem.absences or not problem.is_binary):
            return f"It separates two classes, and the target has {classes}."
        return problem.too_few

    def search(
        self,
        records: BinaryTable,
        labelled: NDArray[np.bool_],
        random_state: int,
        groups: NDArray[np.int64] | None = None,
    ) -> tuple[Search, Sequence[str]]:
        """What chooses columns for a k and a utility, and the utilities to choose by."""
        assert records.labels is not None
        if len(np.unique(records.labels)) == 2:
            two = GreedySearch(
                records.matrix,
                records.labels,
                extend=True,
                random_state=random_state,
                labelled=labelled,
                groups=groups,
            )
            return two.of, self.utilities
        several = SeveralClassesSearch(records.matrix, records.labels, labelled=labelled)
        return several.of, [u for u in self.utilities if u in SEVERAL] or SEVERAL

    def propose(self, problem: Problem) -> list[Release]:
        wide = problem.binary is None and is_binary(problem.table)
        records = (
            from_wide(problem.table)
            if wide
            else binarise(problem.table, problem.binary, k=problem.k)
        )
        ks = sorted({k for k in self.ks if k >= problem.k}, reverse=True)
        tried = (1,) if problem.absences else TIMES  # counting with absences takes long
        ks = ks or [
            times * problem.k for times in tried if times * problem.k <= problem.table.everybody
        ]
        search, utilities = self.search(
            records, problem.split.is_seen, problem.random_state, problem.table.people
        )
        return [
            _release(problem, records, k, utility, found)
            for k in ks
            for utility in utilities
            if (found := _selected(problem, records, search, k, utility)).features
        ]


def _selected(
    problem: Problem, records: BinaryTable, search: Search, k: int, utility: str
) -> Selection:
    people = problem.table.people
    if problem.absences:
        return greedy_with_absences(
            records.matrix,
            records.labels,
            k,
            problem.absences,
            utility=utility,
            people=people,
            labelled=problem.split.is_seen,
        )
    if people is None:
        return search(k, utility)
    return selected(records.matrix, people, k, lambda rows: search(rows, utility))


def _release(
    problem: Problem, records: BinaryTable, k: int, utility: str, found: Selection
) -> Release:
    chosen = records.select(sorted(found.features))
    dense = pl.DataFrame(chosen.matrix.toarray(), schema=list(chosen.features), orient="row")
    frame = dense.with_columns(problem.table.frame[problem.table.target])
    return Release(
        f"containment, k = {k}, {utility}",
        Table(frame).with_roles(target=problem.table.target),
        Recipe("containment", {"k": k, "utility": utility, "search": "greedy"}),
        (Promise("containment_anonymity", k, chosen.features, problem.absences),),
        people=problem.table.people,
        unit=problem.table.unit,
    )
