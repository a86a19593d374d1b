"""Cells and classes: counts that no 32 bits hold, and batches that cut no class in two."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.risk.behind_engine import spreads
from tamis.risk.diversity import SecretFigures, measure_secrets
from tamis.rows.counts import (
    count_cells,
    merge_cells,
    sensitive_counts,
    size_counts,
    sizes_of_classes,
    whole_classes,
)
from tamis.rows.engines import Engine, Frame

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
    def found(rows: Frame) -> SecretFigures:
        counts = sensitive_counts(engine, rows, ["c0"], "c1", [], number=False)
        return measure_secrets(lambda: spreads(counts))

    diverse = found(cells).l_diversity
    assert (diverse.distinct, diverse.entropy, diverse.recursive_c) == (1, 1.0, 1.0)
    assert found(engine.keep([CELLS.head(2)])).l_diversity.entropy == pytest.approx(2, rel=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("several", [False, True])
def test_batches_of_any_size_cut_no_class(engine, monkeypatch, size, several):
    """Of few values and of many, which come in another order, the classes are the same."""
    rng = np.random.default_rng(size)
    rows = {name: rng.integers(0, most, 60) for name, most in (("c0", 5), ("c1", 4), ("c2", 20))}
    secret = pl.Series([None if i == 0 else i for i in rows["c1"].tolist()], dtype=pl.Int64)
    frame = engine.keep([pl.DataFrame(rows).with_columns(c1=secret)])
    who = ["c2"] if several else []
    cells = count_cells(frame, ["c0", "c1", *who])
    counts = sensitive_counts(engine, engine.hold(cells), ["c0"], "c1", who, number=True)

    def classes() -> list[tuple[Any, ...]]:
        parts = list(whole_classes(counts, size))
        kept = [["value", "n", "people"] if several else ["value", "n"]] * len(parts)
        each = [p.partition_by("class", maintain_order=True) for p in parts]
        return sorted(tuple(c.select(k).rows()) for k, some in zip(kept, each) for c in some)

    few = classes()
    monkeypatch.setattr("tamis.rows.counts.MOST_COUNTED_VALUES", 0)
    assert classes() == few
    assert len(few) == 5
