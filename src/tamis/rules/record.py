"""Rules as plain dictionaries, for JSON and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tamis.errors import InputError, listed
from tamis.rules.condition import Between, Condition, OneOf
from tamis.rules.rule import Rule

_BOUNDS = {"above": False, "at_least": True, "below": False, "at_most": True}
_KNOWN = {"column", "in", "not_in", *_BOUNDS}


def rule_record(rule: Rule) -> dict[str, Any]:
    """A rule as a dictionary of plain values.

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
    """The rule of such a dictionary."""
    if not isinstance(record, Mapping) or not isinstance(record.get("conditions"), list):
        raise InputError("a rule in JSON is an object with a list 'conditions' and a 'label'")
    conditions = [_condition_of_record(c) for c in record["conditions"]]
    label, name = record.get("label"), record.get("id")
    for what, value in (("label", label), ("id", name)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"the {what} of a rule in JSON is a text")
    return Rule(conditions, label=label, distribution=record.get("distribution"), id=name)


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
        raise InputError("a condition in JSON is an object with a text 'column'")
    column = record["column"]
    unknown = [key for key in record if key not in _KNOWN]
    if unknown:
        raise InputError(
            f"a condition in JSON has no {listed(unknown)}; it may have {listed(sorted(_KNOWN))}"
        )
    kinds = [key for key in ("in", "not_in") if key in record]
    bounds = [key for key in _BOUNDS if key in record]
    if len(kinds) + bool(bounds) != 1:
        raise InputError(f"the condition on column {column!r} needs values or bounds, not both")
    if kinds:
        return _values_of_record(column, record[kinds[0]], negated=kinds[0] == "not_in")
    return _bounds_of_record(column, {key: record[key] for key in bounds})


def _values_of_record(column: str, values: Any, negated: bool) -> OneOf:
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise InputError(f"the values asked of column {column!r} must be a list of texts")
    return OneOf(column, tuple(values), negated)


def _bounds_of_record(column: str, bounds: dict[str, Any]) -> Between:
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in bounds.values()):
        raise InputError(f"the bounds on column {column!r} must be numbers")
    if {"above", "at_least"} <= bounds.keys() or {"below", "at_most"} <= bounds.keys():
        raise InputError(f"column {column!r} has two bounds on one side; give one")
    return Between(
        column,
        low=bounds.get("above", bounds.get("at_least", -math.inf)),
        high=bounds.get("below", bounds.get("at_most", math.inf)),
        low_closed="at_least" in bounds,
        high_closed="at_most" in bounds,
    )
