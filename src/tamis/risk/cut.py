"""A sensitive column as classes: its values, or intervals of its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Codes, Ints
from tamis.coding import coded, dense
from tamis.cuts import K, quantile_cuts, rounded_cuts
from tamis.errors import InputError, plural
from tamis.notebook import in_short
from tamis.people import People, PeopleLike
from tamis.table import bare


def mdl_cuts(values: NDArray[np.float64], labels: NDArray[Any]) -> list[float]:
    """Cut points by entropy, each accepted by the minimum description length criterion.

    Parameters
    ----------
    values : array of float
    labels : array of class labels

    Returns
    -------
    list of float
        Ascending; midpoints between neighbouring values; empty if no cut pays for itself.

    Notes
    -----
    Fayyad and Irani, Multi-interval discretization of continuous-valued attributes for
    classification learning, IJCAI 1993: with N rows and k classes a cut is accepted if its
    information gain exceeds (log2(N - 1) + log2(3**k - 2) - k H + k1 H1 + k2 H2) / N.

    Examples
    --------
    >>> mdl_cuts(np.arange(20.0), np.repeat([0, 1], 10))
    [9.5]
    >>> mdl_cuts(np.arange(20.0), np.tile([0, 1], 10))
    []
    """
    distinct, places = np.unique(values, return_inverse=True)
    classes, codes = np.unique(labels, return_inverse=True)
    table = np.zeros((len(distinct), len(classes)), dtype=np.int64)
    np.add.at(table, (places, codes), 1)
    return _cut(distinct, table)


def _cut(distinct: NDArray[np.float64], table: Ints) -> list[float]:
    if len(distinct) < 2:
        return []
    below = table.cumsum(axis=0)[:-1]
    above = table.sum(axis=0) - below
    rows = table.sum()
    # The entropy left after each possible cut, times the rows; of equal ones the lowest cut wins.
    sides = below.sum(axis=1) * _entropy(below) + above.sum(axis=1) * _entropy(above)
    best = int(np.argmin(sides))
    if not _pays(table.sum(axis=0), below[best], above[best], float(sides[best] / rows)):
        return []
    point = float((distinct[best] + distinct[best + 1]) / 2)
    left = _cut(distinct[: best + 1], table[: best + 1])
    return [*left, point, *_cut(distinct[best + 1 :], table[best + 1 :])]


def _pays(whole: Ints, below: Ints, above: Ints, left_over: float) -> bool:
    """The criterion of `mdl_cuts`: whether the information gain exceeds the cost of the cut."""
    rows = int(whole.sum())
    entropies = _entropy(np.stack([whole, below, above]))
    k, k1, k2 = (int(np.count_nonzero(side)) for side in (whole, below, above))
    spent = k * entropies[0] - k1 * entropies[1] - k2 * entropies[2]
    price = (np.log2(rows - 1) + np.log2(3.0**k - 2) - spent) / rows
    return bool(entropies[0] - left_over > price)


def _entropy(counts: Ints) -> NDArray[np.float64]:
    """The entropy in bits of each row of counts."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    bits: NDArray[np.float64] = -(shares * logs).sum(axis=1)
    return bits


CutRule = Literal["auto", "mdl", "quantiles", "none"] | Sequence[float]

MOST_UNCUT = 10
"""Numbers with more distinct values than this are cut by default."""
PARTS = 4
"""The number of intervals of the rule `quantiles`."""


@dataclass(frozen=True)
class SensitiveCut:
    """How the values of a sensitive column are grouped into classes.

    Attributes
    ----------
    rule : str
        The cut in words.
    points : tuple of float
        The cut points of numbers; empty if each value is a class.
    values : tuple
        The values, if each is a class.
    """

    rule: str
    points: tuple[float, ...] = ()
    values: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        counts = plural(len(self.points), "point"), plural(len(self.values), "value")
        return in_short(self, self.rule, *counts)

    def codes(self, column: pl.Series) -> Codes:
        """The class of each row, from 0; a missing value is a class of its own, the second to last.

        A value that was unknown when the classes were made gets the last number.
        """
        column = bare(column)
        missing = column.is_null().to_numpy()
        if self.points:
            numbers = column.cast(pl.Float64).fill_null(0.0).to_numpy()
            codes = np.searchsorted(np.array(self.points), numbers)
            return np.where(missing, len(self.points) + 1, codes)
        known = {value: code for code, value in enumerate(self.values)}
        cells = dense(coded(column))  # so that each distinct value is looked up once
        row_of = np.empty(cells.radix, dtype=np.int64)
        row_of[cells.codes] = np.arange(column.len())
        of_value = [known.get(v, len(known) + 1) for v in column.gather(row_of).to_list()]
        return np.where(missing, len(known), np.array(of_value, dtype=np.int64)[cells.codes])


def cut_sensitive(
    column: pl.Series,
    target: NDArray[Any],
    rule: CutRule = "auto",
    *,
    k: int = K,
    people: PeopleLike = None,
) -> SensitiveCut:
    """Turn a sensitive column into classes.

    Parameters
    ----------
    column : polars Series
    target : array of class labels
        The labels the rule `mdl` is based on.
    rule : {"auto", "mdl", "quantiles", "none"} or sequence of float
        `"mdl"`: where the target changes, by the minimum description length (Fayyad and Irani
        1993). `"quantiles"`: four intervals of nearly equal size. Numbers: at these points.
        `"none"`: every value is a class. `"auto"`: `"none"` for text and for numbers with at most
        ten distinct values, else the first of `"mdl"`, `"quantiles"` and `"none"` that finds a cut.
    k : int
        Least number of people on either side of a computed cut; such cuts are round numbers, see
        `tamis.cuts`.
    people : People or array, optional
        The person each row belongs to; by default each row is a different person's.

    Returns
    -------
    SensitiveCut

    Examples
    --------
    >>> ages = pl.Series("age", [20, 25, 30, 41, 50, 60, 61, 66, 70, 75, 80, 85])
    >>> cut = cut_sensitive(ages, np.array(["no"] * 6 + ["yes"] * 6), "mdl")
    >>> cut.rule, cut.points
    ('cut at 60, where the target changes (minimum description length)', (60.0,))
    >>> cut.codes(ages).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    """
    column = bare(column)
    distinct = column.drop_nulls().unique().sort()
    numeric = column.dtype.is_numeric()
    if rule == "none" or (rule == "auto" and not (numeric and len(distinct) > MOST_UNCUT)):
        return SensitiveCut("each value is a class", values=tuple(distinct.to_list()))
    if not numeric:
        raise InputError(f"only numbers can be cut, and the sensitive column is {column.dtype}")
    if not isinstance(rule, str):
        return _given_points(rule)
    if rule not in ("auto", "mdl", "quantiles"):
        raise InputError(
            f'a cut must be "auto", "mdl", "quantiles", "none" or a list of numbers, got {rule!r}'
        )
    present = column.is_not_null().to_numpy()
    values = column.drop_nulls().cast(pl.Float64).to_numpy()
    who = People.named(people, column.len())[present]
    crowd: dict[str, Any] = {"k": k, "people": who}
    if rule != "quantiles":
        exact = mdl_cuts(values, np.asarray(target)[present])
        if points := tuple(rounded_cuts(values, exact, **crowd)):
            return SensitiveCut(f"cut at {_words(points)}, where the target changes {_MDL}", points)
    if rule == "mdl":
        raise InputError(
            "the target does not show where to cut the sensitive column (no cut pays for itself by "
            'its description length); use "quantiles" or give the cut points'
        )
    points = tuple(quantile_cuts(values, PARTS, **crowd))
    if not points and rule == "auto":
        return SensitiveCut("each value is a class", values=tuple(distinct.to_list()))
    if not points:
        raise InputError(_no_cut(len(distinct), k))
    why = f"; the target suggests no cut {_MDL}" if rule == "auto" else ""
    return SensitiveCut(
        f"cut at {_words(points)}, {len(points) + 1} intervals of similar size{why}", points
    )


def cut_into_quarters(column: pl.Series, *, k: int = K, people: PeopleLike = None) -> SensitiveCut:
    """A sensitive column as classes; numbers of many values in four intervals of similar size.

    A cut by the target may be at an extreme value, with nearly everybody on one side of it, so that
    guessing is nearly always right.

    >>> ages = pl.Series("age", [20, 25, 30, 41, 50, 60, 61, 66, 70, 75, 80, 85])
    >>> len(cut_into_quarters(ages, k=2).points)
    3
    """
    values = bare(column).drop_nulls()
    if not (column.dtype.is_numeric() and values.n_unique() > MOST_UNCUT):
        return cut_sensitive(column, np.zeros(column.len()), "none")
    crowd = People.named(people, column.len())[bare(column).is_not_null().to_numpy()]
    cells = values.cast(pl.Float64).to_numpy()
    if not quantile_cuts(cells, PARTS, k=k, people=crowd):
        return cut_sensitive(column, np.zeros(column.len()), "none")
    return cut_sensitive(column, np.zeros(column.len()), "quantiles", k=k, people=people)


_MDL = "(minimum description length)"


def _given_points(rule: Sequence[float]) -> SensitiveCut:
    points = tuple(sorted(float(point) for point in rule))
    if not points or not np.isfinite(points).all() or len(set(points)) < len(points):
        raise InputError("cut points must be one or more distinct finite numbers")
    return SensitiveCut(f"cut at {_words(points)}, as given", points)


def _no_cut(distinct: int, k: int) -> str:
    if distinct < 2:
        return "the sensitive column has a single value; there is nothing to guess"
    return (
        f"no cut of the sensitive column leaves {k} people on either side; give the cut points, or "
        '"none" to make every value a class'
    )


def _words(points: Sequence[float]) -> str:
    return ", ".join(f"{point:g}" for point in points)
