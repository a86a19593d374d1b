"""Engines on the command line: the same answers, one line that says why, plain errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
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
            near = key in ("t_closeness", "l_diversity", "likeness", "reidentification")
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


def test_columns_without_values_are_left_out_and_infinite_numbers_are_refused(run, tmp_path):
    cases = (([None, None], "no values at all", 0), ([1.0, float("inf")], "infinite", 2))
    for column, words, expected in cases:
        frame = pl.DataFrame({"a": [1, 2], "b": pl.Series(column, dtype=pl.Float64)})
        frame.write_parquet(tmp_path / "rows.parquet")
        path = str(tmp_path / "rows.parquet")
        code, _, err = run("audit", path, "--engine", "polars", "--json")
        assert code == expected
        assert words in err
    assert run("audit", path, "--engine", "polars", "--drop", "b").code == 0


def test_a_long_table_is_released_behind_an_engine(run, tmp_path):
    rng = np.random.default_rng(0)
    ill = rng.random(600) < 0.4
    ones = rng.random((600, 90)) < 0.05
    ones[:, :5] = rng.random((600, 5)) < np.where(ill, 0.6, 0.2)[:, None]
    who, item = np.nonzero(ones)
    label = np.where(ill[who], "yes", "no")
    pl.DataFrame({"who": who, "item": item, "ill": label}).write_parquet(tmp_path / "long.parquet")
    out, how = tmp_path / "out", ["--long", "who,item", "--engine", "duckdb", "--sample", "300"]
    quick = ["--methods", "containment", "--attackers", "nb", "--out", str(out)]
    code, said, err = run("release", tmp_path / "long.parquet", *OPTIONS, *how, *quick)
    assert code == 0, err
    manifest = json.loads((out / "manifest.json").read_text())
    assert json.loads(said)["out"] == str(out)
    assert manifest["file"]["rows"] == len(np.unique(who))
    (promise,) = manifest["promises"]
    assert promise["key"] == "containment_anonymity"
    assert promise["measured"] >= 5
    assert manifest["held_back"] == 90 - (len(manifest["columns"]) - 1)
    assert manifest["engine"]["sampled"]["of"] == manifest["engine"]["counted"]["rows"] == 600
    assert 200 < manifest["engine"]["sampled"]["rows"] < 400
    for page in (out / "report.html", out / "private" / "report.html"):
        assert "shares of what the compared columns give" in page.read_text()
    assert "Of 90 columns of the original, the " in (out / "private" / "report.html").read_text()
    assert run("verify", out, "--quiet")[0] == 0
    code, _, err = run("release", "--again", out)
    assert (code, "--reproduce cannot" in err) == (2, True)
    code, _, err = run("verify", out, "--engine", "polars")
    assert (code, "--engine memory" in err) == (1, True)


def test_a_written_ladder_is_used_behind_an_engine(run, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, 1500)
    ill = np.where(age + 8 * rng.normal(size=1500) > 60, "yes", "no")
    pl.DataFrame({"age": age, "ill": ill}).write_csv(tmp_path / "rows.csv")
    (tmp_path / "how.toml").write_text("[ladders]\nage = { width = [10, 20] }\n")
    out = tmp_path / "out"
    code, _, err = run(
        "release", tmp_path / "rows.csv", *OPTIONS, "--engine", "polars", "--sample", 1000,
        "--config", tmp_path / "how.toml", "--methods", "coarsen", "--k", 60, "--out", out,
        "--write", "parquet", "--row-is-person", "--attackers", "nb", "--sensitive", "ill",
    )  # fmt: skip
    assert code == 0, err
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["columns"][0]["coarser"]["width"] in (10, 20)
    rows = pl.read_parquet(out / "release.parquet")
    assert rows.columns == ["age", "age_lower", "age_upper", "ill"]
    assert min(rows["age"].value_counts()["count"]) == manifest["promises"][0]["measured"] >= 60
    for engine in ("memory", "duckdb", "polars"):
        code, said, err = run("verify", out, "--engine", engine, "--json")
        assert code == 0, err
        assert "exposure" in json.loads(said)["checks"]
    monkeypatch.setattr("tamis.rows.free_memory", lambda: 1000)
    code, said, err = run("verify", out)
    assert code == 0, err
    assert "engine: duckdb, since release.parquet would take" in err  # polars wrote it


def test_too_little_memory_publishes_nothing_and_leaves_nothing(run, rows, tmp_path):
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    little = ["--engine", "duckdb", "--memory", "1MB", "--scratch", scratch, "--out", out]
    code, said, err = run("release", rows, "--target", "ill", "--row-is-person", *little)
    assert (code, said) == (1, "")
    assert "duckdb ran out of memory; allow more with --memory" in err
    assert sorted(tmp_path.iterdir()) == [scratch]
    assert list(scratch.iterdir()) == []
