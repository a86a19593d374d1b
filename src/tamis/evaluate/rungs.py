"""Rungs: the forms that a column may be released in, scored like columns of their own.

A column's rungs are the column as it is, numbers with fewer digits, levels from a ladder, learnt
groups, and being absent. A set of rungs has at most one of each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coarsen.learnt_forms import CoarserForm, FinestCodes
from tamis.coding import coded, dense
from tamis.evaluate.subset_bits import Columns, Question, SubsetBits
from tamis.learn.coded_table import CodedTable
from tamis.learn.views import View, Views


@dataclass(frozen=True, eq=False)
class Rung:
    """One form of one column."""

    column: int
    """The number of the column."""
    groups: int
    """Distinct values in this form, without the missing one."""
    chain: int = 0
    """Rungs of one column and chain are nested: the one of more groups determines the others.

    Chain 0 is the column as it is, which determines all; every other chain has its own number.
    """
    form: CoarserForm | None = None
    """A learnt form; `None` for the column as it is and for levels of a ladder."""
    level: pl.Series | None = None
    """The value of every row on a level of a ladder."""
    trials: tuple[CoarserForm, ...] = ()
    """The form as learnt in each round of choosing, without that round's test rows."""
    dropped: int = 0
    """Digits cut off, for numbers with fewer digits."""
    cures: bool = False
    """Whether cutting digits removes a view of them that tells a secret."""

    def applied(self, column: pl.Series) -> pl.Series:
        """The column as this rung releases it."""
        if self.form is not None:
            return self.form.applied(column)
        return column if self.level is None else self.level

    def implies(self, other: Rung) -> bool:
        """Whether this rung determines the other."""
        if self.column != other.column:
            return False
        if self.chain == 0:
            return True
        return self.chain == other.chain and self.groups >= other.groups


@dataclass(eq=False)
class RungBits(SubsetBits):
    """Scorer of sets of rungs; the first rungs are the columns as they are.

    Build it with `of_columns`, then `with_rungs`.
    """

    rungs: tuple[Rung, ...] = ()
    made: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))
    """`[i, j]`: rung i determines rung j."""

    @classmethod
    def of_columns(cls, bits: SubsetBits, frame: pl.DataFrame) -> RungBits:
        """A scorer whose only rungs are the columns as they are; fits of `bits` are kept."""
        rungs = tuple(
            Rung(number, column.n_unique() - column.has_nulls())
            for number, column in enumerate(frame)
        )
        return cls(
            bits.table,
            bits.parts,
            bits.target,
            bits.secret,
            bits.people,
            bits.boosting,
            dict(bits.fitted),
            rungs,
            np.eye(len(rungs), dtype=np.bool_),
            tables=(bits.table,) * len(bits.parts.choosing.rounds),
            means=dict(bits.means),
            others=bits.others,
        )

    def with_rungs(self, frame: pl.DataFrame, more: Sequence[Rung]) -> RungBits:
        """A copy with further rungs appended; earlier rungs keep their numbers and fits."""
        rows, search = self.table.coded_rows, self.table.places(self.parts.search)
        more = [replace(rung, cures=self._cures(rung, rows)) for rung in more]
        rungs = (*self.rungs, *more)
        finest = FinestCodes(few := frame[rows])
        released, *rounds = (
            [_coded(rung, few, finest, rows, number, search) for rung in more]
            for number in (None, *range(len(self.tables)))
        )
        return replace(
            self,
            table=_before_last(self.table, released),
            secret=None if self.secret is None else self._asked(self.secret, rungs, rows),
            others=tuple(
                each._replace(asked=self._asked(each.asked, rungs, rows)) for each in self.others
            ),
            rungs=rungs,
            tables=tuple(_before_last(t, new) for t, new in zip(self.tables, rounds)),
            made=_implied(rungs),
            fitted=dict(self.fitted),
            means=dict(self.means),
            told=dict(self.told),
        )

    def _asked(self, guess: Question, rungs: Sequence[Rung], rows: NDArray[np.intp]) -> Question:
        """A question over more rungs, with the views that numbers of fewer digits still show."""
        left = [
            replace(view, columns=(number,))
            for number, rung in enumerate(rungs)
            if rung.dropped and number >= len(self.rungs)
            for view in _of_column(guess.views, rung.column)
            if _shows(rung, view, rows)
        ]
        views = replace(guess.views, kept=(*guess.views.kept, *left))
        return replace(guess, beside=(len(rungs),), views=views)

    def _cures(self, rung: Rung, rows: NDArray[np.intp]) -> bool:
        """Whether a rung of fewer digits hides some telling view that its column shows."""
        asked = [] if self.secret is None else [self.secret, *(each.asked for each in self.others)]
        views = [view for guess in asked for view in _of_column(guess.views, rung.column)]
        return rung.dropped > 0 and not all(_shows(rung, view, rows) for view in views)

    @property
    def columns(self) -> int:
        """Number of columns, not counting rungs."""
        return 1 + max(rung.column for rung in self.rungs)

    @property
    def everything(self) -> Columns:
        """All columns as they are."""
        return tuple(range(self.columns))

    def implies(self, columns: Columns) -> NDArray[np.bool_]:
        """Mask of the rungs that a set determines: its own and all coarser ones."""
        return np.asarray(self.made[list(columns)].any(axis=0))

    def sources(self, columns: Sequence[int]) -> Sequence[int]:
        return [self.rungs[c].column for c in columns]


def of_columns(rungs: Sequence[Rung]) -> dict[int, list[int]]:
    """Rung numbers by column; rungs of different columns never determine each other."""
    by_column: dict[int, list[int]] = {}
    for number, rung in enumerate(rungs):
        by_column.setdefault(rung.column, []).append(number)
    return by_column


def _implied(rungs: Sequence[Rung]) -> NDArray[np.bool_]:
    """`[i, j]`: rung i determines rung j."""
    made = np.zeros((len(rungs), len(rungs)), dtype=np.bool_)
    for numbers in of_columns(rungs).values():
        for one in numbers:
            made[one, numbers] = [rungs[one].implies(rungs[other]) for other in numbers]
    return made


def _coded(
    rung: Rung,
    frame: pl.DataFrame,
    finest: FinestCodes,
    rows: NDArray[np.intp],
    number: int | None,
    search: NDArray[np.intp],
) -> CodedTable:
    """One rung of some rows as a coded column: as in one round, or (`None`) as released."""
    if rung.form is None:
        cells = frame[:, rung.column] if rung.level is None else rung.level[rows]
        return CodedTable.of(cells.to_frame(), search)
    return in_form(finest, rung.column, rung.form if number is None else rung.trials[number])


def in_form(finest: FinestCodes, column: int, form: CoarserForm) -> CodedTable:
    """A column in a learnt form, coded for the rows of `finest`."""
    codes = finest.of(column, form)[None, :]
    # One code more than groups, for missing cells.
    return CodedTable(codes, np.array([form.groups + 1]), np.array([form.finest.ordered]))


def _of_column(views: Views, column: int) -> list[View]:
    """The views of a single column's own values."""
    return [view for view in views.kept if view.columns == (column,) and not view.lacking]


def _shows(rung: Rung, view: View, rows: NDArray[np.intp]) -> bool:
    """Whether a rung of fewer digits determines a view."""
    if rung.level is None:
        return False
    cells = dense(coded(rung.level[rows]))
    # The last row of each cell sets its view; the rung determines the view if all rows agree.
    view_of = np.zeros(cells.radix, dtype=view.codes.dtype)
    view_of[cells.codes] = view.codes
    return bool((view_of[cells.codes] == view.codes).all())


def _before_last(table: CodedTable, more: Sequence[CodedTable]) -> CodedTable:
    """The table with further columns inserted before its last one, the target."""
    front, last = (
        CodedTable(table.codes[part], table.widths[part], table.ordered[part], table.at)
        for part in (slice(-1), slice(-1, None))
    )
    return front.beside(*more, last)
