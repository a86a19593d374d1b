"""The reference names every option of every command, as the table of options has it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tamis.options.commands import all_options

BUILD = Path(__file__).resolve().parents[2] / "docs" / "build.py"


@pytest.fixture(scope="module")
def lines():
    page = runpy.run_path(str(BUILD))["options"]()
    return [line for line in page.splitlines() if line.startswith("| `")]


def takers(line):
    """The commands of an option, which stand last."""
    return line.strip("| ").split(" | ")[-1].split(", ")


def test_every_option_of_every_command_is_documented(lines):
    for command, option in all_options():
        name = f"[{option.name}]" if option.kind == "table" else option.flag
        (line,) = (
            each for each in lines if each.startswith(f"| `{name}`") and command in takers(each)
        )
        assert option.help.split("|")[0] in line
        assert all(f"`--{old}`" in line for old in option.old)


def test_what_may_be_given_is_said(lines):
    told = next(line for line in lines if line.startswith("| `--max-told`"))
    assert "a share between 0 and 1" in told
    assert all(line.strip("| ").split(" | ")[2] for line in lines)


def test_the_reference_has_the_complete_help():
    page = runpy.run_path(str(BUILD))["commands"]()
    assert "--max-average-risk" in page
    assert "## `tamis select breach`" in page
