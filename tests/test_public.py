"""The public names: all there, all importable, all listed, all typed."""

import ast
from importlib import import_module
from inspect import isfunction
from pathlib import Path

import pytest

import tamis
from tests.long import long

SOURCE = Path(tamis.__file__)


def test_every_public_name_can_be_imported():
    for name in tamis.__all__:
        assert getattr(tamis, name).__name__.split(".")[-1] == name


def test_the_separation_measures_are_at_hand():
    X, y = [[1, 0], [0, 0]], ["a", "b"]
    assert tamis.separation.hamdist(X, y) == 1
    assert tamis.separation.distcnt(X, y) == 1
    assert tamis.separation.classification_metric(X, y) == 0


def test_dir_lists_the_public_names():
    assert set(tamis.__all__) < set(dir(tamis))


def test_publish_and_verify_stay_functions_whatever_is_imported():
    for module, name in (("publication.bundle", "publish"), ("verification.verify", "verify")):
        assert getattr(import_module(f"tamis.{module}"), name) is getattr(tamis, name)
        assert isfunction(getattr(tamis, name))


def test_type_checkers_are_told_of_every_public_name():
    block = next(n for n in ast.parse(SOURCE.read_text()).body if isinstance(n, ast.If))
    told = {a.name for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names}
    assert told == set(tamis.__all__)


CONFIG = """
[mypy]
mypy_path = {source}
cache_dir = {cache}
ignore_missing_imports = true

[mypy-click.*,narwhals.*,numpy.*,opendp.*,polars.*,rich.*,scipy.*]
follow_imports = skip
follow_imports_for_stubs = true
"""
"""What other libraries export is not asked for, and reading it takes most of the time."""


@long
def test_public_names_have_types(tmp_path: Path):
    """mypy must not take any of them for `Any`."""
    asked = tmp_path / "asked.py"
    names = sorted(set(tamis.__all__) - {"separation"})
    asked.write_text("import tamis\n" + "".join(f"reveal_type(tamis.{n})\n" for n in names))
    config = tmp_path / "mypy.ini"
    cache = Path(__file__).parents[1] / ".mypy_cache" / "public"
    config.write_text(CONFIG.format(source=SOURCE.parents[1], cache=cache))
    api = pytest.importorskip("mypy.api", reason="a linter, which not every run has")
    said, wrong, _ = api.run(["--config-file", str(config), str(asked)])
    lines = [line for line in said.splitlines() if "Revealed type" in line]
    assert len(lines) == len(names), said + wrong
    assert [n for n, line in zip(names, lines) if 'is "Any"' in line] == []
