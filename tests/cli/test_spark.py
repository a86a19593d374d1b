"""Whole commands on Spark: a table and a long one, as DuckDB answers and publishes them.

They are real where the real datasets are beside the checkout, and made elsewhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis.datasets import patients
from tamis.publication import streamed
from tamis.read import read_binary
from tests.long import long
from tests.spark import engines, needs_spark

pytestmark = [long, engines]
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
ADULT = ["--target", "class", "--sensitive", "sex", "--quasi", "age,education", "--missing", "?"]
ADULT += ["--drop", "fnlwgt", "--row-is-person"]
MADE = ["--target", "readmitted", "--sensitive", "hiv", "--quasi", "birth_year,sex"]
MADE += ["--identifier", "patient", "--drop", "zip"]


@pytest.fixture
def table(tmp_path: Path) -> list[str]:
    """A table, and what its columns are for."""
    real = DATA / "adult_train.csv.gz"
    if real.exists():
        return [str(real), *ADULT]
    patients(rows=4000).frame.write_csv(tmp_path / "patients.csv")
    return [str(tmp_path / "patients.csv"), *MADE]


@pytest.fixture
def long_table(tmp_path: Path) -> str:
    """Who bought what, and for how much in all."""
    real, path = DATA / "supermarket.txt.gz", tmp_path / "long.parquet"
    if real.exists():
        records = read_binary(real, format="svm")
        ones: Any = records.matrix.nonzero()
        high = np.asarray(records.labels) == "+1"
    else:
        rng = np.random.default_rng(0)
        high = rng.random(1500) < 0.4
        share = np.where(high, 0.4, 0.1)[:, None] * np.array([1.0] * 6 + [0.3] * 64)
        ones = np.nonzero(rng.random((1500, 70)) < share)
    rows, columns = ones
    names = [f"item {i}" for i in columns]
    total = np.where(high, "high", "low")[rows]
    pl.DataFrame({"who": rows, "item": names, "total": total}).write_parquet(path)
    return str(path)


def differing(one: dict[str, Any], two: dict[str, Any]) -> set[str]:
    return {key for key in one.keys() | two.keys() if one.get(key) != two.get(key)}


def test_audit_of_a_table(spark, run, table):
    """All counts are the same, and what is no count to 12 digits."""
    found = {}
    for engine in ("spark", "duckdb"):
        how = ["--engine", engine, "--sample", "1000", "--json", "--quiet"]
        code, said, err = run("audit", *table, *how)
        assert code == 0, err
        found[engine] = json.loads(said)
    near = {"t_closeness", "l_diversity", "reidentification"}
    assert differing(found["spark"], found["duckdb"]) <= {"engine", *near}
    for key in near:
        assert found["spark"][key] == pytest.approx(found["duckdb"][key], rel=1e-12)


RELEASE = ["--k", "100", "--methods", "front,coarsen"]
QUICK = ["--sample", "1000", "--attackers", "nb", "--seed", "3", "--quiet"]


def released(run, folder: Path, engine: str, *asked: str) -> Path:
    (folder / "scratch").mkdir(parents=True)
    place = ["--scratch", folder / "scratch", "--out", folder / "out"]
    code, _, err = run("release", *asked, "--engine", engine, *QUICK, *place)
    assert code == 0, err
    assert list((folder / "scratch").iterdir()) == []
    return folder / "out"


def test_release_of_a_table(spark, run, table, tmp_path):
    one = released(run, tmp_path / "a", "spark", *table, *RELEASE)
    two = released(run, tmp_path / "b", "duckdb", *table, *RELEASE)
    assert (one / "release.csv").read_bytes() == (two / "release.csv").read_bytes()
    said, other = (json.loads((out / "manifest.json").read_text()) for out in (one, two))
    assert differing(said, other) == {"engine"}
    assert said["engine"]["counted"] | {"by": "duckdb"} == other["engine"]["counted"]
    assert said["engine"]["counted"]["by"] == "spark"
    assert said["promises"][0]["measured"] >= 100
    code, checked, err = run("verify", one, "--engine", "spark", "--json")
    assert code == 0, err
    assert {"k_anonymity", "exposure"} <= set(json.loads(checked)["checks"])


def test_release_of_a_long_table(spark, run, long_table, tmp_path):
    asked = ["--long", "who,item", "--target", "total", "--k", "10", "--methods", "containment"]
    one = released(run, tmp_path / "a", "spark", long_table, *asked)
    two = released(run, tmp_path / "b", "duckdb", long_table, *asked)
    assert (one / "release.csv").read_bytes() == (two / "release.csv").read_bytes()
    said, other = (json.loads((out / "manifest.json").read_text()) for out in (one, two))
    assert differing(said, other) == {"engine"}
    assert said["engine"]["sampled"] == other["engine"]["sampled"]
    assert run("verify", one, "--quiet")[0] == 0


def test_a_session_lost_while_rows_are_written(spark, run, tmp_path, monkeypatch):
    from pyspark.sql import SparkSession

    whole = streamed._shaped

    def stopping(found, *given):
        yield next(whole(found, *given)).head(10)
        SparkSession.active().stop()
        found.large.engine.small(found.large.frame)

    monkeypatch.setattr(streamed, "_shaped", stopping)
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
