"""Whole commands on Spark: a real table and a long one, as DuckDB answers and publishes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tamis.read import read_binary
from tamis.scale import writing
from tests.long import long
from tests.spark import engines, needs_spark

pytestmark = [long, engines]
TABLE = ["--target", "class", "--sensitive", "sex", "--quasi", "age,education", "--missing", "?"]


@pytest.fixture(scope="module")
def adult(dataset: Callable[[str], Path]) -> Path:
    return dataset("adult_train.csv.gz")


def differing(one: dict[str, Any], two: dict[str, Any]) -> set[str]:
    return {key for key in one.keys() | two.keys() if one.get(key) != two.get(key)}


def test_audit_of_a_real_table(spark, run, adult):
    """All counts are the same, and what is no count to 12 digits."""
    found = {}
    for engine in ("spark", "duckdb"):
        how = ["--engine", engine, "--sample", "1000", "--json", "--quiet"]
        code, said, err = run("audit", adult, *TABLE, *how)
        assert code == 0, err
        found[engine] = json.loads(said)
    near = {"t_closeness", "l_diversity", "reidentification"}
    assert differing(found["spark"], found["duckdb"]) <= {"engine", *near}
    for key in near:
        assert found["spark"][key] == pytest.approx(found["duckdb"][key], rel=1e-12)


RELEASE = ["--drop", "fnlwgt", "--row-is-person", "--k", "100", "--methods", "front,coarsen"]
QUICK = ["--sample", "1000", "--attackers", "nb", "--seed", "3", "--quiet"]


def released(run, table: Path, folder: Path, engine: str, *asked: str) -> Path:
    (folder / "scratch").mkdir(parents=True)
    place = ["--scratch", folder / "scratch", "--out", folder / "out"]
    code, _, err = run("release", table, "--engine", engine, *asked, *QUICK, *place)
    assert code == 0, err
    assert list((folder / "scratch").iterdir()) == []
    return folder / "out"


def test_release_of_a_real_table(spark, run, adult, tmp_path, monkeypatch):
    one = released(run, adult, tmp_path / "a", "spark", *TABLE, *RELEASE)
    two = released(run, adult, tmp_path / "b", "duckdb", *TABLE, *RELEASE)
    assert (one / "release.csv").read_bytes() == (two / "release.csv").read_bytes()
    said, other = (json.loads((out / "manifest.json").read_text()) for out in (one, two))
    assert differing(said, other) == {"engine"}
    assert said["engine"]["counted"] | {"by": "duckdb"} == other["engine"]["counted"]
    assert said["engine"]["counted"]["by"] == "spark"
    assert said["promises"][0]["measured"] >= 100
    code, checked, err = run("verify", one, "--engine", "spark", "--json")
    assert code == 0, err
    assert {"k_anonymity", "exposure"} <= set(json.loads(checked)["checks"])


def test_release_of_a_long_table(spark, run, dataset, tmp_path):
    records = read_binary(dataset("supermarket.txt.gz"), format="svm")
    assert records.labels is not None
    rows, columns = records.matrix.nonzero()
    labels, names = pl.Series(list(records.labels)), pl.Series(records.features)
    pairs = {"who": rows, "item": names[columns.tolist()], "total": labels[rows.tolist()]}
    pl.DataFrame(pairs).write_parquet(tmp_path / "long.parquet")
    asked = ["--long", "who,item", "--target", "total", "--k", "10", "--methods", "containment"]
    one = released(run, tmp_path / "long.parquet", tmp_path / "a", "spark", *asked)
    two = released(run, tmp_path / "long.parquet", tmp_path / "b", "duckdb", *asked)
    assert (one / "release.csv").read_bytes() == (two / "release.csv").read_bytes()
    said, other = (json.loads((out / "manifest.json").read_text()) for out in (one, two))
    assert differing(said, other) == {"engine"}
    assert said["engine"]["sampled"] == other["engine"]["sampled"]
    assert run("verify", one, "--quiet")[0] == 0


def test_a_session_lost_while_rows_are_written(spark, run, tmp_path, monkeypatch):
    from pyspark.sql import SparkSession

    whole = writing._shaped

    def stopping(found, *given):
        yield next(whole(found, *given)).head(10)
        SparkSession.active().stop()
        found.large.engine.small(found.large.frame)

    monkeypatch.setattr(writing, "_shaped", stopping)
    age = [20 + i % 5 for i in range(600)]
    ill = ["yes" if a + i % 3 > 23 else "no" for i, a in enumerate(age)]
    pl.DataFrame({"age": age, "ill": ill}).write_csv(tmp_path / "rows.csv")
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    code, said, err = run(
        "release", tmp_path / "rows.csv", "--target", "ill", "--row-is-person", "--engine", "spark",
        "--methods", "breach", "--allow-useless", *QUICK, "--scratch", scratch, "--out", out,
    )  # fmt: skip
    assert (code, said) == (1, "")
    assert "spark stopped before the end" in err
    assert "nothing was published" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv", "scratch"]
    assert list(scratch.iterdir()) == []


def test_without_java_the_error_names_it_and_what_works(tmp_path):
    needs_spark()
    (tmp_path / "rows.csv").write_text("a,b\n1,x\n2,y\n")
    run = [sys.executable, "-m", "tamis.cli", "audit", "rows.csv", "--engine", "spark"]
    done = subprocess.run(
        run,
        env={**os.environ, "JAVA_HOME": str(tmp_path / "nowhere")},
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "openjdk-17-jre-headless" in done.stderr
    assert "--engine duckdb works without" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
