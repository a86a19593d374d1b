"""Releases with generalised columns, searched by what they keep and tell.

`coarser_sets.py` searches; here its sets become releases, with labels taken from released rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from tamis.catalogue.methods import COARSEN, MethodRecord
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.ladder_sources import digit_ladder, drawn_in, ladders_of
from tamis.coarsen.learnt_forms import agreement, named_after
from tamis.coarsen.value_groups import Prefixes
from tamis.errors import InputError, plural
from tamis.evaluate.rungs import Rung, RungBits
from tamis.propose.coarser_sets import (
    DIGITS,
    CoarserSets,
    search_coarser,
    too_few_to_learn,
    with_fewer_digits,
    written_rungs,
)
from tamis.propose.problem import Method, Problem, form_name, set_name
from tamis.propose.unaltered import CAUTIONS, in_order, keeps_k, searched_front
from tamis.release import Coarsening, Recipe, Release, released
from tamis.risk.attackers import Known
from tamis.select.front import thinned
from tamis.table import Table

LIKELY = 4
"""How many of the most valuable sets of unchanged columns are also tried with fewer digits."""


@dataclass(frozen=True)
class Coarsen(Method):
    """Columns as they are, generalised or left out, whichever gives the best value.

    Forms are the levels of the holder's ladders. For other columns they are learnt, or, with few
    rows and for codes such as ZIP, made without looking at the target.

    Parameters
    ----------
    most : int
        The most sets of the front to propose, besides the best for some weights of told.
    keep : sequence of str
        Columns that are never generalised.
    """

    about: ClassVar[MethodRecord] = COARSEN

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
        bits = problem.yardstick.searching
        searched_front(problem)  # the sets that it fits are where the search below starts
        frame = problem.table.only(problem.yardstick.features)
        ladders, digits = self._ladders(problem), self._digits(problem)
        levels = _levels(ladders, frame)
        scored = search_coarser(
            bits,
            frame,
            views=problem.views,
            caution=problem.caution,
            levels=levels,
            digits=_levels(digits, frame),
            fixed=self.keep,
            also=self._also(problem),
            most=problem.most_suppressed,
            codes=problem.coded,
        )
        finalists = _finalists(scored, self.most, problem.most_columns)
        scored, finalists = with_fewer_digits(scored, finalists)
        proposed = (
            self._release(problem, scored, number, ladders, levels, digits) for number in finalists
        )
        return [release for release in proposed if release is not None]

    def refine(self, problem: Problem, releases: Collection[Release]) -> list[Release]:
        """The best releases of unchanged columns, by any method, without digits that teach nothing.

        A number should be released with no more digits than teach the target.
        """
        digits = {} if self.applies(problem) else self._digits(problem)
        if problem.yardstick is None or not digits:
            return []
        bits, frame = problem.yardstick.searching, problem.table.only(problem.yardstick.features)
        plain, keeps = map(problem.yardstick.columns, releases), keeps_k(problem)
        sets = tuple(dict.fromkeys(columns for columns in plain if columns and keeps(columns)))
        if not sets:
            return []
        rungs = RungBits.of_columns(bits, frame).with_rungs(
            frame, list(written_rungs(frame, _levels(digits, frame), DIGITS))
        )
        scored = CoarserSets(rungs, sets, rungs.measured(sets))
        value = scored.measured.value(problem.caution)[: len(sets)]
        likely = np.argsort(-value, kind="stable")[:LIKELY].tolist()
        scored, best = with_fewer_digits(scored, [], likely)
        made = (self._release(problem, scored, number, {}, {}, digits) for number in best)
        return [release for release in made if release is not None]

    def _also(self, problem: Problem) -> Callable[[Known], bool] | None:
        """The check of what is required besides k; `None` if that is nothing.

        It includes k itself where suppression is decided for all requirements together: where
        people have several rows, and where there are several attackers.
        """
        together = problem.requirements.several or not problem.table.people.each_row
        crowds = problem.suppression is not None and together
        asked = problem.requirements.beyond_k or problem.beside or crowds
        return problem.keeps if asked else None

    def _ladders(self, problem: Problem) -> dict[str, Ladder]:
        """The holder's ladders, and generated ones for columns where none can be learnt."""
        table = problem.table
        free = [c for c in table.features if c not in self.keep]
        made = ladders_of(table, problem.ladders, free, k=problem.k)
        few = problem.yardstick is None or too_few_to_learn(problem.yardstick.searching.parts)
        return {
            name: ladder
            for name, ladder in made.items()
            if few or name in problem.ladders or isinstance(ladder.form, Prefixes)
        }

    def _digits(self, problem: Problem) -> dict[str, Ladder]:
        """Ladders of fewer digits, for numbers without a ladder of the holder's."""
        free = [c for c in problem.table.features if c not in {*self.keep, *problem.ladders}]
        made = {name: digit_ladder(problem.table.frame[name]) for name in free}
        return {name: ladder for name, ladder in made.items() if ladder is not None}

    def _release(
        self,
        problem: Problem,
        scored: CoarserSets,
        number: int,
        ladders: Mapping[str, Ladder],
        levels: Mapping[str, list[pl.Series]],
        digits: Mapping[str, Ladder],
    ) -> Release | None:
        """A set as a release; `None` if a column of it would be constant."""
        assert problem.yardstick is not None
        rungs = {problem.yardstick.features[rung.column]: rung for rung in scored.rungs(number)}
        forms: dict[str, Coarsening] = {}
        for name, rung in rungs.items():
            if rung.form is not None:
                forms[name] = Coarsening(rung.form.description(), 1)
            elif rung.chain == DIGITS:
                forms[name] = Coarsening(digits[name].to_dict(), rung.dropped)
            elif rung.level is not None:
                forms[name] = Coarsening(ladders[name].to_dict(), _level(rung, levels[name]))
        # Suppress first, then name: labels and ends of intervals must not show suppressed values.
        release = problem.trimmed(self._in_forms(problem, list(rungs), forms))
        stated = _of_released(problem, release, rungs, forms)
        if stated is None:
            return None
        whole = self._in_forms(problem, list(rungs), stated)
        release = whole.keeping(release.mask) if release.is_suppressed else whole
        return replace(release, name=form_name(release))

    def _in_forms(
        self, problem: Problem, columns: Sequence[str], forms: Mapping[str, Coarsening]
    ) -> Release:
        """An unsuppressed release of some columns in their forms."""
        table = problem.table
        names = in_order(table, columns)
        plain = released(table, names, "", Recipe(self.name, {"search": "kept and told"}))
        coarse = [
            Ladder.from_dict(name, form.ladder).apply(table.frame[name], form.level)
            for name, form in forms.items()
        ]
        return Release(
            set_name(names),
            Table(plain.table.frame.with_columns(coarse), plain.table.roles),
            plain.recipe,
            people=table.people,
            unit=table.unit,
            forms=dict(forms),
        )


def _of_released(
    problem: Problem,
    release: Release,
    rungs: Mapping[str, Rung],
    forms: Mapping[str, Coarsening],
) -> dict[str, Coarsening] | None:
    """Forms whose labels and ends come from released rows; `None` if one has no groups left.

    The holder's ladders stay as they are.
    """
    stated = dict(forms)
    for name, form in forms.items():
        cells, learnt = release.cells(problem.table.frame[name]), rungs[name].form
        stability = None
        if learnt is not None:
            ladder = named_after(learnt, cells, problem.k, release.people)
            stability = agreement(learnt, rungs[name].trials, learnt.finest.codes(cells))
        elif name in problem.ladders:
            continue
        else:
            ladder = drawn_in(Ladder.from_dict(name, form.ladder), form.level, cells)
        if ladder is None:
            return None
        stated[name] = Coarsening(ladder, form.level, stability, rungs[name].trials)
    return stated


def _levels(ladders: Mapping[str, Ladder], frame: pl.DataFrame) -> dict[str, list[pl.Series]]:
    """The values of every row on each level, without the column as it is and its absence."""
    return {
        name: [ladder.apply(frame[name], level) for level in range(1, ladder.top)]
        for name, ladder in ladders.items()
    }


def _finalists(scored: CoarserSets, most: int, columns: int | None) -> list[int]:
    """The sets that are best for some weight of told, or on the front.

    If the number of columns is limited, also the best sets within that limit.
    """
    if not scored.sets:
        return []
    measured = scored.measured
    scores = {
        columns: (float(measured.kept[i]), float(measured.told[i]))
        for i, columns in enumerate(scored.sets)
    }
    place = {columns: i for i, columns in enumerate(scored.sets)}
    best = [scored.chosen(caution) for caution in CAUTIONS]
    best += [place[each] for each in thinned(scores, most)]
    few = np.array([columns is not None and size <= columns for size in scored.sizes])
    best += [scored.chosen(caution, few) for caution in CAUTIONS if few.any()]
    return list(dict.fromkeys(best))


def _level(rung: Rung, levels: list[pl.Series]) -> int:
    """The number of a ladder's level, found by its values."""
    assert rung.level is not None
    same = (i for i, level in enumerate(levels, start=1) if level.equals(rung.level))
    return next(same)
