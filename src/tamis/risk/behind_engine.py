"""Requirements on tables behind an engine: what groups reach, and whom suppression leaves out.

Whole classes come into memory a batch at a time, as the same counts that tables in memory give, and
are measured by the same code. The result is the worst over all batches, not an estimate from a
sample.

Groups that fail a requirement are left out by joins. Groups and people are identified by a text of
their content, because SQL joins do not match missing cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple

import narwhals as nw
import numpy as np
import polars as pl

from tamis.require.base import Requirement, Requirements
from tamis.require.counts import ClassCounts, Spread
from tamis.risk.presence import CountedClasses
from tamis.rows.counts import (
    PEOPLE,
    ROWS,
    SIZE,
    SensitiveCounts,
    count_cells,
    count_rows,
    counted_average_risk,
    crowds_of,
    group_sizes,
    one_group,
    sensitive_counts,
    sum_of,
    whole_classes,
)
from tamis.rows.engines import Frame
from tamis.rows.large_table import LargeTable, content_text

Reached = Mapping[Requirement, float]
"""The figure that each requirement reaches, over all groups."""
GROUP, UNIT = "group", "unit"
"""Columns of texts that identify a group, and a unit of suppression: a person, or a cell."""


def spreads(counts: SensitiveCounts) -> Iterator[Spread]:
    """The counted sensitive values, a batch of whole classes at a time."""
    return (_spread(counts, part) for part in whole_classes(counts))


def _spread(counts: SensitiveCounts, part: pl.DataFrame) -> Spread:
    classes, rows = part["class"].to_numpy(), part[ROWS].to_numpy()
    first = _firsts(part)
    sizes = np.add.reduceat(rows, first)
    return Spread(
        classes=classes,
        values=part["value"].to_numpy(),
        counts=rows,
        first=first,
        sizes=sizes,
        totals=counts.values[ROWS].to_numpy(),
        number=counts.number,
        missing=counts.missing,
        people=part[PEOPLE].to_numpy()[first] if counts.several else sizes,
    )


def _firsts(part: pl.DataFrame) -> np.ndarray:
    """The position of the first entry of each class; entries of a class are together."""
    return np.flatnonzero(np.diff(part["class"].to_numpy(), prepend=-1) > 0)


def cells_of(large: LargeTable, names: Iterable[str]) -> Frame:
    """The combinations of some columns and the people that occur, with their counts."""
    columns = dict.fromkeys([*large.columns(names), *large.who])
    return large.engine.hold(count_cells(large.frame, list(columns)))


def classes_in_memory(
    large: LargeTable, names: Sequence[str], cells: Frame, relabelled: Collection[str] = ()
) -> CountedClasses:
    """The classes by some columns, read into memory from cells over at least these and the people.

    `relabelled` columns have other types than in the table and are not cast to these.
    """
    grouped, keys = one_group(cells, large.columns(names))
    counted = pl.concat(large.engine.batches(crowds_of(grouped, keys, large.who)))
    kinds = large.shape.frame.schema
    columns = [
        counted[column].alias(name)
        if name in relabelled
        else counted[column].cast(kinds[name]).alias(name)
        for name, column in zip(names, keys)
    ]
    return CountedClasses(pl.DataFrame(columns if names else []), counted[PEOPLE].to_numpy())


def reached_by_all(asked: Requirements, large: LargeTable, cells: Frame) -> Reached:
    """The figure that each requirement reaches, from cells over its columns and the people.

    Requirements on sensitive values are measured a batch of groups at a time, and the worst batch
    counts.
    """
    found: dict[Requirement, float] = {}
    for names, view in asked.views.items():
        columns = large.columns(names)
        for secret, part in view.by_secret.items():
            if secret is None:
                sizes = group_sizes(large.engine, cells, columns, large.who)[SIZE].to_numpy()
                risk = partial(counted_average_risk, large.engine, cells, columns, large.who)
                counts = ClassCounts(sizes, mean_risk=risk)
                found |= {one: one.reached(counts) for one in part}
                continue
            grouped, keys = one_group(cells, columns)
            counted = map(ClassCounts.of_spread, spreads(_secrets(large, grouped, keys, secret)))
            figures = [[one.reached(counts) for one in part] for counts in counted]
            found |= {one: one.worst(batches) for one, batches in zip(part, zip(*figures))}
    return {one: found[one] for one in asked}


def one_group_of_all(large: LargeTable, cells: Frame, secret: str | None) -> ClassCounts:
    """All people as one group, from cells over at least them and the secret."""
    sizes = group_sizes(large.engine, cells, [], large.who)[SIZE].to_numpy()
    mean_risk = (lambda: 1 / int(sizes.sum())) if large.who else None
    if secret is None:
        return ClassCounts(sizes, mean_risk=mean_risk)
    (spread,) = spreads(_secrets(large, *one_group(cells, []), secret))
    return ClassCounts(sizes, lambda: spread, mean_risk)


def _secrets(large: LargeTable, cells: Frame, keys: list[str], secret: str) -> SensitiveCounts:
    number = large.shape.frame.schema[secret].is_numeric()
    (column,) = large.columns([secret])
    return sensitive_counts(large.engine, cells, keys, column, large.who, number)


class Rest(NamedTuple):
    """The result of suppression: the cells that stay, and the units that were left out."""

    cells: Frame
    gone: Frame | None
    """Units left out, as texts of the columns `whole`; `None` if there are none."""
    whole: list[str]
    """The columns that identify a unit: those of people, or all columns of a cell."""
    people: int
    """The number of people left out; of rows, if each row is a person."""

    def without_gone(self, frame: Frame) -> Frame:
        """The rows, or cells, of a frame that stay; it needs all the columns `whole`."""
        if self.gone is None:
            return frame
        keyed = frame.with_columns(content_text(frame, self.whole).alias(UNIT))
        return keyed.join(self.gone, on=UNIT, how="anti").drop(UNIT)


def without_few(asked: Requirements, large: LargeTable, cells: Frame, most: int) -> Rest | None:
    """Suppress groups that fail a requirement on groups, with all rows of their people.

    Like `tamis.risk.suppression.rows_left`: groups are left out until the remaining rows, counted
    by themselves, meet the requirements. `None` if more than `most` people, or all, would go.

    The cells are over all columns of the requirements, their sensitive columns, and the people.
    """
    engine, whole = large.engine, large.who or _columns(cells)
    left = engine.hold(engine.near(cells).with_columns(content_text(cells, whole).alias(UNIT)))
    people, gone = 0, []
    # Leaving out a person's other rows may make further groups too small: repeat until none is.
    while True:
        broken = engine.hold(reduce(_together, _breaking(asked, large, left)))
        if large.who:
            suppressed = count_rows(engine, broken)
        else:
            suppressed = sum_of(engine, left.join(broken, on=UNIT, how="semi"), ROWS)
        people += suppressed
        if people > most:
            return None
        if not suppressed:
            break
        gone.append(broken)
        left = engine.hold(left.join(broken, on=UNIT, how="anti"))
        if not count_rows(engine, left):
            return None
    everyone = engine.hold(reduce(_together, gone)) if gone else None
    return Rest(left.drop(UNIT), everyone, whole, people)


def _columns(cells: Frame) -> list[str]:
    return [name for name in cells.collect_schema().names() if name != ROWS]


def _together(one: Frame, other: Frame) -> Frame:
    return nw.concat([one, other]).unique()


def _breaking(asked: Requirements, large: LargeTable, cells: Frame) -> Iterator[Frame]:
    """The units with a row in a group that fails, for each view and sensitive column."""
    for names, view in asked.by_group.views.items():
        columns = large.columns(names)
        text = content_text(cells, columns).alias(GROUP)
        grouped = large.engine.hold(cells.with_columns(text))
        for secret, part in view.by_secret.items():
            if secret is None:
                crowds = crowds_of(grouped, [GROUP], [UNIT] if large.who else [])
                broken = crowds.filter(nw.col(PEOPLE) < part.k)
            else:
                broken = large.engine.keep(_too_alike(part, large, grouped, secret))
            yield grouped.join(broken, on=GROUP, how="semi").select(UNIT).unique()


def _too_alike(
    asked: Requirements, large: LargeTable, cells: Frame, secret: str
) -> Iterator[pl.DataFrame]:
    """The groups that fail a requirement on sensitive values, a batch at a time."""
    yield pl.DataFrame(schema={GROUP: pl.String})  # so that there is a part even if no group fails
    counts = _secrets(large, cells, [GROUP], secret)
    for part in whole_classes(counts, keys=True):
        broken = asked.breaking(ClassCounts.of_spread(_spread(counts, part)))
        yield part[_firsts(part)].filter(pl.Series(broken)).select(GROUP)
