"""Do measures agree? Correlations within datasets and pooled, with honest p-values.

The points of one dataset hang together: the same rows, the same rules, neighbouring levels. To
count each as an observation of its own makes any p-value small. Here draws are averaged first;
within datasets the number of observations is the number of datasets; and the pooled correlation
is tested with errors that are robust against clusters, the datasets. Pooling can also hide
agreement: measures that rise together in every dataset, each on its own scale, may correlate
weakly over all. So both are given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from tamis.errors import InputError
from tamis.evaluate.curve import Curve

Floats = NDArray[np.float64]

_NEARLY_ONE = 1 - 1e-12


def correlations(curves: Mapping[str, Curve]) -> pl.DataFrame:
    """Pearson correlations of every two measures over curves of several datasets.

    Parameters
    ----------
    curves : mapping of dataset to Curve
        All with the same measures.

    Returns
    -------
    polars frame
        One row a pair of measures and scope, with columns `a`, `b`, `scope`, `r`, `p_value`,
        `points`, `datasets`. The scope is the name of a dataset (over its levels; neighbouring
        levels are taken as independent, so read its p-value with care), `"within"` (the mean of
        these by Fisher's z, tested over datasets) or `"pooled"` (all points together, tested
        with errors clustered by dataset). What cannot be computed is missing.

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
            raise InputError(f"the curve of {name!r} has other measures than the first one")
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
    found = stats.pearsonr(x, y)
    return float(found.statistic), float(found.pvalue)


def _within(single: list[float]) -> tuple[float | None, float | None]:
    """The mean correlation by Fisher's z, and whether it differs from 0 over the datasets."""
    if not single:
        return None, None
    scores = np.arctanh(np.clip(single, -_NEARLY_ONE, _NEARLY_ONE))
    mean = math.tanh(float(scores.mean()))
    if len(scores) < 2 or _constant(scores):
        return mean, None
    return mean, float(stats.ttest_1samp(scores, 0.0).pvalue)


def _pooled(both: list[tuple[Floats, Floats]]) -> tuple[float | None, float | None]:
    """The correlation of all points; its error adds up the residuals of each dataset first."""
    x, y = (np.concatenate([pair[i] for pair in both]) for i in (0, 1))
    if len(x) < 3 or _constant(x) or _constant(y):
        return None, None
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = float(np.mean(x * y))
    groups = len(both)
    if groups < 2:
        return r, None
    owner = np.repeat(np.arange(groups), [len(pair[0]) for pair in both])
    moved = np.bincount(owner, weights=x * (y - r * x), minlength=groups)
    error = math.sqrt(groups / (groups - 1) * float(moved @ moved)) / len(x)
    if error == 0:
        return r, None
    return r, float(2 * stats.t.sf(abs(r) / error, groups - 1))


def _constant(x: Floats) -> bool:
    return bool(np.ptp(x) <= 1e-12 * max(1.0, float(np.abs(x).max())))
