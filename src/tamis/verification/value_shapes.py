"""The parts of a manifest's schema: predicates of single values, and containers of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Any, NamedTuple

Fits = Callable[[Any], bool]
Shape = Any
"""A predicate of a value; a dict of shapes, in which keys that end in ``?`` are optional; a list of
one shape, that of every entry; or one of the classes below."""


class Maybe(NamedTuple):
    """A value of the given shape, or null."""

    shape: Shape


class Keyed(NamedTuple):
    """A record with arbitrary keys, whose values all have one shape."""

    shape: Shape


@dataclass(frozen=True)
class By:
    """A record whose shape depends on its content; `choose` returns `None` where none fits."""

    choose: Callable[[dict[str, Any]], Shape | None]


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    # Above 2**53 a reader of JSON that uses doubles would see another number.
    return type(value) is int and 0 <= value < 1 << 53


def is_finite_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300 and isfinite(value)


def is_fraction(value: Any) -> bool:
    """A finite number written with a decimal point: 1.0, never 1."""
    return type(value) is float and is_finite_number(value)


def is_share(value: Any) -> bool:
    return is_fraction(value) and 0 <= value <= 1


def is_date(value: Any) -> bool:
    try:
        return is_text(value) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def is_point(value: Any) -> bool:
    """An end of an interval: a number or a date."""
    return is_finite_number(value) or is_date(value)


def is_scalar(value: Any) -> bool:
    return is_text(value) or is_flag(value) or is_finite_number(value)


def one_of(*allowed: Any) -> Fits:
    """A predicate for the given values and their types: true is not 1."""
    return lambda value: any(type(value) is type(one) and value == one for one in allowed)


def like(pattern: str) -> Fits:
    return lambda value: is_text(value) and re.fullmatch(pattern, value, re.ASCII) is not None


is_hash = like("[0-9a-f]{64}")
is_version = like(
    r"[0-9]{1,4}(\.[0-9]{1,5}){0,4}((a|b|rc)[0-9]{1,3})?(\.post[0-9]{1,3})?(\.dev[0-9]{1,9})?"
)
