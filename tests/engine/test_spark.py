"""Spark gives the answers of memory: one small session, where Java and PySpark are there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import md5
from importlib.util import find_spec

import narwhals as nw
import polars as pl
import pytest

from tamis.coarsen.ladder import Ladder
from tamis.engine.backend import Spark
from tamis.engine.cells import count_cells, size_counts
from tamis.engine.sources import open_large
from tamis.release import Coarsening
from tamis.scale.coarse import coarse_column, with_coarse_columns
from tests.long import long


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spark]:
    if find_spec("pyspark") is None:
        pytest.skip("needs PySpark: uv run --extra spark pytest tests/engine/test_spark.py")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17 or later, such as Debian's openjdk-17-jre-headless")
    engine = Spark(tmp_path_factory.mktemp("spark"), memory=10**9)
    yield engine
    engine.close()


@long
def test_spark_answers_as_memory_does(spark, tmp_path):
    """Names that differ in case, both zeros, NaN and missing cells, hashes and coarser forms."""
    frame = pl.DataFrame(
        {"Age": [31, 31, 47, 47, None, 52], "age": [0.0, -0.0, float("nan"), None, None, 1.5]}
    )
    frame.write_parquet(tmp_path / "rows [1].parquet")
    large = open_large(spark, str(tmp_path / "rows [1].parquet"))
    (tmp_path / "parts").mkdir()
    frame.write_parquet(tmp_path / "parts" / "part-0.parquet")
    spark._session.read.parquet(str(tmp_path / "parts")).createTempView("people")
    for source in ("spark::people", f"spark::{tmp_path}/parts"):
        found = open_large(spark, source)
        assert (found.names, found.rows) == (large.names, large.rows) == (("Age", "age"), 6)
    cells = spark.hold(count_cells(large.frame, ["c0", "c1"]))
    sizes = size_counts(spark, cells, ["c0", "c1"], [])
    assert sizes.rows() == [(1, 2, 2, 2), (2, 2, 4, 4)]
    form = Coarsening({"width": [20]}, 1)
    made = with_coarse_columns(large, [coarse_column(large, "Age", form, 5)])
    texts = made.frame.with_columns(nw.col("c0").fill_null("none").alias("key"))
    found = spark.small(spark.with_hash(texts, "key", "salt ").select("key", "hash"))
    wanted = Ladder.from_dict("Age", form.ladder).apply(frame["Age"], 1).fill_null("none")
    assert sorted(found["key"]) == sorted(wanted)
    assert all(hash == md5(f"salt {key}".encode()).hexdigest() for key, hash in found.iter_rows())
