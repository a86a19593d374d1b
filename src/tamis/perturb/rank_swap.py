"""`RankSwap`: values change places with others of nearly the same rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tamis.errors import InputError, listed
from tamis.perturb import (
    InputFrame,
    RandomState,
    columns_to_alter,
    input_frame,
    random_source,
)
from tamis.table import bare, kind_of


class RankSwap(BaseEstimator):  # type: ignore[misc]
    """Swap values of a column in pairs whose ranks differ little.

    Each column keeps its values, and so its distribution; which row has which changes. It gives no
    guarantee: a row may keep all of its values, and each new value is near the true one.

    Parameters
    ----------
    within : float
        How far apart the ranks of two swapped values may be, as a share of the column's present
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
        rng.shuffle(rows)  # of equal values, any may be first
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
    """The features that hold numbers or dates, more than two of them."""
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
    """Refuse a share of ranks that is not a number from 0 to 1."""
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 <= within <= 1:
        raise InputError(f"within must be a share of the ranks, from 0 to 1, got {within!r}")
