"""A recipient who installs tamis without its dependencies, beside polars and numpy, can verify."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tamis
from tamis.cli import _run
from tamis.datasets import patients
from tests.long import long

NEEDED = ("polars", "numpy")
BLOCKED = """
import importlib.metadata, sys
from importlib.machinery import PathFinder

class Without:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

# What polars looks for when it is imported may be there: it loads none of it.
import polars, numpy
sys.meta_path.insert(0, Without())
"""
PYTHON = "import tamis; found = tamis.verify(sys.argv[1]); print(len(found.checks))"
COMMAND = "from tamis.cli import _run; sys.exit(_run(sys.argv[2:] + [sys.argv[1]]))"


def others(more=()):
    """The packages that tamis depends on beside what verifying needs, and all its extras."""
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    listed = [
        *project["project"]["dependencies"],
        *(p for ps in project["project"]["optional-dependencies"].values() for p in ps),
    ]
    names = {each.partition(">")[0].partition(";")[0].strip().replace("-", "_") for each in listed}
    names |= {"sklearn", "llvmlite", "pygments", "markdown_it"}
    return names - {*NEEDED, *more}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release with coarse columns, people left out and a register claim, as recipients get it."""
    folder = tmp_path_factory.mktemp("alone")
    patients(rows=300).frame.write_csv(folder / "t.csv")
    roles = ("--target", "readmitted", "--sensitive", "hiv", "--identifier", "patient")
    asked = ("--quasi", "zip,birth_year,sex,job", "--max-suppressed", "0.02", "--l", "2")
    args = ["release", folder / "t.csv", *roles, *asked, "--out", folder / "out", "--quiet"]
    assert _run(list(map(str, args))) == 0
    shutil.rmtree(folder / "out" / "private")
    return folder / "out"


def run(script, *args, more=()):
    text = BLOCKED.replace("BLOCKED", repr(others(more))) + script
    return subprocess.run(
        [sys.executable, "-c", text, *map(str, args)], capture_output=True, text=True, check=False
    )


def test_in_python_polars_and_numpy_are_enough(folder):
    done = run(PYTHON, folder)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(tamis.verify(folder).checks)


def test_on_the_command_line_click_is_needed_as_well(folder):
    done = run(COMMAND, folder, "verify", more=("click",))
    assert done.returncode == 0, done.stderr
    assert "matches its manifest" in done.stdout
    told = json.loads(run(COMMAND, folder, "verify", "--json", more=("click",)).stdout)
    assert told["verified"] is True


def test_the_command_line_without_click_says_what_to_do(folder):
    done = run(COMMAND, folder, "verify")
    assert done.returncode == 1
    assert done.stderr == (
        "tamis: error: the commands need the package 'click': `pip install click`; from Python, "
        "`tamis.verify(FOLDER)` needs polars and numpy alone\n"
    )


def test_what_is_wrong_is_found_as_well(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "out")
    file = tmp_path / "out" / "release.csv"
    file.write_text(file.read_text().replace("yes", "no", 1))
    done = run(COMMAND, tmp_path / "out", "verify", more=("click",))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_what_needs_more_says_so_in_a_line(folder):
    done = run(COMMAND, folder, "verify", "--engine", "duckdb", more=("click",))
    assert done.returncode == 2
    assert "not installed" in done.stderr
    assert "unexpected" not in done.stderr


@long
def test_in_an_environment_of_its_own(folder, tmp_path):
    """As docs/how-to/verify.md says: the package without its dependencies, and two others."""
    place = tmp_path / "small"
    python = place / "bin" / "python"
    root = Path(__file__).parents[2]
    steps = (
        ["uv", "venv", "--quiet", place],
        ["uv", "pip", "install", "--quiet", "--python", python, *NEEDED, "click"],
        ["uv", "pip", "install", "--quiet", "--python", python, "--no-deps", root],
    )
    for step in steps:
        try:
            subprocess.run(list(map(str, step)), check=True, capture_output=True, timeout=600)
        except (OSError, subprocess.SubprocessError):
            pytest.skip("uv cannot install packages here")
    done = subprocess.run(
        [place / "bin" / "tamis", "verify", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "matches its manifest" in done.stdout
