"""Match rules with a table: what its columns contain, and whether the rules apply to them.

A column contains numbers, booleans or text. Bounds need numbers; a value for numbers must be
a number, one for booleans `true` or `false`. A column without any value accepts anything.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import polars as pl

from tamis.errors import InputError
from tamis.rules.grammar import number_text
from tamis.rules.rule import Between, Condition, refuse_unknown
from tamis.rules.ruleset import RuleSet
from tamis.table import bare
from tamis.table_file import MOMENT

Holds = Literal["numbers", "booleans", "text", "nothing"]


def holds(dtype: pl.DataType) -> Holds:
    """What a column of this type contains, as rules see it.

    >>> holds(pl.Int8()), holds(pl.Categorical()), holds(pl.Null())
    ('numbers', 'text', 'nothing')
    """
    if dtype.is_numeric():
        return "numbers"
    if dtype == pl.Boolean:
        return "booleans"
    return "nothing" if dtype == pl.Null else "text"


def value_text(value: Any) -> str:
    """A value as a rule would write it: 1.0 as `1`, True as `true`.

    >>> value_text(1.0), value_text(np.True_), value_text("yes")
    ('1', 'true', 'yes')
    """
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | np.number):
        return number_text(float(value))
    return str(value)


def texts(column: pl.Series) -> pl.Series:
    """A column as the text by which rules know its values; missing stays missing.

    >>> texts(pl.Series([1.0, None, 2.5])).to_list()
    ['1', None, '2.5']
    >>> texts(pl.Series([0]).cast(pl.Datetime)).to_list()
    ['1970-01-01 00:00:00']
    """
    cells = bare(column)
    if column.dtype == pl.Datetime:
        return cells.dt.strftime(MOMENT).alias(column.name)
    if holds(column.dtype) != "numbers" or column.dtype.is_integer():
        return column.cast(pl.String)
    names = {value: value_text(value) for value in cells.unique().drop_nulls().to_list()}
    return cells.replace_strict(names, default=None, return_dtype=pl.String).alias(column.name)


def known_value(text: str, held: Holds) -> str | None:
    """A value of a rule as `texts` would show it; `None` if the column cannot contain it.

    >>> known_value("01", "text"), known_value("01", "numbers"), known_value("x", "numbers")
    ('01', '1', None)
    """
    if held == "numbers":
        try:
            return number_text(float(text))
        except (ValueError, OverflowError):
            return None
    if held == "booleans":
        return text.lower() if text.lower() in ("true", "false") else None
    return text


def refuse_unfit(rules: RuleSet, frame: pl.DataFrame, where: str) -> None:
    """Raise if a rule names a column that does not exist, or a value it cannot contain."""
    refuse_unknown(rules.conditions, frame.columns, where)
    for name, rule in zip(rules.ids, rules):
        for condition in rule.conditions:
            held = holds(frame.schema[condition.column])
            if not _askable(condition, held):
                raise InputError(
                    f"rule {name!r} needs column {condition.column!r} of {where} to contain "
                    f"{_requirement(condition)}, but it contains {held}; change the rule, or read "
                    "the column as another type"
                )


def refuse_other_types(
    columns: tuple[str, ...],
    original: pl.DataFrame,
    released: pl.DataFrame,
    where: str = "the release",
) -> None:
    """Raise if a column contains numbers in one table and text in the other."""
    for column in columns:
        if column not in original.columns or column not in released.columns:
            continue
        before, after = holds(original.schema[column]), holds(released.schema[column])
        if before != after and "nothing" not in (before, after):
            raise InputError(
                f"column {column!r} contains {before} in the original and {after} in {where}; "
                "read both tables with the same types, or leave out the rules on it"
            )


def _askable(condition: Condition, held: Holds) -> bool:
    if held == "nothing":
        return True
    if isinstance(condition, Between):
        return held == "numbers"
    return all(known_value(value, held) is not None for value in condition.values)


def _requirement(condition: Condition) -> str:
    if isinstance(condition, Between):
        return "numbers within bounds"
    return "values that are not numbers or booleans"
