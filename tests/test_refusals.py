"""Every refusal's test shows that it was refused for its own reason, and not for another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
REFUSALS = {"TamisError", "InputError", "CannotMeet", "MissingExtra"}


def blind(tree: ast.Module) -> list[int]:
    """The lines where a refusal is expected whatever it says: no `match=`, and nobody looks."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and _is_blind_code(node):
            found.append(node.lineno)
        for item in node.items if isinstance(node, ast.With) else []:
            call = item.context_expr
            if isinstance(call, ast.Call) and _is_blind(call) and item.optional_vars is None:
                found.append(call.lineno)
    return found


def _is_blind(call: ast.Call) -> bool:
    if not ast.unparse(call.func).endswith("raises"):
        return False
    named = {ast.unparse(n).split(".")[-1] for arg in call.args for n in ast.walk(arg)}
    words = [word.value for word in call.keywords if word.arg == "match"]
    anything = [w for w in words if isinstance(w, ast.Constant) and not str(w.value).strip(".*^$")]
    return bool(named & REFUSALS) and (not words or bool(anything))


def _is_blind_code(compared: ast.Compare) -> bool:
    """Whether a command is expected to fail by its exit code, and what it says is thrown away."""
    match compared:
        case ast.Compare(
            ast.Attribute(ast.Call(), "code" | "returncode"), [ast.Eq()], [ast.Constant(value)]
        ):
            return value in (1, 2)
    return False


@pytest.mark.parametrize(
    ("line", "noticed"),
    [
        ("with pytest.raises(InputError): f()", True),
        ("with pytest.raises((ValueError, errors.CannotMeet)): f()", True),
        ("with open(x), pytest.raises(InputError, match='.'): f()", True),
        ("with pytest.raises(InputError, match='no column'): f()", False),
        ("with pytest.raises(InputError, match=words): f()", False),
        ("with pytest.raises(CannotMeet) as caught: f()", False),
        ("with pytest.raises(KeyError): f()", False),
        ("assert run('audit').code == 2", True),
        ("assert check(table).returncode == 1", True),
        ("assert run('audit').code == 0", False),
        ("assert found.code == 2", False),
    ],
)
def test_what_expects_any_refusal_is_noticed(line: str, noticed: bool):
    assert bool(blind(ast.parse(line))) == noticed


def test_every_refusal_is_expected_for_its_reason():
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        for line in blind(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []
