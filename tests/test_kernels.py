"""What holds for every kernel, whatever it computes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tamis
from tamis.learn import boosting_kernels, coded_table, score_test

SOURCE = Path(tamis.__file__).parent
KERNELS = sorted(path for path in SOURCE.rglob("*.py") if "njit" in path.read_text("utf-8"))
DOCUMENTED = {"cache", "error_model"}


def named(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def decorators(tree: ast.Module) -> list[ast.expr]:
    return [d for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for d in f.decorator_list]


def test_kernels_are_found():
    assert len(KERNELS) > 5


@pytest.mark.parametrize("path", KERNELS, ids=named)
def test_kernels_use_only_what_numba_documents(path):
    tree = ast.parse(path.read_text("utf-8"))
    froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    assert {name for name in froms | plain if "numba" in name} <= {"numba", "numba.extending"}
    calls = [d for d in decorators(tree) if isinstance(d, ast.Call)]
    options = {word.arg for call in calls for word in call.keywords}
    assert "cache" in options <= DOCUMENTED


# What Numba has no Python code of is no kernel: it is a part of each one that calls it.
INTRINSICS = "tamis.select.containment.bits"


@pytest.mark.parametrize("path", KERNELS, ids=named)
def test_kernels_use_nothing_of_other_modules(path):
    """Numba caches a kernel by its own file: a change in another file would not be seen."""
    tree = ast.parse(path.read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    foreign = {
        alias.asname or alias.name
        for node in imports
        if (node.module or "").startswith("tamis") and node.module != INTRINSICS
        for alias in node.names
    }
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    kernels = [f for f in functions if any("njit" in ast.unparse(d) for d in f.decorator_list)]
    used = {
        node.id
        for kernel in kernels
        for statement in kernel.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name)
    }
    assert kernels
    assert not used & foreign


def test_codes_are_as_many_in_every_kernel():
    assert boosting_kernels.CODES == score_test.CODES == coded_table.CODES
