"""`tamis curve`."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture(scope="module")
def clinics(tmp_path_factory):
    """Two tables and held-out rows of the first."""
    folder = tmp_path_factory.mktemp("clinics")
    for seed, name in enumerate(("one", "two", "test")):
        rng = np.random.default_rng(seed)
        age, dose = rng.integers(20, 80, 200), rng.random(200)
        ill = np.where(age + 30 * dose > 65, "yes", "no")
        frame = pl.DataFrame({"age": age, "dose": dose.round(3), "ill": ill})
        frame.write_csv(folder / f"{name}.csv")
    return folder


def ask(run, table, *args):
    return run("curve", table, "--target", "ill", "--draws", 2, "--levels", "0,0.2,0.4", *args)


def test_the_damage_rises_with_the_noise(run, clinics):
    found = json.loads(ask(run, clinics / "one.csv", "--json").out)
    rsd = [row["rsd"] for row in found["means"]]
    assert rsd[0] == 0 < rsd[1] < rsd[2]
    assert len(found["points"]) == 3 * 2 * 3
    assert {(row["a"], row["b"]) for row in found["correlations"]} == {
        ("rule_accuracy", "rsd"), ("rule_accuracy", "rld"), ("rsd", "rld"),
    }  # fmt: skip


def test_other_tables_are_taken_in(run, clinics, tmp_path):
    other = tmp_path / "two.json"
    other.write_text(ask(run, clinics / "two.csv", "--method", "gaussian", "--json").out)
    found = json.loads(ask(run, clinics / "one.csv", "--beside", other, "--json").out)
    scopes = {row["scope"]: row for row in found["correlations"]}
    assert set(scopes) == {"this table", "two.json", "within", "pooled"}
    assert scopes["pooled"]["datasets"] == 2
    assert "r, pooled" in ask(run, clinics / "one.csv", "--beside", other, "--quiet").out


def test_rules_and_model_measures(run, clinics, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("age > 50 -> ill=yes\n")
    args = ("--rules", rules, "--test", clinics / "test.csv", "--positive", "yes", "--quiet")
    code, out, _ = ask(run, clinics / "one.csv", *args)
    assert code == 0
    for name in ("rule_accuracy", "rsd", "rld", "accuracy", "auc", "f_measure"):
        assert name in out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--levels", "a,b"), "numbers separated by commas"),
        (("--levels", "0,2"), "from 0 to 1"),
        (("--levels", "0.1,0.1"), "different numbers"),
        (("--positive", "yes"), "needs --test"),
        (("--beside", "one.csv"), "is not a curve"),
        (("--beside", "none.json"), "is not a curve"),
    ],
)
def test_wrong_requests(run, clinics, monkeypatch, args, said):
    monkeypatch.chdir(clinics)
    code, _, err = ask(run, "one.csv", *args)
    assert code == 2
    assert said in err
