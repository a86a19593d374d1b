"""The table as a sample: `--population`, `--sampling`, `--weight` and `--max-population-risk`."""

import json

import numpy as np
import polars as pl
import pytest

from tamis.datasets import patients

ROLES = (
    "--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient",
    "--quasi", "zip,birth_year,sex,job",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A town, of whom the first third is the table; zip codes begin with a zero."""
    folder = tmp_path_factory.mktemp("town")
    town = patients(rows=1500).frame.with_columns(
        zip="0" + pl.col("zip").cast(pl.String).str.slice(1), weight=pl.lit(3)
    )
    town = town.drop("cd4_count", "albumin", "visits", "blood_group", "viral_load_test")
    town.head(500).write_csv(folder / "sample.csv")
    town.select("zip", "birth_year", "sex", "job", "patient").write_csv(folder / "town.csv")
    town.tail(700).write_csv(folder / "others.csv")
    (folder / "fast.toml").write_text(
        'attackers = ["nb"]\nmethods = ["coarsen"]\ndrop = ["weight"]\n'
    )
    return folder


def audited(run, folder, *options):
    code, out, err = run("audit", folder / "sample.csv", *ROLES, "--json", *options)
    assert code == 0, err
    return json.loads(out)


def test_a_register_is_counted_with_the_types_of_the_table(run, folder):
    found = audited(run, folder, "--drop", "weight", "--population", folder / "town.csv")
    risk = found["population"]
    keys = ["zip", "birth_year", "sex", "job"]
    town = pl.read_csv(folder / "town.csv", infer_schema=False)
    sizes = town.select(pl.len().over(keys)).to_series().head(500)
    assert risk["source"] == "register"
    assert risk["size"] == 1500
    assert risk["unique_share"] == pytest.approx((sizes == 1).mean())
    assert risk["risk"] == risk["average"] == pytest.approx((1 / sizes).mean())
    assert risk["sample_unique_share"] == found["unique_share"] > risk["unique_share"]


def test_the_share_that_was_sampled_gives_estimates(run, folder):
    found = audited(run, folder, "--drop", "weight", "--sampling", "0.05")
    risk = found["population"]
    assert risk["size"] == 10_000
    assert risk["estimates"]["trusted"] in ("pitman", "zayatz")
    assert 0 < risk["unique_share"] <= risk["sample_unique_share"]
    assert found["special_uniques"]["disclosure"]["fraction"] == 0.05


def test_weights_are_no_column_that_an_attacker_knows(run, folder):
    by_weight = audited(run, folder, "--weight", "weight")
    assert [c["name"] for c in by_weight["table"] if c["role"] == "weight"] == ["weight"]
    assert "weight" not in by_weight["quasi"]
    assert by_weight["population"]["size"] == 1500
    same = audited(run, folder, "--weight", "weight", "--missing-matches")
    assert same["population"]["risk"] < by_weight["population"]["risk"]  # some jobs are missing


def test_the_terminal_shows_both_side_by_side(run, folder):
    asked = ("audit", folder / "sample.csv", *ROLES, "--drop", "weight")
    shown = run(*asked, "--population", folder / "town.csv").out
    assert "in the population" in shown
    assert "Counted in the register of 1,500 people." in shown
    shown = run(*asked, "--sampling", "0.05").out
    assert "Dankar's rule trusts" in shown
    assert "What gives people away" in shown
    assert "Make coarser or hold back first: " in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sampling", "0.1", "--weight", "weight"], "give one of"),
        (["--weight", "wight"], "no column 'wight'"),
        (["--weight", "ward"], "must be a number above 0 in every row"),
        (["--missing-matches"], "--weight"),
        (["--population", "others.csv"], "must include everyone"),
        (["--population", "narrow.csv"], "the register has no columns 'birth_year', 'job'"),
    ],
)
def test_what_makes_no_sense_is_refused(run, folder, options, words):
    town = pl.read_csv(folder / "town.csv", infer_schema=False)
    town.select("zip", "sex").write_csv(folder / "narrow.csv")
    options = [folder / o if o.endswith(".csv") else o for o in options]
    code, _, err = run("audit", folder / "sample.csv", *ROLES, *options)
    assert code == 2
    assert words in " ".join(err.split())


def test_a_limit_needs_a_population(run, folder, tmp_path):
    asked = ("release", folder / "sample.csv", *ROLES, "--out", tmp_path / "out")
    code, _, err = run(*asked, "--max-population-risk", "0.1")
    assert code == 2
    assert "--population FILE" in err
    code, _, err = run(*asked, "--population", folder / "town.csv", "--sampling", "0.3")
    assert code == 2
    assert "give one of them" in " ".join(err.split())
    assert not (tmp_path / "out").exists()


def test_a_limit_in_the_population_chooses_and_is_made_again(run, folder, tmp_path):
    out = tmp_path / "out"
    asked = (
        "release", folder / "sample.csv", *ROLES, "--config", folder / "fast.toml",
        "--population", folder / "town.csv", "--k", "2", "--allow-useless", "--json",
        "--feature", "stay_days",
    )  # fmt: skip
    code, said, err = run(*asked, "--out", out, "--max-population-risk", "0.01")
    assert code == 0, err
    assert 0.004 < json.loads(said)["population"]["risk"] <= 0.01
    assert "population" not in (out / "manifest.json").read_text()
    assert run("release", "--again", out).code == 0
    (folder / "town.csv").write_text((folder / "town.csv").read_text() + "0,1,f,x,99999\n")
    code, _, err = run("release", "--again", out)
    assert code == 2
    assert "is not the register" in err


def test_a_limit_that_nothing_meets_publishes_nothing(run, folder, tmp_path):
    asked = (
        "release", folder / "sample.csv", *ROLES, "--config", folder / "fast.toml",
        "--sampling", "0.99", "--k", "2", "--allow-useless", "--feature", "stay_days",
    )  # fmt: skip
    code, _, err = run(*asked, "--out", tmp_path / "out", "--max-population-risk", "0.001")
    assert code == 1
    assert "share of people found in the population must be at most 0.001" in " ".join(err.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("known", [["--sampling", "0.5"], ["--population", "town.csv"]])
def test_an_engine_measures_a_population_as_memory_does(run, folder, known):
    known = [folder / each if each.endswith(".csv") else each for each in known]
    asked = ("audit", folder / "sample.csv", *ROLES, "--drop", "weight", *known, "--json")
    here, there = run(*asked), run(*asked, "--engine", "duckdb")
    assert (here.code, there.code) == (0, 0), there.err
    found, counted = (json.loads(each.out)["population"] for each in (here, there))
    assert counted["risk"] == pytest.approx(found["risk"], abs=1e-12)


def test_presence_is_measured_and_kept(run, folder, tmp_path):
    town = ("--population", folder / "town.csv")
    found = audited(run, folder, "--drop", "weight", *town)["presence"]
    keys = ["zip", "birth_year", "sex", "job"]
    frame = pl.read_csv(folder / "town.csv", infer_schema=False).with_row_index("row")
    shares = frame.group_by(keys).agg((pl.col("row") < 500).mean().alias("share"))["share"]
    assert (found["least"], found["most"]) == (shares.min(), pytest.approx(shares.max()))
    quick = ("--config", folder / "fast.toml", "--quiet", "--allow-useless")
    asked = ("release", folder / "sample.csv", *ROLES, *quick)
    code, _, err = run(*asked, *town, "--delta-presence", "0,0.9", "--out", tmp_path / "out")
    assert code == 0, err
    assert run("release", "--again", tmp_path / "out", "--quiet").code == 0
    said = json.loads(run("verify", tmp_path / "out", "--json").out)
    assert "give it with --population FILE" in said["not_checked"][0]
    assert "delta-presence" not in said["checks"]
    said = json.loads(run("verify", tmp_path / "out", *town, "--json").out)
    assert not any("delta-presence" in words for words in said["not_checked"])
    assert "delta-presence" in said["checks"]
    assert "Not counted again: delta-presence" in run("verify", tmp_path / "out").out
    code, _, err = run("verify", tmp_path / "out", "--population", folder / "sample.csv")
    assert code == 1
    assert "which is not what was promised" in " ".join(err.split())
    code, _, err = run("verify", tmp_path / "none", *town)
    assert code == 2
    assert "no folder" in err
    code, _, err = run(*asked, *town, "--delta-presence", "0.2,0.3", "--out", tmp_path / "no")
    assert code == 1
    assert "chance that somebody is in the table must be from 0.2 to 0.3" in err


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("0.5,0.1",), "LOW,HIGH within 0 and 1, got 0.5,0.1"),
        (("a,b",), "takes shares separated by commas"),
        (("0.1",), "LOW,HIGH within 0 and 1, got 0.1"),
        (("0,0.5", "--sampling", "0.1"), "give --population FILE"),
    ],
)
def test_presence_is_asked_for_with_two_shares_and_a_register(run, folder, tmp_path, given, why):
    options = ("--delta-presence", *given, "--out", tmp_path / "out", "--drop", "weight")
    known = () if "--sampling" in given else ("--population", folder / "town.csv")
    code, _, err = run("release", folder / "sample.csv", *ROLES, *options, *known)
    assert code == 2
    assert why in " ".join(err.split())


def test_a_weight_is_never_released_unless_asked_and_its_risk_is_told(run, folder, tmp_path):
    source = (folder / "sample.csv", *ROLES, "--config", folder / "c.toml")
    (folder / "c.toml").write_text(
        'classifier = "nb"\nattackers = ["nb"]\nmethods = ["front"]\nallow_useless = true\n'
    )
    code, out, err = run(
        "release", *source, "--weight", "weight", "--json", "--out", tmp_path / "a"
    )
    assert code == 0, err
    found = json.loads(out)
    assert "weight" not in found["features"]
    assert found["population"]["source"] == "weights"
    assert found["population"]["size"] == 1500
    assert run("verify", tmp_path / "a").code == 0
    # Of the columns that attackers know, none may leave under so low a limit.
    limited = (*source, "--weight", "weight", "--max-population-risk", "0.000001", "--json")
    code, out, err = run("release", *limited, "--out", tmp_path / "b")
    assert code == 0, err
    assert not {"zip", "birth_year", "sex", "job"} & set(json.loads(out)["features"])
    kept = (*source, "--weight", "weight", "--json", "--feature", "weight")
    code, out, err = run("release", *kept, "--out", tmp_path / "c")
    assert code == 0, err


def test_weights_that_cannot_count_a_population_are_warned_of(run, folder):
    frame = pl.read_csv(folder / "sample.csv", infer_schema=False)
    relative = pl.Series(np.random.default_rng(1).gamma(6, 0.18, 500))
    for weight, why in (
        (pl.lit(0.5), "the table alone has 500 people"),
        (pl.lit(1e9), "more people than there"),
        (relative, "are below 1 in 241 of 500 rows"),
    ):
        path = folder / "relative.csv"
        frame.with_columns(weight=weight).write_csv(path)
        code, out, err = run("audit", path, *ROLES, "--weight", "weight", "--json")
        assert (code, why in err) == (0, True)
        assert json.loads(out)["population"] is None
        asked = ("--max-population-risk", "0.5", "--out", folder / "out")
        code, _, err = run("release", path, *ROLES, "--weight", "weight", *asked)
        assert (code, why in err) == (2, True)
