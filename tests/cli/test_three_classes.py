"""A target of three classes: what cannot be tried is said on the terminal."""

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(2)
    kind = rng.integers(0, 3, 300)
    columns = {f"x{i}": ((kind == i) ^ (rng.random(300) < 0.1)).astype(int) for i in range(3)}
    path = tmp_path / "kinds.csv"
    pl.DataFrame({**columns, "kind": np.array(["a", "b", "c"])[kind]}).write_csv(path)
    return path


def test_a_release_says_why_containment_proposed_nothing(run, table, tmp_path):
    methods = ("--methods", "containment,front", "--attackers", "nb", "--row-is-person")
    frame = pl.read_csv(table)
    frame.with_columns(x0=pl.col("x0") + pl.col("x1")).write_csv(table)
    code, out, err = run("release", table, "--target", "kind", *methods, "--out", tmp_path / "out")
    assert code == 0, err
    assert "Nothing from containment: It separates two classes, and the target has 3." in out
    assert "Nothing from front" not in out


def test_containment_proposes_columns_of_zeros_and_ones_for_three_classes(run, table, tmp_path):
    methods = ("--methods", "containment", "--attackers", "nb", "--row-is-person")
    code, out, err = run("release", table, "--target", "kind", *methods, "--out", tmp_path / "out")
    assert code == 0, err
    assert "Nothing from containment" not in out
    assert "Whatever a person has among the released columns, at least " in out


@pytest.mark.parametrize("utility", ["distcnt", "cm", "hamdist", "auc", "information"])
def test_columns_are_selected_by_every_utility(run, table, utility):
    how = ("--target", "kind", "--row-is-person", "--utility", utility, "--json")
    asked = run("select", "containment", table, *how)
    assert asked.code == 0, asked.err
    assert json.loads(asked.out)["features"]


def test_a_search_that_counts_two_classes_says_what_to_do(run, table):
    how = ("--target", "kind", "--row-is-person", "--search", "exact")
    code, _, err = run("select", "containment", table, *how)
    assert code == 2
    assert "with 3 classes only search='greedy' can maximise 'distcnt'" in err
    assert run("select", "containment", table, *how, "--utility", "hamdist").code == 0
