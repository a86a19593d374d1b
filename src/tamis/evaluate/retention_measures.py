"""Figures of retention as measures for a scorecard, and a data holder's own beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

from tamis.errors import InputError, listed
from tamis.evaluate.measure import Measure
from tamis.evaluate.retention import OwnMeasure, Retention, retention
from tamis.rules.ruleset import RuleSet


def retention_measures(
    rules: RuleSet,
    names: Iterable[str] = ("rule_accuracy", "rsd", "rld", "re"),
    **options: Any,
) -> tuple[Measure, ...]:
    """Figures of `retention` as measures for a scorecard; smaller is better, coverage apart.

    Parameters
    ----------
    rules : RuleSet
    names : list of str
        Any of the figures of `Retention`.
    **options
        As for `retention`.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [25, 35, 45, 55], "ill": ["no", "no", "yes", "yes"]})
    >>> (measure,) = retention_measures(RuleSet.parse("age > 40 -> ill=yes"), ["rsd"])
    >>> measure(original, original.with_columns(age=60)), measure.better
    (0.5, 'min')
    """
    figures = {*Retention.__dataclass_fields__, "wrong_released", "lost", "lost_share", "flipped"}
    figures -= {"target", "reading", "rules", "own"}
    unknown = [name for name in names if name not in figures]
    if unknown:
        raise InputError(
            f"retention has no figure {listed(unknown)}; it has {listed(sorted(figures), most=30)}"
        )
    return tuple(_measure(rules, name, options) for name in names)


def own_measure(
    name: str,
    function: OwnMeasure,
    rules: RuleSet,
    better: Literal["min", "max"] = "min",
    **options: Any,
) -> Measure:
    """A data holder's own function of the two matrices as a measure for a scorecard.

    Parameters
    ----------
    name : str
    function : function (before, after)
        Of the two matrices of counts, rules x labels.
    rules : RuleSet
    better : {"min", "max"}
        Which direction is better.
    **options
        As for `retention`.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [25, 45, 55], "ill": ["no", "yes", "yes"]})
    >>> gone = own_measure("gone", lambda before, after: (before - after).sum(),
    ...                    RuleSet.parse("age > 40 -> ill=yes"))
    >>> gone(original, original.head(2))
    1.0
    """

    def score(original: Any, released: Any) -> float:
        return retention(rules, original, released, measures={name: function}, **options).own[name]

    return Measure(name, better, score)


def _measure(rules: RuleSet, name: str, options: dict[str, Any]) -> Measure:
    def score(original: Any, released: Any) -> float:
        value = getattr(retention(rules, original, released, **options), name)
        return math.nan if value is None else float(value)

    larger = name in ("coverage", "coverage_original", "right_released", "right_original")
    return Measure(name, "max" if larger else "min", score)
