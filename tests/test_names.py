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
