"""What people alike behind an engine reach, and whom a release of them would leave out.

Classes come into memory some at a time, whole, as the same counts that tables in memory give, and
are measured by the same code: the worst of all counts, so no figure is of a sample.

Whoever breaks what is asked is left out by joins: groups, and the people in them, are told apart
by a text of what they hold, since no engine joins cells that are missing.
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
"""What all groups reach of each requirement."""
GROUP, UNIT = "group", "unit"
"""Texts of what a group shares, and of whoever stays or goes as a whole: a person, or a cell."""


def spreads(counts: SensitiveCounts) -> Iterator[Spread]:
    """The counted sensitive values of some classes at a time."""
    return (_spread(counts, part) for part in whole_classes(counts))


def _spread(counts: SensitiveCounts, part: pl.DataFrame) -> Spread:
    classes, each = part["class"].to_numpy(), part[ROWS].to_numpy()
    first = _firsts(part)
    sizes = np.add.reduceat(each, first)
    return Spread(
        classes=classes,
        values=part["value"].to_numpy(),
        counts=each,
        first=first,
        sizes=sizes,
        totals=counts.values[ROWS].to_numpy(),
        number=counts.number,
        missing=counts.missing,
        people=part[PEOPLE].to_numpy()[first] if counts.several else sizes,
    )


def _firsts(part: pl.DataFrame) -> np.ndarray:
    """The first entry of each class."""
    return np.flatnonzero(np.diff(part["class"].to_numpy(), prepend=-1) > 0)


def cells_of(large: LargeTable, names: Iterable[str]) -> Frame:
    """Each combination that occurs of some columns and the people."""
    columns = dict.fromkeys([*large.columns(names), *large.who])
    return large.engine.hold(count_cells(large.frame, list(columns)))


def classes_in_memory(
    large: LargeTable, names: Sequence[str], cells: Frame, relabelled: Collection[str] = ()
) -> CountedClasses:
    """The classes by some columns, from cells over at least these and the people, in memory.

    Columns that were `relabelled` have another type than in the table.
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
    """What groups of people alike reach of all that is asked, each of columns and a secret.

    From cells over at least these and the people. Secrets are measured some groups at a time, and
    the worst of all counts.
    """
    found: dict[Requirement, float] = {}
    for names, some in asked.views.items():
        columns = large.columns(names)
        for secret, part in some.by_secret.items():
            if secret is None:
                sizes = group_sizes(large.engine, cells, columns, large.who)[SIZE].to_numpy()
                risk = partial(counted_average_risk, large.engine, cells, columns, large.who)
                counts = ClassCounts(sizes, mean_risk=risk)
                found |= {each: each.reached(counts) for each in part}
                continue
            grouped, keys = one_group(cells, columns)
            counted = map(ClassCounts.of_spread, spreads(_secrets(large, grouped, keys, secret)))
            figures = [[each.reached(counts) for each in part] for counts in counted]
            found |= {each: each.worst(all_) for each, all_ in zip(part, zip(*figures))}
    return {each: found[each] for each in asked}


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
    """Cells that keep all that each group is judged by, and whom it took to leave out."""

    cells: Frame
    gone: Frame | None
    """Whoever goes, by a text of the columns `whole`; `None` where nobody does."""
    whole: list[str]
    people: int
    """How many go; rows, where each is a person."""

    def without_gone(self, frame: Frame) -> Frame:
        """Rows, or cells, of those who stay; they have all the columns `whole`."""
        if self.gone is None:
            return frame
        keyed = frame.with_columns(content_text(frame, self.whole).alias(UNIT))
        return keyed.join(self.gone, on=UNIT, how="anti").drop(UNIT)


def without_few(asked: Requirements, large: LargeTable, cells: Frame, most: int) -> Rest | None:
    """The cells but for groups that break what each group is judged by, people whole.

    As `tamis.risk.suppression.rows_left` does it: groups are left out until none of the rest breaks
    it, counted on the rest alone. `None` where more than `most` people would go, or all.

    Cells are over the columns of all that is asked, its secrets, and the people.
    """
    engine, whole = large.engine, large.who or _columns(cells)
    left = engine.hold(engine.near(cells).with_columns(content_text(cells, whole).alias(UNIT)))
    people, gone = 0, []
    while True:
        broken = engine.hold(reduce(_together, _breaking(asked, large, left)))
        if large.who:
            here = count_rows(engine, broken)
        else:
            here = sum_of(engine, left.join(broken, on=UNIT, how="semi"), ROWS)
        people += here
        if people > most:
            return None
        if not here:
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
    """Whoever has a row in a group that breaks something, for each view and secret."""
    for names, some in asked.by_group.views.items():
        columns = large.columns(names)
        text = content_text(cells, columns).alias(GROUP)
        grouped = large.engine.hold(cells.with_columns(text))
        for secret, part in some.by_secret.items():
            if secret is None:
                crowds = crowds_of(grouped, [GROUP], [UNIT] if large.who else [])
                broken = crowds.filter(nw.col(PEOPLE) < part.k)
            else:
                broken = large.engine.keep(_too_alike(part, large, grouped, secret))
            yield grouped.join(broken, on=GROUP, how="semi").select(UNIT).unique()


def _too_alike(
    asked: Requirements, large: LargeTable, cells: Frame, secret: str
) -> Iterator[pl.DataFrame]:
    """The groups that break what is asked of their secrets, some at a time."""
    yield pl.DataFrame(schema={GROUP: pl.String})  # so that there is a part where none does
    counts = _secrets(large, cells, [GROUP], secret)
    for part in whole_classes(counts, keys=True):
        broken = asked.breaking(ClassCounts.of_spread(_spread(counts, part)))
        yield part[_firsts(part)].filter(pl.Series(broken)).select(GROUP)
