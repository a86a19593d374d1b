"""What a value of a manifest may look like: tests of values, and records of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Any, NamedTuple

Fits = Callable[[Any], bool]
Shape = Any
"""A test of a value; a dict of shapes, those of keys that end in ``?`` may be left out; a list of
one shape, that of every entry; or one of the classes below."""


class Maybe(NamedTuple):
    """A value of a shape, or null."""

    shape: Shape


class Keyed(NamedTuple):
    """A record with any texts as keys, and values of one shape."""

    shape: Shape


@dataclass(frozen=True)
class By:
    """A record whose shape depends on what it says itself; `choose` gives none for an odd one."""

    choose: Callable[[dict[str, Any]], Shape | None]


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 53


def is_finite_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300 and isfinite(value)


def is_fraction(value: Any) -> bool:
    """A number that is written as one that may have a fraction: 1.0, never 1."""
    return type(value) is float and is_finite_number(value)


def is_share(value: Any) -> bool:
    return is_fraction(value) and 0 <= value <= 1


def is_date(value: Any) -> bool:
    try:
        return is_text(value) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def is_point(value: Any) -> bool:
    """Where an interval may end: a number, or a day."""
    return is_finite_number(value) or is_date(value)


def is_scalar(value: Any) -> bool:
    return is_text(value) or is_flag(value) or is_finite_number(value)


def one_of(*allowed: Any) -> Fits:
    """A test for some values, of the same type: true is not 1."""
    return lambda value: any(type(value) is type(each) and value == each for each in allowed)


def like(pattern: str) -> Fits:
    return lambda value: is_text(value) and re.fullmatch(pattern, value, re.ASCII) is not None


is_hash = like("[0-9a-f]{64}")
is_version = like(
    r"[0-9]{1,4}(\.[0-9]{1,5}){0,4}((a|b|rc)[0-9]{1,3})?(\.post[0-9]{1,3})?(\.dev[0-9]{1,9})?"
)
