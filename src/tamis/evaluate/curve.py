"""Measures of a release over levels of noise or budget, and how they correlate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy import stats

from tamis.arrays import Floats
from tamis.charts import Panel, Picture, line_chart
from tamis.errors import InputError, listed, plural
from tamis.evaluate.retention import Retention, check_reading, measured
from tamis.evaluate.rule_changes import Reading, Weights, baseline
from tamis.evaluate.rule_measure import LEAST_SUPPORT, RuleMeasure
from tamis.rules.ruleset import RuleSet


@dataclass(frozen=True)
class Measure:
    """A function of (original, released) with a name and the better direction.

    Examples
    --------
    >>> kept = Measure("columns_kept", "max", lambda original, released: released.width)
    >>> import polars as pl
    >>> kept(pl.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"a": [1]}))
    1.0
    """

    name: str
    better: Literal["min", "max"]
    score: Callable[[Any, Any], float]

    def __call__(self, original: Any, released: Any) -> float:
        return float(self.score(original, released))


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
        """One row per level, one column per measure: the means over the draws."""
        return self.summary().pivot("measure", index="level", values="mean")

    def plot(self, level: str = "level") -> Picture:
        """Plot the mean of each measure over the levels, one panel a measure.

        Parameters
        ----------
        level : str
            What a level is, such as "noise" or "epsilon".
        """
        means = self.means()
        levels = means["level"].to_list()
        numbers = all(isinstance(at, int | float) for at in levels)
        panels = [
            Panel(
                name,
                levels if numbers else [*map(str, levels)],
                {"mean": means[name].to_list()},
                level,
            )
            for name in means.columns
            if name != "level" and means[name].null_count() < means.height
        ]
        if not panels:
            raise InputError("no measure of the curve has a value, so there is nothing to draw")
        words = f"{plural(len(panels), 'measure')} of what releases retain, by {level}"
        across = min(len(panels), 3)
        return line_chart(words, words, panels, columns=across, height=220)


def retention_curve(
    rules: RuleSet,
    original: Any,
    release: Releasing,
    levels: Sequence[Any],
    *,
    draws: int = 10,
    figures: Sequence[str] = FIGURES,
    measures: Iterable[Measure | RuleMeasure] = (),
    target: str | None = None,
    random_state: int = 0,
    reading: Reading = "pairs",
    default: str | None = None,
    weights: Weights = "equal",
    least_support: int = LEAST_SUPPORT,
) -> Curve:
    """Release a table at several levels and measure what each release retains.

    Parameters
    ----------
    rules : RuleSet
    original : Table or frame
    release : function (original, level, seed)
        Returns the released table; called once per level and draw, each time with its own seed.
    levels : list
        Noise levels, budgets, or whatever `release` understands.
    draws : int
        Releases made at each level.
    figures : list of str
        Figures of `Retention`, all from one counting of the release.
    measures : list of Measure or RuleMeasure, optional
        Further measures: of the two tables, as those of `prediction_measures`, or of the rules.
    target : str, optional
        The label column; by default that of the table, else of the rules.
    random_state : int
        Determines all seeds; which one is used depends only on level and draw.
    reading, default, weights, least_support
        As in `retention`.

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
    given = tuple(measures)
    _check(levels, draws, figures, given)
    check_reading(reading, least_support)
    of_rules = [m for m in given if isinstance(m, RuleMeasure)]
    others = [m for m in given if not isinstance(m, RuleMeasure)]
    base = baseline(rules, original, target, weights=weights, first_match=reading != "pairs")
    seeds = np.random.SeedSequence(random_state).spawn(len(levels))
    points = []
    for level, sequence in zip(levels, seeds):
        for draw, seed in enumerate(sequence.generate_state(draws).tolist()):
            released = release(original, level, seed)
            kept = measured(base, released, reading, default, least_support, of_rules)
            values = {name: getattr(kept, name) for name in figures}
            values |= kept.own
            values |= {m.name: m(original, released) for m in others}
            points += [(level, draw, name, _value(v)) for name, v in values.items()]
    names = ["level", "draw", "measure", "value"]
    return Curve(
        pl.DataFrame(points, schema=names, schema_overrides={"value": pl.Float64}, orient="row")
    )


def _value(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _check(
    levels: Sequence[Any],
    draws: int,
    figures: Sequence[str],
    measures: Sequence[Measure | RuleMeasure],
) -> None:
    if not levels:
        raise InputError("a curve needs at least one level")
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
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


_NEARLY_ONE = 1 - 1e-12  # keeps Fisher's z finite where measures agree exactly


def correlations(curves: Mapping[str, Curve]) -> pl.DataFrame:
    """Pearson correlations of every two measures over curves of several datasets.

    Parameters
    ----------
    curves : mapping of dataset to Curve
        All with the same measures.

    Returns
    -------
    polars frame
        One row per pair of measures and scope, with columns `a`, `b`, `scope`, `r`, `p_value`,
        `points`, `datasets`. The scope is the name of a dataset (over its levels; neighbouring
        levels are treated as independent, so read its p-value with care), `"within"` (the mean of
        these by Fisher's z, tested over datasets) or `"pooled"` (all points together, tested
        with errors clustered by dataset). Whatever cannot be computed is missing.

    Examples
    --------
    >>> points = [(x, 0, m, f(x)) for x in range(5) for m, f in [("a", float), ("b", lambda v: -v)]]
    >>> curve = Curve(pl.DataFrame(points, schema=["level", "draw", "measure", "value"],
    ...                            strict=False, orient="row"))
    >>> correlations({"toy": curve}).filter(pl.col("scope") == "toy")["r"].to_list()
    [-1.0]
    """
    if not curves:
        raise InputError("correlations need the curve of at least one dataset")
    tables = {name: curve.means().drop("level") for name, curve in curves.items()}
    measures = next(iter(tables.values())).columns
    for name, table in tables.items():
        if set(table.columns) != set(measures):
            raise InputError(f"the curve of {name!r} has different measures from the first one")
    rows = [row for a, b in combinations(measures, 2) for row in _pair(tables, a, b)]
    types = {
        "a": pl.String,
        "b": pl.String,
        "scope": pl.String,
        "r": pl.Float64,
        "p_value": pl.Float64,
        "points": pl.Int64,
        "datasets": pl.Int64,
    }
    return pl.DataFrame(rows, schema=types, orient="row")


def _pair(tables: Mapping[str, pl.DataFrame], a: str, b: str) -> list[tuple[object, ...]]:
    both = {name: _values(table, a, b) for name, table in tables.items()}
    single = {name: _pearson(x, y) for name, (x, y) in both.items()}
    rows: list[tuple[object, ...]] = [
        (a, b, name, *single[name], len(both[name][0]), 1) for name in tables
    ]
    known = [r for r, _ in single.values() if r is not None]
    points = sum(len(x) for x, _ in both.values())
    rows.append((a, b, "within", *_within(known), points, len(known)))
    rows.append((a, b, "pooled", *_pooled(list(both.values())), points, len(both)))
    return rows


def _values(table: pl.DataFrame, a: str, b: str) -> tuple[Floats, Floats]:
    known = table.select(a, b).drop_nulls()
    return known[a].to_numpy(), known[b].to_numpy()


def _pearson(x: Floats, y: Floats) -> tuple[float | None, float | None]:
    if len(x) < 3 or _constant(x) or _constant(y):
        return None, None
    test = stats.pearsonr(x, y)
    return float(test.statistic), float(test.pvalue)


def _within(single: list[float]) -> tuple[float | None, float | None]:
    """The mean correlation by Fisher's z, and the test that it is 0 over the datasets."""
    if not single:
        return None, None
    scores = np.arctanh(np.clip(single, -_NEARLY_ONE, _NEARLY_ONE))
    mean = math.tanh(float(scores.mean()))
    if len(scores) < 2 or _constant(scores):
        return mean, None
    return mean, float(stats.ttest_1samp(scores, 0.0).pvalue)


def _pooled(both: list[tuple[Floats, Floats]]) -> tuple[float | None, float | None]:
    """The correlation of all points, with a standard error clustered by dataset."""
    x, y = (np.concatenate([pair[i] for pair in both]) for i in (0, 1))
    if len(x) < 3 or _constant(x) or _constant(y):
        return None, None
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = float(np.mean(x * y))
    groups = len(both)
    if groups < 2:
        return r, None
    # Scores of the slope are summed within a dataset: levels of one dataset are not independent.
    owner = np.repeat(np.arange(groups), [len(pair[0]) for pair in both])
    moved = np.bincount(owner, weights=x * (y - r * x), minlength=groups)
    error = math.sqrt(groups / (groups - 1) * float(moved @ moved)) / len(x)
    if error == 0:
        return r, None
    return r, float(2 * stats.t.sf(abs(r) / error, groups - 1))


def _constant(x: Floats) -> bool:
    return bool(np.ptp(x) <= 1e-12 * max(1.0, float(np.abs(x).max())))
