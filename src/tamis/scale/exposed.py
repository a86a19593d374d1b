"""Who is unique in a release, counted by an engine: the facts of `tamis.publish.exposure`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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
from tamis.publish.checks import Counts
from tamis.publish.exposure import shown_from
from tamis.publish.summary import ExposureFacts, Unit


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
    """The released rows behind an engine, before they are written or after.

    Parameters
    ----------
    engine : Engine
    frame : lazy frame
    columns : dict of name to column
        The released columns; those of bounds need not be there.
    target : str
    who : list of str
        The columns that tell people apart; empty if each row is a different person.
    """

    engine: Engine
    frame: Frame
    columns: dict[str, str]
    target: str
    who: list[str]

    @cached_property
    def cells(self) -> Frame:
        """Each combination that occurs of the released columns and the people."""
        every = [*self.columns.values(), *self.who]
        return self.engine.hold(count_cells(self.frame, every))

    def named(self, names: Iterable[str]) -> list[str]:
        """The columns of the frame that have these names."""
        return [self.columns[name] for name in names]

    def reached(self, names: Iterable[str], in_people: bool) -> int:
        """The smallest group of those alike in some columns."""
        return smallest(self.engine, self.cells, self.named(names), self._who(in_people)).k

    def counts(self, known: list[str], in_people: bool) -> Counts:
        """Who is unique, as `tamis.publish.checks` has it, and the number of all."""
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
        """Who is unique; in rows too where people have several.

        Parameters
        ----------
        known : list of str
            The columns that attackers may know.
        k : int
            Numbers of people from 1 to k - 1 are left out.
        unit : {"people", "rows"}
            What is counted.
        """
        facts = self._facts(known, k, unit, bool(self.who))
        return {**facts, "rows": self._facts(known, k, "rows", False)} if self.who else facts

    def _who(self, in_people: bool) -> list[str]:
        return self.who if in_people else []

    def _facts(self, known: list[str], k: int, unit: Unit, in_people: bool) -> ExposureFacts:
        shown = shown_from(k if in_people else 1)
        found, total = self.counts(known, in_people)
        alike, members = found["same_target"], shown(found["same_target"]["members"])
        of_known = {name: shown(value) for name, value in found["known"].items()}
        return {
            "unit": unit,
            "asked": k,
            "total": total,
            "known": {"columns": sorted(known), "kind": "equal", **of_known},  # type: ignore[typeddict-item]
            "everything": {name: shown(value) for name, value in found["everything"].items()},  # type: ignore[typeddict-item]
            "same_target": {
                "groups": None if members is None else alike["groups"],
                "of": alike["of"],
                "members": members,
            },
        }
