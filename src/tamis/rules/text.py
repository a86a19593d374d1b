"""A rule as a line of text, in the grammar that `tamis.rules.parse` reads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from tamis.rules.condition import Between, Condition
from tamis.rules.lexer import BARE, WORDS
from tamis.rules.rule import Rule

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BARE = re.compile(BARE)


def rule_text(rule: Rule, target: str | None = None) -> str:
    """The rule as one line that reads back as the same rule.

    Examples
    --------
    >>> rule = Rule([Between("hours", 10, 52.5, high_closed=True)], label=">50K", id="r1")
    >>> rule_text(rule, target="income")
    'r1: 10 < hours <= 52.5 -> income=>50K'
    """
    head = "" if rule.id is None else f"{_quoted(rule.id)}:"
    parts = (head, antecedent_text(rule.conditions), "->", _consequent(rule, target))
    return " ".join(part for part in parts if part)


def antecedent_text(conditions: Iterable[Condition]) -> str:
    """The conditions joined by `and`; an empty text where there is none.

    Examples
    --------
    >>> from tamis.rules.condition import OneOf
    >>> antecedent_text([OneOf("job", ("Tech support",)), Between("age", high=30)])
    "job = 'Tech support' and age < 30"
    """
    return " and ".join(_condition(c) for c in conditions)


def number_text(number: float) -> str:
    """The shortest text that reads back as the same number.

    >>> number_text(40.0), number_text(52.5)
    ('40', '52.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _condition(condition: Condition) -> str:
    if isinstance(condition, Between):
        return _bounds(condition)
    column = _name(condition.column)
    values = [_quoted(v) for v in condition.values]
    if len(values) == 1:
        return f"{column} {'!=' if condition.negated else '='} {values[0]}"
    return f"{column} {'not in' if condition.negated else 'in'} {{{', '.join(values)}}}"


def _bounds(condition: Between) -> str:
    column = _name(condition.column)
    low, high = number_text(float(condition.low)), number_text(float(condition.high))
    below = "<=" if condition.high_closed else "<"
    if math.isinf(condition.low):
        return f"{column} {below} {high}"
    if math.isinf(condition.high):
        return f"{column} {'>=' if condition.low_closed else '>'} {low}"
    return f"{low} {'<=' if condition.low_closed else '<'} {column} {below} {high}"


def _consequent(rule: Rule, target: str | None) -> str:
    name = "" if target is None else _name(target)
    if rule.distribution is None:
        label = rule.label if _verbatim(rule.label, target) else _between(rule.label, "'")
        return f"{name}={label}" if name else label
    shares = ", ".join(f"{_quoted(label)}: {share!r}" for label, share in rule.distribution)
    return f"{name} ~ {{{shares}}}".lstrip()


def _verbatim(label: str, target: str | None) -> bool:
    odd = not label or label != label.strip() or label[0] in "'\"`" or set("\n\r\t") & set(label)
    return not odd and (target is not None or not set("=~") & set(label))


def _name(column: str) -> str:
    # A name that reads as a number would be taken for a bound.
    plain = _BARE.fullmatch(column) and column.lower() not in WORDS and not _is_number(column)
    return column if plain else _between(column, "`")


def _quoted(value: str) -> str:
    plain = _BARE.fullmatch(value) and value.lower() not in WORDS
    return value if plain else _between(value, "'")


def _between(text: str, quote: str) -> str:
    escaped = "".join(_ESCAPES.get(c, c) for c in text).replace(quote, "\\" + quote)
    return f"{quote}{escaped}{quote}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
