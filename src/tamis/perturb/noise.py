"""Noise on cells with a given probability: `UniformNoise`, `GaussianNoise` and `Pram`.

None gives a guarantee: a cell that is not altered is released as it was.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tamis.errors import InputError, listed, plural
from tamis.perturb import (
    InputFrame,
    RandomState,
    columns_to_alter,
    input_frame,
    random_source,
)
from tamis.read.frames import asked_library
from tamis.table import bare, kind_of, only

Bounds = Mapping[str, tuple[float, float]] | Literal["observed"]


class Alteration(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that redraws cells, column by column, from what it learnt about each column."""

    random_state: RandomState

    def _remember(self, data: InputFrame, columns: Sequence[str]) -> None:
        self.feature_names_in_ = np.array(data.frame.columns, dtype=object)
        self.n_features_in_ = data.frame.width
        self.columns_ = tuple(columns)

    def transform(self, X: Any) -> Any:
        """Alter some cells and return the same rows as the same kind of table.

        Missing cells stay missing.
        """
        check_is_fitted(self)
        data = input_frame(X)
        if data.frame.columns != self.feature_names_in_.tolist():
            raise InputError(
                f"X has {data.frame.width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input, of the names and in the order that it "
                "was fitted on"
            )
        # A random source for each column, so that no column affects the draws of another.
        sources = random_source(self.random_state).spawn(len(self.columns_))
        altered = [self._alter(data.frame[c], rng) for c, rng in zip(self.columns_, sources)]
        return data.answer(data.frame.with_columns(altered), asked_library(self))

    @abstractmethod
    def _alter(self, column: pl.Series, rng: np.random.Generator) -> pl.Series:
        """A column with some of its cells altered."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


class _Noise(Alteration):
    """What `UniformNoise` and `GaussianNoise` share: which cells change, and fitting."""

    def __init__(
        self,
        probability: float = 0.1,
        *,
        columns: Sequence[str] | None = None,
        bounds: Bounds | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.probability = probability
        self.columns = columns
        self.bounds = bounds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the range, the spread or the values of each column that will be altered.

        Parameters
        ----------
        X : Table, pandas, polars or pyarrow frame, or array
            In a `Table` the features are altered, in anything else every column, unless
            `columns` names others.
        """
        check_probability(self.probability)
        data = input_frame(X)
        columns = columns_to_alter(data, self.columns)
        _check_bounds(self.bounds, data.frame, columns)
        frame = only(data.frame, columns)
        if all(bare(frame[c]).drop_nulls().n_unique() < 2 for c in columns):
            rows = plural(frame.height, "sample")
            raise InputError(
                f"every column to alter is constant in {rows} ({listed(columns)}), so noise has "
                "nothing to draw from; choose columns that vary"
            )
        self._remember(data, columns)
        self.learnt_ = {c: self._learn(frame[c], self._limits(frame[c])) for c in columns}
        return self

    def _alter(self, column: pl.Series, rng: np.random.Generator) -> pl.Series:
        hit = pl.Series(rng.random(len(column)) < self.probability) & bare(column).is_not_null()
        new = self._draw(column, self.learnt_[column.name], rng)
        return new.zip_with(hit, column).alias(column.name)

    def _limits(self, column: pl.Series) -> tuple[float, float] | None:
        if not column.dtype.is_numeric():
            return None
        if isinstance(self.bounds, Mapping):
            return self.bounds.get(column.name)
        return _observed(column) if self.bounds == "observed" else None

    @abstractmethod
    def _learn(self, column: pl.Series, limits: tuple[float, float] | None) -> Any:
        """The parameters that a column's noise is drawn with."""

    @abstractmethod
    def _draw(self, column: pl.Series, learnt: Any, rng: np.random.Generator) -> pl.Series:
        """A new value for every cell of a column."""


class UniformNoise(_Noise):
    """Replace cells by values drawn uniformly from the column's range or set of values.

    Parameters
    ----------
    probability : float
        Probability that a cell is replaced, from 0 to 1.
    columns : sequence of str, optional
        What to alter. `None`: the features of a `Table`, every column of a frame or array;
        never the target or the sensitive column of a `Table` unless named here.
    bounds : mapping of column to (low, high), optional
        The range of numbers to draw from. `None` or ``"observed"``: from the smallest to the
        largest that was fitted.
    random_state : int, numpy Generator or None
        An int gives the same cells each time.

    Attributes
    ----------
    columns_ : tuple of str
        The columns that are altered.

    See Also
    --------
    GaussianNoise : keeps the distribution of each column.

    Notes
    -----
    UN of Fletcher and Islam, section 7.1. A column of whole numbers stays one. A replaced cell
    may get the value it had.

    Examples
    --------
    >>> import polars as pl
    >>> ages = pl.DataFrame({"age": [20, 30, 40, 50, 60], "sex": ["f", "m", "f", "m", "f"]})
    >>> noisy = UniformNoise(0.5, random_state=1).fit_transform(ages)
    >>> noisy.schema == ages.schema, noisy["age"].is_between(20, 60).all()
    (True, True)
    """

    def _learn(self, column: pl.Series, limits: tuple[float, float] | None) -> Any:
        if column.dtype.is_numeric():
            return limits or _observed(column)
        return bare(column).drop_nulls().unique(maintain_order=True).sort()

    def _draw(self, column: pl.Series, learnt: Any, rng: np.random.Generator) -> pl.Series:
        if isinstance(learnt, pl.Series):
            return _picked(learnt, column, rng)
        low, high = learnt
        if column.dtype.is_integer():
            values = rng.integers(
                int(np.ceil(low)), int(np.floor(high)), len(column), endpoint=True
            )
            return pl.Series(values).cast(column.dtype)
        return pl.Series(rng.uniform(low, high, len(column))).cast(column.dtype)


class GaussianNoise(_Noise):
    """Add normal noise to numbers, and replace categories by draws from their own column.

    Parameters
    ----------
    probability : float
        Probability that a cell is altered, from 0 to 1.
    bounds : mapping of column to (low, high), or "observed", optional
        Limits within which altered numbers are kept; ``"observed"`` are those that were fitted.
        `None`: altered numbers may be beyond the range that was fitted.
    columns, random_state
        As for `UniformNoise`.

    Attributes
    ----------
    columns_ : tuple of str
        The columns that are altered.

    See Also
    --------
    UniformNoise : flattens the distribution of each column.

    Notes
    -----
    GN of Fletcher and Islam, section 7.1: the noise of a column has the variance of the column,
    and categories are drawn in proportion to their frequencies. A column of whole numbers stays
    one.

    Examples
    --------
    >>> import polars as pl
    >>> ages = pl.DataFrame({"age": [20, 30, 40, 50, 60], "sex": ["f", "m", "f", "m", "f"]})
    >>> noisy = GaussianNoise(1.0, bounds={"age": (18, 65)}, random_state=1).fit_transform(ages)
    >>> noisy["age"].is_between(18, 65).all(), noisy.schema == ages.schema
    (True, True)
    """

    def _learn(self, column: pl.Series, limits: tuple[float, float] | None) -> Any:
        if not column.dtype.is_numeric():
            return bare(column).drop_nulls()
        spread = bare(column).drop_nulls().cast(pl.Float64).std(ddof=0)
        return float(spread or 0.0), limits  # type: ignore[arg-type]

    def _draw(self, column: pl.Series, learnt: Any, rng: np.random.Generator) -> pl.Series:
        if isinstance(learnt, pl.Series):
            return _picked(learnt, column, rng)
        spread, limits = learnt
        values = bare(column).cast(pl.Float64).fill_null(0.0).to_numpy()
        values = values + rng.normal(0.0, spread, len(column))
        low, high = limits or (-np.inf, np.inf)
        if column.dtype.is_integer():
            values = np.rint(values)
            # Whole numbers are exact in float64 up to 2**53 only.
            least = 0.0 if column.dtype.is_unsigned_integer() else -(2.0**53)
            low, high = max(np.ceil(low), least), min(np.floor(high), 2.0**53)
        return pl.Series(np.clip(values, low, high)).cast(column.dtype)


def check_probability(probability: Any) -> None:
    """Raise unless a probability is a number from 0 to 1."""
    if isinstance(probability, bool) or not isinstance(probability, int | float):
        raise InputError(f"probability must be a number from 0 to 1, got {probability!r}")
    if not 0 <= probability <= 1:
        raise InputError(f"probability must be from 0 to 1, got {probability!r}")


def _check_bounds(bounds: Any, frame: pl.DataFrame, columns: Sequence[str]) -> None:
    if bounds is None or (isinstance(bounds, str) and bounds == "observed"):
        return
    if not isinstance(bounds, Mapping):
        raise InputError(
            "bounds must be a mapping of column to (low, high), 'observed' or None, got "
            f"{type(bounds).__name__}"
        )
    if unknown := [c for c in bounds if c not in columns]:
        raise InputError(f"bounds for {listed(unknown)}, which is not a column to alter")
    for name, pair in bounds.items():
        low, high = _pair(name, pair)
        if not frame.schema[name].is_numeric():
            raise InputError(f"column {name!r} is not numeric, so it cannot have bounds")
        if frame.schema[name].is_integer() and np.ceil(low) > np.floor(high):
            raise InputError(f"no whole number lies within the bounds of column {name!r}")


def _pair(name: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = (float(x) for x in pair)
    except (TypeError, ValueError):
        raise InputError(f"bounds of column {name!r} must be two numbers, (low, high)") from None
    if not low <= high or not np.isfinite([low, high]).all():
        raise InputError(f"bounds of column {name!r} must rise from low to high and be finite")
    return low, high


def _observed(column: pl.Series) -> tuple[float, float]:
    least: Any = column.min()
    most: Any = column.max()
    return least, most


def _picked(values: pl.Series, column: pl.Series, rng: np.random.Generator) -> pl.Series:
    """One value drawn for each cell, by position, so that every type of column is kept."""
    places: NDArray[np.int64] = rng.integers(0, len(values), len(column))
    return values.gather(places)


Chances = NDArray[np.float64]
MOST_VALUES = 1000
"""Most values of a column, since the transition matrix grows with their square."""


class Transition(NamedTuple):
    """The values of a column and its matrix of transition probabilities, from row to column."""

    values: pl.Series
    chances: Chances


class Pram(Alteration):
    """The post-randomisation method: redraw categories so that frequencies stay in expectation.

    It gives no guarantee: a value that is seen is more often true than not, unless `change` is
    large.

    Parameters
    ----------
    change : float
        Probability that a value is redrawn in each of two steps, from 0 to 1: the second step
        undoes the effect of the first on the frequencies. Up to twice that share of the values
        differ afterwards; a rare value stays less often than a frequent one.
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
        The values of each column and its transition matrix.

    Notes
    -----
    Kooiman, Willenborg and Gouweleeuw (1997), made invariant in two stages. P keeps a value with
    probability 1 - change and draws each other one with equal probability; Q is the posterior of
    the value before given P's result. With the frequencies p, p P Q = p, so R = P Q keeps them.
    Missing cells stay missing.

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
        random_state: RandomState = None,
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
        """Redraw each present cell by the transition probabilities of its value."""
        known = self.transitions_[column.name]
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
                f"column {column.name!r} has {strange:,} cells with values that it was not fitted "
                "on; fit it on all rows"
            )
        if not present.any():
            return column
        old = number.fill_null(0).to_numpy()
        new = np.empty(len(column), dtype=np.int64)
        for value, chances in enumerate(known.chances):
            rows = np.flatnonzero(old == value)
            # Without the last sum, which may be just below 1 by rounding: the last value takes all.
            new[rows] = np.searchsorted(chances.cumsum()[:-1], draws[rows], side="right")
        missing = pl.Series([None], dtype=column.dtype)
        return known.values.gather(new).zip_with(present, missing).alias(column.name)


def nominal_columns(data: InputFrame) -> list[str]:
    """The features of texts and booleans that have at least two values."""
    return [
        c
        for c in data.features
        if kind_of(data.frame.schema[c]) == "nominal"
        and bare(data.frame[c]).drop_nulls().n_unique() > 1
    ]


def invariant(shares: Chances, change: float) -> Chances:
    """A transition matrix that leaves these shares unchanged, in expectation.

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
    # A value that no value can become is never the result of P: any row of Q does.
    back = np.divide(joint, after, out=np.full_like(joint, 1 / values), where=after > 0).T
    transition: Chances = away @ back
    return transition


def _transition(column: pl.Series, change: float) -> Transition:
    counts = bare(column).drop_nulls().value_counts(name="rows").sort(by=pl.nth(0))
    if counts.height > MOST_VALUES:
        raise InputError(
            f"column {column.name!r} has {counts.height:,} values, and at most {MOST_VALUES:,} can "
            "be drawn from; group them first, or leave the column out"
        )
    rows = counts["rows"].to_numpy()
    return Transition(counts.to_series(0), invariant(rows / max(rows.sum(), 1), change))
