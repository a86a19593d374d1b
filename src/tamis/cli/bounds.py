"""The file of public bounds, which `tamis perturb` and `tamis release` read."""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis.errors import InputError
from tamis.toml import load_toml


class Public(NamedTuple):
    """What is known of the columns without the table."""

    bounds: dict[str, Any]
    missing: list[str]


def public_bounds(file: str | None) -> Public:
    """A table [bounds], and a list of columns that may be missing; nothing without a file."""
    if file is None:
        return Public({}, [])
    content = load_toml(file, "--bounds")
    if set(content) - {"bounds", "missing"} or not isinstance(content.get("bounds", {}), dict):
        raise InputError(
            f"{file}: a [bounds] table of column = [low, high] or [values], and missing = "
            "[columns], are all that it may hold"
        )
    return Public(content.get("bounds", {}), list(content.get("missing", [])))
