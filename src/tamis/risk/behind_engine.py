"""How exposed rows behind an engine are: the figures of `tamis.risk.audit`, and requirements.

Classes come into memory some at a time, whole, as the same counts that tables in memory give, and
are measured by the same code: the worst of all counts, so no figure is of a sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl

from tamis.errors import InputError
from tamis.require.base import Requirements
from tamis.require.counts import ClassCounts, Spread
from tamis.risk.anonymity import THRESHOLD, Reidentification
from tamis.risk.audit import ColumnEffect, Exposure
from tamis.risk.diversity import measure_secrets
from tamis.risk.grouping import ClassSize
from tamis.rows.counts import (
    PEOPLE,
    ROWS,
    SIZE,
    Dropped,
    SensitiveCounts,
    count_cells,
    counted_average_risk,
    group_sizes,
    one_group,
    sensitive_counts,
    sizes_of_classes,
    whole_classes,
)
from tamis.rows.engines import Frame
from tamis.rows.large_table import LargeTable


def large_exposure(table: LargeTable, threshold: float = THRESHOLD) -> Exposure:
    """Measure how exposed a table behind an engine is, exactly and on all rows.

    Parameters
    ----------
    table : LargeTable
    threshold : float
        The risk above which a person counts as exposed.

    Returns
    -------
    Exposure
        The same figures as `exposure` gives in memory.
    """
    shape, engine = table.shape, table.engine
    names = [c for c in shape.quasi if c != shape.sensitive]
    if not names:
        raise InputError(
            "there are no quasi-identifiers to group the rows by; name at least one column "
            "with --quasi a,b"
        )
    quasi, who = table.columns(names), table.who
    secret = [] if shape.sensitive is None else table.columns([shape.sensitive])
    cells = engine.hold(count_cells(table.frame, [*quasi, *secret, *who]))
    sizes, dropped = sizes_of_classes(engine, cells, quasi, who)
    spread = None
    if secret:
        number = shape.frame.schema[str(shape.sensitive)].is_numeric()
        spread = sensitive_counts(engine, cells, quasi, secret[0], who, number)
    return _exposure(table, tuple(names), sizes, dropped, spread, threshold)


def _exposure(
    table: LargeTable,
    quasi: tuple[str, ...],
    sizes: pl.DataFrame,
    dropped: Sequence[Dropped],
    spread: SensitiveCounts | None,
    threshold: float,
) -> Exposure:
    everybody = int(sizes["people"].sum())
    alone = sizes.filter(pl.col(SIZE) == 1)
    unique = int(alone["people"].sum())
    found = None if spread is None else measure_secrets(lambda: spreads(spread))
    return Exposure(
        rows=table.rows,
        quasi=quasi,
        sensitive=table.shape.sensitive,
        k_anonymity=int(sizes[SIZE][0]),
        unique_rows=int(alone["rows"].sum()),
        unique_share=unique / everybody,
        classes=int(sizes["classes"].sum()),
        class_sizes=tuple(ClassSize(**row) for row in sizes.iter_rows(named=True)),
        reidentification=_matched(sizes, everybody, threshold),
        l_diversity=None if found is None else found.l_diversity,
        t_closeness=None if found is None else found.t_closeness,
        columns=_effects(table, int(sizes[SIZE][0]), unique, dropped),
        people=everybody,
        unique_people=unique,
        unit=table.shape.unit,
        likeness=None if found is None else found.likeness,
    )


def _matched(sizes: pl.DataFrame, everybody: int, threshold: float) -> Reidentification:
    risk = 1 / sizes[SIZE].to_numpy()
    people = sizes["people"].to_numpy()
    above = int(people[risk > threshold].sum()) / everybody
    largest = 1 / int(sizes[SIZE][0])
    marketer = float((people * risk).sum()) / everybody
    return Reidentification(threshold, largest, above, largest, above, marketer)


def _effects(
    table: LargeTable, k: int, unique: int, dropped: Sequence[Dropped]
) -> tuple[ColumnEffect, ...]:
    effects = [
        ColumnEffect(
            column=table.name_of(each.column),
            k_anonymity=each.k,
            unique_rows=each.unique_rows,
            k_gain=each.k - k,
            fewer_unique=unique - each.unique_people,
            unique_people=each.unique_people,
        )
        for each in dropped
    ]
    return tuple(sorted(effects, key=lambda e: (-e.fewer_unique, -e.k_gain)))


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
