"""Groupings that are too wide for brute force, against polars' own group_by."""

import numpy as np
import polars as pl
import pytest

from tamis.risk.audit import column_effects
from tamis.risk.grouping import LARGEST, NARROW, Grouping, grouped


def wide(columns: int, rows: int = 400) -> pl.DataFrame:
    """Few classes over columns whose codes multiply beyond 64 bits, with missing cells."""
    rng = np.random.default_rng(columns)
    kind = rng.integers(0, 60, rows)
    ends = [None, 0, NARROW - 1]
    return pl.DataFrame(
        {f"c{i}": [ends[e] for e in rng.integers(0, 3, 60)[kind]] for i in range(columns)}
    )


def sizes_by_polars(frame, columns):
    return frame.group_by(columns).len()["len"]


@pytest.mark.parametrize("columns", [3, 4, 7, 40])
def test_sizes_where_codes_overflow(columns):
    frame = wide(columns)
    assert (NARROW**columns >= LARGEST) == (columns > 3)
    found = grouped(frame, frame.columns)
    sizes = sizes_by_polars(frame, frame.columns)
    assert sorted(found.sizes) == sorted(sizes)
    assert (found.k_anonymity, found.unique_rows) == (sizes.min(), (sizes == 1).sum())
    assert np.bincount(found.class_of).tolist() == found.sizes.tolist()


@pytest.mark.parametrize("columns", [4, 7])
def test_column_effects_where_codes_overflow(columns):
    frame = wide(columns).with_columns(row=pl.int_range(pl.len()) // 3)
    for effect in column_effects(grouped(frame, frame.columns)):
        sizes = sizes_by_polars(frame, [c for c in frame.columns if c != effect.column])
        assert (effect.k_anonymity, effect.unique_rows) == (sizes.min(), (sizes == 1).sum())


def figures(grouping: Grouping) -> tuple[list[int], set[tuple[str, int]]]:
    effects = {(e.column, e.fewer_unique) for e in column_effects(grouping)}
    return sorted(grouping.sizes.tolist()), effects


def test_the_order_of_rows_and_columns_does_not_matter():
    frame = wide(5)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    expected = figures(grouped(frame, frame.columns))
    assert figures(grouped(shuffled, frame.columns[::-1])) == expected


def test_every_column_of_adult(dataset):
    frame = pl.read_csv(dataset("adult_train.csv.gz"), null_values="?").drop("class")
    found = grouped(frame, frame.columns)
    assert found.unique_rows == frame.is_unique().sum()
    for effect in column_effects(found):
        assert effect.unique_rows == frame.drop(effect.column).is_unique().sum()
