"""Names that polars takes for patterns are names like any other, in every command."""

import json

import numpy as np
import polars as pl
import pytest

NAMES = ("^b.*$", "*", "^.*$", "b")
FAST = """
attackers = ["nb", "c45"]
methods = ["breach", "containment", "flip", "noise"]

[breach]
search = "walk"
folds = 3
most = 3

[containment]
ks = [5]
utilities = ["difference"]
"""


def odd(rows: int = 240, binary: bool = False, seed: int = 8) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.5
    number = rng.integers(0, 9, rows) + 4 * ill
    text = np.where(rng.random(rows) < 0.7, np.where(ill, "u", "v"), "w")
    columns = [
        pl.Series(NAMES[0], number >= 6 if binary else number, dtype=pl.Int64),
        pl.Series(NAMES[1], (text == "u").astype(int) if binary else text),
        pl.Series("b", rng.integers(0, 2, rows)),
        pl.Series("^who$", [f"P{i // 2}" for i in range(rows)]),
        pl.Series("^.*$", np.where(ill, "yes", "no")),
    ]
    if not binary:
        load = pl.Series("^load$", np.round(rng.normal(3, 1, rows) + ill, 1))
        columns.append(load.set(pl.Series(rng.random(rows) < 0.1), None))
    return pl.DataFrame(columns)


@pytest.fixture
def files(tmp_path):
    odd().write_csv(tmp_path / "t.csv")
    odd(100, seed=9).write_csv(tmp_path / "u.csv")
    odd(binary=True).write_csv(tmp_path / "ones.csv")
    (tmp_path / "fast.toml").write_text(FAST)
    return tmp_path


ROLES = ("--target", "^.*$", "--identifier", "^who$")
MEASURED = (*ROLES, "--sensitive", "^load$")
COMMANDS = {
    "audit": ("audit", "t.csv", *ROLES),
    "audit of a measured secret": ("audit", "t.csv", *MEASURED, "--quasi", "^b.*$,*"),
    "audit of ones": ("audit", "ones.csv", *ROLES),
    "init": ("init", "t.csv", "-o", "made.toml"),
    "rules": ("rules", "t.csv", *ROLES),
    "retain": ("retain", "t.csv", "t.csv", *ROLES),
    "retain with a test": ("retain", "t.csv", "t.csv", *ROLES, "--test", "u.csv"),
    "by breach": ("select", "t.csv", *ROLES, "--by", "breach", "--folds", "3", "-o", "b.csv"),
    "by breach of another": (
        "select", "t.csv", *MEASURED, "--by", "breach", "--folds", "3", "--classifier", "c45",
        "--plot", "b.svg",
    ),
    "by containment": ("select", "t.csv", *ROLES, "--by", "containment", "-o", "c.parquet"),
    "ones by containment": ("select", "ones.csv", *ROLES, "--by", "containment", "-o", "c.csv"),
    "uniform": ("perturb", "t.csv", *ROLES, "--method", "uniform", "-o", "p.csv"),
    "gaussian": ("perturb", "t.csv", *ROLES, "--method", "gaussian", "-o", "p.csv"),
    "flip": ("perturb", "ones.csv", *ROLES, "--method", "flip", "-o", "p.csv"),
    "release": ("release", "t.csv", *ROLES, "--quasi", "^b.*$", "--k", "2", "--out", "made"),
    "release of a measured secret": (
        "release", "t.csv", *MEASURED, "--quasi", "*", "--k", "2", "--out", "made",
    ),
    "release of ones": (
        "release", "ones.csv", *ROLES, "--k", "2", "--out", "made", "--write", "parquet",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COMMANDS)
def test_every_command_takes_them(run, files, monkeypatch, case):
    monkeypatch.chdir(files)
    config = ("--config", "fast.toml") if case.startswith("release") else ()
    result = run(*COMMANDS[case], *config, "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)
    if case.startswith("release"):
        assert run("verify", "made").code == 0
        names = {
            c["name"] for c in json.loads((files / "made/manifest.json").read_text())["columns"]
        }
        assert "^.*$" in names
        assert "^who$" not in names


def test_choose_takes_them(run, files, monkeypatch):
    monkeypatch.chdir(files)
    (files / "s.csv").write_text("^n$,*\n1,2\n2,1\n")
    assert run("choose", "s.csv", "--factor", "^n$:max", "--factor", "*:min").code == 0
