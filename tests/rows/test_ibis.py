"""A user's Ibis table: counted where it is, the same as in memory, and released from there."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tamis.flow import Settings, consider
from tamis.publication.bundle import publish
from tamis.risk.audit import exposure
from tamis.rows.engines import Ibis
from tamis.rows.large_table import sampled
from tamis.rows.sources import ibis_table
from tamis.table import Roles, Table
from tamis.verification.verify import verify
from tests.publication.test_streamed import PEOPLE, visits
from tests.quick_look import no_trees
from tests.rows.test_large_exposure import figures

ibis = pytest.importorskip("ibis", reason="needs Ibis: uv run --group engines pytest -m engines")
pytestmark = [
    pytest.mark.engines,
    # Ibis reads an option that pandas 3 no longer wants to be read.
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"),
]


def in_sqlite(frame: pl.DataFrame, folder: Path) -> Any:
    kinds = {pl.Int64(): "INTEGER", pl.Float64(): "REAL", pl.String(): "TEXT"}
    names = ", ".join(f"{name} {kinds[kind]}" for name, kind in frame.schema.items())
    marks = ", ".join("?" * frame.width)
    with sqlite3.connect(folder / "rows.sqlite") as database:
        database.execute(f"CREATE TABLE visits ({names})")
        database.executemany(f"INSERT INTO visits VALUES ({marks})", frame.rows())
    return ibis.sqlite.connect(folder / "rows.sqlite").table("visits")


@pytest.fixture
def engine(tmp_path):
    (tmp_path / "scratch").mkdir()
    made = Ibis(tmp_path / "scratch")
    yield made
    made.close()


def test_a_table_of_another_database(engine, tmp_path):
    frame = pl.DataFrame(
        {"age": [1, 1, 2, None, None], "job": ["a", "a", None, None, None], "ill": list("xyxyx")}
    )
    large = ibis_table(engine, in_sqlite(frame, tmp_path), target="ill")
    counts, numbers = figures(exposure(Table(frame, Roles(target="ill"))))
    found, near = figures(exposure(large))
    assert found == counts
    assert near == pytest.approx(numbers, rel=1e-12)
    assert sampled(large, 5, seed=0).table.rows == 5


def test_people_of_another_database_are_released(engine, tmp_path):
    """What DuckDB here would publish of the same rows, in the same order."""
    frame = visits()
    large = ibis_table(engine, in_sqlite(frame, tmp_path), **PEOPLE)
    asked = Settings(
        k=60, methods={"coarsen": {}}, attackers=("nb",), format="parquet", allow_useless=True
    )
    with no_trees():
        found = consider(large, asked, sample=1000)
        out = publish(found, tmp_path / "out", date="2026-01-01")
    verify(out)
    rows = pl.read_parquet(out / "release.parquet")
    assert rows.height == frame.height
    assert found.all_rows is not None
    assert min(found.all_rows.reached.values()) >= 60
