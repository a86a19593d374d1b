"""Microaggregation and rank swapping: values replaced by similar ones.

`Microaggregation` forms groups of at least k similar rows and replaces each row by the centre of
its group; `RankSwap` swaps values with others of nearly the same rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tamis.coding import as_floats, coded, dense
from tamis.errors import InputError, listed
from tamis.people import People
from tamis.perturb import (
    InputFrame,
    RandomState,
    columns_to_alter,
    input_frame,
    random_source,
    with_fractions,
)
from tamis.risk.grouping import grouped
from tamis.select.containment.selection import check_k, keeping
from tamis.table import bare, kind_of, only

Groups = NDArray[np.int64]


class Microaggregation(BaseEstimator):  # type: ignore[misc]
    """Replace each value by the centre of a group of at least k similar rows.

    Rows are grouped by all columns together, by MDAV: numbers and dates become the mean of their
    group, categories its most frequent value (of equals, the commonest in the whole table). So each
    row equals at least k - 1 others in the altered columns. If people in a `Table` have several
    rows, each group has rows of at least k people.

    No group gets a category that fewer than k people have, nor a mean of the numbers of a single
    person; if no other value is left, the cells become missing.

    Parameters
    ----------
    k : int
        The least number of rows in a group, or of people who have them.
    columns : sequence of str, optional
        What to alter. `None`: the features of a `Table`, every column of a frame or array.

    Attributes
    ----------
    columns_ : tuple of str
        The columns that were altered.
    groups_ : array of int
        The group of each row.
    anonymity_ : int
        The least number of rows, or of people, alike in these columns, measured on the result.
    lost_ : float
        Information loss: the share of the variation of these columns that is within groups.

    Notes
    -----
    Domingo-Ferrer and Mateo-Sanz (2002); Domingo-Ferrer and Torra (2005) for categories. A column's
    squared differences are divided by its variance. A category is one-hot coded, with missing as a
    value of its own. A missing number counts as the mean, with one more coordinate that says that
    it is missing; in a group of which most lack it, it becomes missing for all. Groups have
    k to 2k - 1 rows. With n rows this takes about n * n / k steps for each column.

    It works on the rows it is given, so there is `fit_transform` and no `transform`.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 61, 24, 59], "job": ["cook", "judge", "cook", "judge"]})
    >>> Microaggregation(k=2).fit_transform(people).rows()
    [(22.0, 'cook'), (60.0, 'judge'), (22.0, 'cook'), (60.0, 'judge')]
    """

    def __init__(self, k: int = 5, *, columns: Sequence[str] | None = None) -> None:
        self.k = k
        self.columns = columns

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Group the rows of a `Table`, a pandas, polars or pyarrow frame, or an array.

        The same kind comes back, with the same rows in the same order; whole numbers become
        fractions.
        """
        data = input_frame(with_fractions(X))
        columns = columns_to_alter(data, self.columns)
        check_k(self.k, data.frame.height)
        order = data.order
        true, back = only(data.frame, columns)[order], np.argsort(order)
        found = _grouped_rows(true, self.k, data.people[order])
        self.columns_, self.groups_ = tuple(columns), found.groups[back]
        self.anonymity_, self.lost_ = found.anonymity, _lost(true, found.groups)
        return data.back(data.frame.with_columns(found.middles[back].get_columns()))


class _Grouped(NamedTuple):
    """The group of each row, the rows replaced by the centres, and the anonymity reached."""

    groups: Groups
    middles: pl.DataFrame
    anonymity: int


def _grouped_rows(frame: pl.DataFrame, k: int, people: People) -> _Grouped:
    def attempt(rows: int) -> _Grouped:
        groups = mdav_groups(frame, rows)
        middles = pl.DataFrame([middle(cells, groups, people, k) for cells in frame.get_columns()])
        alike = grouped(middles, middles.columns, people)
        return _Grouped(groups, middles, alike.k_anonymity)

    return keeping(k, people, attempt, lambda result: result.anonymity)


def mdav_groups(frame: pl.DataFrame, k: int) -> Groups:
    """The MDAV group of each row: k to 2k - 1 rows that are similar in all columns.

    >>> mdav_groups(pl.DataFrame({"age": [20, 61, 24, 59, 60]}), 2).tolist()
    [0, 1, 0, 1, 1]
    """
    from tamis.perturb.kernels import mdav

    every = frame.get_columns()
    parts = [_coordinates(column) for column in every if kind_of(column.dtype) != "nominal"]
    numbers = [part for found in parts for part in found]
    codes = [dense(coded(column)).codes for column in every if kind_of(column.dtype) == "nominal"]
    shape = frame.height, -1
    found: Groups = mdav(
        np.ascontiguousarray(np.array([part.at for part in numbers]).T.reshape(shape)),
        np.array([part.scale for part in numbers]),
        np.array(codes, dtype=np.int64).T.reshape(shape).copy(),
        np.array([2 * _per_variance(_spread_of_codes(each)) for each in codes]),
        k,
    )
    return found


class _Coordinate(NamedTuple):
    """The position of each row on an axis, and the factor of a squared difference."""

    at: NDArray[np.float64]
    scale: float


def _coordinates(column: pl.Series) -> list[_Coordinate]:
    """The coordinates of a column of numbers: its values and, if some are missing, which."""
    at = as_floats(column)
    missing = np.isnan(at)
    if missing.all():
        return []
    present = at[~missing]
    own = _Coordinate(np.where(missing, present.mean(), at), _per_variance(present.var()))
    # A missing and a present number are about as far apart as two present ones.
    return [own, _Coordinate(missing.astype(float), 1.0)] if missing.any() else [own]


def _spread_of_codes(codes: NDArray[Any]) -> float:
    """The sum of the variances of all one-hot coordinates of a category."""
    shares = np.bincount(codes) / len(codes)
    return float((shares * (1 - shares)).sum())


def _per_variance(variance: float) -> float:
    return 1 / variance if variance > 0 else 0.0


def middle(column: pl.Series, groups: Groups, people: People, k: int) -> pl.Series:
    """Replace each cell by the centre of its group: the mean, or the most frequent category.

    >>> ages = pl.Series("age", [1, 2, None, 9, 8])
    >>> middle(ages, np.array([0, 0, 0, 1, 1]), People.of_rows(5), k=2).to_list()
    [1.5, 1.5, 1.5, 8.5, 8.5]
    """
    if kind_of(column.dtype) == "nominal":
        return _commonest(column, groups, people, k)
    at = as_floats(column)
    present = ~np.isnan(at)
    sizes, known = np.bincount(groups), np.bincount(groups, present)
    sums = np.bincount(groups, np.where(present, at, 0.0))
    # The mean of a single person's numbers would disclose them to everybody who sees the group.
    whose = np.unique(np.column_stack([groups, people.codes])[present], axis=0)[:, 0]
    enough = np.bincount(whose, minlength=len(sizes)) >= min(k, 2)
    means = np.where((2 * known >= sizes) & enough, sums / np.maximum(known, 1), np.nan)
    found = pl.Series(column.name, means[groups], nan_to_null=True)
    return found if column.dtype.is_numeric() else found.round().cast(pl.Int64).cast(column.dtype)


def _commonest(column: pl.Series, groups: Groups, people: People, k: int) -> pl.Series:
    """The most frequent value of each group; of equals, the commonest of all, then the first.

    Only values of at least k people are given to a group, since a rarer one would disclose that one
    of these few is in it; a group of rare values alone becomes missing.
    """
    cells = pl.DataFrame(
        {
            "group": groups,
            "value": bare(column),
            "row": np.arange(len(groups)),
            "person": people.codes,
        }
    )
    counts = cells.group_by("group", "value").agg(pl.len().alias("rows"), pl.col("row").min())
    common = cells.group_by("value").agg(
        everywhere=pl.len(), common=pl.col("person").n_unique() >= k
    )
    ranked = (
        counts.join(common, on="value", nulls_equal=True)
        .filter(pl.col("common") | pl.col("value").is_null())
        .sort(["rows", "everywhere", "row"], descending=[True, True, False])
    )
    first = ranked.unique("group", keep="first")
    order = cells.join(first, on="group", how="left", maintain_order="left")
    return order["value_right"].alias(column.name)


def _lost(frame: pl.DataFrame, groups: Groups) -> float:
    """The share of the variation that is within groups, averaged over the columns that vary."""
    shares = []
    for column in frame.get_columns():
        codes = dense(coded(column)).codes
        nominal = kind_of(column.dtype) == "nominal"
        parts = [codes == code for code in np.unique(codes)] if nominal else [as_floats(column)]
        shares.append(_within(parts, groups))
    varying = [share for share in shares if share is not None]
    return float(np.mean(varying)) if varying else 0.0


def _within(parts: Sequence[NDArray[Any]], groups: Groups) -> float | None:
    inside = everywhere = 0.0
    for part in parts:
        present = ~np.isnan(part)
        at, of = part[present].astype(float), groups[present]
        means = np.bincount(of, at) / np.maximum(np.bincount(of), 1)
        inside += float(((at - means[of]) ** 2).sum())
        everywhere += float(((at - at.mean()) ** 2).sum()) if len(at) else 0.0
    return inside / everywhere if everywhere else None


class RankSwap(BaseEstimator):  # type: ignore[misc]
    """Swap values of a column in pairs whose ranks differ little.

    Each column keeps its values, and so its distribution; only the rows that have them change. It
    gives no guarantee: a row may keep all of its values, and each new value is near the true one.

    Parameters
    ----------
    within : float
        Largest difference of the ranks of two swapped values, as a share of the column's present
        values, from 0 to 1.
    columns : sequence of str, optional
        What to alter: numbers or dates. `None`: all of these among the features of a `Table`, or
        the columns of a frame or array.
    random_state : int, numpy Generator or None
        For the choice of pairs, and for the order of equal values.

    Attributes
    ----------
    columns_ : tuple of str
        The columns that were altered.

    Notes
    -----
    Moore (1996). From the smallest value on, each that is not swapped yet changes places with one
    drawn from those not swapped yet among the next ranks. Missing cells stay missing. Columns are
    swapped independently of each other.

    It works on the rows it is given, so there is `fit_transform` and no `transform`.

    Examples
    --------
    >>> import polars as pl
    >>> ages = pl.DataFrame({"age": [20, 30, 40, 50, 60, None]})
    >>> RankSwap(0.2, random_state=1).fit_transform(ages)["age"].to_list()
    [30, 20, 50, 40, 60, None]
    """

    def __init__(
        self,
        within: float = 0.05,
        *,
        columns: Sequence[str] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.within = within
        self.columns = columns
        self.random_state = random_state

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Swap values of a `Table`, a pandas, polars or pyarrow frame, or an array.

        The same kind comes back, with the same rows in the same order.
        """
        check_within(self.within)
        data = input_frame(X)
        columns = columns_to_alter(data, self.columns, with_ranks(data))
        if unordered := [c for c in columns if kind_of(data.frame.schema[c]) == "nominal"]:
            raise InputError(
                f"column {listed(unordered)} holds neither numbers nor dates, so its values have "
                "no ranks; leave it out"
            )
        self.columns_ = tuple(columns)
        rng = random_source(self.random_state)
        new = [
            self._swapped(data.frame[c], draws)
            for c, draws in zip(columns, rng.spawn(len(columns)))
        ]
        return data.back(data.frame.with_columns(new))

    def _swapped(self, column: pl.Series, rng: np.random.Generator) -> pl.Series:
        """The column with pairs of present values swapped."""
        cells = bare(column)
        present = cells.fill_nan(None) if cells.dtype.is_float() else cells
        rows = np.flatnonzero(present.is_not_null().to_numpy())
        rng.shuffle(rows)  # so that the order of equal values is random
        ranked = rows[np.argsort(cells.gather(rows).to_physical().to_numpy(), kind="stable")]
        source = np.arange(len(cells))
        source[ranked] = ranked[swapped_ranks(len(rows), int(self.within * len(rows)), rng)]
        return cells.gather(source).alias(column.name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        return tags


def with_ranks(data: InputFrame) -> list[str]:
    """The features of numbers or dates with more than two distinct values."""
    return [
        c
        for c in data.features
        if kind_of(data.frame.schema[c]) != "nominal" and bare(data.frame[c]).n_unique() > 2
    ]


def swapped_ranks(count: int, reach: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A permutation of ranks that is its own inverse and moves none by more than `reach`.

    >>> swapped_ranks(4, 1, np.random.default_rng(0)).tolist()
    [1, 0, 3, 2]
    """
    new = np.arange(count)
    free = np.ones(count, dtype=np.bool_)
    draws = rng.random(count)
    for rank in range(count):
        if not free[rank]:
            continue
        others = np.flatnonzero(free[rank + 1 : rank + 1 + reach])
        if len(others):
            other = rank + 1 + int(others[int(draws[rank] * len(others))])
            new[rank], new[other] = other, rank
            free[other] = False
    return new


def check_within(within: Any) -> None:
    """Raise unless `within` is a number from 0 to 1."""
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 <= within <= 1:
        raise InputError(f"within must be a share of the ranks, from 0 to 1, got {within!r}")
