"""`tamis ladder`, and the ladders that `tamis init` writes."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def table(tmp_path):
    mixed = np.random.default_rng(0).permutation(240).tolist()
    frame = pl.DataFrame(
        {
            "age": [20 + i % 60 for i in mixed],
            "job": ["cook", "judge", "clerk"] * 79 + ["secret-job", "cook", None],
            "on": [f"20{10 + i % 12}-0{1 + i % 9}-11" for i in mixed],
            'odd "name"\n[x]': [f"{i % 40:05d}" for i in mixed],
            "y": ["u", "v"] * 120,
        }
    )
    path = tmp_path / "t.csv"
    frame.write_csv(path)
    return path


def test_what_init_writes_is_read_back(run, table, tmp_path):
    config = tmp_path / "tamis.toml"
    code, _, err = run("init", table, "-o", config)
    assert code == 0, err
    written = tomllib.loads(config.read_text())["ladders"]
    assert list(written) == ["age", "job", "on", 'odd "name"\n[x]']
    assert "secret-job" not in config.read_text()
    for column, said in written.items():
        code, out, err = run("ladder", table, "--config", config, "--column", column, "--json")
        assert code == 0, err
        shown = json.loads(out)
        assert (shown["ladder"], shown["given"]) == (said, True)


def test_levels_count_the_people_of_each_label(run, table):
    shown = json.loads(run("ladder", table, "--column", "age", "--json").out)
    assert not shown["given"]
    assert [level["groups"] for level in shown["levels"]] == [60, 12, 10, 6, 4, 3, 1]
    assert "labels" not in shown["levels"][0]
    for level in shown["levels"][1:]:
        assert sum(label["people"] for label in level["labels"]) == 240
    first = shown["levels"][1]["labels"][1]
    assert first == {"label": "25 to 29", "people": 20, "lower": 25.0, "upper": 30.0}
    missing = json.loads(run("ladder", table, "--column", "job", "--json").out)["levels"][1]
    assert missing["labels"][-1] == {"label": None, "people": 1}


def test_people_are_counted_not_rows(run, tmp_path):
    pl.DataFrame({"who": ["a", "a", "b"], "age": [41, 42, 43]}).write_csv(tmp_path / "t.csv")
    (tmp_path / "s.toml").write_text("[ladders]\nage = { width = 10 }\n")
    flags = ("--identifier", "who", "--schema", tmp_path / "s.toml", "--column", "age")
    shown = json.loads(run("ladder", tmp_path / "t.csv", *flags, "--json").out)
    assert shown["unit"] == "people"
    assert shown["levels"][1]["labels"][0]["people"] == 2


def test_files_flags_and_schemas_in_their_order(run, table, tmp_path):
    (tmp_path / "job.csv").write_text("cook;manual;*\njudge;office;*\nclerk;office;*\n")
    (tmp_path / "s.toml").write_text(
        '[ladders]\njob = { file = "job.csv", unlisted = "other" }\nage = { width = 20 }\n'
    )
    by_schema = ("ladder", table, "--schema", tmp_path / "s.toml", "--column")
    found = json.loads(run(*by_schema, "job", "--json").out)
    assert [label["label"] for label in found["levels"][1]["labels"]] == [
        "manual", "office", "other", None,
    ]  # fmt: skip
    by_flag = ("ladder", table, "--column", "job", "--ladder", f"job={tmp_path / 'job.csv'}")
    code, _, err = run(*by_flag)
    assert code == 2
    assert "1 value in 1 row that its ladder lacks" in err
    assert "secret-job" not in err
    said = run(*by_schema, "age").out
    assert "levels 0 to 2, as given" in said
    assert "[20, 40)" in said


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[ladders]\njob = 3", "[ladders.job] must be a table"),
        ("[ladders]\njobs = { keep = [1] }", "'jobs'"),
        ("[ladders]\njob = { file = 3 }", "must be the name of a file"),
        ("[ladders]\njob = { file = 'gone.csv' }", "no file"),
        ("[ladders]\njob = { file = 's.toml', cuts = [1] }", "unknown entry 'cuts'"),
        ("[ladders]\nage = { dates = ['year'] }", "column 'age': a year does not fit"),
    ],
)
def test_wrong_descriptions_are_refused_by_name(run, table, tmp_path, toml, words):
    (tmp_path / "s.toml").write_text(toml)
    column = "age" if "age" in toml else "job"
    for flag in ("--schema", "--config"):
        code, _, err = run("ladder", table, flag, tmp_path / "s.toml", "--column", column)
        assert code == 2
        assert words in err


def test_a_label_cannot_command_the_terminal(run, tmp_path):
    cells = ["[red]\x1b[2J"] * 9 + ["b"] * 8 + ["c"] * 7
    pl.DataFrame({"a": cells}).write_parquet(tmp_path / "t.parquet")
    said = run("ladder", tmp_path / "t.parquet", "--column", "a").out
    assert "[red]\\x1b[2J" in said
    assert "\x1b" not in said


def test_a_column_that_is_not_there_is_named(run, table):
    code, _, err = run("ladder", table, "--column", "nothing")
    assert code == 2
    assert "'nothing'" in err
    code, _, err = run("ladder", table, "--column", "age", "--ladder", "age")
    assert code == 2
    assert "--ladder takes COL=FILE" in err
