"""Several attackers at the command line: in a text or in tables of a file, measured and tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.publication.test_several_attackers import stays

CLERK, BOSS = "clerk: knows age,sex; k=3; l=2", "boss: knows job; k=2"
FILE = """
target = "ill"
sensitive = ["hiv"]
row_is_person = true
[[attacker]]
name = "clerk"
knows = ["age", "sex"]
k = 3
l = 2
[[attacker]]
name = "boss"
knows = ["job"]
k = 2
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stays") / "stays.csv"
    stays(400).write_csv(path)
    return path


@pytest.fixture
def named() -> list[str]:
    return ["--target", "ill", "--sensitive", "hiv", "--row-is-person"]


def test_an_audit_measures_all_attackers_of_a_file_at_once(run, table, tmp_path):
    (tmp_path / "tamis.toml").write_text(FILE)
    code, out, err = run("audit", table, "--config", tmp_path / "tamis.toml", "--json", "--quiet")
    assert code == 0, err
    worst, other = json.loads(out)["attackers"]
    frame = stays(400)
    assert (worst["name"], other["name"]) == ("clerk", "boss")
    assert worst["k_anonymity"] == frame.group_by("age", "sex").len()["len"].min()
    assert other["k_anonymity"] == frame.group_by("job").len()["len"].min()
    assert {limit["name"]: limit["met"] for limit in worst["limits"]} == {"k": False, "l": False}
    assert all(limit["met"] and limit["attacker"] == "boss" for limit in other["limits"])


def test_an_attacker_on_the_command_line_is_a_gate(run, table, named):
    code, out, err = run("audit", table, *named, "--attacker", CLERK, "--attacker", BOSS)
    assert code == 1
    assert "2 of 3 limits are not met: clerk: k = 3" in err
    assert "1,2" not in err
    line = next(line for line in out.splitlines() if line.strip().startswith("clerk"))
    assert "2 of 2 not met" in line
    assert run("audit", table, *named, "--attacker", BOSS).code == 0


def test_a_release_against_two_attackers_is_attacked_by_each(run, table, named, tmp_path):
    asked = ["--attacker", CLERK, "--attacker", BOSS, "--methods", "front", "--allow-useless"]
    code, _, err = run("release", table, *named, *asked, "--out", tmp_path / "out", "--quiet")
    assert code == 0, err
    promises = json.loads((tmp_path / "out" / "manifest.json").read_text())["promises"]
    assert {entry["attacker"] for entry in promises} == {"clerk", "boss"}
    known = {entry["attacker"] for entry in promises if entry["columns"]}
    code, out, err = run("verify", tmp_path / "out")
    assert code == 0, err
    assert out.count("People who look alike were counted again.") == 1
    assert all(f"Against {name}" in out for name in known)
    code, out, err = run("attack", table, tmp_path / "out", *named, "--json", "--quiet")
    assert code == 0, err
    names = [each["attacker"] for each in json.loads(out)["attacks"]]
    assert {n.partition(": ")[0] for n in names if ": linkage" in n} == known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clerk: knows agge", "no column 'agge'"),
        ("clerk: k=3", "knows no column"),
        ("clerk: knows hiv", "which the table has as sensitive"),
    ],
)
def test_a_wrong_attacker_is_refused_without_a_traceback(run, table, named, tmp_path, text, words):
    for command in (["audit", table], ["release", table, "--out", tmp_path / "out"]):
        code, _, err = run(*command, *named, "--attacker", text, "--quiet")
        assert code == 2
        assert words in err
        assert "Traceback" not in err


@pytest.mark.parametrize(
    "command",
    [
        ("coarsen",),
        ("perturb", "--method", "microaggregate", "-o", "out.csv"),
        ("select", "containment"),
        ("select", "--by", "containment"),
    ],
)
def test_what_keeps_k_against_one_alone_refuses_several(run, table, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tamis.toml").write_text(FILE)
    code, _, err = run(*command, table, "--config", tmp_path / "tamis.toml")
    assert code == 2
    assert "keeps what is required for one attacker, not for each [[attacker]]" in err
    assert not (tmp_path / "out.csv").exists()
