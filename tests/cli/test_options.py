"""What all commands that read a table share."""

import json

import numpy as np
import polars as pl
import pytest

from tamis.verification.layout import write_json

FAST = """
attackers = ["nb"]
weights = { performance = 0.6, privacy = 0.2, size = 0.2 }
methods = ["breach"]

[breach]
search = "walk"
folds = 3
most = 3
"""


@pytest.fixture
def clinic(tmp_path):
    rng = np.random.default_rng(3)
    ill = rng.random(300) < 0.4
    frame = pl.DataFrame(
        {
            "case": [f"C{i}" for i in rng.permutation(300)],
            "grams": rng.permutation(5000)[:300] + 4000 * ill,
            "age": rng.integers(20, 90, 300) + 10 * ill,
            "sex": rng.choice(["f", "m"], 300),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    frame.write_csv(tmp_path / "clinic.csv")
    (tmp_path / "fast.toml").write_text(FAST)
    return tmp_path / "clinic.csv"


COMMANDS = {
    "release": ("--out", "OUT"),
    "select": ("--by", "breach", "--folds", "3"),
    "select containment": (),
    "perturb": ("--method", "uniform", "-o", "OUT.csv"),
    "rules": (),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_what_tells_people_apart(run, clinic, tmp_path, command):
    rest = [part.replace("OUT", str(tmp_path / "out")) for part in COMMANDS[command]]
    args = (*command.split(), clinic, "--target", "ill", *rest)
    refused = run(*args)
    assert refused.code == 2
    assert "'case' (a different value in nearly every row), 'grams'" in refused.err
    assert "--identifier" in refused.err
    assert "--feature" in refused.err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.csv").exists()


def test_a_said_role_lets_commands_run(run, clinic, tmp_path):
    said = ("--target", "ill", "--identifier", "case", "--feature", "grams")
    assert run("rules", clinic, *said).code == 0
    assert run("select", clinic, *said, "--by", "containment").code == 0
    out = tmp_path / "p.csv"
    assert run("perturb", clinic, *said, "--method", "uniform", "-o", out).code == 0


def test_audit_says_it(run, clinic):
    code, _, err = run("audit", clinic, "--target", "ill")
    assert code == 0
    assert "note: columns 'case' (a different value in nearly every row), 'grams'" in err


def test_a_stated_feature_is_released_verified_and_made_again(run, clinic, tmp_path):
    out = tmp_path / "out"
    args = ("--target", "ill", "--drop", "case", "--feature", "grams", "--quasi", "sex", "--k", 2)
    made = run("release", clinic, *args, "--config", tmp_path / "fast.toml", "--out", out)
    assert made.code == 0, made.err
    columns = json.loads((out / "manifest.json").read_text())["columns"]
    assert {c["name"]: c["stated"] for c in columns}["grams"] is True
    assert run("verify", out).code == 0
    assert run("release", "--again", out).code == 0
    content = json.loads((out / "manifest.json").read_text())
    next(c for c in content["columns"] if c["name"] == "grams")["stated"] = False
    write_json(out / "manifest.json", content)
    assert "'grams' (a different value in nearly every row)" in run("verify", out).err
