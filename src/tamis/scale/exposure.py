"""What all rows of a release reach, counted by an engine: who is unique, and what holds of groups.

Of l, t and likeness whole classes are taken into memory, some at a time, and measured there as
tables in memory are: the worst of all classes counts, so no figure is of a sample.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl

from tamis.engine.backend import Engine, Frame
from tamis.engine.cells import (
    SIZE,
    alike_counts,
    count_cells,
    count_distinct,
    merge_cells,
    sensitive_counts,
    size_counts,
)
from tamis.engine.large_table import LargeTable
from tamis.errors import CannotMeet, listed
from tamis.publish.checks import Counts
from tamis.require.base import Requirements
from tamis.require.counts import ClassCounts
from tamis.risk.large import spreads
from tamis.table import Unit
from tamis.unique_counts import ExposureFacts, shown_counts

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
    sizes = _group_sizes(engine, cells, columns, who)
    risks = sizes.select((pl.col("people") / pl.col(SIZE)).sum() / pl.col("people").sum())
    return float(risks.item())


def _group_sizes(engine: Engine, cells: Frame, columns: list[str], who: list[str]) -> pl.DataFrame:
    cells, columns = one_group(cells, columns)
    members = engine.hold(merge_cells(cells, [*columns, *who]))
    return size_counts(engine, members, columns, who)


def reached_beyond_k(
    asked: Requirements, large: LargeTable, cells: Frame, names: tuple[str, ...]
) -> dict[str, float]:
    """What groups of people alike in some columns reach of what is asked, by its name.

    From cells over at least these columns, the sensitive column and the people. Secrets are
    measured some groups at a time, and the worst of all counts.
    """
    engine, columns, who = large.engine, large.columns(names), large.who
    of_secrets = [each for each in asked if each.about_secret]
    found: dict[str, float] = {}
    if of_secrets:
        secret = str(large.shape.sensitive)
        number = large.shape.frame.schema[secret].is_numeric()
        grouped, keys = one_group(cells, columns)
        (column,) = large.columns([secret])
        counts = sensitive_counts(engine, grouped, keys, column, who, number)
        parts = [
            [each.reached(part) for each in of_secrets]
            for part in map(ClassCounts.of_spread, spreads(counts))
        ]
        found = {each.name: each.worst(part) for each, part in zip(of_secrets, zip(*parts))}
    if rest := [each for each in asked if not each.about_secret]:
        sizes = _group_sizes(engine, cells, columns, who)[SIZE].to_numpy()
        risk = partial(counted_average_risk, engine, cells, columns, who)
        found |= {each.name: each.reached(ClassCounts(sizes, mean_risk=risk)) for each in rest}
    return found


def cells_of(large: LargeTable, names: tuple[str, ...], secret: bool) -> Frame:
    """Each combination that occurs of some columns, the people, and the secret where asked for."""
    wanted = [*names, *([str(large.shape.sensitive)] if secret else [])]
    columns = dict.fromkeys([*large.columns(wanted), *large.who])
    return large.engine.hold(count_cells(large.frame, list(columns)))


def stated_groups(
    settings: Any, large: LargeTable, known: list[str], k: int, found: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What is stated of groups: of their risk, and of the sensitive column.

    The smallest group has k people; `found` is from `reached_beyond_k`.
    """
    secret, unit = str(large.shape.sensitive), large.shape.unit
    numeric = large.shape.frame.schema[secret].is_numeric()
    asked = settings.requirements.about(known, secret, number=numeric)
    figures = {**found, **asked.of_sizes.reached(ClassCounts(np.array([k])))}
    public = "private" if large.who else "file"
    recount = public if secret == large.shape.target else "private"
    risks, of_secret = (
        [{**each.to_dict(unit), "measured": figures[each.name], "recount": of} for each in some]
        for some, of in ((asked.of_risks, public), (asked.about_secrets, recount))
    )
    return risks, of_secret
