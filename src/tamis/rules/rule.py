"""Rules and their conditions; a condition is what a rule requires of one column.

::

    Condition
    ├── Between     a number within bounds        10 < hours <= 52.5
    └── OneOf       a value in a set, or not      job in {Sales, Tech}, sex != Male

A value is stored as the text that was written. Whether it is a number is decided only when it is
matched with a column, so that `zip = 01000` means the text on a text column.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tamis.errors import InputError, listed, plural
from tamis.notebook import in_short, quoted


@dataclass(frozen=True)
class Between:
    """A number above `low` and below `high`; a closed end includes the bound itself.

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
        # Whether an infinite end is closed makes no difference, and must make none to equality.
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
    """A value that is one of `values`, or none of them if `negated`.

    Examples
    --------
    >>> OneOf("job", ("Sales", "Tech"))
    <OneOf: 'job', 2 values>
    """

    column: str
    values: tuple[str, ...]
    negated: bool = False

    def __repr__(self) -> str:
        return in_short(self, quoted(self.column), plural(len(self.values), "value"))

    def __post_init__(self) -> None:
        if isinstance(self.values, str):
            raise InputError(f"the values for column {self.column!r} must be a list of strings")
        object.__setattr__(self, "values", tuple(dict.fromkeys(map(str, self.values))))
        if not self.values:
            raise InputError(f"the condition on column {self.column!r} lists no value; give one")


Condition = Between | OneOf


def merged(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Equivalent conditions, merged into one for each column where possible.

    Columns are in the order of their first mention. Bounds are intersected, and so are sets of
    values. A column with both bounds and values keeps one condition of each kind.

    Examples
    --------
    >>> merged([Between("age", low=30), OneOf("job", ("a", "b")), Between("age", high=50)])
    (Between(column='age', low=30, high=50, low_closed=False, high_closed=False),
     <OneOf: 'job', 2 values>)
    """
    held: dict[tuple[str, type], Condition] = {}
    for condition in conditions:
        key = (condition.column, type(condition))
        earlier = held.get(key)
        if earlier is None:
            held[key] = condition
        elif isinstance(condition, Between) and isinstance(earlier, Between):
            held[key] = tighter(earlier, condition)
        elif isinstance(condition, OneOf) and isinstance(earlier, OneOf):
            held[key] = _common(earlier, condition)
    return tuple(held.values())


def tighter(a: Between, b: Between) -> Between:
    """The intersection of two bounds on a column."""
    # Of two equal bounds the open one is tighter: as a tuple it is the larger lower bound, and the
    # smaller upper one.
    low, low_open = max((a.low, not a.low_closed), (b.low, not b.low_closed))
    high, high_closed = min((a.high, a.high_closed), (b.high, b.high_closed))
    return Between(a.column, low, high, not low_open, high_closed)


def _common(a: OneOf, b: OneOf) -> OneOf:
    if a.negated and b.negated:
        return OneOf(a.column, a.values + b.values, negated=True)
    wanted, other = (b, a) if a.negated else (a, b)
    left = tuple(v for v in wanted.values if (v in other.values) != other.negated)
    if not left:
        raise InputError(f"no value can meet all conditions on column {a.column!r}")
    return OneOf(a.column, left)


def refuse_unknown(conditions: Iterable[Condition], known: Iterable[str], where: str) -> None:
    """Raise if `conditions` name columns that are not among `known`."""
    there = set(known := list(known))
    if unknown := list(dict.fromkeys(c.column for c in conditions if c.column not in there)):
        raise InputError(
            f"the rules name {listed(unknown)}, which {where} does not have; its columns are "
            f"{listed(known, most=30)}"
        )


@dataclass(frozen=True)
class Rule:
    """Conditions -> label.

    Parameters
    ----------
    conditions : iterable of Between or OneOf
        All must be true. Without any, the rule applies to every row.
    label : str, optional
        The predicted label; by default the most likely one of the distribution.
    distribution : mapping of label to share, optional
        The probability of each label; probabilities add up to 1.
    id : str, optional
        A name to use in reports.

    Examples
    --------
    >>> from tamis.rules.rule import Between
    >>> rule = Rule([Between("age", low=40.5)], distribution={"no": 0.25, "yes": 0.75})
    >>> rule.label
    'yes'
    """

    conditions: tuple[Condition, ...]
    label: str = ""
    distribution: tuple[tuple[str, float], ...] | None = None
    id: str | None = None

    def __repr__(self) -> str:
        conditions = plural(len(self.conditions), "condition")
        over = f" on {', '.join(quoted(c) for c in self.columns)}" if self.conditions else ""
        return in_short(self, self.id and quoted(self.id), conditions + over)

    def __init__(
        self,
        conditions: Iterable[Condition],
        label: str | None = None,
        distribution: Mapping[str, float] | Iterable[tuple[str, float]] | None = None,
        id: str | None = None,
    ) -> None:
        shares = None if distribution is None else _shares(dict(distribution))
        if shares is not None:
            # The first of equally likely labels, so that a rule always predicts the same label.
            likeliest = max(shares, key=lambda item: item[1])[0]
            if label not in (None, likeliest):
                raise InputError("a rule must predict the most likely label of its distribution")
            label = likeliest
        if label is None:
            raise InputError("a rule must predict a label or a distribution of labels; give one")
        object.__setattr__(self, "conditions", tuple(conditions))
        object.__setattr__(self, "label", str(label))
        object.__setattr__(self, "distribution", shares)
        object.__setattr__(self, "id", id)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its conditions, each once, in the order of their first mention."""
        return tuple(dict.fromkeys(c.column for c in self.conditions))


def _shares(distribution: dict[str, float]) -> tuple[tuple[str, float], ...]:
    shares = tuple((str(label), float(share)) for label, share in distribution.items())
    total = sum(share for _, share in shares)
    # Shares copied from a printed rule have two decimals, hence the tolerance.
    if not shares or min(s for _, s in shares) < 0 or not math.isclose(total, 1, abs_tol=0.011):
        raise InputError(f"the shares of a rule's labels must add up to 1, got {total:g}")
    return shares


_BOUNDS = {"above": False, "at_least": True, "below": False, "at_most": True}
_KNOWN = {"column", "in", "not_in", *_BOUNDS}


def rule_record(rule: Rule) -> dict[str, Any]:
    """A rule as a dictionary of plain values, for JSON.

    Examples
    --------
    >>> rule_record(Rule([Between("age", 30, 50, high_closed=True)], label="yes"))
    {'conditions': [{'column': 'age', 'above': 30, 'at_most': 50}], 'label': 'yes'}
    """
    record: dict[str, Any] = {} if rule.id is None else {"id": rule.id}
    record["conditions"] = [_condition_record(c) for c in rule.conditions]
    record["label"] = rule.label
    if rule.distribution is not None:
        record["distribution"] = dict(rule.distribution)
    return record


def rule_of_record(record: Any) -> Rule:
    """The rule of a dictionary made by `rule_record`."""
    if not isinstance(record, Mapping) or not isinstance(record.get("conditions"), list):
        raise InputError("a rule in JSON must be an object with a list 'conditions' and a 'label'")
    conditions = [_condition_of_record(c) for c in record["conditions"]]
    label, name = record.get("label"), record.get("id")
    for what, value in (("label", label), ("id", name)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"the {what} of a rule in JSON must be a string")
    return Rule(conditions, label=label, distribution=_shares_of_record(record), id=name)


def _shares_of_record(record: Mapping[str, Any]) -> dict[str, float] | None:
    shares = record.get("distribution")
    if shares is None:
        return None
    if not isinstance(shares, Mapping) or not all(map(_is_finite, shares.values())):
        raise InputError("the distribution of a rule in JSON must give each label a share")
    return {label: float(share) for label, share in shares.items()}


def _is_finite(value: Any) -> bool:
    """Whether a number from JSON fits a float; whole numbers there may have any length."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _condition_record(condition: Condition) -> dict[str, Any]:
    record: dict[str, Any] = {"column": condition.column}
    if isinstance(condition, OneOf):
        record["not_in" if condition.negated else "in"] = list(condition.values)
        return record
    if math.isfinite(condition.low):
        record["at_least" if condition.low_closed else "above"] = condition.low
    if math.isfinite(condition.high):
        record["at_most" if condition.high_closed else "below"] = condition.high
    return record


def _condition_of_record(record: Any) -> Condition:
    if not isinstance(record, Mapping) or not isinstance(record.get("column"), str):
        raise InputError("a condition in JSON must be an object with a string 'column'")
    column = record["column"]
    if unknown := [key for key in record if key not in _KNOWN]:
        raise InputError(
            f"unknown entry {listed(unknown)} in a JSON condition; allowed: "
            f"{listed(sorted(_KNOWN))}"
        )
    kinds = [key for key in ("in", "not_in") if key in record]
    bounds = [key for key in _BOUNDS if key in record]
    if len(kinds) + bool(bounds) != 1:
        raise InputError(f"the condition on column {column!r} needs either values or bounds")
    if kinds:
        return _values_of_record(column, record[kinds[0]], negated=kinds[0] == "not_in")
    return _bounds_of_record(column, {key: record[key] for key in bounds})


def _values_of_record(column: str, values: Any, negated: bool) -> OneOf:
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise InputError(f"the values for column {column!r} must be a list of strings")
    return OneOf(column, tuple(values), negated)


def _bounds_of_record(column: str, bounds: dict[str, Any]) -> Between:
    if not all(map(_is_finite, bounds.values())):
        raise InputError(f"the bounds on column {column!r} must be finite numbers")
    if {"above", "at_least"} <= bounds.keys() or {"below", "at_most"} <= bounds.keys():
        raise InputError(f"column {column!r} has two bounds on one side; give one")
    return Between(
        column,
        low=bounds.get("above", bounds.get("at_least", -math.inf)),
        high=bounds.get("below", bounds.get("at_most", math.inf)),
        low_closed="at_least" in bounds,
        high_closed="at_most" in bounds,
    )
