"""Whatever holds a table, an engine sees the table that memory sees."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import narwhals as nw
import polars as pl
import pytest

from tamis import read_table
from tamis.errors import InputError
from tamis.read.dialect import Dialect
from tamis.read.text import delimited_chunks
from tamis.rows.counts import count_rows
from tamis.rows.engines import Polars
from tamis.rows.large_table import sampled
from tamis.rows.sources import open_large

TEXT = (
    'zip,age,Age,"note, long",ill\n01000,31,1.5,"a ""b""\nc",yes\n75011,?,2,,no\n75011,47,,x,no\n'
)


def all_rows(path: Path | str, tmp_path: Path, **options) -> pl.DataFrame:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    large = open_large(Polars(scratch), str(path), **options)
    return sampled(large, large.rows, seed=0).table.frame


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "windows-1252"])
def test_csv_is_typed_by_the_same_rule(tmp_path, packed, encoding):
    data = TEXT.replace("x", "é").replace("\n", "\r\n").encode(encoding)
    path = tmp_path / ("rows.csv.gz" if packed else "rows.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    expected = read_table(path, missing=["?"], encoding=encoding).frame
    found = all_rows(path, tmp_path, missing=["?"], dialect=Dialect(encoding=encoding))
    assert found.schema == expected.schema
    assert found.equals(expected)


def test_records_are_never_cut(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT)
    whole = pl.concat(frame for frame, _ in delimited_chunks(path))
    for size in range(1, 40):
        parts = (frame for frame, _ in delimited_chunks(path, size=size))
        assert pl.concat(parts).equals(whole)
    assert whole["note, long"].to_list() == ['a "b"\nc', None, "x"]


def test_a_ragged_line_is_named_by_its_number_in_the_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + "1\n" + "1,2\n" * 9)
    with pytest.raises(InputError, match="line 52 has 1 field"):
        list(delimited_chunks(path, size=40))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,\0\n", "NUL byte"),
        (b"a,b\n\x81\xff,1\n", "not windows-1252 text"),
        (b"a,a\n1,2\n", "occurs twice"),
        (gzip.compress(TEXT.encode(), mtime=0)[:-9], "ends too early"),
    ],
)
def test_what_memory_refuses_engines_refuse(tmp_path, data, words):
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=words):
        all_rows(path, tmp_path)


def test_parquet_with_a_name_that_is_a_pattern(tmp_path):
    frame = pl.DataFrame({"a": ["?", "1", "2"], "b": [1.0, float("nan"), -0.0]})
    path = tmp_path / "rows[1]*.parquet"
    frame.write_parquet(path)
    schema = tmp_path / "schema.toml"
    schema.write_text('missing = ["?"]\n[columns]\na = "number"\n')
    assert all_rows(path, tmp_path, schema=schema)["a"].to_list() == [None, 1, 2]


def test_arrow_and_duckdb_files(tmp_path):
    frame = pl.DataFrame({"Age": [1, 2], "b": ["x", None]})
    frame.write_ipc(tmp_path / "rows.arrow")
    with duckdb.connect(str(tmp_path / "db.duckdb")) as database:
        database.execute(
            "CREATE TABLE rows AS SELECT * FROM (VALUES (1, 'x'), (2, NULL)) t(Age, b)"
        )
    assert all_rows(tmp_path / "rows.arrow", tmp_path).equals(frame)
    (tmp_path / "scratch").rename(tmp_path / "used")
    found = all_rows(f"{tmp_path / 'db.duckdb'}::rows", tmp_path)
    assert found.rows() == frame.rows()


@pytest.mark.parametrize(
    ("source", "words"),
    [("spark::db.rows", "--engine spark"), ("postgresql://nowhere", "name a table")],
)
def test_what_is_elsewhere_says_what_it_needs(tmp_path, source, words):
    with pytest.raises(InputError, match=words):
        all_rows(source, tmp_path)


def test_nan_is_missing_though_statistics_know_of_none(engine, tmp_path):
    """DuckDB believes the statistics of a parquet file, which leave NaN out."""
    frame = pl.DataFrame({"*": [0.5, 1.5, float("nan")], "b": [1.0, 2.0, 3.0], "c": ["x"] * 3})
    frame.write_parquet(tmp_path / "rows.parquet", statistics=True)
    large = open_large(engine, str(tmp_path / "rows.parquet"))
    assert count_rows(engine, large.frame.filter(nw.col("c0").is_null())) == 1
    found = engine.small(large.frame).sort("c1")
    assert found.rows() == [(0.5, 1.0, "x"), (1.5, 2.0, "x"), (None, 3.0, "x")]
