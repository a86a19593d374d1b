"""One name means one thing: no class and no public function of the package is named twice."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from tests.source import SOURCE, trees

SHARED = {
    "verify": "the command and the function that it calls",
    "judge": "the command and the function that it calls",
}
"""Names that may be used twice, and why."""


VAGUE = {"FEW", "LARGE", "LARGEST", "LONGEST", "MANY", "MOST", "SMALL", "SOME", "SURE"}
"""Names of constants that do not say of what."""
ALIASES = {"Bools", "Codes", "Floats", "Integers", "Ints", "Numbers", "RowNumbers"}
"""Names of arrays, which one module gives; two stand for other widths in theirs."""


def definitions() -> Iterator[tuple[str, str]]:
    """Name and file of every class, and of every function whose name is public."""
    for path, tree in trees().items():
        for node in tree.body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef):
                continue
            if isinstance(node, ast.ClassDef) or not node.name.startswith("_"):
                yield node.name, path.relative_to(SOURCE).as_posix()


@cache
def places() -> dict[str, list[str]]:
    found = defaultdict(list)
    for name, file in definitions():
        found[name].append(file)
    return dict(found)


def test_no_name_is_used_for_two_things():
    assert {n: files for n, files in places().items() if len(files) > 1 and n not in SHARED} == {}


def test_names_that_may_be_shared_are():
    found = places()
    assert [name for name in SHARED if len(found.get(name, ())) < 2] == []


def constants() -> Iterator[tuple[str, str]]:
    """Name and file of everything that is assigned in a module."""
    for path, tree in trees().items():
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            for name in ast.walk(ast.Tuple([*targets], ast.Store())):
                if isinstance(name, ast.Name):
                    yield name.id, path.relative_to(SOURCE).as_posix()


def test_a_constant_says_of_what_it_is_the_most():
    assert [(name, file) for name, file in constants() if name in VAGUE] == []


def test_one_module_says_what_arrays_hold():
    elsewhere = {(n, file) for n, file in constants() if n in ALIASES and file != "arrays.py"}
    assert elsewhere == {("Floats", "rules/pack.py"), ("Codes", "learn/coded_table.py")}


def test_progress_is_not_told():
    """What is told leaks; who is told how far work has come is given a `progress`."""
    parameters = {
        (arg.arg, path.name)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.arguments)
        for arg in (*node.posonlyargs, *node.args, *node.kwonlyargs)
    }
    assert [each for each in parameters if each[0] == "tell"] == []


def test_what_is_kept_is_no_mask_of_rows():
    """Kept is the share of the target; of the result of `coarsened` it is a public name."""
    masks = [
        (path.relative_to(SOURCE).as_posix(), node.arg)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.arg) and node.arg == "kept" and node.annotation
        if ast.unparse(node.annotation) in ("Bools", "NDArray[np.bool_]")
    ]
    assert {file for file, _ in masks} <= {"coarsen/search.py"}


def test_a_promise_is_asked_of_a_release():
    """What a column is expected to add to a set is no promise."""
    bits = [
        (path.relative_to(SOURCE).as_posix(), node.name)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name in ("promises", "_promised")
        if node.args.args[1:] and node.args.args[1].arg == "columns"
    ]
    assert bits == []
