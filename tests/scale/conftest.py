"""Tables behind engines, and engines to put them behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tamis.rows.engines import DuckDB, Engine, Polars, Spark
from tamis.rows.large_table import LargeTable
from tamis.rows.sources import open_large
from tests.quick_look import no_trees
from tests.spark import engines


@pytest.fixture(scope="module", autouse=True)
def quick_look() -> Iterator[None]:
    with no_trees():
        yield


@pytest.fixture(
    params=[DuckDB, Polars, pytest.param(Spark, marks=engines)], ids=["duckdb", "polars", "spark"]
)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param is Spark:
        request.getfixturevalue("spark")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    made = request.param(scratch)
    yield made
    made.close()


@pytest.fixture
def behind(tmp_path: Path) -> Callable[..., LargeTable]:
    """Put a frame behind an engine."""

    def put(engine: Engine, frame: pl.DataFrame, **roles: Any) -> LargeTable:
        frame.write_parquet(tmp_path / "rows.parquet")
        return open_large(engine, str(tmp_path / "rows.parquet"), **roles)

    return put
