"""A user's Ibis table: counted where it is, the same as in memory."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from tamis.engine.backend import Ibis
from tamis.engine.sampling import sampled
from tamis.engine.sources import ibis_table
from tamis.risk.audit import exposure
from tamis.risk.large import large_exposure
from tamis.table import Roles, Table

ibis = pytest.importorskip("ibis")


def test_a_table_of_another_database(tmp_path):
    frame = pl.DataFrame(
        {"age": [1, 1, 2, None, None], "job": ["a", "a", None, None, None], "ill": list("xyxyx")}
    )
    with sqlite3.connect(tmp_path / "rows.sqlite") as database:
        database.execute("CREATE TABLE visits (age INTEGER, job TEXT, ill TEXT)")
        database.executemany("INSERT INTO visits VALUES (?, ?, ?)", frame.rows())
    rows = ibis.sqlite.connect(tmp_path / "rows.sqlite").table("visits")
    (tmp_path / "scratch").mkdir()
    engine = Ibis(tmp_path / "scratch")
    large = ibis_table(engine, rows, target="ill")
    found, wanted = large_exposure(large), exposure(Table(frame, Roles(target="ill")))
    assert found.to_dict() == pytest.approx(wanted.to_dict())
    assert sampled(large, 5, seed=0).table.rows == 5
    engine.close()
