"""Rules about values, asked of a column that was released in a coarser form.

A condition on values becomes one on groups: a group meets it if every value in it does. Of
`age <= 43` the groups `[30, 40)` and below remain; nobody in `[40, 50)` is known to meet it, nor
to meet `age > 43`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from tamis.rules.pack import matching
from tamis.rules.rule import Condition, OneOf, Rule
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

    def coarse(condition: Condition) -> Condition:
        known = of_column.get(condition.column)
        return condition if known is None else known.meeting(condition)

    found = [
        Rule(map(coarse, rule.conditions), rule.label, rule.distribution, name)
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
        # Of numbers one that no column holds.
        numbers = labels.dtype.is_numeric()
        self.no_label = "inf" if numbers else _no_label(self.labels.tolist())
        self.found: dict[Condition, OneOf] = {}

    def meeting(self, condition: Condition) -> OneOf:
        """The labels of the groups whose every value meets a condition."""
        if condition not in self.found:
            others = np.bincount(
                self.group, weights=~matching(condition, self.values), minlength=len(self.labels)
            )
            labels = self.labels[others == 0].tolist()
            every = labels or [self.no_label]
            self.found[condition] = OneOf(condition.column, tuple(every))
        return self.found[condition]


def _no_label(labels: list[str]) -> str:
    """A text that is not a label, for a condition that nobody is known to meet."""
    text = "none"
    while text in labels:
        text = f"({text})"
    return text
