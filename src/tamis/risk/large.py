"""How exposed a table is whose rows do not fit in memory: the figures of `tamis.risk.audit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, inf, log

import numpy as np
import polars as pl

from tamis.engine.cells import (
    PEOPLE,
    ROWS,
    SIZE,
    Dropped,
    SensitiveCounts,
    count_cells,
    extremes,
    sensitive_counts,
    sizes_of_classes,
    whole_classes,
)
from tamis.engine.large_table import LargeTable
from tamis.errors import InputError
from tamis.require.counts import Spread
from tamis.risk.anonymity import THRESHOLD, Reidentification
from tamis.risk.audit import ColumnEffect, Exposure
from tamis.risk.diversity import LDiversity, closeness, diversity
from tamis.risk.grouping import ClassSize


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
    found = None if spread is None else _diversity(spread)
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
        l_diversity=None if found is None else found[0],
        t_closeness=None if found is None else found[1],
        columns=_effects(table, int(sizes[SIZE][0]), unique, dropped),
        people=everybody,
        unique_people=unique,
        unit=table.shape.unit,
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


def _diversity(counts: SensitiveCounts) -> tuple[LDiversity, float]:
    if not counts.few:
        return _in_parts(counts)
    found = extremes(counts)
    least = found.distinct
    if least > 2:  # only whole classes tell how their third value and those after it rank
        recursive = _recursive(counts, least)
    elif counts.several and found.people < least:
        recursive = inf
    else:
        recursive = found.head if least == 1 else found.second
    return LDiversity(least, exp(found.entropy), recursive, least), max(0.0, found.distance)


def _in_parts(counts: SensitiveCounts) -> tuple[LDiversity, float]:
    """The worst of all classes, some classes at a time, by the measures for tables in memory."""
    found = [(diversity(part, 1), closeness(part)) for part in spreads(counts)]
    least = min(each.distinct for each, _ in found)
    entropy = min(log(each.entropy) for each, _ in found)
    once = max(each.recursive_c for each, _ in found)
    recursive = once if least == 1 else _recursive(counts, least)
    return LDiversity(least, exp(entropy), recursive, least), max(t for _, t in found)


def _recursive(counts: SensitiveCounts, least: int) -> float:
    return max(diversity(part, least).recursive_c for part in spreads(counts))


def spreads(counts: SensitiveCounts) -> Iterator[Spread]:
    """The counted sensitive values of some classes at a time."""
    return (_spread(counts, part) for part in whole_classes(counts))


def _spread(counts: SensitiveCounts, part: pl.DataFrame) -> Spread:
    classes, each = part["class"].to_numpy(), part[ROWS].to_numpy()
    first = np.flatnonzero(np.diff(classes, prepend=-1) > 0)
    people = part[PEOPLE].to_numpy()[first] if counts.several else None
    return Spread(
        classes=classes,
        values=part["value"].to_numpy(),
        counts=each,
        first=first,
        sizes=np.add.reduceat(each, first),
        totals=counts.values[ROWS].to_numpy(),
        number=counts.number,
        missing=counts.missing,
        people=people,
    )
