"""Engines to ask the same question of."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from tamis.rows.engines import Engine
from tamis.rows.large_table import LargeTable, large_table
from tamis.table import Roles


@pytest.fixture
def behind() -> Callable[[Engine, pl.DataFrame, Roles], LargeTable]:
    """Put a frame behind an engine."""

    def put(engine: Engine, frame: pl.DataFrame, roles: Roles) -> LargeTable:
        path = engine.scratch / "rows.parquet"
        frame.write_parquet(path)
        return large_table(engine, engine.open(path), frame.schema, roles)

    return put
