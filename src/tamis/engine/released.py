"""Released rows behind an engine: how many are alike, who is unique, how likely people are found.

What is chosen is counted here before it is written, and what was written is counted again by
another engine. So nothing here knows what was required: whoever verifies counts by definitions.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import narwhals as nw
import polars as pl

from tamis.engine.backend import Engine, Frame
from tamis.engine.cells import (
    SIZE,
    alike_counts,
    count_cells,
    count_distinct,
    merge_cells,
    size_counts,
)
from tamis.errors import CannotMeet, listed
from tamis.table import Unit
from tamis.unique_counts import Counts, ExposureFacts, shown_counts

ALL = "all"


class Smallest(NamedTuple):
    """The smallest group, and how many are alone in one."""

    k: int
    unique: int


def smallest(engine: Engine, cells: Frame, columns: list[str], who: list[str]) -> Smallest:
    """The smallest group of rows alike, from cells over at least these columns.

    In people where `who` tells them apart; where no column is given, all are one group.
    """
    if not columns and not who:
        rows = int(engine.small(merge_cells(cells, [])).item())
        return Smallest(rows, int(rows == 1))
    merged = engine.hold(merge_cells(cells, [*columns, *who]))
    sizes = size_counts(engine, merged, columns, who)
    alone = sizes.filter(pl.col(SIZE) == 1)
    return Smallest(int(sizes[SIZE][0]), int(alone["people"].sum()))


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """The released rows behind an engine, before they are written or after."""

    engine: Engine
    frame: Frame
    columns: dict[str, str]
    """By name the released columns; those of bounds need not be there."""
    target: str
    who: list[str]
    """The columns that tell people apart; empty if each row is a different person."""

    @cached_property
    def cells(self) -> Frame:
        """Each combination that occurs of the released columns and the people."""
        every = [*self.columns.values(), *self.who]
        return self.engine.hold(count_cells(self.frame, every))

    def named(self, names: Collection[str]) -> list[str]:
        """The columns of the frame that have these names."""
        if missing := [name for name in names if name not in self.columns]:
            raise CannotMeet(
                f"a promise is about column {listed(missing)}, which is not in the file"
            )
        return [self.columns[name] for name in names]

    def reached(self, names: Collection[str], in_people: bool) -> int:
        """The smallest group of those alike in some columns."""
        return smallest(self.engine, self.cells, self.named(names), self._who(in_people)).k

    def counts(self, known: list[str], in_people: bool) -> Counts:
        """Who is unique, as `tamis.verification.checks` has it, and the number of all."""
        engine, cells, who = self.engine, self.cells, self._who(in_people)
        columns, target = self.named(known), self.columns[self.target]
        groups, of, members = alike_counts(engine, cells, columns, target, who)
        figures = {
            "known": smallest(engine, cells, columns, who)._asdict(),
            "everything": smallest(engine, cells, list(self.columns.values()), who)._asdict(),
            "same_target": {"groups": groups, "of": of, "members": members},
        }
        if who:
            return figures, count_distinct(engine, cells, who)
        return figures, int(engine.small(merge_cells(cells, [])).item())

    def exposure(self, known: list[str], k: int, unit: Unit) -> ExposureFacts:
        """Who is unique by what attackers may know; in rows too where people have several.

        Numbers of people from 1 to k - 1 are left out.
        """
        facts = self._facts(known, k, unit, bool(self.who))
        return {**facts, "rows": self._facts(known, k, "rows", False)} if self.who else facts

    def _who(self, in_people: bool) -> list[str]:
        return self.who if in_people else []

    def _facts(self, known: list[str], k: int, unit: Unit, in_people: bool) -> ExposureFacts:
        counts = self.counts(known, in_people)
        return shown_counts(counts, known, "equal", unit, k, few=not in_people)


def one_group(cells: Frame, columns: list[str]) -> tuple[Frame, list[str]]:
    """Cells, and the columns that define groups: where there are none, one that is constant."""
    return (cells, columns) if columns else (cells.with_columns(nw.lit(1).alias(ALL)), [ALL])


def counted_average_risk(engine: Engine, cells: Frame, columns: list[str], who: list[str]) -> float:
    """The mean over people of 1 by the people in their smallest group.

    From cells over at least the columns that define groups and those that tell people apart; where
    there are none of the latter, each row is a person.
    """
    sizes = group_sizes(engine, cells, columns, who)
    risks = sizes.select((pl.col("people") / pl.col(SIZE)).sum() / pl.col("people").sum())
    return float(risks.item())


def group_sizes(engine: Engine, cells: Frame, columns: list[str], who: list[str]) -> pl.DataFrame:
    cells, columns = one_group(cells, columns)
    members = engine.hold(merge_cells(cells, [*columns, *who]))
    return size_counts(engine, members, columns, who)
