"""Conditions: what a rule asks of one column.

::

    Condition
    ├── Between     a number within bounds        10 < hours <= 52.5
    └── OneOf       a value in a set, or not      job in {Sales, Tech}, sex != Male

A value is kept as the text that a person wrote. Only when it meets a column does it become a
number or stay a text, so that `zip = 01000` means the text on a text column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tamis.errors import InputError, listed


@dataclass(frozen=True)
class Between:
    """A number above `low` and below `high`; a closed end lets the bound itself in.

    Examples
    --------
    >>> Between("age", low=40.5)
    Between(column='age', low=40.5, high=inf, low_closed=False, high_closed=False)
    """

    column: str
    low: float = -math.inf
    high: float = math.inf
    low_closed: bool = False
    high_closed: bool = False

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high):
            raise InputError(f"the bounds on column {self.column!r} must be numbers, got NaN")
        if math.isinf(self.low) and math.isinf(self.high):
            raise InputError(f"the condition on column {self.column!r} has no bound; give one")
        # An end that is nowhere is neither open nor closed; equal conditions must look equal.
        object.__setattr__(self, "low_closed", self.low_closed and math.isfinite(self.low))
        object.__setattr__(self, "high_closed", self.high_closed and math.isfinite(self.high))
        closed = self.low_closed and self.high_closed
        if self.low > self.high or (self.low == self.high and not closed):
            raise InputError(
                f"no number can meet the bounds on column {self.column!r}; "
                "the lower bound must be below the upper"
            )


@dataclass(frozen=True)
class OneOf:
    """A value that is one of `values`, or none of them where `negated`.

    Examples
    --------
    >>> OneOf("job", ("Sales", "Tech"))
    OneOf(column='job', values=('Sales', 'Tech'), negated=False)
    """

    column: str
    values: tuple[str, ...]
    negated: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.values, str):
            raise InputError(f"the values asked of column {self.column!r} must be a list of texts")
        object.__setattr__(self, "values", tuple(dict.fromkeys(map(str, self.values))))
        if not self.values:
            raise InputError(f"the condition on column {self.column!r} lists no value; give one")


Condition = Between | OneOf


def merged(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The same demands with one condition a column, where that can be said.

    Columns come in the order of their first mention. Bounds are cut together; sets are
    intersected. A column asked for both bounds and values keeps one condition of each kind.

    Examples
    --------
    >>> merged([Between("age", low=30), OneOf("job", ("a", "b")), Between("age", high=50)])
    (Between(column='age', low=30, high=50, low_closed=False, high_closed=False),
     OneOf(column='job', values=('a', 'b'), negated=False))
    """
    held: dict[tuple[str, type], Condition] = {}
    for condition in conditions:
        key = (condition.column, type(condition))
        earlier = held.get(key)
        if earlier is None:
            held[key] = condition
        elif isinstance(condition, Between) and isinstance(earlier, Between):
            held[key] = _tighter(earlier, condition)
        elif isinstance(condition, OneOf) and isinstance(earlier, OneOf):
            held[key] = _common(earlier, condition)
    return tuple(held.values())


def _tighter(a: Between, b: Between) -> Between:
    # Of two equal bounds the open one is the tighter, so it sorts further in.
    low, low_open = max((a.low, not a.low_closed), (b.low, not b.low_closed))
    high, high_closed = min((a.high, a.high_closed), (b.high, b.high_closed))
    return Between(a.column, low, high, not low_open, high_closed)


def _common(a: OneOf, b: OneOf) -> OneOf:
    if a.negated and b.negated:
        return OneOf(a.column, a.values + b.values, negated=True)
    wanted, other = (b, a) if a.negated else (a, b)
    left = tuple(v for v in wanted.values if (v in other.values) != other.negated)
    if not left:
        raise InputError(f"no value can meet all that is asked of column {a.column!r}")
    return OneOf(a.column, left)


def refuse_unknown(conditions: Iterable[Condition], known: Iterable[str], where: str) -> None:
    """An error that names the columns of `conditions` that are not among `known`."""
    known = list(known)
    unknown = list(dict.fromkeys(c.column for c in conditions if c.column not in set(known)))
    if unknown:
        raise InputError(
            f"the rules name {listed(unknown)}, which {where} does not have; its columns are "
            f"{listed(known, most=30)}"
        )
