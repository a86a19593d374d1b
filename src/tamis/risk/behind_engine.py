"""What people alike behind an engine reach: the counts that requirements are asked of.

Classes come into memory some at a time, whole, as the same counts that tables in memory give, and
are measured by the same code: the worst of all counts, so no figure is of a sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import polars as pl

from tamis.require.base import Requirements
from tamis.require.counts import ClassCounts, Spread
from tamis.rows.counts import (
    PEOPLE,
    ROWS,
    SIZE,
    SensitiveCounts,
    count_cells,
    counted_average_risk,
    group_sizes,
    one_group,
    sensitive_counts,
    whole_classes,
)
from tamis.rows.engines import Frame
from tamis.rows.large_table import LargeTable


def spreads(counts: SensitiveCounts) -> Iterator[Spread]:
    """The counted sensitive values of some classes at a time."""
    return (_spread(counts, part) for part in whole_classes(counts))


def _spread(counts: SensitiveCounts, part: pl.DataFrame) -> Spread:
    classes, each = part["class"].to_numpy(), part[ROWS].to_numpy()
    first = np.flatnonzero(np.diff(classes, prepend=-1) > 0)
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


def cells_of(large: LargeTable, names: tuple[str, ...], secret: bool) -> Frame:
    """Each combination that occurs of some columns, the people, and the secret where asked for."""
    wanted = [*names, *([str(large.shape.sensitive)] if secret else [])]
    columns = dict.fromkeys([*large.columns(wanted), *large.who])
    return large.engine.hold(count_cells(large.frame, list(columns)))


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
        sizes = group_sizes(engine, cells, columns, who)[SIZE].to_numpy()
        risk = partial(counted_average_risk, engine, cells, columns, who)
        found |= {each.name: each.reached(ClassCounts(sizes, mean_risk=risk)) for each in rest}
    return found
