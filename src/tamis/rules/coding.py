"""What a number in a coded table stands for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tamis.errors import InputError
from tamis.rules.condition import Between, Condition, OneOf


@dataclass(frozen=True)
class Indicator:
    """A 0/1 feature that says whether `column` is `value` (one-hot coding)."""

    column: str
    value: str


@dataclass(frozen=True)
class Ordinal:
    """A feature that holds the position of the value of `column` in `values`."""

    column: str
    values: tuple[str, ...]


Coding = Indicator | Ordinal


def split(feature: str, threshold: float, coding: Coding | None) -> tuple[Condition, Condition]:
    """The two sides of `feature <= threshold`, told in values of the table.

    Examples
    --------
    >>> below, above = split("sex_Male", 0.5, Indicator("sex", "Male"))
    >>> below.negated, above.negated
    (True, False)
    >>> split("size", 0.5, Ordinal("size", ("S", "M", "L")))[1]
    OneOf(column='size', values=('M', 'L'), negated=False)
    """
    if coding is None:
        return Between(feature, high=threshold, high_closed=True), Between(feature, low=threshold)
    last = 1 if isinstance(coding, Indicator) else len(coding.values) - 1
    if not 0 <= threshold < last:
        raise InputError(
            f"the tree splits feature {feature!r} outside the codes 0 to {last} that its coding "
            "lists; check the coding"
        )
    if isinstance(coding, Indicator):
        value = (coding.value,)
        return OneOf(coding.column, value, negated=True), OneOf(coding.column, value)
    cut = math.floor(threshold) + 1
    return OneOf(coding.column, coding.values[:cut]), OneOf(coding.column, coding.values[cut:])
