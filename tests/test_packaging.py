"""What is said about the package in several places is the same in all of them."""

import re
import tomllib
from pathlib import Path

import pytest

import tamis
from tamis.cli import _run

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere(project, capsys):
    assert project["project"]["version"] == tamis.__version__
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == tamis.__version__
    assert _run(["--version"]) == 0
    assert capsys.readouterr().out == f"tamis, version {tamis.__version__}\n"


def imported() -> set[str]:
    """The packages that the source imports, whenever it does."""
    text = "\n".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("*.py"))
    return set(re.findall(r"^ *(?:import|from) (\w+)", text, re.MULTILINE))


def test_every_dependency_is_used(project):
    names = {"scikit-learn": "sklearn"}
    needed = [re.split(r"[><=\[]", each)[0] for each in project["project"]["dependencies"]]
    assert {names.get(each, each) for each in needed} <= imported()


def test_every_extra_names_itself_where_it_is_missing(project):
    text = "\n".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("*.py"))
    for extra in project["project"]["optional-dependencies"]:
        assert f"pip install 'tamis[{extra}]'" in text
        assert f"tamis[{extra}]" in (ROOT / "docs" / "commands.md").read_text("utf-8")
