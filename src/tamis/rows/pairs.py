"""Queries on sparse 0/1 records, stored as pairs of an entity and a feature that it has.

Pairs are a frame with the columns `entity` and `feature`, labels a frame with `entity` and `label`.
Joins are on entities only, which are never missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import narwhals as nw
import polars as pl

from tamis.errors import InputError
from tamis.read import say_unlabelled
from tamis.rows.counts import ROWS, count_cells, count_distinct, count_rows
from tamis.rows.engines import MOST_ROWS, Engine, Frame
from tamis.rows.large_table import HASH, KEY, PLACE, WHO, content_text, draw_people

ENTITY, FEATURE, LABEL, PATTERN = "entity", "feature", "label", "pattern"
MOST_CHOSEN = 62
"""The most features of a pattern: each is a bit of a signed 64-bit number."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sparse records behind an engine.

    Parameters
    ----------
    engine : Engine
    pairs : frame
        `entity` and `feature`, each pair once.
    labels : frame
        `entity` and `label`, each entity once; entities without features are here too.
    unlabelled : int
        The number of entities without a label, which were left out.
    """

    engine: Engine
    pairs: Frame
    labels: Frame
    unlabelled: int = 0


def hold_pairs(engine: Engine, pairs: Frame, labels: Frame) -> Pairs:
    """Check pairs and labels, and store each pair once.

    Parameters
    ----------
    engine : Engine
    pairs : frame
        Two columns, the entity and the feature; pairs may be repeated.
    labels : frame
        Two columns, the entity and its label.
    """
    pairs = pairs.rename(dict(zip(pairs.collect_schema().names(), (ENTITY, FEATURE))))
    labels = labels.rename(dict(zip(labels.collect_schema().names(), (ENTITY, LABEL))))
    _refuse_missing(engine, pairs, "the pairs")
    _refuse_missing(engine, labels, "the labels")
    once = engine.hold(count_cells(pairs, [ENTITY, FEATURE]).select(ENTITY, FEATURE))
    known = engine.hold(labels)
    refuse_several(engine, known)
    unlabelled = count_rows(engine, once.join(known, on=ENTITY, how="anti"))
    if unlabelled:
        raise InputError(
            f"{unlabelled:,} pairs are of entities without a label; label these entities, or leave "
            "them out with --drop-unlabelled"
        )
    return Pairs(engine, once, known)


def hold_labelled(engine: Engine, pairs: Frame, labels: Frame, target: str) -> Pairs:
    """Like `hold_pairs`, but entities without a label are left out; a warning says how many.

    The columns are named as in `Pairs`.
    """
    known = engine.hold(labels.filter(~nw.col(LABEL).is_null()))
    entities = [frame.select(ENTITY) for frame in (labels, pairs)]
    everybody = count_distinct(engine, nw.concat(entities), [ENTITY])
    left = count_distinct(engine, known, [ENTITY])
    say_unlabelled(target, left, everybody)
    held = hold_pairs(engine, pairs.join(known.select(ENTITY), on=ENTITY, how="semi"), known)
    return replace(held, unlabelled=everybody - left)


def refuse_several(engine: Engine, labels: Frame) -> None:
    """Raise if an entity has several labels."""
    if count_rows(engine, count_cells(labels, [ENTITY])) != count_rows(engine, labels):
        raise InputError("an entity has several labels; give each entity one")


def _refuse_missing(engine: Engine, frame: Frame, what: str) -> None:
    gone = reduce(or_, (nw.col(c).is_null() for c in frame.collect_schema().names()))
    if count := count_rows(engine, frame.filter(gone)):
        raise InputError(f"{what} have {count:,} rows with a missing cell; fill or remove them")


def class_totals(records: Pairs) -> pl.DataFrame:
    """Number of entities with each label: columns `label` and `n`, by label."""
    return records.engine.small(count_cells(records.labels, [LABEL])).sort(LABEL)


def feature_totals(records: Pairs) -> pl.DataFrame:
    """Number of entities with each feature and label: columns `feature`, `label` and `n`."""
    joined = records.pairs.join(records.labels, on=ENTITY)
    return records.engine.small(count_cells(joined, [FEATURE, LABEL])).sort(FEATURE, LABEL)


def common_features(records: Pairs, k: int) -> pl.DataFrame:
    """The features of at least k entities: columns `feature` and `n`, by feature."""
    counted = count_cells(records.pairs, [FEATURE])
    return records.engine.small(counted.filter(nw.col(ROWS) >= k)).sort(FEATURE)


def patterns(records: Pairs, chosen: Sequence[Any], most: int = MOST_ROWS) -> pl.DataFrame:
    """Count which of some features occur together: columns `pattern`, `label` and `n`.

    Bit i of a pattern stands for the i-th feature; entities with none of them have pattern 0.
    Raises for more than `most` patterns.
    """
    counted = count_cells(_with_pattern(records, chosen), [PATTERN, LABEL])
    return records.engine.small(counted, most).sort(PATTERN, LABEL)


def feature_gains(records: Pairs, chosen: Sequence[Any]) -> pl.DataFrame:
    """Counts for adding any one more feature to the chosen ones, for all features at once.

    Columns `feature`, `pattern` (over `chosen`), `label` and `n`: the entities with that pattern
    and label that have the feature. With `patterns`, this gives the patterns after adding it.
    """
    others = records.pairs
    if chosen:
        others = others.filter(~nw.col(FEATURE).is_in(list(chosen)))
    joined = others.join(_with_pattern(records, chosen), on=ENTITY)
    counted = count_cells(joined, [FEATURE, PATTERN, LABEL])
    return records.engine.small(counted).sort(FEATURE, PATTERN, LABEL)


def sample_pairs(
    records: Pairs, share: float, seed: int, most: int = MOST_ROWS
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pairs and labels of a share of the entities, drawn by their features and label.

    Raises for more than `most` pairs.
    """
    every = ((records.pairs, FEATURE), (records.labels, LABEL))
    rows = [
        frame.select(nw.col(ENTITY).alias(WHO), _said(frame, column).alias(KEY))
        for frame, column in every
    ]
    chosen = draw_people(records.engine, nw.concat(rows), share, seed).rename({WHO: ENTITY})
    drawn = records.engine.hold(records.labels.join(chosen, on=ENTITY))
    pairs = records.pairs.join(drawn.select(ENTITY), on=ENTITY, how="semi")
    labels = records.engine.small(drawn).sort(HASH, PLACE).select(ENTITY, LABEL)
    return records.engine.small(pairs, most).sort(ENTITY, FEATURE), labels


def _said(frame: Frame, column: str) -> nw.Expr:
    """The cells of a column as text after its name, so that a label differs from a feature."""
    return nw.concat_str(nw.lit(column), content_text(frame, [column]), separator=" ")


def _with_pattern(records: Pairs, chosen: Sequence[Any]) -> Frame:
    """Every entity with its label and its pattern.

    The pattern is the sum of a power of two for each pair. Pairs are unique, so the sum equals the
    bitwise OR, which not every engine gets right.
    """
    if len(set(chosen)) < len(chosen) or len(chosen) > MOST_CHOSEN:
        raise InputError(
            f"a pattern has up to {MOST_CHOSEN} different features, got {len(chosen)} "
            f"({len(set(chosen))} different)"
        )
    if not chosen:
        return records.labels.with_columns(nw.lit(0).cast(nw.Int64).alias(PATTERN))
    bit: nw.Expr = nw.lit(0).cast(nw.Int64)
    for i, feature in enumerate(chosen):
        here = nw.col(FEATURE) == nw.lit(feature)
        bit = nw.when(here).then(nw.lit(1 << i).cast(nw.Int64)).otherwise(bit)
    of_chosen = records.pairs.filter(nw.col(FEATURE).is_in(list(chosen)))
    bits = of_chosen.select(ENTITY, bit.alias(PATTERN))
    summed = bits.group_by(ENTITY).agg(nw.col(PATTERN).sum())
    summed = summed.with_columns(nw.col(PATTERN).cast(nw.Int64))
    joined = records.labels.join(summed, on=ENTITY, how="left")
    return joined.with_columns(nw.col(PATTERN).fill_null(0)).select(ENTITY, LABEL, PATTERN)
