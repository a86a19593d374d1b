"""The tree tells the flow: a package imports only what stands above it in this list."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import tamis

LAYERS = (
    "errors", "table", "release", "cuts", "files", "table_file", "charts", "binary", "read",
    "datasets", "learn", "rules", "risk", "rank", "select", "perturb", "dp", "propose", "evaluate",
    "decide", "flow", "publish", "cli",
)  # fmt: skip
SOURCE = Path(tamis.__file__).parent


def imported() -> Iterator[tuple[str, str, str]]:
    """The layer of each module, the layer of what it imports, and where that stands."""
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        here = place.parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            for alias in node.names:
                parts = f"{node.module}.{alias.name}".split(".")
                if parts[0] == "tamis" and here != "__init__":
                    yield here, parts[1], f"{place}:{node.lineno}"


def test_every_module_has_a_layer():
    here = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.name[0] not in "_."}
    assert here - {"py.typed"} == set(LAYERS)


def test_imports_go_one_way():
    order = {name: i for i, name in enumerate(LAYERS)}
    wrong = [
        f"{where} imports {there}"
        for here, there, where in imported()
        if there in order and order[there] > order[here]
    ]
    assert wrong == []


def test_ranks_are_pure_arithmetic():
    known = {there for here, there, _ in imported() if here == "rank" and there != "rank"}
    assert known <= {"errors", "charts"}


def test_verify_imports_nothing_that_measures_risk():
    """What checks a release must not be the code that chose it."""
    asked, seen = ["publish.verify"], set()
    while asked:
        name = asked.pop()
        path = SOURCE.joinpath(*name.split(".")).with_suffix(".py")
        if name in seen or not path.is_file():
            continue
        seen.add(name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tamis."):
                asked.append(str(node.module).removeprefix("tamis."))
    layers = {name.split(".")[0] for name in seen}
    assert layers <= {"errors", "table", "release", "table_file", "files", "publish"}
    assert len(seen) > 5


def test_there_is_no_cycle_of_modules():
    """Neither among packages nor inside one, by what is imported when a module is."""
    graph: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        graph[name] = set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tamis."):
                graph[name].add(str(node.module).removeprefix("tamis."))
    assert _cycle(graph) == []


def _cycle(graph: dict[str, set[str]]) -> list[str]:
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph.get(name, ())):
            if found := visit(other, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in graph if (found := visit(name, []))), [])


def test_a_cycle_is_found():
    assert _cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert _cycle({name: {other} for name, other in pairwise("abcd")}) == []
