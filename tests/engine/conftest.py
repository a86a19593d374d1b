"""Engines to ask the same question of; for Spark see also `test_spark.py`, its short form."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from tamis.engine.backend import DuckDB, Engine, Polars, Spark
from tamis.engine.door import LargeTable, large_table
from tamis.table import Roles, Table


@pytest.fixture(params=["polars", "duckdb", "spark"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "spark":
        if not os.environ.get("TAMIS_SPARK"):
            pytest.skip("Spark takes minutes to answer; set TAMIS_SPARK=1 to ask it")
        made: Engine = Spark(tmp_path)
    else:
        made = {"polars": Polars, "duckdb": DuckDB}[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def behind(tmp_path: Path) -> Callable[[Engine, pl.DataFrame, Roles], LargeTable]:
    """Put a frame behind an engine."""

    def put(engine: Engine, frame: pl.DataFrame, roles: Roles) -> LargeTable:
        path = tmp_path / "rows.parquet"
        frame.write_parquet(path)
        shape = Table(frame.clear(), roles)
        return large_table(engine, engine.open(path), frame.schema, shape)

    return put
