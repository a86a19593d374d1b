"""Measures of rules: a record with a name, a direction, a value for each rule and a total.

The paper's measures are such records, and so are your own. A measure gets one rule at a time, with
its counts in both tables, and gives it a value; the total combines the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from tamis.errors import InputError
from tamis.notebook import in_short
from tamis.rules.rule import Rule

if TYPE_CHECKING:
    from tamis.evaluate.rule_changes import Comparison, Reading

LEAST_SUPPORT = 5
"""Fewest rows of the original from which a rule's label shares mean anything."""


@dataclass(frozen=True)
class CountedRule:
    """A rule with its counts in the original and in the release.

    Attributes
    ----------
    id : str
    rule : Rule
    labels : tuple of str
        The labels of both tables.
    predicted : int
        The position of the label that the rule predicts.
    before, after : tuple of int
        Rows that match it, by label; all 0 in the release if it names a column not released.
    rows_original, rows_released : int
        Rows of the tables.
    weight : float
        Weight of the rule in a mean; all weights add up to 1.
    lost : bool
        Whether it names a column that was not released.
    """

    id: str
    rule: Rule
    labels: tuple[str, ...]
    predicted: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    rows_original: int
    rows_released: int
    weight: float
    lost: bool

    @cached_property
    def support_before(self) -> int:
        return sum(self.before)

    @cached_property
    def support_after(self) -> int:
        return sum(self.after)

    @property
    def share_before(self) -> float:
        """Share of the original's rows that match it."""
        return self.support_before / max(self.rows_original, 1)

    @property
    def share_after(self) -> float:
        """Share of the release's rows that match it."""
        return self.support_after / max(self.rows_released, 1)

    @property
    def labels_before(self) -> tuple[float, ...]:
        """Label shares among its rows in the original; empty without rows."""
        return _shares(self.before, self.support_before)

    @property
    def labels_after(self) -> tuple[float, ...]:
        """Label shares among its rows in the release; empty without rows."""
        return _shares(self.after, self.support_after)


def _shares(counts: Sequence[int], support: int) -> tuple[float, ...]:
    return tuple(count / support for count in counts) if support else ()


Values = list[float | None]
"""The value of each rule; `None` leaves a rule out of the total."""


def weighted_mean(values: Values, comparison: Comparison) -> float | None:
    """Weighted mean over the rules that have a value; `None` if these have no weight."""
    known = [i for i, value in enumerate(values) if value is not None]
    weights = comparison.weights[known]
    total = float(weights @ np.array([values[i] for i in known], dtype=float)) if known else 0.0
    if len(known) == len(values):
        return total
    return total / float(weights.sum()) if weights.sum() > 0 else None


@dataclass(frozen=True)
class RuleMeasure:
    """A measure of how far a rule of the original still holds in a release.

    Attributes
    ----------
    name : str
    better : {"min", "max"}
        The better direction.
    value : function of a CountedRule
        A number; `None` leaves the rule out of the total.
    total : function (values, comparison)
        Combines the values of all rules; by default their weighted mean.

    Notes
    -----
    Fletcher and Islam (2017) call this designing a measure for the workload at hand: what counts is
    the distance between what the data owner reads in a rule before and after.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis import retention
    >>> gone = RuleMeasure("gone", "min", lambda r: max(0, r.support_before - r.support_after))
    >>> original = pl.DataFrame({"age": [25, 35, 45, 55], "ill": ["no", "no", "yes", "yes"]})
    >>> kept = retention("age > 40 -> ill=yes", original, original.head(3), measures=[gone])
    >>> kept.own, kept.rules[0].own
    ({'gone': 1.0}, {'gone': 1.0})
    """

    name: str
    better: Literal["min", "max"]
    value: Callable[[CountedRule], float | None]
    total: Callable[[Values, Comparison], float | None] = weighted_mean

    def __post_init__(self) -> None:
        if not self.name or self.better not in ("min", "max"):
            raise InputError(
                "a measure of rules needs a name, and 'min' or 'max' as what is better, got "
                f"{self.name!r} and {self.better!r}"
            )

    def __repr__(self) -> str:
        return in_short(self, self.name)

    def of_each(self, rules: Sequence[CountedRule]) -> Values:
        """The value of every rule."""
        return [self._of(rule) for rule in rules]

    def _of(self, rule: CountedRule) -> float | None:
        try:
            value: object = self.value(rule)
        except Exception as error:  # whatever a function of the user does wrong
            raise InputError(
                f"the measure {self.name!r} failed on rule {rule.id!r}: {type(error).__name__}: "
                f"{error}"
            ) from error
        if value is None:
            return None
        if not isinstance(value, Real) or not math.isfinite(value):
            raise InputError(
                f"the measure {self.name!r} must give rule {rule.id!r} a finite number, or None to "
                f"leave it out, got {value!r}"
            )
        return float(value)

    def meets(self, total: float | None, limit: float) -> bool:
        """Whether a total is no worse than a limit; what cannot be measured meets none."""
        if total is None:
            return False
        return total <= limit if self.better == "min" else total >= limit


def support_change(rule: CountedRule) -> float:
    """The change in the share of rows that match a rule.

    Each support is divided by the rows of its own table, so that a release with fewer or more rows
    stays within 1.
    """
    return abs(rule.share_before - rule.share_after)


def label_distance(rule: CountedRule) -> float | None:
    """The chi-squared distance of the label shares of a rule; `None` if it had no rows before.

    Equation 3; a term 0/0 is 0, and a rule that is lost, or that no row of the release matches, is
    at distance 1.
    """
    if not rule.support_before:
        return None
    if not rule.support_after:
        return 1.0
    both = zip(rule.labels_before, rule.labels_after)
    return float(sum((f - g) ** 2 / (f + g) for f, g in both if f + g > 0) / 2)


def noise_floor(rule: CountedRule) -> float | None:
    """Distance of label shares expected by chance alone; `None` if no released row matches.

    (labels - 1) / (4 rows of the release that match the rule), at most 1.
    """
    if not rule.support_after:
        return None
    return min(1.0, (len(rule.labels) - 1) / (4 * rule.support_after))


def relative_change(rule: CountedRule) -> float | None:
    """The change in support as a share of the support before; `None` without rows before."""
    if not rule.support_before:
        return None
    return abs(rule.support_before - rule.support_after) / rule.support_before


def _half_the_sum(values: Values, comparison: Comparison) -> float:
    return float(np.array(values, dtype=float).sum()) / 2


RSD = RuleMeasure("rsd", "min", support_change)
"""Rule Support Distance, equation 2: the mean change in support."""
TOTAL_VARIATION = RuleMeasure("total_variation", "min", support_change, _half_the_sum)
"""Half the sum of the changes in support; on the leaves of a tree at most 1.

RSD of a tree cannot exceed 2 / rules, however bad the release; this can reach 1.
"""
RE = RuleMeasure("re", "min", relative_change)
"""Relative error: the mean change in support as a share of the support before."""


def supported(name: str, value: Callable[[CountedRule], float | None], least: int) -> RuleMeasure:
    """A measure averaged over the rules with enough rows in the original."""
    return RuleMeasure(name, "min", lambda r: value(r) if r.support_before >= least else None)


def rld(least_support: int = LEAST_SUPPORT) -> RuleMeasure:
    """Rule Label Distance, equation 4, without the rules that the paper advises to discount."""
    return supported("rld", label_distance, least_support)


def rule_accuracy(reading: Reading = "pairs", default: int | None = None) -> RuleMeasure:
    """Rule Accuracy, equation 1: the change in the share of correct predictions.

    A rule's own value is the change of its confidence; the total follows the reading, see
    `tamis.evaluate.rule_changes.Comparison.right_shares`.
    """

    def value(rule: CountedRule) -> float | None:
        if not (rule.support_before and rule.support_after):
            return None
        return abs(rule.labels_before[rule.predicted] - rule.labels_after[rule.predicted])

    def total(values: Values, comparison: Comparison) -> float:
        before, after = comparison.right_shares(reading, default)
        return abs(before - after)

    return RuleMeasure("rule_accuracy", "min", value, total)
