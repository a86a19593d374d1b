"""One row a person at the command line: by flags, by a file, made again, refused behind engines."""

import json

import polars as pl
import pytest

HOW = {
    "visits": "max",
    "albumin": "last",
    "again": "any(readmitted=yes)",
    "*": "most",
    "n": "count",
}


@pytest.fixture
def stays(tmp_path):
    from tamis.datasets import stays as made

    frame = made(rows=400).frame.with_row_index("day")
    frame.write_csv(tmp_path / "stays.csv")
    return tmp_path / "stays.csv"


def test_flags_and_files_ask_for_one_row_a_person_and_it_is_made_again(run, stays, tmp_path):
    out, people = tmp_path / "out", pl.read_csv(stays)["patient"].n_unique()
    roles = ("--target", "again", "--sensitive", "hiv", "--identifier", "patient,name",
             "--person", "patient", "--quasi", "zip,sex")  # fmt: skip
    flags = ("--per-person", ",".join(f"{c}={how}" for c, how in HOW.items()), "--order", "day")
    file = tmp_path / "tamis.toml"
    table = "".join(f"{json.dumps(c)} = {json.dumps(how)}\n" for c, how in HOW.items())
    file.write_text(f'order = "day"\n[per_person]\n{table}')
    found = []
    for given in (flags, ("--config", file)):
        code, said, err = run("audit", stays, *roles, *given, "--json")
        assert code == 0, err
        assert json.loads(said)["rows"] == people
        assert f"one row for each of {people:,} people" in " ".join(err.split())
        found.append(said)
    assert found[0] == found[1]
    asked = (
        "release",
        stays,
        *roles,
        "--config",
        file,
        "--methods",
        "coarsen",
        "--quiet",
        "--k",
        "3",
    )
    code, _, err = run(*asked, "--out", out)
    assert code == 0, err
    assert pl.read_csv(out / "release.csv").height == people
    code, _, err = run("release", "--reproduce", out, "--out", tmp_path / "again", "--quiet")
    assert code == 0, err
    same = [(d / "release.csv").read_bytes() for d in (out, tmp_path / "again")]
    assert same[0] == same[1]
    code, _, err = run(*asked, "--engine", "duckdb", "--out", tmp_path / "no")
    assert (code, "--per-person needs the table in memory" in " ".join(err.split())) == (2, True)


def test_a_schema_that_asks_for_it_is_refused_behind_an_engine(run, stays, tmp_path):
    schema = tmp_path / "s.toml"
    schema.write_text('[per_person]\n"*" = "most"\n')
    code, _, err = run("audit", stays, "--schema", schema, "--engine", "duckdb")
    assert (code, "--per-person needs the table in memory" in " ".join(err.split())) == (2, True)


def test_sparse_records_have_one_row_an_entity_already(run, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    code, _, err = run("audit", tmp_path / "a.svm", "--per-person", "a=first")
    assert (code, "--per-person is for tables" in " ".join(err.split())) == (2, True)
