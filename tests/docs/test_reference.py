"""The reference names every option of every command, as the table of options has it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import tamis
from tamis.options.commands import all_options

BUILD = Path(__file__).resolve().parents[2] / "docs" / "build.py"


MADE = ("datasets.patients", "datasets.stays", "datasets.behaviour")


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


def test_every_public_name_has_a_page_and_a_line(tmp_path):
    build = runpy.run_path(str(BUILD))
    build["write_objects"](tmp_path)
    pages = {path.stem for path in tmp_path.iterdir()}
    assert pages == {*(n for n in tamis.__all__ if not n.startswith("_")), *MADE}
    lines = [line for line in build["names"]().splitlines() if line.startswith("| [")]
    assert {re.split("[`]", line)[1] for line in lines} == pages
    assert all(line.endswith(". |") for line in lines)
