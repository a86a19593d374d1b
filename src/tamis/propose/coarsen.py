"""Releases with columns in coarser forms, chosen by what they keep and tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from tamis.coarsen.draft import ladders_of
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.value_groups import Prefixes
from tamis.errors import InputError, plural
from tamis.evaluate.bits import chosen
from tamis.propose.breach import set_name
from tamis.propose.coarser_sets import CoarserSets, search_coarser, too_few_to_learn
from tamis.propose.front import CAUTIONS, in_order, searched_front
from tamis.propose.problem import Problem
from tamis.propose.rungs import Rung
from tamis.release import Coarsening, Recipe, Release, released
from tamis.risk.grouping import Coded
from tamis.select.front import thinned
from tamis.table import Table, only


@dataclass(frozen=True)
class Coarsen:
    """Columns as they are, in coarser forms, or left out, whichever is worth most.

    Forms are the levels of the ladders that people wrote; where nobody wrote any they are learnt,
    or, from few rows and for codes such as ZIP, made without looking at the target.

    Parameters
    ----------
    most : int
        How many sets of the front are proposed at most, besides the best for some weights.
    keep : sequence of str
        Columns that are never released in a coarser form.
    """

    name: ClassVar[str] = "coarsen"
    words: ClassVar[str] = (
        "Keeps columns in coarser forms, such as ages in bands, where whole ones would tell too "
        "much."
    )

    most: int = 6
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        if self.most < 1:
            raise InputError(f"most must be 1 or more, got {self.most}")

    def applies(self, problem: Problem) -> str | None:
        if problem.yardstick is None or not problem.table.features:
            return "There is no column to release."
        if problem.is_binary:
            return "Columns of 0 and 1 have no coarser form."
        if unknown := [c for c in self.keep if c not in problem.table.features]:
            raise InputError(
                f"[coarsen] keep names {plural(len(unknown), 'column')} that cannot be released"
            )
        return problem.too_few

    def propose(self, problem: Problem) -> list[Release]:
        assert problem.yardstick is not None
        bits = problem.yardstick.choosing
        searched_front(problem)  # the sets that it fits are where the search below starts
        frame = problem.table.only(problem.yardstick.features)
        ladders = self._ladders(problem)
        levels = {
            name: [ladder.apply(frame[name], level) for level in range(1, ladder.top)]
            for name, ladder in ladders.items()
        }
        found = search_coarser(
            bits,
            frame,
            quasi=problem.table.quasi,
            k=problem.k,
            caution=problem.caution,
            levels=levels,
            fixed=self.keep,
            also=self._also(problem),
            most=problem.most_suppressed,
            codes=problem.coded,
        )
        return [
            self._release(problem, found, number, ladders, levels)
            for number in _finalists(found, self.most)
        ]

    def _also(self, problem: Problem) -> Callable[[Coded], bool] | None:
        """What classes must keep besides k; also k itself, where people have several rows to go."""
        crowds = problem.suppression is not None and problem.table.people is not None
        return problem.kept if problem.anonymity or problem.beside or crowds else None

    def _ladders(self, problem: Problem) -> dict[str, Ladder]:
        """The written ladders, and those made where none can be learnt."""
        table = problem.table
        free = [c for c in table.features if c not in self.keep]
        made = ladders_of(table, problem.ladders, free, k=problem.k)
        few = problem.yardstick is None or too_few_to_learn(problem.yardstick.choosing.parts)
        return {
            name: ladder
            for name, ladder in made.items()
            if few or name in problem.ladders or isinstance(ladder.form, Prefixes)
        }

    def _release(
        self,
        problem: Problem,
        found: CoarserSets,
        number: int,
        ladders: Mapping[str, Ladder],
        levels: Mapping[str, list[pl.Series]],
    ) -> Release:
        assert problem.yardstick is not None
        table, features = problem.table, problem.yardstick.features
        coarse = found.released(number, table.only(features))
        coarse = only(coarse, in_order(table, coarse.columns))
        forms = {}
        for rung in found.rungs(number):
            name = features[rung.column]
            if rung.form is not None:
                forms[name] = Coarsening(rung.form.description(), 1)
            elif rung.level is not None:
                forms[name] = Coarsening(ladders[name].to_dict(), _level(rung, levels[name]))
        plain = released(table, coarse.columns, "", Recipe(self.name, {"search": "kept and told"}))
        label = set_name([f"{c} (coarser)" if c in forms else c for c in coarse.columns])
        values = Table(plain.table.frame.with_columns(coarse), plain.table.roles)
        release = Release(
            label,
            values,
            plain.recipe,
            problem.promises(coarse.columns),
            people=table.people,
            unit=table.unit,
            forms=forms,
        )
        release = problem.trimmed(release)
        if forms:
            problem.yardstick.note(release, found.gains(number, release.kept))
        return release


def _finalists(found: CoarserSets, most: int) -> list[int]:
    """The sets that are best for some weights, or on the front; no column need be coarser."""
    if not found.sets:
        return []
    measured = found.measured
    scores = {
        columns: (float(measured.kept[i]), float(measured.told[i]))
        for i, columns in enumerate(found.sets)
    }
    place = {columns: i for i, columns in enumerate(found.sets)}
    best = [chosen(measured, found.sizes, caution=caution) for caution in CAUTIONS]
    best += [place[columns] for columns in thinned(scores, most)]
    return list(dict.fromkeys(best))


def _level(rung: Rung, levels: list[pl.Series]) -> int:
    """The number of a written level."""
    assert rung.level is not None
    same = (i for i, level in enumerate(levels, start=1) if level.equals(rung.level))
    return next(same)
