"""Rules on columns that were released in a coarser form.

A condition on values becomes one on groups: a group meets it if every value in it does. Of
`age <= 43` the groups `[30, 40)` and below remain; nobody in `[40, 50)` is known to meet it, nor to
meet `age > 43`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.rules.bind import holds, known_value, texts
from tamis.rules.rule import Between, Condition, OneOf, Rule
from tamis.rules.ruleset import RuleSet
from tamis.table import bare


class ValueLabels(NamedTuple):
    """The values of a column, and the label of the group that each is in."""

    values: pl.Series
    labels: pl.Series


def coarse_rules(rules: RuleSet, groups: Mapping[str, ValueLabels]) -> RuleSet:
    """The same rules, as they can be asked of columns in a coarser form.

    Parameters
    ----------
    rules : RuleSet
        About the values of the original.
    groups : mapping of column to ValueLabels
        For each coarser column its distinct values and their labels.

    Returns
    -------
    RuleSet
        With as many rules in the same order, of the same names.

    Examples
    --------
    >>> ages = ValueLabels(pl.Series([35, 39, 41, 47]), pl.Series(["30s", "30s", "40s", "40s"]))
    >>> print(coarse_rules(RuleSet.parse("age <= 43 -> ill=no"), {"age": ages}).to_text())
    r1: age = 30s -> ill=no
    """
    found = [
        Rule(
            (_on_groups(c, groups[c.column]) if c.column in groups else c for c in rule.conditions),
            rule.label,
            rule.distribution,
            name,
        )
        for name, rule in zip(rules.ids, rules)
    ]
    return RuleSet(found, target=rules.target)


def _on_groups(condition: Condition, groups: ValueLabels) -> OneOf:
    """The labels of the groups whose every value meets a condition."""
    frame = pl.DataFrame(
        {"label": bare(groups.labels), "met": _met(condition, groups.values)}
    ).drop_nulls("label")
    each = frame.group_by("label", maintain_order=True).agg(pl.col("met").all())
    labels = each.filter("met")["label"].to_list()
    return OneOf(condition.column, tuple(labels or [_no_label(each["label"].to_list())]))


def _no_label(labels: list[str]) -> str:
    """A text that is no label, for a condition that nobody is known to meet."""
    text = "none"
    while text in labels:
        text = f"({text})"
    return text


def _met(condition: Condition, values: pl.Series) -> NDArray[np.bool_]:
    if isinstance(condition, Between):
        numbers = bare(values).cast(pl.Float64).fill_null(float("nan")).to_numpy()
        above = numbers >= condition.low if condition.low_closed else numbers > condition.low
        below = numbers <= condition.high if condition.high_closed else numbers < condition.high
        return np.asarray(above & below)
    held = holds(values.dtype)
    wanted = [known_value(value, held) for value in condition.values]
    found = texts(values).is_in([w for w in wanted if w is not None]).fill_null(False).to_numpy()
    return np.asarray(found != condition.negated)
