"""Engines on the command line: the same answers, one line that says why, plain errors."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tamis.datasets import patients

OPTIONS = ["--target", "ill", "--json", "--quiet"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "rows.csv"
    table = patients(rows=300)
    frame = table.frame.rename({table.target: "ill"})
    frame.write_csv(path)
    return path


def test_every_engine_gives_the_same_audit(run, rows):
    memory = json.loads(run("audit", str(rows), *OPTIONS)[1])
    for engine in ("polars", "duckdb"):
        how = ["--engine", engine, "--memory", "500MB"]
        found = json.loads(run("audit", str(rows), *OPTIONS, *how)[1])
        assert found.pop("engine") == engine
        assert found.pop("attacker").pop("rows") == 300
        for key in found.keys() - {"table"}:
            near = key in ("t_closeness", "l_diversity", "reidentification")
            assert found[key] == (pytest.approx(memory[key]) if near else memory[key]), key
        assert [c["name"] for c in found["table"]] == [c["name"] for c in memory["table"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "duckdb", "--memory", "lots"], "such as 4GB"),
        (["--engine", "duckdb", "--scratch", "nowhere"], "no folder nowhere"),
        (["--engine", "polars", "--target", "nothing"], "no column 'nothing'"),
    ],
)
def test_what_is_wrong_is_said(run, rows, arguments, words):
    code, _, err = run("audit", str(rows), *arguments)
    assert code == 2
    assert words in err


def test_a_database_is_not_read_into_memory(run):
    code, _, err = run("audit", "postgresql://me:word@host/db::rows", "--engine", "memory")
    assert code == 2
    assert "word" not in err


def test_columns_without_values_and_infinite_numbers_are_refused(run, tmp_path):
    for column, words in (([None, None], "no values at all"), ([1.0, float("inf")], "infinite")):
        frame = pl.DataFrame({"a": [1, 2], "b": pl.Series(column, dtype=pl.Float64)})
        frame.write_parquet(tmp_path / "rows.parquet")
        code, _, err = run("audit", str(tmp_path / "rows.parquet"), "--engine", "polars")
        assert code == 2
        assert words in err
