"""`Pram`: categories are drawn anew by chances under which their frequencies stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.perturb.input_frame import InputFrame, columns_to_alter, input_frame
from tamis.perturb.noise import Alteration, check_probability
from tamis.table import bare, kind_of

Chances = NDArray[np.float64]
MOST_VALUES = 1000
"""The most values of a column: the chances are a square of them."""


class Transition(NamedTuple):
    """The values of a column, and the chances of each to become each."""

    values: pl.Series
    chances: Chances


class Pram(Alteration):
    """The post-randomisation method: redraw categories so that frequencies stay in expectation.

    It gives no guarantee: a value that is seen is more often true than not, unless `change` is
    large.

    Parameters
    ----------
    change : float
        The chance that a value is drawn anew in each of two steps, from 0 to 1: the second step
        undoes what the first does to the frequencies. Up to twice that share of the values differ
        afterwards; a rare value stays less often than a frequent one.
    columns : sequence of str, optional
        What to alter. `None`: the columns of texts and booleans among the features of a `Table`,
        or in a frame or array.
    random_state : int, numpy Generator or None
        An int gives the same cells each time.

    Attributes
    ----------
    columns_ : tuple of str
        The columns that are altered.
    transitions_ : dict of column to Transition
        The values of each column, and the chances of each to become each.

    Notes
    -----
    Kooiman, Willenborg and Gouweleeuw (1997), made invariant in two stages. P keeps a value with
    chance 1 - change and draws any other with the same chance; Q is what P's result tells of the
    value before, by Bayes' rule. With the frequencies p, p P Q = p, so R = P Q keeps them. Missing
    cells stay missing.

    Examples
    --------
    >>> import polars as pl
    >>> jobs = pl.DataFrame({"job": ["cook"] * 6 + ["judge"] * 2})
    >>> pram = Pram(0.2).fit(jobs)
    >>> values, chances = pram.transitions_["job"]
    >>> values.to_list(), chances.round(3).tolist()
    (['cook', 'judge'], [[0.824, 0.176], [0.527, 0.473]])
    >>> (np.array([0.75, 0.25]) @ chances).round(12).tolist()
    [0.75, 0.25]
    """

    def __init__(
        self,
        change: float = 0.1,
        *,
        columns: Sequence[str] | None = None,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        self.change = change
        self.columns = columns
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the values of each column and their frequencies.

        Parameters
        ----------
        X : Table, pandas, polars or pyarrow frame, or array
        """
        check_probability(self.change)
        data = input_frame(X)
        columns = columns_to_alter(data, self.columns, nominal_columns(data))
        self.transitions_ = {c: _transition(data.frame[c], self.change) for c in columns}
        self._remember(data, columns)
        return self

    def _alter(self, column: pl.Series, rng: np.random.Generator) -> pl.Series:
        return _redrawn(column, self.transitions_[column.name], rng)


def nominal_columns(data: InputFrame) -> list[str]:
    """The features of texts and booleans that have at least two values."""
    return [
        c
        for c in data.features
        if kind_of(data.frame.schema[c]) == "nominal"
        and bare(data.frame[c]).drop_nulls().n_unique() > 1
    ]


def invariant(shares: Chances, change: float) -> Chances:
    """Chances of each value to become each, under which these shares stay as they are.

    >>> invariant(np.array([0.5, 0.5]), 0.5).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    values = len(shares)
    if values == 1:
        return np.ones((1, 1))
    away = np.full((values, values), change / (values - 1))
    np.fill_diagonal(away, 1 - change)
    joint = shares[:, None] * away
    after = joint.sum(axis=0)
    # Where no value can come from, none will: any chances do.
    back = np.divide(joint, after, out=np.full_like(joint, 1 / values), where=after > 0).T
    found: Chances = away @ back
    return found


def _transition(column: pl.Series, change: float) -> Transition:
    counts = bare(column).drop_nulls().value_counts(name="rows").sort(by=pl.nth(0))
    if counts.height > MOST_VALUES:
        raise InputError(
            f"column {column.name!r} has {counts.height:,} values, and at most {MOST_VALUES:,} can "
            "be drawn from; group them first, or leave the column out"
        )
    rows = counts["rows"].to_numpy()
    return Transition(counts.to_series(0), invariant(rows / max(rows.sum(), 1), change))


def _redrawn(column: pl.Series, known: Transition, rng: np.random.Generator) -> pl.Series:
    """A new value for each present cell, by the chances of its value."""
    draws = rng.random(len(column))
    number = pl.DataFrame({"value": bare(column)}).join(
        pl.DataFrame({"value": known.values}).with_row_index("number"),
        on="value",
        how="left",
        maintain_order="left",
    )["number"]
    present = bare(column).is_not_null()
    if strange := int((number.is_null() & present).sum()):
        raise InputError(
            f"column {column.name!r} has {strange:,} cells with values that it was not fitted on; "
            "fit it on all rows"
        )
    if not present.any():
        return column
    old = number.fill_null(0).to_numpy()
    new = np.empty(len(column), dtype=np.int64)
    for value, chances in enumerate(known.chances):
        rows = np.flatnonzero(old == value)
        new[rows] = np.searchsorted(chances.cumsum()[:-1], draws[rows], side="right")
    missing = pl.Series([None], dtype=column.dtype)
    found = known.values.gather(new)
    return found.zip_with(present, missing).alias(column.name)
