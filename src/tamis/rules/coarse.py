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
    if not groups:
        return rules
    of_column = {column: _Groups(*each) for column, each in groups.items()}
    found = [
        Rule(
            (
                of_column[c.column].meeting(c) if c.column in of_column else c
                for c in rule.conditions
            ),
            rule.label,
            rule.distribution,
            name,
        )
        for name, rule in zip(rules.ids, rules)
    ]
    return RuleSet(found, target=rules.target)


class _Groups:
    """The groups of one column, and which of them meet conditions."""

    def __init__(self, values: pl.Series, labels: pl.Series) -> None:
        present = bare(labels).is_not_null()
        self.values = bare(values).filter(present)
        self.labels, self.group = np.unique(
            bare(labels).filter(present).to_numpy().astype(np.str_), return_inverse=True
        )
        self.found: dict[Condition, OneOf] = {}

    def meeting(self, condition: Condition) -> OneOf:
        """The labels of the groups whose every value meets a condition."""
        if condition not in self.found:
            others = np.bincount(
                self.group, weights=~_met(condition, self.values), minlength=len(self.labels)
            )
            labels = self.labels[others == 0].tolist()
            every = labels or [_no_label(self.labels.tolist())]
            self.found[condition] = OneOf(condition.column, tuple(every))
        return self.found[condition]


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
