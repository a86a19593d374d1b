"""The hooks and the action that the repository offers run commands that there are."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tamis.options.commands import COMMANDS
from tests.long import long

ROOT = Path(__file__).parents[1]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


@pytest.fixture
def table(tmp_path):
    """A table of one group of two people, in a folder with a space."""
    path = tmp_path / "a b" / "people; exit 0.csv"
    path.parent.mkdir()
    path.write_text("sex,age\nf,30\nf,30\n")
    return path


def check(table, arguments, command="audit"):
    """What the last step of the action says of a table, with the `tamis` of these tests."""
    script = dedent(ACTION.rpartition("run: |\n")[2])
    programs = table.parent / "tamis" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    program = programs / "tamis"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tamis.cli "$@"\n')
    program.chmod(0o755)
    given = {"COMMAND": command, "TABLE": str(table), "ARGUMENTS": arguments}
    return subprocess.run(
        ["bash", "-e", "-c", script],
        env={**os.environ, "RUNNER_TEMP": str(table.parent), **given},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_fails_where_a_limit_does(table):
    assert check(table, "--row-is-person --quiet --k 2").returncode == 0
    refused = check(table, "--row-is-person --quiet --k 3")
    assert refused.returncode == 1
    assert "k = 3 requires 3" in refused.stderr


def test_the_action_runs_nothing_but_its_commands(table):
    made = table.parent / "made"
    cases = (
        (check(table, f"--k 2 ; touch {made} $(touch {made})"), "unexpected extra arguments"),
        (check(table, "", command=f"audit; touch {made}"), "command: audit or verify"),
        (check(table, "", command="demo"), "command: audit or verify"),
    )
    for done, why in cases:
        assert done.returncode == 2
        assert why in done.stderr
    assert not made.exists()


def test_inputs_reach_no_shell_as_code():
    for script in re.findall(r"run: \|\n((?: {8}.*\n?)+)", ACTION):
        assert "${{" not in script


def test_the_hooks_are_commands():
    entries = re.findall(r"^  entry: tamis (\w+) --quiet$", HOOKS, re.MULTILINE)
    assert entries == ["audit", "verify"]
    assert set(entries) <= set(COMMANDS)
    assert len(re.findall(r"^- id: tamis-", HOOKS, re.MULTILINE)) == len(entries)


@long
def test_pre_commit_takes_the_hooks(tmp_path):
    """As pre-commit reads them, in an environment of its own."""
    file = tmp_path / "hooks.yaml"
    file.write_text(HOOKS)
    command = ["uv", "run", "--no-project", "--isolated", "--with", "pre-commit"]
    try:
        done = subprocess.run(
            [*command, "pre-commit", "validate-manifest", file],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        pytest.skip("uv cannot install pre-commit here")
    if "Failed to" in done.stderr or "No solution" in done.stderr:
        pytest.skip("uv cannot install pre-commit here")
    assert done.returncode == 0, done.stderr
