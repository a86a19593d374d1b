"""Retention at several levels of noise or budget, several draws each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tamis.errors import InputError, listed
from tamis.evaluate.comparison import baseline
from tamis.evaluate.measure import Measure
from tamis.evaluate.retention import Retention, measured
from tamis.rules.ruleset import RuleSet

Releasing = Callable[[Any, Any, int], Any]
"""A function (original, level, seed) that gives a release."""

FIGURES = ("rule_accuracy", "rsd", "rld")


@dataclass(frozen=True, eq=False)
class Curve:
    """Every measure at every level and draw.

    Attributes
    ----------
    points : polars frame
        Columns `level`, `draw`, `measure`, `value`.
    """

    points: pl.DataFrame

    def summary(self) -> pl.DataFrame:
        """Mean and spread (standard deviation) over the draws of each level and measure."""
        value = pl.col("value")
        return self.points.group_by("measure", "level", maintain_order=True).agg(
            mean=value.mean(), spread=value.std(), draws=value.count()
        )

    def means(self) -> pl.DataFrame:
        """One row a level, one column a measure: the means over the draws."""
        return self.summary().pivot("measure", index="level", values="mean")


def retention_curve(
    rules: RuleSet,
    original: Any,
    release: Releasing,
    levels: Sequence[Any],
    *,
    draws: int = 10,
    figures: Sequence[str] = FIGURES,
    measures: Iterable[Measure] = (),
    target: str | None = None,
    random_state: int = 0,
) -> Curve:
    """Release a table at several levels and measure what each release keeps.

    Parameters
    ----------
    rules : RuleSet
    original : Table or frame
    release : function (original, level, seed)
        Gives the released table; called once a level and draw, each time with its own seed.
    levels : list
        Noise levels, budgets, or whatever `release` understands.
    draws : int
        Releases made at each level.
    figures : list of str
        Figures of `Retention`, all from one counting of the release.
    measures : list of Measure, optional
        Further measures, such as those of `prediction_measures`.
    target : str, optional
        The label column. `None`: that of the table, else of the rules.
    random_state : int
        Decides all seeds; level and draw alone decide which one is used.

    Returns
    -------
    Curve

    Examples
    --------
    >>> original = pl.DataFrame({"age": range(20, 60), "ill": ["no"] * 20 + ["yes"] * 20})
    >>> def older(frame, years, seed):
    ...     return frame.with_columns(pl.col("age") + years)
    >>> rules = RuleSet.parse("age >= 40 -> ill=yes")
    >>> retention_curve(rules, original, older, [0, 10], draws=2, figures=["rsd"]).means()["rsd"]
    shape: (2,)
    Series: 'rsd' [f64]
    [
        0.0
        0.25
    ]
    """
    measures = tuple(measures)
    _check(levels, draws, figures, measures)
    base = baseline(rules, original, target)
    seeds = np.random.SeedSequence(random_state).spawn(len(levels))
    points = []
    for level, sequence in zip(levels, seeds):
        for draw, seed in enumerate(sequence.generate_state(draws).tolist()):
            released = release(original, level, seed)
            kept = measured(base, released)
            found = {name: getattr(kept, name) for name in figures}
            found |= {m.name: m(original, released) for m in measures}
            points += [(level, draw, name, _value(v)) for name, v in found.items()]
    names = ["level", "draw", "measure", "value"]
    return Curve(
        pl.DataFrame(points, schema=names, schema_overrides={"value": pl.Float64}, orient="row")
    )


def _value(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _check(
    levels: Sequence[Any], draws: int, figures: Sequence[str], measures: Sequence[Measure]
) -> None:
    if not levels:
        raise InputError("a curve needs at least one level")
    if draws < 1:
        raise InputError(f"draws is at least 1, got {draws}")
    unknown = [
        name
        for name in figures
        if not hasattr(Retention, name) and name not in Retention.__dataclass_fields__
    ]
    if unknown:
        raise InputError(f"retention has no figure {listed(unknown)}")
    names = [*figures, *(m.name for m in measures)]
    if len(set(names)) < len(names):
        raise InputError("two measures of the curve have the same name; give each its own")
