"""Engines to ask the same question of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from tamis.rows.engines import DuckDB, Engine, Polars, Spark
from tamis.rows.large_table import LargeTable, large_table
from tamis.table import Roles
from tests.spark import engines


@pytest.fixture(params=["polars", "duckdb", pytest.param("spark", marks=engines)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "spark":
        request.getfixturevalue("spark")
    made = {"polars": Polars, "duckdb": DuckDB, "spark": Spark}[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def behind(tmp_path: Path) -> Callable[[Engine, pl.DataFrame, Roles], LargeTable]:
    """Put a frame behind an engine."""

    def put(engine: Engine, frame: pl.DataFrame, roles: Roles) -> LargeTable:
        path = tmp_path / "rows.parquet"
        frame.write_parquet(path)
        return large_table(engine, engine.open(path), frame.schema, roles)

    return put
