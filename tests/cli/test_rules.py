"""`tamis rules`, `tamis retain` and `tamis curve`."""

import json

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
