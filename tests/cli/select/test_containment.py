"""`tamis select containment`."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest

from tamis import containment_anonymity, k_anonymity, read_table
from tamis.datasets import behaviour


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    behaviour(rows=400, features=60).frame().write_parquet(path)
    return path


def ask(run, log, *args):
    return run("select", "containment", log, "--target", "buys", *args)


def test_the_choice_as_json_is_feasible_and_written(run, log, tmp_path):
    out = tmp_path / "out.csv"
    code, text, err = ask(run, log, "--k", "4", "--json", "-o", out)
    assert (code, err) == (0, "")
    found = json.loads(text)
    assert found["k"] == 4
    assert found["anonymity"] >= 4
    assert len(found["steps"]) == len(found["features"])
    released = read_table(out, target="buys")
    assert set(released.features) == set(found["features"])
    features = released.frame.select(released.features)
    assert containment_anonymity(features) == found["anonymity"]
    assert released.rows == 400


def test_equality_keeps_k_anonymity(run, log, tmp_path):
    out = tmp_path / "out.parquet"
    assert ask(run, log, "--k", "5", "--privacy", "equality", "-o", out).code == 0
    released = read_table(out, target="buys")
    assert k_anonymity(released) >= 5


def test_the_table_in_words(run, log):
    out = ask(run, log, "--utility", "hamdist", "--on-violation", "stop").out
    assert "columns may be released" in out
    assert "whatever a row has" in out
    assert "page" in out


def test_several_k_in_one_run(run, log, tmp_path):
    plot = tmp_path / "k.svg"
    code, out, _ = ask(run, log, "--k", "2,5,20", "--json", "--plot", plot)
    assert code == 0
    found = json.loads(out)["selections"]
    assert [f["k"] for f in found] == [2, 5, 20]
    sizes = [f["utility"] for f in found]
    assert sizes == sorted(sizes, reverse=True)
    assert ET.parse(plot).getroot().tag.endswith("svg")


def test_the_path_is_drawn(run, log, tmp_path):
    plot = tmp_path / "path.svg"
    assert ask(run, log, "--k", "5", "--plot", plot, "--quiet").code == 0
    assert "k = 5" in plot.read_text()


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--k", "x"], 2, "whole numbers"),
        (["--k", "0"], 2, "k"),
        (["--k", "401"], 1, "at most 400"),
        (["--k", "2,3", "-o", "x.csv"], 2, "one --k"),
        (["--k", "399"], 1, "no feature fits"),
        (["--k", "5", "-o", "x.xls"], 2, ".csv or .parquet"),
        (["--k", "5", "-o", "nowhere/x.csv"], 2, "no folder"),
        (["--k", "5", "--utility", "size"], 2, "size"),
    ],
)
def test_requests_that_cannot_be_met(run, log, tmp_path, monkeypatch, args, code, said):
    monkeypatch.chdir(tmp_path)
    result = ask(run, log, *args)
    assert result.code == code
    assert said in result.err
    assert result.out == ""
    assert list(tmp_path.iterdir()) == []


def test_columns_are_needed(run, tmp_path):
    path = tmp_path / "nothing.svm"
    path.write_text("-1\n+1\n-1\n+1\n")
    result = run("select", "containment", path, "--k", 1)
    assert result.code == 2
    assert "no column to choose from" in result.err


def test_labels_are_needed(run, log):
    result = run("select", "containment", log, "--drop", "buys")
    assert result.code == 2
    assert "needs labels" in result.err


def test_limits_of_greedy_are_given_on_the_command_line(run, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = (rng.random((80, 6)) < np.where(y[:, None] == 1, 0.5, 0.2)).astype(int)
    X[:, 0] = 0
    X[:3, 0] = 1 - y[:3]  # rarer than k, and it comes last
    path = tmp_path / "t.csv"
    pl.DataFrame(X, schema=[f"x{i}" for i in range(6)]).with_columns(y=pl.Series(y)).write_csv(path)

    def chosen(*args):
        asked = ("select", "containment", path, "--target", "y", "--k", 3, "--json", *args)
        done = run(*asked)
        return done.code, json.loads(done.out) if done.out else done.err

    hamdist = ("--utility", "hamdist")
    every = chosen(*hamdist)[1]["steps"]
    assert [s["feature"] for s in chosen(*hamdist, "--max-features", 2)[1]["steps"]] == [
        s["feature"] for s in every[:2]
    ]
    least = every[1]["gain"]
    gains = [s["gain"] for s in chosen(*hamdist, "--min-gain", least)[1]["steps"]]
    assert gains == [s["gain"] for s in every if s["gain"] > least]
    code, said = chosen(*hamdist, "--search", "exact", "--max-features", 2)
    assert code == 2
    assert "search='greedy'" in said


def test_rare_columns_need_not_stop_the_search(run, tmp_path):
    often = [1] * 10 + [0] * 30
    more = [0] * 10 + [1] * 5 + [0] * 25
    rare = [0] * 36 + [1] * 4
    path = tmp_path / "t.csv"
    pl.DataFrame({"often": often, "more": more, "rare": rare, "y": [1] * 30 + [0] * 10}).write_csv(
        path
    )
    asked = ["select", "containment", path, "--target", "y", "--utility", "hamdist"]
    asked += ["--on-violation", "stop", "--json"]
    stopped = run(*asked)
    assert stopped.code == 1
    assert "drop_rare" in stopped.err
    assert json.loads(run(*asked, "--drop-rare").out)["features"] == ["often", "more"]


def test_named_columns_are_also_counted_with_their_zeros(run, tmp_path):
    """Who is neither cook nor judge lacks both, and is alone in that."""
    path = tmp_path / "table.csv"
    jobs = ["cook"] * 6 + ["judge"] * 3 + ["king"]
    pl.DataFrame({"job": jobs, "y": ["u", "v"] * 5}).write_csv(path)
    asked = ["select", "containment", path, "--target", "y", "--k", 3]
    found = json.loads(run(*asked, "--quasi", "job", "--json").out)
    assert set(found["features"]) == {"job = cook", "job = judge"}
    assert (found["anonymity"], found["alike"]) == (3, 1)
    assert "is left with 1 row, below k = 3" in run(*asked, "--quasi", "job").err
    assert json.loads(run(*asked, "--json").out)["alike"] is None
    assert run(*asked).err == ""
    equal = json.loads(run(*asked, "--quasi", "job", "--privacy", "equality", "--json").out)
    assert equal["alike"] >= 3
