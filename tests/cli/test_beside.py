"""`tamis release --beside`: k holds for what was handed on before and the new release together."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tamis.attack.earlier_releases import HandedOn
from tamis.dp.ledger import Entry, Ledger
from tamis.errors import CannotMeet
from tamis.publish.layout import NAME
from tamis.read import read_table

ROLES = ("--target", "goal", "--row-is-person", "--feature", "age,town")
QUICK = ("--methods", "breach", "--attackers", "nb", "--quiet")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Sex, age and town each hide people well, and all of them together do not."""
    drawn = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("beside") / "people.csv"
    rows = []
    for _ in range(240):
        age, town, sex = drawn.integers(0, 12), drawn.integers(0, 12), drawn.integers(0, 2)
        rows.append(f"{age},{town},{'fm'[sex]},{'ny'[int(age + drawn.integers(0, 6) > 8)]}")
    file.write_text("\n".join(["age,town,sex,goal", *rows]) + "\n")
    return file


def test_k_holds_for_both_together_or_nothing_is_published(run, table, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    args = (*ROLES[:-1], "age", "--drop", "town", "--max-features", 1)
    code, _, err = run("release", table, *args, *QUICK, "--out", first)
    assert code == 0, err
    manifest = json.loads((first / NAME).read_text())
    handed = HandedOn.of(read_table(table, target="goal"), [manifest])
    assert handed.known == ("age",)
    both = (*QUICK, "--beside", first)
    code, _, err = run("release", table, *ROLES, *both, "--out", second)
    assert code == 0, err
    told = {c["name"] for c in json.loads((second / NAME).read_text())["columns"]}
    assert "town" not in told  # alone it keeps k, and beside the age it does not
    code, _, err = run("release", table, *ROLES, *both, "--out", tmp_path / "x", "--k", 30)
    assert code == 1
    assert not (tmp_path / "x").exists()


def test_a_folder_that_is_no_release_is_refused(run, table, tmp_path):
    (tmp_path / "no").mkdir()
    args = ("--out", tmp_path / "out", "--beside", tmp_path / "no")
    code, _, err = run("release", table, *ROLES, *QUICK, *args)
    assert code in (1, 2)
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_a_release_beside_another_is_made_again(run, table, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    args = (*ROLES[:-1], "age", "--drop", "town", "--max-features", 1)
    assert run("release", table, *args, *QUICK, "--out", first).code == 0
    beside = (*QUICK, "--beside", first, "--out", second)
    assert run("release", table, *ROLES, *beside).code == 0
    code, said, err = run("release", "--again", second)
    assert code == 0, err
    assert "same bytes" in said
    first.rename(tmp_path / "gone")
    code, _, err = run("release", "--again", second)
    assert code in (1, 2)
    assert "Traceback" not in err


def test_an_engine_does_not_forget_what_was_handed_on(run, table, tmp_path):
    args = ("--engine", "duckdb", "--beside", tmp_path, "--out", tmp_path / "out")
    code, _, err = run("release", table, *ROLES, "--quiet", *args)
    assert code == 2
    assert "--beside needs the table in memory" in err


def test_the_ledger_recalls_what_earlier_releases_cost(tmp_path):
    ledger = Ledger(tmp_path / "ledger.json")
    old = Entry("/data/a.csv", "ab", 1.5, into="/out/old")
    ledger.recall([old])
    ledger.recall([replace(old, id="twice")])
    assert ledger.account("/data/a.csv", "ab").epsilon == 1.5
    other = Entry("/data/b.csv", "cd", 1.5, into="/out/old")
    ledger.recall([other])
    assert ledger.account("/data/b.csv", "cd").epsilon == 1.5
    new = Entry("/data/a.csv", "ab", 1.0, into="/out/new")
    with pytest.raises(CannotMeet, match=r"at most 0\.5 is left"), ledger.spending(new, 2.0):
        pass
    assert ledger.account("/data/a.csv", "ab").epsilon == 1.5


def test_one_more_row_since_an_earlier_release_is_refused(run, table, tmp_path):
    args = (*ROLES[:-1], "age", "--drop", "town", "--max-features", 1)
    code, _, err = run("release", table, *args, *QUICK, "--out", tmp_path / "first")
    assert code == 0, err
    grown = tmp_path / "grown.csv"
    grown.write_text(table.read_text() + "3,4,f,y\n")
    both = (*ROLES, *QUICK, "--beside", tmp_path / "first", "--out", tmp_path / "x")
    code, _, err = run("release", grown, *both)
    assert (code, "differs in 1 row" in " ".join(err.split())) == (1, True)
    assert not (tmp_path / "x").exists()
