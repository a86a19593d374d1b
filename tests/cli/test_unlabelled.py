"""`--drop-unlabelled`: rows without a label are left out, counted and said, and leave no trace."""

import json

import numpy as np
import polars as pl
import pytest

from tamis.datasets import patients
from tests.long import long

ROLES = (
    "--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient",
    "--quasi", "zip,birth_year,sex,job", "--methods", "containment",
)  # fmt: skip
PUBLIC = ("release.csv", "manifest.json", "report.html")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of stays, a fifth of them without a label, and the same without these."""
    folder = tmp_path_factory.mktemp("unlabelled")
    frame = patients(rows=400).frame
    gone = pl.Series(np.arange(400) % 5 == 2)
    blank = pl.when(~gone).then("readmitted").alias("readmitted")
    frame.with_columns(blank).write_csv(folder / "stays.csv")
    frame.filter(~gone).write_csv(folder / "labelled.csv")
    (folder / "fast.toml").write_text('[containment]\nks = [20]\nutilities = ["difference"]\n')
    return folder


@pytest.fixture(scope="module")
def config(folder):
    return ("--config", folder / "fast.toml")


def test_the_default_is_an_error_that_names_the_flag(run, folder, config, tmp_path):
    code, _, err = run("release", folder / "stays.csv", *ROLES, *config, "--out", tmp_path / "out")
    assert code == 2
    assert "missing in 80 of 400 rows" in err
    assert "--drop-unlabelled" in err
    assert not (tmp_path / "out").exists()


def test_nothing_public_tells_of_them_and_the_release_can_be_made_again(
    run, folder, config, tmp_path
):
    ours, other = tmp_path / "ours", tmp_path / "other"
    code, _, err = run(
        "release", folder / "stays.csv", *ROLES, *config, "--drop-unlabelled", "--out", ours
    )
    assert code == 0, err
    assert "80 of 400 rows have no 'readmitted' and are left out" in err
    assert "read 320 rows" in err
    assert run("release", folder / "labelled.csv", *ROLES, *config, "--out", other).code == 0
    for name in PUBLIC:
        assert (ours / name).read_bytes() == (other / name).read_bytes(), name
    held = (ours / "private" / "report.html").read_text(encoding="utf-8")
    assert "80 rows of the table had no" in held
    assert "left out of every step" not in (other / "private" / "report.html").read_text("utf-8")
    recipe = json.loads((ours / "private" / "recipe.json").read_text())
    assert recipe["origin"]["source"]["drop_unlabelled"] is True
    assert run("release", "--again", ours).code == 0


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_engines_leave_out_the_same_rows(run, folder, engine):
    common = ("audit", folder / "stays.csv", *ROLES[:-2], "--json", "--drop-unlabelled")
    code, out, err = run(*common, "--engine", engine)
    assert code == 0, err
    assert "80 of 400 rows" in err
    here, there = json.loads(run(*common).out), json.loads(out)
    assert here["unlabelled"] == there["unlabelled"] == 80
    for name in ("rows", "k_anonymity", "unique_rows", "class_sizes", "l_diversity"):
        assert here[name] == there[name], name


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Pairs of 300 entities, of which 20 have an empty label and 10 none, with 3 pairs each."""
    folder = tmp_path_factory.mktemp("visits")
    rng = np.random.default_rng(0)
    ill = rng.random(300) < 0.5
    has = rng.random((300, 3)) < np.where(ill, 0.8, 0.3)[:, None]
    has[:30] = True
    pairs = [(who, f"page{page}") for who, page in np.argwhere(has)]
    pl.DataFrame(pairs, schema=["who", "page"], orient="row").write_parquet(
        folder / "pairs.parquet"
    )
    labels = [None if who < 20 else str(ill[who]) for who in range(300)]
    known = pl.DataFrame({"who": range(300), "ill": labels})
    known.filter(~pl.col("who").is_between(20, 29)).write_parquet(folder / "labels.parquet")
    return folder


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_entities_of_a_long_table_are_counted_too(run, visits, tmp_path, engine):
    given = (
        "release", visits / "pairs.parquet", "--labels", visits / "labels.parquet",
        "--long", "who,page", "--target", "ill", "--methods", "front", "--attackers", "nb",
        "--engine", engine, "--json", "--out", tmp_path / "out",
    )  # fmt: skip
    code, _, err = run(*given)
    assert code == 2
    assert "missing" in err or "without a label" in err
    code, out, err = run(*given, "--drop-unlabelled")
    assert code == 0, err
    assert "30 of 300 rows have no 'ill' and are left out" in err
    assert json.loads(out)["unlabelled"] == 30
    assert json.loads(out)["manifest"]["exposure"]["total"] == 270
    held = (tmp_path / "out" / "private" / "report.html").read_text(encoding="utf-8")
    assert "30 rows of the table had no" in held
    assert "left out of every step" not in (tmp_path / "out" / "report.html").read_text("utf-8")


@long
def test_a_table_behind_an_engine_says_how_many_were_left_out(run, folder, tmp_path):
    code, out, err = run(
        "release", folder / "stays.csv", *ROLES[:-1], "front", "--attackers", "nb", "--json",
        "--engine", "duckdb", "--sample", "300", "--drop-unlabelled", "--out", tmp_path / "out",
        "--feature", "cd4_count",  # of a sample nearly every row has its own
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["unlabelled"] == 80
    held = (tmp_path / "out" / "private" / "report.html").read_text(encoding="utf-8")
    assert "80 rows of the table had no" in held


def test_no_row_is_left_out_for_its_cells_where_epsilon_must_cover_all(run, folder, tmp_path):
    code, _, err = run(
        "release", folder / "stays.csv", *ROLES[:-2], "--epsilon", "1", "--drop-unlabelled",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert code == 2
    assert "no epsilon covers" in err
