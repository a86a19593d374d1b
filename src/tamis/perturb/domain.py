"""The cells that a table could fill, known without looking at it.

Differential privacy hides what is in a table, not what could be. So the range of each number and
the values of each category must be public: written down before the data was seen.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, TamisWarning, listed

Bounds = Mapping[str, Sequence[Any]]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Axis:
    """One column cut into bins: intervals of numbers, or the values themselves.

    Parameters
    ----------
    name : str
    dtype : polars type
    levels : tuple
        The values of a category, one bin each; empty for numbers.
    edges : tuple of float
        The limits of the intervals, one more than there are; of whole numbers, each interval
        holds its lower limit and not its upper one.
    missing : bool
        Whether the last bin stands for a missing cell.
    """

    name: str
    dtype: Any
    levels: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()
    missing: bool = False

    @property
    def is_number(self) -> bool:
        return bool(self.edges)

    @property
    def bins(self) -> int:
        """The number of bins, the one for missing cells included."""
        return self.present + self.missing

    @property
    def present(self) -> int:
        return len(self.edges) - 1 if self.is_number else len(self.levels)

    def codes(self, column: pl.Series) -> Ints:
        """The bin of each cell; numbers beyond the bounds count as the nearest bound."""
        gone = column.is_null().to_numpy()
        if gone.any() and not self.missing:
            raise InputError(
                f"column {self.name!r} has missing cells; if it is public that they may occur, "
                f"say so with missing=[{self.name!r}]"
            )
        if self.is_number:
            cells = column.cast(pl.Float64).fill_null(self.edges[0]).to_numpy()
            found = np.searchsorted(np.array(self.edges[1:-1]), cells, side="right")
        else:
            found = self._level_of(column)
        return np.where(gone, self.present, found).astype(np.int64)

    def _level_of(self, column: pl.Series) -> Ints:
        place = {level: i for i, level in enumerate(self.levels)}
        if column.dtype in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        values = column.unique()
        known = [place.get(v, -1) for v in values.to_list()]
        found = column.replace_strict(values, known, return_dtype=pl.Int64, default=-1)
        if unlisted := int(((found < 0) & column.is_not_null()).sum()):
            quoted = self.dtype.is_numeric() and any(isinstance(v, str) for v in self.levels)
            hint = (
                "its values are numbers, so list them without quotes"
                if quoted
                else ("list every value that could occur, or merge the rest into one first")
            )
            raise InputError(
                f"column {self.name!r} has values that its bounds do not list, in {unlisted} "
                f"rows; {hint}"
            )
        return found.fill_null(0).to_numpy()

    def drawn(self, low: Ints, high: Ints, rng: np.random.Generator) -> pl.Series:
        """A value drawn evenly from the bins low, ..., high - 1, for each pair."""
        if not self.is_number:
            picked = rng.integers(low, high)
            values = pl.Series(self.name, [*self.levels, None], dtype=self.dtype)
            return values.gather(np.minimum(picked, len(self.levels)))
        edges = np.array(self.edges)
        start, end = edges[np.minimum(low, self.present)], edges[np.minimum(high, self.present)]
        numbers = start + rng.random(len(low)) * (end - start)
        if self.dtype.is_integer():
            numbers = np.minimum(np.floor(numbers), self._top)
        # The bin of missing cells is drawn as often as any other bin of its box.
        gone = (high > self.present) & (rng.random(len(low)) * (high - low) < 1)
        numbers[gone] = np.nan
        return pl.Series(self.name, numbers).fill_nan(None).cast(self.dtype)

    @property
    def values(self) -> float:
        """How many different values there can be, a missing cell apart."""
        if not self.is_number:
            return len(self.levels)
        return self._top - self.edges[0] + 1 if self.dtype.is_integer() else math.inf

    @property
    def _top(self) -> float:
        return self.edges[-1] - 1 if self.dtype.is_integer() else self.edges[-1]

    def to_list(self) -> list[Any]:
        """The bounds as they were given, for a recipe."""
        return [self.edges[0], self._top] if self.is_number else list(self.levels)


def axes(
    frame: pl.DataFrame,
    bounds: Bounds | None,
    *,
    bins: int,
    missing: Sequence[str] = (),
    from_data: bool = False,
    label: str | None = None,
) -> list[Axis]:
    """The axes of all columns by their public bounds.

    Parameters
    ----------
    frame : polars frame
    bounds : mapping of column to (low, high) or to its values
        Two numbers for a column of numbers, every possible value for any other column. Of truth
        values the bounds are known.
    bins : int
        Intervals that a column of numbers is cut into; fewer where it has fewer whole numbers.
    missing : sequence of str
        Columns in which a cell may be missing.
    from_data : bool
        Take what is not given from the table, with a warning: the guarantee is void then.
    label : str, optional
        A column whose values are categories even where they are numbers.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, 47], "sex": ["f", "m"]})
    >>> [a.bins for a in axes(frame, {"age": (0, 100), "sex": ["f", "m", "x"]}, bins=4)]
    [4, 3]
    """
    given = dict(bounds or {})
    if unknown := [c for c in (*given, *missing) if c not in frame.columns]:
        raise InputError(f"bounds or missing name {listed(unknown)}, which is no column to release")
    known = {c: [False, True] for c in frame.columns if frame.schema[c] == pl.Boolean}
    given = {**known, **given}
    lacking = [c for c in frame.columns if c not in given]
    if lacking and not from_data:
        raise InputError(
            f"no public bounds for column {listed(lacking)}: give (low, high) for numbers and "
            "every possible value for others, from what is known without the data (--bounds FILE); "
            "bounds_from_data (--bounds-from-data) takes them from the data and voids the guarantee"
        )
    if from_data:
        gaps = [c for c in frame.columns if frame[c].null_count() and c not in missing]
        missing = [*missing, *gaps]
        _warn(lacking, gaps)
        given |= {c: _observed(frame[c], c == label) for c in lacking}
    return [
        _axis(frame[c], given[c], None if c == label else bins, c in missing) for c in frame.columns
    ]


def _warn(lacking: list[str], gaps: list[str]) -> None:
    if taken := list(dict.fromkeys([*lacking, *gaps])):
        warnings.warn(
            f"NO DIFFERENTIAL PRIVACY: the bounds of column {listed(taken)} were taken from the "
            "data, which reveals them exactly; give public bounds before anything is published",
            TamisWarning,
            stacklevel=4,
        )


def _observed(column: pl.Series, label: bool) -> list[Any]:
    if column.dtype.is_numeric() and not label:
        return [column.min(), column.max()]
    return column.drop_nulls().unique().sort().to_list()


def _axis(column: pl.Series, bound: Sequence[Any], bins: int | None, missing: bool) -> Axis:
    if isinstance(bound, str) or not isinstance(bound, Sequence):
        raise InputError(f"bounds of column {column.name!r} are (low, high) or a list of values")
    if column.dtype.is_numeric() and bins is not None:
        edges = _edges(column.name, bound, bins, column.dtype.is_integer())
        return Axis(column.name, column.dtype, edges=edges, missing=missing)
    levels = tuple(bound)
    if len(set(levels)) < len(levels) or not levels or None in levels:
        raise InputError(
            f"the values of column {column.name!r} must be listed once each, none null"
        )
    return Axis(column.name, column.dtype, levels=levels, missing=missing)


def _edges(name: str, bound: Sequence[Any], bins: int, whole: bool) -> tuple[float, ...]:
    try:
        low, high = (float(x) for x in bound)
    except (TypeError, ValueError):
        raise InputError(f"bounds of column {name!r} are two numbers, (low, high)") from None
    if (
        not (math.isfinite(low) and math.isfinite(high))
        or low > high
        or (low == high and not whole)
    ):
        raise InputError(f"bounds of column {name!r} must rise from low to high and be finite")
    if not whole:
        return tuple(np.linspace(low, high, bins + 1).tolist())
    low, high = math.ceil(low), math.floor(high) + 1
    if low >= high:
        raise InputError(f"no whole number lies within the bounds of column {name!r}")
    bins = min(bins, high - low)
    return tuple(np.round(np.linspace(low, high, bins + 1)).tolist())


def cell_counts(frame: pl.DataFrame, of: Sequence[Axis]) -> Ints:
    """How many rows lie in each cell, as an array with one dimension for each axis."""
    shape = tuple(a.bins for a in of)
    places = np.ravel_multi_index(tuple(a.codes(frame[a.name]) for a in of), shape)
    return np.bincount(places, minlength=math.prod(shape)).reshape(shape)


def drawn_rows(
    boxes: Sequence[tuple[Ints, Ints]], of: Sequence[Axis], rng: np.random.Generator
) -> pl.DataFrame:
    """One row for each box, drawn evenly in it, in random order.

    `boxes` has for each axis the first bin and the one after the last, for each row.
    """
    frame = pl.DataFrame([axis.drawn(*box, rng) for axis, box in zip(of, boxes)])
    return frame[rng.permutation(frame.height)]
