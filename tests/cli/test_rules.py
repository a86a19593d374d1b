"""`tamis rules`, `tamis retain` and `tamis curve`."""

import json
import sys

import numpy as np
import polars as pl
import pytest

from tamis.rules import RuleSet

SAID = ("--target", "ill", "--feature", "age")
"""Ages in the order of the rows look like row numbers."""


def _write(path, rows, header="age,zip,ill"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def original(tmp_path):
    rows = [
        f"{20 + i},{'01000' if i % 2 else '75011'},{'no' if i < 20 else 'yes'}" for i in range(40)
    ]
    return _write(tmp_path / "original.csv", rows)


@pytest.fixture
def released(tmp_path):
    rows = [f"{59 - i},{75011 if i % 2 else 75012},{'no' if i < 20 else 'yes'}" for i in range(40)]
    return _write(tmp_path / "released.csv", rows)


def test_rules_are_printed_in_the_grammar(run, original):
    code, out, err = run("rules", original, *SAID)
    assert code == 0
    assert out == "age <= 39.5 -> ill=no\nage > 39.5 -> ill=yes\n"
    assert "2 rules predict 'ill'" in err


def test_rules_go_to_a_file_and_back_into_retain(run, original, released, tmp_path):
    for name in ("rules.txt", "rules.json"):
        code, out, err = run("rules", original, *SAID, "--quiet", "-o", tmp_path / name)
        assert (code, out, err) == (0, "", "")
        args = ("--target", "ill", "--rules", tmp_path / name, "--json", "--quiet")
        code, out, err = run("retain", original, released, *args)
        assert (code, err) == (0, "")
        assert json.loads(out)["rule_accuracy"] == 1.0


def test_rules_as_json_with_shares(run, original):
    code, out, _ = run("rules", original, *SAID, "--shares", "--json")
    assert code == 0
    found = RuleSet.from_json(out)
    assert found[0].distribution == (("no", 1.0), ("yes", 0.0))


def test_retain_in_words(run, original, released):
    code, out, _ = run("retain", original, released, "--target", "ill")
    assert code == 0
    assert "2 of 2 rules changed prediction." in out
    assert "no 100.0%, now yes 100.0%" in out
    assert "RLD" in out


def test_the_stable_names_of_the_json(run, original, released):
    code, out, err = run("retain", original, released, "--target", "ill", "--json", "--quiet")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["rld"] == 1.0
    assert {"rule_accuracy", "rsd", "rld", "re", "coverage", "lost", "rules"} <= set(found)
    assert found["rules"][0]["flipped"] is True
    assert found["prediction"] is None


def test_texts_that_look_like_numbers_stay_texts_in_the_release(run, original, released, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("zip = 75011 -> no\n")
    code, out, _ = run("retain", original, released, "--target", "ill", "--rules", rules, "--json")
    assert code == 0
    assert json.loads(out)["rules"][0]["support_after"] == 20


def test_a_column_not_released_loses_its_rules(run, original, tmp_path):
    rows = [f"{i % 3},{'no' if i < 20 else 'yes'}" for i in range(40)]
    released = _write(tmp_path / "z.csv", rows, "zip,ill")
    code, out, _ = run("retain", original, released, "--target", "ill")
    assert code == 0
    assert "2 of 2 rules lost because a column was not released." in out
    assert "Not released: age." in out


def test_a_picture_and_models(run, original, released, tmp_path):
    test = _write(tmp_path / "test.csv", ["21.5,75011,no", "58.5,75011,yes"])
    picture = tmp_path / "rules.svg"
    args = ("--target", "ill", "--test", test, "--positive", "yes", "--plot", picture)
    code, out, _ = run("retain", original, released, *args)
    assert code == 0
    assert "Predicting 2 held-out original rows" in out
    assert "Always predicting the most common label is right for 50.0%." in out
    assert picture.read_text().startswith("<svg")
    found = json.loads(run("retain", original, released, *args, "--json").out)
    assert found["prediction"]["original"] == {"accuracy": 1.0, "auc": 1.0, "f_measure": 1.0}
    assert found["prediction"]["released"]["accuracy"] == 0.0


def test_rules_can_be_chosen(run, original, released, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("a: age > 50 -> yes\nb: age > 20 -> yes\n")
    args = ("retain", original, released, "--target", "ill", "--rules", rules, "--json")
    assert [r["id"] for r in json.loads(run(*args, "--only", "b").out)["rules"]] == ["b"]
    chosen = run(*args, "--min-confidence", "0.9", "--min-support", "0.1").out
    assert [r["id"] for r in json.loads(chosen)["rules"]] == ["a"]
    code, _, err = run(*args, "--min-support", "0.99")
    assert code == 1
    assert "none of the 2 rules" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age > old -> ill=yes", "line 1, character 7: expected a number"),
        ("weight > 3 -> ill=yes", "rules name 'weight'"),
        ("age > 3 -> ill=perhaps", "predicts a label that column 'ill'"),
        ("age = abc -> ill=yes", "needs column 'age'"),
        ("# nothing", "there are no rules"),
        ("age > 3 -> other=yes", "a label of column 'ill'"),
    ],
)
def test_wrong_rules_end_with_code_2(run, original, released, tmp_path, text, said):
    rules = tmp_path / "rules.txt"
    rules.write_text(text)
    code, out, err = run("retain", original, released, "--target", "ill", "--rules", rules)
    assert (code, out) == (2, "")
    assert said in err


def test_other_wrong_usage_ends_with_code_2(run, original, released, tmp_path):
    for args, said in [
        (("--rules", tmp_path / "none.txt"), "no file"),
        (("--positive", "yes"), "needs --test"),
        (("--test", original), "test rows are the rows of the original"),
    ]:
        code, _, err = run("retain", original, released, "--target", "ill", *args)
        assert code == 2
        assert said in err


def test_a_rule_file_that_matches_few_rows_says_how_few(run, original, released, tmp_path):
    few, all_rows = tmp_path / "few.txt", tmp_path / "all.txt"
    few.write_text("age > 1000 -> no\n")
    all_rows.write_text("age > 0 -> no\n")
    args = ("retain", original, released, "--target", "ill", "--rules")
    rows = len(original.read_text().splitlines()) - 1
    assert f"the rules match 0 of {rows} rows (0.0%)" in run(*args, few).err
    assert "the rules match" not in run(*args, all_rows).err


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


OWN = """
import math
from tamis import RuleMeasure
def gone(rule):
    return max(0, rule.support_before - rule.support_after)
def broken(rule):
    return 1 / 0
kept = RuleMeasure("kept", "max", lambda rule: rule.support_after)
number = 3
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module of the user's in the working directory, under a name of its own."""
    name = f"own_measures_{abs(hash(tmp_path)) % 10**9}"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return name


def test_a_measure_of_ones_own_is_shown_and_limited(run, original, released, own):
    measures = ("--measure", f"{own}:gone", "--measure", f"{own}:kept")
    args = ("retain", original, released, *SAID[:2], *measures, "--quiet")
    found = json.loads(run(*args, "--json").out)
    assert found["own"] == {"gone": 0.0, "kept": 20.0}
    assert all(set(rule["own"]) == {"gone", "kept"} for rule in found["rules"])
    assert "your own measure" in run(*args).out
    assert run(*args, "--limit", "kept=20", "--limit", "rule_accuracy=1").code == 0
    code, out, err = run(*args, "--limit", "kept=21", "--limit", "rule_accuracy=0.5")
    assert code == 1
    assert "your own measure" in out
    assert "kept is 20.000, below its limit 21; rule_accuracy is 1.000, above its limit 0.5" in err


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("gone", "takes MODULE:NAME"),
        ("{}:other", "has no 'other'"),
        ("no_such_module_here:gone", "ModuleNotFoundError"),
        ("{}:number", "neither a RuleMeasure nor a function"),
        ("{}:broken", "failed on rule 'r1': ZeroDivisionError"),
    ],
)
def test_a_measure_that_cannot_be_used_is_told(run, original, released, own, measure, said):
    args = ("retain", original, released, *SAID[:2], "--measure", measure.format(own))
    code, _, err = run(*args)
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (["rsd"], "--limit takes the form NAME=0.5"),
        (["rsd=low"], "--limit takes the form NAME=0.5"),
        (["speed=1"], "no measure 'speed' of rules to limit"),
        (["rsd=nan"], "must be a finite number"),
        (["rsd=.1,rld=1", "rsd=.5"], "--limit gives 'rsd' twice"),
    ],
)
def test_limits_that_cannot_be_read_are_told(run, original, released, limits, said):
    given = [part for limit in limits for part in ("--limit", limit)]
    code, _, err = run("retain", original, released, *SAID[:2], *given)
    assert code == 2
    assert said in err


def test_what_cannot_be_measured_meets_no_limit(run, original, released, tmp_path):
    rules = tmp_path / "few.txt"
    rules.write_text("age < 22 -> ill=no\n")
    args = ("retain", original, released, *SAID[:2], "--rules", rules, "--quiet")
    assert run(*args, "--limit", "rsd=1").code == 0
    code, _, err = run(*args, "--limit", "rld=1")
    assert code == 1
    assert "rld cannot be measured, so its limit 1 is not met" in err


def test_limits_may_stand_in_a_file(run, original, released, tmp_path):
    config = tmp_path / "limits.toml"
    args = ("retain", original, released, *SAID[:2], "--quiet", "--config", config)
    config.write_text("[limit]\nrule_accuracy = 0.5\n")
    code, _, err = run(*args)
    assert code == 1
    assert "rule_accuracy is 1.000, above its limit 0.5" in err
    config.write_text("[limit]\nrule_accuracy = 1\n")
    assert run(*args).code == 0


NOISE = """
import sys
import polars as pl
original, released, level, seed = sys.argv[1:]
frame = pl.read_csv(original)
if float(level) > 8:
    sys.exit("too much")
if float(level) > 7:
    sys.exit(0)
frame.with_columns(pl.col("age") + int(float(level))).write_csv(released)
"""


def test_any_program_releases_along_a_curve_that_is_drawn(run, clinics, tmp_path, own):
    (tmp_path / "older.py").write_text(NOISE)
    command = f"{sys.executable} older.py {{original}} {{released}} {{level}} {{seed}}"
    plot = tmp_path / "curve.svg"
    asked = ("--command", command, "--measure", f"{own}:gone", "--plot", plot, "--quiet")
    args = (clinics / "one.csv", "--target", "ill", "--draws", 1, *asked)
    found = json.loads(run("curve", *args, "--levels", "0,5", "--json").out)
    assert found["method"] == command
    assert found["means"][0]["rsd"] == 0
    assert found["means"][1]["rsd"] > 0
    assert found["means"][0]["gone"] == 0
    assert "gone" in plot.read_text()
    assert "ended with 1 at level 9: too much" in run("curve", *args, "--levels", "9").err
    assert "wrote no {released} at level 8" in run("curve", *args, "--levels", "8").err


@pytest.mark.parametrize(
    ("command", "said"),
    [("cp {original}", "must say where"), ("no-such-tool {original} {released}", "cannot run")],
)
def test_a_command_that_cannot_release_is_told(run, clinics, command, said):
    code, _, err = run(
        "curve", clinics / "one.csv", "--target", "ill", "--command", command, "--draws", 1
    )
    assert code == 2
    assert said in err


def test_rules_that_another_tool_printed(run, original, released, tmp_path):
    printed = tmp_path / "tree.txt"
    leaves = ["|--- age <= 39.5", "|   |--- class: no", "|--- age >  39.5", "|   |--- class: yes"]
    printed.write_text("\n".join(leaves))
    args = ("retain", original, released, *SAID[:2], "--json", "--quiet", "--rules", printed)
    assert json.loads(run(*args).out)["rule_accuracy"] == 1.0
    assert json.loads(run(*args, "--rules-format", "sklearn").out)["rule_accuracy"] == 1.0
    code, _, err = run(*args, "--rules-format", "jrip")
    assert code == 2
    assert "not a rule as jrip writes them" in err
    fitted = tmp_path / "rulefit.csv"
    fitted.write_text("rule,coef\nage > 39.5,0.4\nage <= 39.5,-0.4\n")
    found = run(*args[:-1], fitted, "--rule-labels", "yes,no")
    assert json.loads(found.out)["right_original"] == 1.0
