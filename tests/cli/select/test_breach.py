"""`tamis select breach`."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest

from tamis import read_table


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    rng = np.random.default_rng(2)
    ill, smokes = rng.random(240) < 0.45, rng.random(240) < 0.4
    frame = pl.DataFrame(
        {
            "age": rng.normal(50 + 14 * ill, 9).round(1),
            "<job>": np.where(rng.random(240) < 0.15 + 0.7 * smokes, "cook", "judge"),
            "wage": rng.normal(30 + 5 * smokes, 5).round(1),
            "coin": rng.integers(0, 2, 240),
            "visits": rng.poisson(4 + 5 * ill, 240),
            "smokes": np.where(smokes, "yes", "no"),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    path = tmp_path_factory.mktemp("clinic") / "clinic.csv"
    frame.write_csv(path)
    return path


def ask(run, clinic, *args):
    return run("select", "breach", clinic, "--target", "ill", "--folds", 4, *args)


def test_folds_are_dealt_five_times_unless_told_otherwise(run, clinic):
    def dealt(*args):
        found = json.loads(ask(run, clinic, "--holdout", 0, "--json", "--quiet", *args).out)
        return found["folds"], found["repeats"]

    assert dealt() == (4, 5)
    assert dealt("--preset", "paper") == (4, 1)
    assert dealt("--repeats", 2) == (4, 2)


def test_json_has_the_stable_names(run, clinic):
    code, out, _ = ask(run, clinic, "--sensitive", "smokes", "--json", "--quiet")
    assert code == 0
    found = json.loads(out)
    assert found["search"] == "exhaustive"
    assert (found["folds"], found["repeats"]) == (4, 5)
    assert found["features"] == found["candidates"][found["best"]]["features"]
    keys = {"features", "performance", "pbi", "p_value", "region", "score"}
    assert all(keys <= set(candidate) for candidate in found["candidates"])
    assert found["candidates"][0]["region"] is None
    assert found["held_out"]["rows"] == 60
    assert 0 <= found["sensitivity"]["margin"] <= 1
    assert set(found["performance_ranking"]) == {"age", "<job>", "wage", "coin", "visits"}
    assert found["cut"] == "each value is a class"


def test_the_choice_in_words_and_notes(run, clinic):
    code, out, err = ask(run, clinic, "--preset", "paper", "--holdout", 0.25, "--stability", 2)
    assert code == 0
    assert "columns may be released" in out
    assert "rows that the search never saw" in out
    assert "over seeds" in out
    assert "walk search" in out
    assert "the target is also the sensitive column" in err
    assert "read 240 rows" in err


def test_a_number_is_cut_and_it_is_said(run, clinic):
    args = ("--sensitive", "visits", "--quiet", "--holdout", "0")
    code, out, _ = ask(run, clinic, *args)
    assert code == 0
    assert "visits was cut at" in out
    assert "never saw" not in out
    given = ask(run, clinic, *args, "--cut", "4.5,8.5").out
    assert "visits was cut at 4.5, 8.5, as given" in given


def test_the_regions_are_drawn_and_the_table_written(run, clinic, tmp_path):
    plot, out = tmp_path / "regions.svg", tmp_path / "out.csv"
    args = ("--sensitive", "smokes", "--json", "--quiet", "--plot", plot, "-o", out)
    found = json.loads(ask(run, clinic, *args, "--weights", "privacy=.9,size=.1").out)
    root = ET.parse(plot).getroot()
    assert root.tag.endswith("svg")
    assert "chosen" in plot.read_text()
    released = read_table(out, target="ill")
    assert list(released.features) == found["features"]
    assert "smokes" not in released.frame.columns
    assert "<job>" not in found["features"]


def test_scores_under_several_weights_are_drawn(run, clinic, tmp_path):
    plot = tmp_path / "scores.svg"
    weights = ["performance=.6,privacy=.2,size=.2", "privacy=1"]
    args = [x for w in weights for x in ("--plot-weights", w)]
    found = ask(run, clinic, "--preset", "paper", "--quiet", "--json", "--plot", plot, *args)
    words = "".join(ET.parse(plot).getroot().itertext())
    assert "performance 0.6, privacy 0.2, size 0.2" in words
    assert "performance 0, privacy 1, size 0" in words
    ranks = [c["ranks"]["privacy"] for c in json.loads(found.out)["candidates"]]
    assert f"{max(ranks):g}" in words
    assert "name the picture with --plot" in ask(run, clinic, *args).err


def test_attackers_may_be_scored_by_what_they_rank(run, clinic):
    def pbi(*args):
        given = ("--sensitive", "smokes", "--search", "walk", "--json", "--quiet")
        return json.loads(ask(run, clinic, *given, *args).out)["candidates"][1]["pbi"]

    assert pbi("--attack-scoring", "roc_auc") != pbi()


def test_weights_that_do_not_sum_to_one_are_said_once(run, clinic):
    args = ("--sensitive", "smokes", "--weights", "performance=2,privacy=1")
    assert ask(run, clinic, *args).err.count("the weights sum to 3") == 1


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--k", "3"], 2, "No such option '--k'"),
        (["--search", "greedy"], 2, "--search must be one of auto, walk, exhaustive"),
        (["--alpha", "low"], 2, "--alpha takes"),
        (["--alpha", "-0.99", "--quiet"], 1, "the smallest found"),
        (["--cut", "here", "--sensitive", "visits"], 2, "--cut takes"),
        (["--attackers", "magic"], 2, "unknown classifier 'magic'"),
        (["--weights", "speed=1"], 2, "no factor 'speed'"),
        (["--plot", "x.svg", "--plot-weights", "speed=1"], 2, "no factor 'speed'"),
        (["--attack-scoring", "neg_log_loss", "--quiet"], 2, "attackers score 0 or less"),
        (["-o", "x.xls"], 2, ".csv or .parquet"),
        (["--classifier", "oracle"], 2, "oracle"),
        (["--target", "wage"], 2, "the target 'wage' contains fractions"),
    ],
)
def test_requests_that_cannot_be_met(run, clinic, tmp_path, monkeypatch, args, code, said):
    monkeypatch.chdir(tmp_path)
    result = ask(run, clinic, *args)
    assert result.code == code
    assert said in result.err
    assert result.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_column_must_be_left_to_choose_from(run, tmp_path):
    path = tmp_path / "two.csv"
    pl.DataFrame({"ill": ["y", "n"] * 20, "smokes": ["y", "y", "n", "n"] * 10}).write_csv(path)
    result = run("select", "breach", path, "--target", "ill", "--sensitive", "smokes")
    assert result.code == 2
    assert "no columns to choose from besides the target and the sensitive one" in result.err


def test_the_preset_searches_all_rows_unless_some_are_held_out(run, clinic):
    def held(*args):
        found = json.loads(ask(run, clinic, "--json", "--quiet", *args).out)
        return found["held_out"] and found["held_out"]["rows"]

    assert held("--preset", "paper") is None
    assert held("--preset", "paper", "--holdout", 0.25) == 60
    assert held() == 60
    by = ("select", clinic, "--by", "breach", "--target", "ill", "--folds", 4, "--preset", "paper")
    assert json.loads(run(*by, "--json", "--quiet").out)["held_out"] is None


def test_a_wrapper_is_searched_best_first(run, clinic):
    args = ("--search", "best-first", "--sensitive", "smokes", "--json", "--quiet")
    found = json.loads(ask(run, clinic, *args).out)
    assert found["search"] == "best-first"
    assert len(found["candidates"]) > 1
