"""docs/commands.md names every exit code and every field that a command prints as JSON."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.datasets import patients
from tamis.options.commands import COMMANDS

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
ROLES = (
    "--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient",
    "--quasi", "zip,birth_year,sex,job",
)  # fmt: skip


@pytest.fixture(scope="module")
def fields():
    """The documented fields of each command."""
    text = PAGE.read_text(encoding="utf-8").partition("## JSON")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| `([\w ]+)` \| (.*) \|$", text, re.MULTILINE)
    return {command: set(re.findall(r"`(\w+)`", words)) for command, words in lines}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documented")
    patients(rows=300).frame.write_csv(folder / "t.csv")
    (folder / "scores.csv").write_text("release,a,b\nx,1,2\ny,2,1\n")
    (folder / "ones.csv").write_text("a,b,y\n" + "1,0,p\n0,1,q\n1,1,p\n" * 5)
    return folder


def commands(folder):
    table = folder / "t.csv"
    return {
        "audit": (table, *ROLES),
        "choose": (folder / "scores.csv", "--factor", "a:max", "--factor", "b:min"),
        "select containment": (folder / "ones.csv", "--target", "y", "--row-is-person"),
        "rules": (table, *ROLES),
        "retain": (table, table, *ROLES),
        "coarsen": (table, *ROLES),
        "ladder": (table, "--column", "birth_year", *ROLES),
        "perturb": (table, *ROLES, "--method", "uniform", "-o", folder / "p.csv"),
        "init": (table, "-o", folder / "tamis.toml"),
        "doctor": (),
    }


def test_fields_are_documented(run, fields, folder):
    for command, args in commands(folder).items():
        code, out, err = run(*command.split(), *args, "--json")
        assert code == 0, err
        undocumented = set(json.loads(out)) - fields[command]
        assert undocumented == set(), command


def test_every_command_that_prints_json_is_documented(fields):
    silent = {"demo", "serve"}
    assert {name.split()[0] for name in fields} == set(COMMANDS) - silent


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered_as_documented(shell):
    assert f"_TAMIS_COMPLETE={shell}_source tamis" in PAGE.read_text(encoding="utf-8")


def test_a_shell_completes_commands():
    program = "from tamis.cli import main; main()"
    asked = {"_TAMIS_COMPLETE": "bash_complete", "COMP_WORDS": "tamis ver", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=asked, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "plain,verify"
