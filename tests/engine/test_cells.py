"""Counts that no 32 bits hold, from cells made by hand: exact on every engine."""

from __future__ import annotations

from math import log

import polars as pl
import pytest

from tamis.engine.backend import Engine, Frame
from tamis.engine.cells import (
    extremes,
    merge_cells,
    sensitive_counts,
    size_counts,
    sizes_of_classes,
)

MANY = 3 * 2**52 + 1
"""More rows than floats tell apart, in two cells of a class."""
CELLS = pl.DataFrame(
    {
        "c0": ["x", "x", "y", None],
        "c1": ["a", "b", "a", "a"],
        "n": pl.Series([MANY, MANY, 2**31 + 3, 2**33], dtype=pl.Int64),
    }
)


@pytest.fixture
def cells(engine: Engine) -> Frame:
    return engine.keep([CELLS])


def test_classes_of_very_many_rows(engine, cells):
    merged = engine.small(merge_cells(cells, ["c0"])).sort("c0", nulls_last=True)
    assert merged["n"].to_list() == [2 * MANY, 2**31 + 3, 2**33]
    sizes, dropped = sizes_of_classes(engine, cells, ["c0"])
    assert sizes["size"].to_list() == [2**31 + 3, 2**33, 2 * MANY]
    assert sizes["rows"].to_list() == sizes["people"].to_list() == sizes["size"].to_list()
    assert dropped[0].k == 2 * MANY + 2**31 + 3 + 2**33


def test_people_with_very_many_rows(engine, cells):
    sizes = size_counts(engine, cells, ["c0"], ["c1"])
    assert sizes.rows() == [(1, 2, 2**31 + 3 + 2**33, 1), (2, 1, 2 * MANY, 1)]


def test_values_of_very_many_rows(engine, cells):
    found = extremes(sensitive_counts(engine, cells, ["c0"], "c1", [], number=False))
    assert (found.distinct, found.entropy, found.head) == (1, 0.0, 1.0)
    assert found.people == 2**31 + 3
    every = sensitive_counts(engine, engine.keep([CELLS.head(2)]), ["c0"], "c1", [], number=False)
    assert extremes(every).entropy == pytest.approx(log(2), rel=1e-12)
