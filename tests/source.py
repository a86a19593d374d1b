"""The source of the package, parsed once for all tests that look at it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import tamis

SOURCE = Path(tamis.__file__).parent


@cache
def trees() -> dict[Path, ast.Module]:
    """The module of each file. It is for looking only: whoever asks gets the same one."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
