"""What is said about the package in several places is the same in all of them."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

import tamis
from tamis.cli import _run
from tests.long import long
from tests.source import trees

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


def test_the_conda_recipe_asks_for_the_same_packages(project):
    recipe = (ROOT / "packaging" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    asked = {line.strip(" -").replace(" ", "") for line in run.splitlines()}
    declared = project["project"]
    assert asked == {*declared["dependencies"], "python>=${{python_min}}"}
    for name, value in {
        "version": declared["version"],
        "python_min": declared["requires-python"].removeprefix(">="),
    }.items():
        assert f'  {name}: "{value}"\n' in recipe
    assert declared["description"] in recipe
    (command,) = declared["scripts"].items()
    assert " = ".join(command) in recipe


def imported() -> set[str]:
    """The packages that the source imports, whenever it does."""
    text = "\n".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("*.py"))
    return set(re.findall(r"^ *(?:import|from) (\w+)", text, re.MULTILINE))


def packages(requirements: list[str]) -> set[str]:
    """What is imported of distributions."""
    names = {"scikit-learn": "sklearn"}
    found = [re.split(r"[><=\[]", each)[0] for each in requirements]
    return {names.get(each, each.replace("-", "_")) for each in found}


def test_every_dependency_is_used(project):
    assert packages(project["project"]["dependencies"]) <= imported()


def at_once(tree: ast.Module) -> set[str]:
    """The packages that a module imports when it is imported itself."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module).partition(".")[0])
    return found


def test_no_module_but_the_server_needs_an_extra_to_be_imported(project):
    allowed = {"tamis", *sys.stdlib_module_names, *packages(project["project"]["dependencies"])}
    server = packages(project["project"]["optional-dependencies"]["serve"])
    for module, tree in trees().items():
        more = server if module.parent.name == "serve" else set()
        assert at_once(tree) <= allowed | more, module


ABSENT = {
    "serve": ("uvicorn", "serve --no-browser"),
    "duckdb": ("duckdb", "audit people.csv --engine duckdb"),
    "dp": (
        "opendp",
        "perturb people.csv --target ill --method dp-histogram --epsilon 1 --bounds-from-data "
        "-o o.csv",
    ),
    "spark": ("pyspark", "audit people.csv --engine spark"),
    "survey": ("pyreadstat", "audit people.sav"),
    "excel": ("fastexcel", "audit people.xlsx"),
    "postgres": ("adbc_driver_postgresql", "audit postgresql://nowhere/people::people"),
}


@pytest.mark.parametrize("extra", ABSENT)
def test_a_command_names_the_extra_that_it_lacks(extra, tmp_path, monkeypatch, capsys):
    package, command = ABSENT[extra]
    monkeypatch.chdir(tmp_path)
    for name in ("people.csv", "people.sav", "people.xlsx"):
        Path(name).write_text("a,ill\n1,0\n0,1\n", encoding="utf-8")
    for name in [n for n in sys.modules if n.split(".")[0] == package or ".serve.server" in n]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert _run(command.split()) == 2
    said = capsys.readouterr().err
    assert f"pip install 'tamis[{extra}]'" in said
    assert "Traceback" not in said


def test_every_extra_is_tried(project):
    assert set(ABSENT) == set(project["project"]["optional-dependencies"])


def test_every_extra_names_itself_where_it_is_missing(project):
    text = "\n".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("*.py"))
    for extra in project["project"]["optional-dependencies"]:
        assert f"pip install 'tamis[{extra}]'" in text
        assert f"tamis[{extra}]" in (ROOT / "docs" / "commands.md").read_text("utf-8")


def needed(name: str) -> set[str]:
    """What a distribution asks for on this machine, without extras, and what that asks for."""
    lines = map(Requirement, metadata.requires(name) or ())
    asked = {r.name for r in lines if r.marker is None or r.marker.evaluate({"extra": ""})}
    return asked.union(*map(needed, asked))


def pack(name: str, folder: Path) -> None:
    """An installed distribution as the wheel that it came from."""
    installed = metadata.distribution(name)
    tags = re.findall(r"^Tag: (\S+)", installed.read_text("WHEEL") or "", re.MULTILINE)
    tag = "-".join(".".join(sorted(set(p))) for p in zip(*(t.split("-") for t in tags)))
    files = [f for f in installed.files or () if ".." not in f.parts and f.suffix != ".pyc"]
    (stem,) = {f.parts[0].removesuffix(".dist-info") for f in files if f.name == "METADATA"}
    with ZipFile(folder / f"{stem}-{tag}.whl", "w") as archive:
        for file in files:
            archive.write(str(file.locate()), file.as_posix())


@long
def test_it_installs_from_a_folder_of_wheels_without_a_network(tmp_path):
    """As docs/how-to/containers.md says; the wheels are packed from what is installed here."""
    wheels, place, demo = (tmp_path / name for name in ("wheels", "place", "demo"))
    wheels.mkdir()
    build = ["uv", "build", "--quiet", "--offline", "--wheel", "--out-dir", wheels, ROOT]
    try:
        subprocess.run(build, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("uv has nothing to build a wheel with, without a network")
    for name in needed("tamis"):
        pack(name, wheels)
    (built,) = wheels.glob("tamis-*.whl")
    assert built.name == f"tamis-{tamis.__version__}-py3-none-any.whl"
    uv = ["uv", "--quiet", "--offline", "--no-cache"]  # so that nothing comes from elsewhere
    install = ["pip", "install", "--python", place / "bin" / "python", "--no-index"]
    assert _run(["demo", "--quiet", "--rows", "1200", "--out", str(demo)]) == 0
    for command, said in (
        ([*uv, "venv", "--python", sys.executable, place], ""),
        ([*uv, *install, "--find-links", wheels, "tamis"], ""),
        ([place / "bin" / "tamis", "--help"], "Publish a labelled table"),
        ([place / "bin" / "tamis", "verify", demo], "matches its manifest"),
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
