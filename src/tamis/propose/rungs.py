"""Sets of rungs: which of them keep k, and the steps from one to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import pairwise
from operator import or_

import polars as pl

from tamis.arrays import Floats
from tamis.coarsen.learnt_forms import FinestCodes
from tamis.coding import Coded, CodedFrame, DistinctRows, coded, collapsed, joined
from tamis.evaluate.rungs import Rung, of_columns
from tamis.evaluate.subset_bits import Columns
from tamis.people import People, PeopleLike
from tamis.risk.attackers import Known
from tamis.risk.grouping import fewest_alike
from tamis.risk.suppression import all_but_few

Keeps = Callable[[Columns], bool]

JOINED = 16
"""Joined codes of sets of columns to cache: consecutive sets often have a prefix in common."""


def keeps_people(
    rungs: Sequence[Rung],
    frame: pl.DataFrame,
    quasi: Sequence[str],
    k: int,
    people: PeopleLike = None,
    also: Callable[[Known], bool] | None = None,
    most: int = 0,
    codes: CodedFrame | None = None,
) -> Keeps:
    """A check that a set has at most one rung a column and keeps k in the quasi-identifiers.

    It is monotone: no superset of a refused set is kept, since two rungs of a column stay two and
    equivalence classes only become smaller.

    Parameters
    ----------
    rungs : sequence of Rung
        It may grow; rungs keep their places.
    frame : polars.DataFrame
        All rows, since all of them are released.
    quasi, k
        The columns that attackers may know, and the smallest class allowed in them.
    people : People or array, optional
        The person of each row. `None`: each row is a person.
    also : callable, optional
        A further check of columns as attackers see them.
    most : int
        The most people who may be suppressed so that the rest keeps k. Where people have several
        rows or more is required, `also` decides that.
    codes : CodedFrame, optional
        The columns as codes, if the caller has them.
    """
    known = {i for i, name in enumerate(frame.columns) if name in set(quasi)}
    who = People.named(people, frame.height)
    codes = CodedFrame(frame) if codes is None else codes
    cells = _RungCells(rungs, frame, codes)
    if known and who.each_row and also is None:  # only k counts: equal rows collapse into one
        cells.collapse([frame.columns[column] for column in sorted(known)])
    answers = _Answers(rungs)

    def kept_besides(together: Columns) -> bool:
        seen = [(frame.columns[rungs[c].column], cells.of(c)) for c in together]
        return also is None or also(seen)

    @lru_cache(maxsize=JOINED)
    def classes_of(together: Columns) -> Coded:
        *rest, last = together
        return joined(classes_of(tuple(rest)), cells.of(last)) if rest else cells.of(last)

    def counted_people(together: Columns) -> bool:
        if most and cells.rows is None:
            return also is not None and kept_besides(together)
        if cells.rows is not None:
            return all_but_few(classes_of(together), cells.rows.counts, k, most)
        return fewest_alike([classes_of(together)], who) >= k and kept_besides(together)

    @cache
    def keeps(columns: Columns) -> bool:
        if len({rungs[c].column for c in columns}) < len(columns):
            return False
        together = tuple(c for c in columns if rungs[c].column in known)
        if not together:
            return True
        if also is not None:
            return counted_people(together)
        return answers.of(together, counted_people)

    return keeps


class _RungCells:
    """Cached codes of the rungs of a table, for all of its rows or its distinct ones."""

    def __init__(self, rungs: Sequence[Rung], frame: pl.DataFrame, codes: CodedFrame) -> None:
        self._rungs, self._frame, self._codes = rungs, frame, codes
        self._finest = FinestCodes(frame)
        self._found: dict[int, Coded] = {}
        self.rows: DistinctRows | None = None

    def collapse(self, names: Sequence[str]) -> None:
        """From now on, give codes of the distinct rows of these columns only."""
        self.rows = collapsed([self._codes[name] for name in names])

    def of(self, number: int) -> Coded:
        if number not in self._found:
            every = self._every(self._rungs[number])
            few = every if self.rows is None else Coded(every.codes[self.rows.first], every.radix)
            self._found[number] = few
        return self._found[number]

    def _every(self, rung: Rung) -> Coded:
        if rung.form is not None:
            return Coded(self._finest.of(rung.column, rung.form), rung.form.groups + 1)
        if rung.level is not None:
            return coded(rung.level)
        return self._codes[self._frame.columns[rung.column]]


class _Answers:
    """Known answers to which sets of rungs keep k, from which others follow without counting.

    Generalising only merges classes. So a set that determines a refused one is refused, and a set
    that a kept one determines is kept. Sets are integers with one bit a rung, so that "determines"
    is one operation.
    """

    def __init__(self, rungs: Sequence[Rung]) -> None:
        self._rungs = rungs
        self._makes: list[int] = []
        self._kept: dict[Columns, int] = {}
        self._refused: dict[Columns, int] = {}

    def of(self, columns: Columns, counted: Callable[[Columns], bool]) -> bool:
        """Whether a set is kept: as earlier answers imply, else as counted.

        A set is counted column by column, the finest first. Most sets fail by a subset of two or
        three columns, which is cheap to count and then refuses every other set with it.
        """
        self._learn_rungs()
        makes = self._makes_of(columns)
        if any(refused & ~makes == 0 for refused in self._refused.values()):
            return False
        finest_first = tuple(sorted(columns, key=lambda c: (-self._rungs[c].groups, c)))
        for end in range(1, len(columns) + 1):
            part = finest_first[:end]
            word = _word(part)
            if any(word & ~kept == 0 for kept in self._kept.values()):
                continue
            if not counted(part):
                self._refused[part] = word
                return False
            self._kept.pop(part[:-1], None)  # implied by the longer part
            self._kept[part] = self._makes_of(part)
        return True

    def _learn_rungs(self) -> None:
        """Include rungs added since the last call in what rungs and kept sets determine."""
        if len(self._makes) < len(self._rungs):
            alike = of_columns(self._rungs)
            self._makes = [
                sum(1 << i for i in alike[rung.column] if _tells_all(rung, self._rungs[i]))
                for rung in self._rungs
            ]
            self._kept = {columns: self._makes_of(columns) for columns in self._kept}

    def _makes_of(self, columns: Columns) -> int:
        return reduce(or_, (self._makes[c] for c in columns))


def _tells_all(one: Rung, other: Rung) -> bool:
    """Whether a rung determines another one of the same column, of whatever chain."""
    if one is other:
        return True
    if one.form is None or other.form is None or one.form.finest != other.form.finest:
        return one.form is None and one.level is None
    # As many pairs of groups as groups of `one`: each of these lies within one group of `other`.
    return len(set(zip(one.form.group_of, other.form.group_of))) == one.form.groups


def _word(columns: Columns) -> int:
    return sum(1 << c for c in columns)


def moves(rungs: Sequence[Rung], columns: Columns) -> list[Columns]:
    """The sets one step from a set: one column a rung finer or coarser.

    The column as it is steps to the finest rung of its last chain, a coarsest rung to the column's
    absence, and back. A rung may be exchanged for one of as many groups in a later chain.

    >>> rungs = [Rung(0, 9), Rung(1, 2), Rung(0, 3, chain=1), Rung(0, 2, chain=1)]
    >>> moves(rungs, (1, 2)), moves(rungs, (0,))
    ([(0, 1), (1, 3), (2,)], [(2,), (0, 1)])
    """
    ladders = _ladders(rungs)
    own = {rungs[c].column: c for c in columns}
    neighbours = []
    for column in sorted(ladders):
        rest = [c for c in columns if c != own.get(column)]
        for step in _steps(rungs, ladders[column], own.get(column)):
            neighbours.append(tuple(sorted(rest if step is None else [*rest, step])))
    return neighbours


def _ladders(rungs: Sequence[Rung]) -> dict[int, dict[int, list[int]]]:
    """Rung numbers by column and chain, the finest first."""
    ladders: dict[int, dict[int, list[int]]] = {}
    for number in sorted(range(len(rungs)), key=lambda n: (rungs[n].chain, -rungs[n].groups)):
        rung = rungs[number]
        ladders.setdefault(rung.column, {}).setdefault(rung.chain, []).append(number)
    return ladders


def _steps(
    rungs: Sequence[Rung], chains: dict[int, list[int]], own: int | None
) -> list[int | None]:
    """The rungs next to a column's current one; `None` is its absence."""
    (as_it_is,), last = chains[0], chains[max(chains)]
    if own is None:
        return [last[-1]]
    chain = rungs[own].chain
    path = [as_it_is, *(last if own == as_it_is else chains[chain]), None]
    path = list(dict.fromkeys(path))
    nearest = [b if a == own else a for a, b in pairwise(path) if own in (a, b)]
    if own == as_it_is:
        return list(dict.fromkeys([*nearest, *_cures(rungs, chains)[:1]]))
    same = [n for n in last if rungs[n].groups == rungs[own].groups and rungs[n].chain > chain]
    return [*nearest, *same, *(last[:1] if rungs[own].dropped and chain < max(chains) else [])]


def _cures(rungs: Sequence[Rung], chains: Mapping[int, Sequence[int]]) -> list[int]:
    """The rungs of fewer digits that hide a telling view, the finest first."""
    return [n for chain in sorted(chains) for n in chains[chain] if rungs[n].cures]


def coarsen_others(
    rungs: Sequence[Rung], start: Columns, step: Columns, keeps: Keeps, worth: Floats
) -> Columns:
    """A step with other columns coarsened until it is kept; () if nothing helps.

    A set that uses up what k allows has no kept neighbour with more in it: every better set lies
    behind worse ones, in which some column is already coarser. The rung that the step brings stays;
    of the others, the one that loses least alone (by `worth`) is coarsened, again and again.

    >>> import numpy as np
    >>> rungs = [Rung(0, 9), Rung(1, 9), Rung(0, 2, chain=1), Rung(1, 2, chain=1)]
    >>> worth = np.array([3.0, 3.0, 2.0, 2.0])
    >>> coarsen_others(rungs, (0,), (0, 3), lambda columns: 0 not in columns, worth)
    (2, 3)
    """
    ladders = _ladders(rungs)
    brought = set(step) - set(start)
    while not keeps(step):
        coarser = {c: _coarser(rungs, ladders, c) for c in step if c not in brought}
        if not coarser:
            return ()
        losses = {
            c: float(worth[c] - (0 if to is None else worth[to])) for c, to in coarser.items()
        }
        least = min(losses, key=lambda c: (losses[c], c))
        rest, to = set(step) - {least}, coarser[least]
        step = tuple(sorted(rest if to is None else {*rest, to}))
    return step


def _coarser(
    rungs: Sequence[Rung], ladders: Mapping[int, dict[int, list[int]]], own: int
) -> int | None:
    """The next coarser rung of a column; `None` is the column's absence."""
    chains, chain = ladders[rungs[own].column], rungs[own].chain
    path = [*(chains[chain] if chain else [own, *_last(chains)]), None]
    return path[path.index(own) + 1]


def _last(chains: Mapping[int, list[int]]) -> list[int]:
    """The rungs of the latest chain; empty if the column has no coarser form."""
    return chains[max(chains)] if max(chains) else []
