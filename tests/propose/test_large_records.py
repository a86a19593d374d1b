"""Long tables behind an engine: some columns of all entities, as memory would read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.errors import CannotMeet, InputError, TamisWarning
from tamis.flow import Settings, consider
from tamis.propose.containment import compared_records
from tamis.read import read_binary
from tamis.rows.pairs import class_totals, feature_totals
from tamis.rows.sources import open_pairs
from tamis.table import Table

ASKED: dict[str, Any] = {"k": 5, "holdout": Settings().holdout, "seed": 0}


def long_rows(rows: int = 600, features: int = 90, seed: int = 0) -> pl.DataFrame:
    """Records of many features, five of which teach; one entity has nothing, one a rare item."""
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.4
    ones = rng.random((rows, features)) < 0.05
    ones[:, :5] = rng.random((rows, 5)) < np.where(ill, 0.6, 0.2)[:, None]
    ones[0] = False
    entity, item = np.nonzero(ones)
    names = [f"f{i:02}" for i in item]
    pairs = pl.DataFrame({"Item": names, "item": entity, "ill": np.where(ill[entity], "yes", "no")})
    alone = pl.DataFrame({"Item": [None], "item": [0], "ill": ["yes" if ill[0] else "no"]})
    rare = pl.DataFrame({"Item": ["rare"], "item": [7], "ill": ["yes" if ill[7] else "no"]})
    return pl.concat([pairs, alone, rare, pairs.head(50)], how="vertical_relaxed")


@pytest.fixture
def path(tmp_path: Path) -> str:
    long_rows().write_parquet(tmp_path / "long.parquet")
    return str(tmp_path / "long.parquet")


def rows_of(records, names):
    """Every row as text, in an order of its own."""
    frame = records.frame().select(*names, records.target)
    return sorted(map(str, frame.cast(pl.String).rows()))


@pytest.mark.parametrize("sample", [200, 10_000])
def test_all_entities_have_what_memory_says(engine, path, sample):
    pairs = open_pairs(engine, path, "item", "Item", "ill")
    found = compared_records(pairs, sample, **ASKED, target="ill")
    memory = read_binary(path, long=("item", "Item"), target="ill")
    names = found.records.features
    assert found.features == len(memory.features)
    assert found.left_out == len(memory.features) - len(names)
    assert 20 < len(names) <= 62
    assert {f"f{i:02}" for i in range(5)} <= set(names)
    assert "rare" not in names
    assert rows_of(found.records, names) == rows_of(memory, names)
    assert (found.sampled == 600) == (sample == 10_000)


def test_a_sensitive_feature_and_dropped_ones(engine, path):
    pairs = open_pairs(engine, path, "item", "Item", "ill")
    found = compared_records(
        pairs, 300, **ASKED, target="ill", sensitive="f03", drop=["f00", "f01"]
    ).records
    memory = read_binary(path, long=("item", "Item"), target="ill").with_sensitive("f03")
    assert not {"f00", "f01", "f03"} & set(found.features)
    assert found.sensitive == "f03"
    names = [*found.features, "f03"]
    assert rows_of(found, names) == rows_of(memory, names)


def test_labels_in_a_table_of_their_own(engine, tmp_path):
    rows = long_rows()
    rows.drop_nulls().select("item", "Item").write_csv(tmp_path / "long.csv")
    rows.select("item", "ill").unique().write_csv(tmp_path / "labels.csv")
    pairs = open_pairs(
        engine,
        str(tmp_path / "long.csv"),
        "item",
        "Item",
        "ill",
        labels=str(tmp_path / "labels.csv"),
    )
    found = compared_records(pairs, 300, **ASKED, target="ill").records
    assert found.rows == 600


def test_entities_without_a_label_are_left_out_on_request(engine, tmp_path):
    file = tmp_path / "long.csv"
    file.write_text("who,what,y\n" + "1,a,x\n2,a,z\n3,b,x\n4,,z\n5,a,\n5,b,\n6,,\n")
    with pytest.raises(InputError, match="missing cell"):
        open_pairs(engine, str(file), "who", "what", "y")
    with pytest.warns(TamisWarning, match="2 of 6 rows have no 'y'"):
        found = open_pairs(engine, str(file), "who", "what", "y", drop_unlabelled=True)
    assert found.unlabelled == 2
    assert class_totals(found).rows() == [("x", 2), ("z", 2)]
    assert feature_totals(found).rows() == [("a", "x", 1), ("a", "z", 1), ("b", "x", 1)]
    file.write_text("who,what,y\n1,a,x\n1,b,\n2,a,z\n")
    with pytest.raises(InputError, match="several labels"):
        open_pairs(engine, str(file), "who", "what", "y", drop_unlabelled=True)


def test_what_is_wrong_is_said(engine, path):
    with pytest.raises(InputError, match="no column 'nobody'"):
        open_pairs(engine, path, "nobody", "Item", "ill")
    pairs = open_pairs(engine, path, "item", "Item", "ill")
    with pytest.raises(CannotMeet, match="smaller --k"):
        compared_records(pairs, 300, **(ASKED | {"k": 500}), target="ill")
    with pytest.raises(InputError, match="fewer than 5 entities have the sensitive 'rare'"):
        compared_records(pairs, 300, **ASKED, target="ill", sensitive="rare")


@pytest.mark.parametrize("engine", ["polars"], indirect=True)
def test_what_compared_columns_cannot_tell_is_refused(engine, path):
    found = compared_records(
        open_pairs(engine, path, "item", "Item", "ill"), 300, **ASKED, target="ill"
    )
    with pytest.raises(InputError, match="--sampling needs the table in memory"):
        consider(found, Settings(sampling=0.5))
    with pytest.raises(InputError, match="--population needs the table in memory"):
        consider(found, register=Table(long_rows()))
