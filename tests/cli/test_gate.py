"""`tamis audit` with limits: which of them fails, by how much, and the exit code."""

import json

import polars as pl
import pytest

from tamis.catalogue.measures import PRESETS

ROLES = ("--target", "ill", "--row-is-person", "--quasi", "sex,age")


@pytest.fixture
def table(tmp_path):
    """Groups of 4 and of 2."""
    path = tmp_path / "people.csv"
    rows = ["f,30,no", "f,30,yes", "f,30,no", "f,30,yes", "m,40,no", "m,40,no"]
    path.write_text("sex,age,ill\n" + "\n".join(rows) + "\n")
    return path


def limits(found):
    return {each["name"]: each for each in json.loads(found.out)["limits"]}


def test_without_limits_nothing_is_refused(run, table):
    found = run("audit", table, *ROLES, "--json")
    assert (found.code, limits(found)) == (0, {})


@pytest.mark.parametrize(("k", "code"), [(2, 0), (3, 1)])
def test_both_sides_of_k(run, table, k, code):
    found = run("audit", table, *ROLES, "--k", k, "--json")
    assert found.code == code
    assert limits(found)["k"] == {
        "name": "k", "side": "at_least", "bound": k, "reached": 2, "met": not code,
        "lacking": limits(found)["k"]["lacking"], "short_by": code,
    }  # fmt: skip
    assert bool(limits(found)["k"]["lacking"]) == bool(code)
    assert ("1 of 1 limit is not met: k = 3 requires 3" in found.err) == bool(code)


@pytest.mark.parametrize(
    ("flag", "holds", "fails"),
    [
        ("--max-risk", 0.5, 0.49),
        ("--max-average-risk", 0.34, 0.33),  # two groups of six people
        ("--t", 0.34, 0.33),
        ("--alpha", 1, 0.99),
    ],
)
def test_both_sides_of_other_limits(run, table, flag, holds, fails):
    assert run("audit", table, *ROLES, flag, holds).code == 0
    refused = run("audit", table, *ROLES, flag, fails)
    assert refused.code == 1
    assert "1 of 1 limit is not met" in refused.err


def test_all_that_fail_are_named_and_the_figures_are_still_printed(run, table):
    found = run("audit", table, *ROLES, "--k", 3, "--max-risk", 0.09, "--alpha", 1)
    assert found.code == 1
    assert "k-anonymity" in found.out
    assert "2 of 3 limits are not met: k = 3" in found.err
    assert "alpha" not in found.err
    assert "a risk of 0.09 at most is asked for, but some group has 0.5" in found.err


def test_the_secret_of_people_alike_has_several_values(run, table):
    assert "the least diverse group has 1" in run("audit", table, *ROLES, "--l", 2).err
    found = run("audit", table, *ROLES[:-1], "age", "--l", 2, "--drop", "sex")
    assert found.code == 1
    assert "the least diverse group has 1" in found.err


def test_a_line_says_that_all_hold(run, table):
    found = run("audit", table, *ROLES, "--k", 2)
    assert "All limits hold (1 limit)." in found.err
    assert run("audit", table, *ROLES, "--k", 2, "--quiet").err == ""


def test_a_preset_is_a_limit_by_name_and_the_stricter_counts(run, table):
    asked = ("audit", table, *ROLES, "--json")
    assert limits(run(*asked, "--preset", "ema"))["max_risk"]["bound"] == 0.09
    assert limits(run(*asked, "--preset", "office-3", "--k", 2))["k"]["bound"] == 3
    assert limits(run(*asked, "--preset", "office-3", "--k", 4))["k"]["bound"] == 4
    assert limits(run(*asked, "--preset", "ema", "--max-risk", 0.5))["max_risk"]["bound"] == 0.09
    unknown = run(*asked, "--preset", "mine")
    assert unknown.code == 2
    assert all(name in unknown.err for name in PRESETS)


def test_limits_of_a_file_are_those_of_a_release_and_only_said(run, table, tmp_path):
    config = tmp_path / "gate.toml"
    config.write_text('preset = "office-10"\nk = 2\n')
    asked = ("audit", table, *ROLES, "--config", config)
    found = run(*asked)
    assert found.code == 0
    assert "of the file given with --config, 1 of 1 limit is not met: k = 10" in found.err
    assert limits(run(*asked, "--json"))["k"]["met"] is False
    for more, k in ((("--preset", "office-3"), 3), (("--k", 2), 10)):  # the stricter one of both
        found = run(*asked, *more)
        assert found.code == 1
        assert f"1 of 1 limit is not met: k = {k}" in found.err


def test_people_count_and_not_rows(run, tmp_path):
    path = tmp_path / "stays.csv"
    path.write_text("who,sex,ill\n" + "1,f,no\n" * 5 + "2,m,no\n3,m,yes\n")
    found = run("audit", path, "--target", "ill", "--identifier", "who", "--k", 2, "--json")
    assert found.code == 1
    assert limits(found)["k"]["reached"] == 1


def test_limits_in_the_population(run, table, tmp_path):
    register = tmp_path / "town.csv"
    register.write_text("sex,age\n" + "f,30\n" * 8 + "m,40\n" * 8)
    asked = ("audit", table, *ROLES, "--population", register, "--json")
    kept = run(*asked, "--max-population-risk", 0.2, "--delta-presence", "0.25,0.5")
    assert kept.code == 0
    assert [each["met"] for each in json.loads(kept.out)["limits"]] == [True] * 3
    low, high = json.loads(run(*asked, "--delta-presence", "0.3,0.4").out)["limits"]
    assert (low["met"], low["reached"], low["side"]) == (False, 0.25, "at_least")
    assert (high["met"], high["reached"], high["side"]) == (False, 0.5, "at_most")
    found = run(*asked, "--max-population-risk", 0.1)
    assert found.code == 1
    assert [each["reached"] for each in json.loads(found.out)["limits"]] == [0.125]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("--max-population-risk", 0.1), "needs to know the population"),
        (("--delta-presence", "0.1,0.2"), "needs a register"),
        (("--k", 0), "k must be a whole number of at least 1"),
        (("--max-risk", 2), "max-risk must be a share"),
    ],
)
def test_what_cannot_be_asked(run, table, given, why):
    refused = run("audit", table, *ROLES, *given)
    assert refused.code == 2
    assert why in refused.err


def test_sparse_records_hide_among_those_who_have_as_much(run, tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("+1 1:1 2:1\n-1 1:1\n+1 1:1 2:1\n")
    assert run("audit", path, "--k", 2).code == 0
    found = run("audit", path, "--k", 3, "--json")
    assert found.code == 1
    assert limits(found)["k"]["reached"] == 2
    found = run("audit", path, "--l", 2)
    assert found.code == 2
    assert "of sparse records only --k is checked, not --l" in found.err


def test_an_engine_counts_the_same(run, table, tmp_path):
    pl.read_csv(table).sample(fraction=20, with_replacement=True, seed=1).write_parquet(
        path := tmp_path / "large.parquet"
    )
    asked = ("audit", path, *ROLES, "--k", 3, "--l", 2, "--max-average-risk", 0.01, "--t", 0.2)
    here = run(*asked, "--json")
    there = run(*asked, "--json", "--engine", "duckdb")
    assert here.code == there.code == 1
    for name, each in limits(here).items():
        assert limits(there)[name]["reached"] == pytest.approx(each["reached"])
        assert limits(there)[name]["met"] == each["met"]


def test_a_release_takes_presets(run, tmp_path):
    from tamis.datasets import patients

    path = tmp_path / "patients.csv"
    patients(400).frame.write_csv(path)
    asked = ("--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient")
    fast = ("--preset", "office-10", "--out", tmp_path / "out", "--quiet")
    assert run("release", path, *asked, *fast).code == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert min(each["at_least"] for each in manifest["promises"]) == 10
