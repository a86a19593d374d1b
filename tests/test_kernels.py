"""What holds for every kernel, whatever it computes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tamis.learn import boosting_kernels, coded_table
from tests.source import SOURCE, trees

KERNELS = sorted(
    path
    for path in SOURCE.rglob("*.py")
    if "njit" in path.read_text("utf-8") and path.name != "kernel_cache.py"
)
DOCUMENTED = {"cache", "error_model"}


def named(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def kernels(tree: ast.Module, decorator: str = "njit|register_jitable") -> list[ast.FunctionDef]:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    asked = re.compile(rf"({decorator})\b")
    return [f for f in functions if any(asked.match(ast.unparse(d)) for d in f.decorator_list)]


def names_used(statements: Iterable[ast.stmt]) -> set[str]:
    nodes = [node for statement in statements for node in ast.walk(statement)]
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def test_kernels_are_found():
    assert len(KERNELS) > 5


@pytest.mark.parametrize("path", KERNELS, ids=named)
def test_kernels_use_only_what_numba_documents(path):
    tree = trees()[path]
    froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    assert {name for name in froms | plain if "numba" in name} <= {"numba", "numba.extending"}
    homes = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "njit" in {alias.name for alias in node.names}
    }
    assert homes == {"tamis.kernel_cache"}  # Numba's own fails where it can write nowhere
    for kernel in kernels(tree):
        calls = [d for d in kernel.decorator_list if isinstance(d, ast.Call)]
        options = {word.arg for call in calls for word in call.keywords}
        assert options <= DOCUMENTED
        assert ("cache" in options) == (kernel in kernels(tree, "njit"))


# What Numba has no Python code of is no kernel: it is a part of each one that calls it.
INTRINSICS = "tamis.binary.kernels"


@pytest.mark.parametrize("path", KERNELS, ids=named)
def test_kernels_use_nothing_of_other_modules(path):
    """Numba caches a kernel by its own file: a change in another file would not be seen."""
    tree = trees()[path]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    foreign = {
        alias.asname or alias.name
        for node in imports
        if (node.module or "").startswith("tamis") and node.module != INTRINSICS
        for alias in node.names
    }
    assert kernels(tree, "njit")
    assert not names_used(s for kernel in kernels(tree) for s in kernel.body) & foreign


@pytest.mark.parametrize("path", KERNELS, ids=named)
def test_parts_of_kernels_are_called_by_kernels_alone(path):
    """Elsewhere they would run as plain Python, a hundred times slower, and nobody would notice."""
    tree = trees()[path]
    parts = {part.name for part in kernels(tree, "register_jitable")}
    others = [node for node in tree.body if node not in kernels(tree)]
    assert not names_used(others) & parts
    module = "tamis." + named(path).removesuffix(".py").replace("/", ".")
    assert not {name for home, name in names_fetched() if home in (module, path.parent)} & parts
    inside = {name for kernel in kernels(tree) for name in names_used(kernel.body)}
    assert parts <= inside


@cache
def names_fetched() -> list[tuple[str | Path | None, str]]:
    """What is imported by name, with its module, or taken as `kernels.name`, with the folder."""
    found: list[tuple[str | Path | None, str]] = []
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                found += [(node.module, alias.name) for alias in node.names]
            elif isinstance(node, ast.Attribute) and _last_name(node.value).endswith("kernels"):
                found.append((path.parent, node.attr))
    return found


def _last_name(value: ast.expr) -> str:
    if isinstance(value, ast.Name):
        return value.id
    return value.attr if isinstance(value, ast.Attribute) else ""


def test_codes_are_as_many_in_every_kernel():
    assert boosting_kernels.CODES == coded_table.CODES
