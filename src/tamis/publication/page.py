"""Templates, legible text and the content security policy that all pages share."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from unicodedata import bidirectional, category

from jinja2 import Environment, PackageLoader, StrictUndefined

TURNS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Bidirectional controls, which change the direction of the text around them, so that one name
could look like another."""


def templates(package: str, finalize: Callable[[Any], Any] | None = None) -> Environment:
    """The templates of a package, which escape all values and fail on undefined ones.

    `finalize` is applied to each value before it is shown.
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )


@cache
def template_text(package: str, name: str) -> str:
    """The text of a style or script of a package."""
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")


def csp_hash(text: str) -> str:
    """The hash by which a content security policy allows a style or script."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def legible(value: Any) -> Any:
    """A copy in which no text has control characters that could change how it is shown."""
    if isinstance(value, str):
        plain = value.isascii() and value.isprintable()
        return value if plain else "".join(map(_sign, value))
    if isinstance(value, list | tuple):
        return type(value)(legible(part) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: legible(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **parts)
    if isinstance(value, dict):
        return {legible(key): legible(part) for key, part in value.items()}
    return value


def _sign(sign: str) -> str:
    if sign in "\t\n":
        return " "
    unseen = category(sign) in ("Cc", "Cs") or bidirectional(sign) in TURNS
    return "\N{REPLACEMENT CHARACTER}" if unseen else sign
