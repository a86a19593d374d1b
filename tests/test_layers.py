"""The tree is the flow: imports go one way, and no module imports itself through others."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.source import SOURCE, trees

ORDER = [
    "errors",
    "arrays",
    "option",
    "figures",
    "stated",
    "require",
    "kernel_cache",
    "notebook",
    "catalogue",
    "options",
    "people",
    "table",
    "coding",
    "release",
    "release_counts",
    "files",
    "formulas",
    "statistical_file",
    "spreadsheet",
    "table_file",
    "charts",
    "cuts",
    "binary",
    "datasets",
    "read",
    "rows",
    "verification",
    "learn",
    "rules",
    "rank",
    "risk",
    "select",
    "coarsen",
    "perturb",
    "dp",
    "evaluate",
    "attack",
    "propose",
    "limits",
    "decide",
    "settings",
    "all_rows",
    "outcome",
    "flow",
    "analyse",
    "publication",
    "judgement",
    "serve",
    "cli",
]
"""A package or module may import those before it; CONTRIBUTING.md says what each one holds."""


def dotted(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    return {dotted(path): tree for path, tree in trees().items()}


def imported(tree: ast.AST) -> set[str]:
    """The modules of tamis that are imported, functions included."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in modules()}
        elif isinstance(node, ast.ImportFrom) and node.module in modules():
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside & set(modules()) or {node.module}
    return found


def at_once(tree: ast.Module) -> set[str]:
    """Those that are imported together with the module, not when a function is called."""
    return {name for statement in tree.body if not late(statement) for name in imported(statement)}


def run(tree: ast.Module) -> set[str]:
    """Those whose code may run: all but what is imported for types alone."""
    kept = [s for s in tree.body if not (isinstance(s, ast.If) and late(s))]
    return {name for statement in kept for name in imported(statement)}


def late(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return "TYPE_CHECKING" in ast.unparse(statement.test)
    return isinstance(statement, ast.FunctionDef | ast.ClassDef)


def package(module: str) -> str:
    return module.split(".")[1]


def test_every_package_has_its_place():
    assert sorted({package(m) for m in modules() if m != "tamis"}) == sorted(ORDER)


@pytest.mark.parametrize("name", ORDER)
def test_imports_go_one_way(name):
    allowed = ORDER[: ORDER.index(name) + 1]
    for module, tree in modules().items():
        if module != "tamis" and package(module) == name:
            others = {package(m) for m in imported(tree) if m != "tamis"}
            assert others <= set(allowed), f"{module} imports {others - set(allowed)}"


def test_no_module_imports_itself_through_others():
    TopologicalSorter({m: at_once(tree) - {m} for m, tree in modules().items()}).prepare()


def mapped(tree: ast.Module) -> set[str]:
    """The modules that the map in a package's docstring names; empty where there is no map."""
    _, _, below = (ast.get_docstring(tree) or "").partition("::\n")
    return set(re.findall(r"^    (\w+) ", below, flags=re.M))


@pytest.mark.parametrize(
    "name",
    [
        "analyse",
        "catalogue",
        "rows",
        "verification",
        "publication",
        "serve",
        "coarsen",
        "select.containment",
        "perturb",
        "dp",
        "evaluate",
        "attack",
    ],
    ids=lambda name: name,
)
def test_the_map_of_a_package_names_all_its_modules(name):
    inside = f"tamis.{name}."
    there = {m.removeprefix(inside) for m in modules() if m.startswith(inside)}
    assert mapped(modules()[f"tamis.{name}"]) == there


def test_ranks_are_pure_arithmetic():
    others = {
        package(m)
        for name, tree in modules().items()
        if name.startswith("tamis.rank")
        for m in imported(tree)
    }
    assert others <= {"rank", "errors", "notebook", "charts"}


def needed_by(module: str, *without: str) -> set[str]:
    """All modules that one imports, or those that it imports, but for what one of these does."""
    asked, seen = [module], set(without)
    while asked:
        name = asked.pop()
        if name not in seen:
            seen.add(name)
            asked += run(modules()[name])
    return seen - set(without)


def test_what_verifies_a_release_is_not_what_chose_it():
    engines = "tamis.rows", "tamis.rows.memory_only", "tamis.verification.behind_engine"
    seen = needed_by("tamis.verification.verify", *engines)
    layers = {package(m) for m in seen - {"tamis"}}
    assert layers <= {
        *(
            "errors",
            "arrays",
            "notebook",
            "table",
            "release",
            "table_file",
            "statistical_file",
            "spreadsheet",
            "files",
        ),
        *(
            "formulas",
            "people",
            "figures",
            "verification",
            "stated",
            "release_counts",
        ),
        "read",  # which asks of rows that leave what the door asks of rows that come
        "catalogue",  # which has names and words, and computes nothing
    }
    risky = {"tamis.read.frames", "tamis.read.roles", "tamis.read.keys"} & seen
    assert risky <= {"tamis.read.keys"}
    assert len(seen) > 5
    behind = set().union(*map(needed_by, engines)) - seen
    assert {package(m) for m in behind} == {"rows", "verification", "option", "options", "read"}


def test_what_counts_again_never_asks_a_requirement():
    counting = [m for m in modules() if m.startswith("tamis.verification")]
    assert len(counting) > 5
    for name in ("tamis.stated", *counting):
        assert "require" not in {package(m) for m in imported(modules()[name]) if m != "tamis"}


def test_requirements_take_words_alone_from_what_verifies():
    """Else a mistake in a definition would be made twice, and nobody would see it."""
    taken = {
        alias.name
        for name, tree in modules().items()
        if name.startswith("tamis.require")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "tamis.stated"
        for alias in node.names
    }
    assert taken == {"sentence", "MOST_ABSENCES"}


def test_publishing_imports_no_learner_and_no_attacker():
    """Records that were measured before may be named; what measures them is behind `analyse`."""
    found = {
        m
        for name, tree in modules().items()
        if package(f"{name}.") in ("publication", "verification")
        for m in imported(tree)
        if package(f"{m}.") in ("learn", "select", "evaluate", "attack", "propose", "rank")
    }
    assert found <= {
        "tamis.evaluate.figure",
        "tamis.evaluate.scorecard",
        "tamis.attack.earlier_releases",
        "tamis.attack.row_names",
        "tamis.attack.sources",
    }
