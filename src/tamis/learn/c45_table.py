"""Tables as C4.5 reads them: every column a line of floats, missing values NaN.

A number stays as it is; a nominal value becomes its place among the declared values of its
column. A table is coded once, then fitted on any of its rows and columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from tamis.errors import InputError, listed

Levels = tuple[Any, ...]


@dataclass(frozen=True)
class Schema:
    """The columns a table must have: their names, and the declared values of the nominal ones."""

    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    """`None` for a number."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A coded table: `values` has a line a column.

    Examples
    --------
    >>> coded = encode(pl.DataFrame({"age": [31, None], "job": ["judge", "cook"]}))
    >>> coded.schema
    Schema(names=('age', 'job'), levels=(None, ('cook', 'judge')))
    >>> coded.values
    array([[31., nan],
           [ 1.,  0.]])
    """

    schema: Schema
    values: np.ndarray

    @property
    def rows(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def order(self) -> np.ndarray:
        """The rows in the order of each number, missing values last, equals in table order.

        The lines of nominal columns are there but say nothing.
        """
        order = np.zeros(self.values.shape, np.int32)
        for line, column, levels in zip(order, self.values, self.schema.levels):
            if levels is None:
                line[:] = np.argsort(column, kind="stable")
        return order

    def select(self, columns: Sequence[int]) -> Coded:
        """The same rows with these columns only, by number."""
        picked = [int(c) for c in columns]
        schema = Schema(
            tuple(self.schema.names[c] for c in picked),
            tuple(self.schema.levels[c] for c in picked),
        )
        chosen = replace(self, schema=schema, values=np.ascontiguousarray(self.values[picked]))
        vars(chosen)["order"] = self.order[picked]  # sorted once for all selections
        return chosen


def encode(
    data: Any, nominal: Sequence[int | str] | None = None, schema: Schema | None = None
) -> Coded:
    """Code a pandas, polars or pyarrow frame, or an array.

    Parameters
    ----------
    data : frame or array of shape (rows, columns)
    nominal : sequence of column numbers or names, optional
        Columns that are nominal although they hold numbers. Text, categorical and boolean
        columns of a frame always are.
    schema : Schema, optional
        The columns to expect. A nominal value that it does not declare is read as missing.

    Notes
    -----
    The declared values of a polars `Enum` or a pandas `Categorical` are those of its type,
    whether they occur or not; those of any other column are the ones that occur, sorted.
    """
    frame = _frame(data, nominal)
    if schema is None:
        schema = _schema(frame, _numbers(frame.columns, nominal))
    elif len(frame.columns) != len(schema.names):
        raise InputError(
            f"expected the {len(schema.names)} columns of the fit, got {len(frame.columns)}"
        )
    values = np.empty((len(schema.names), len(frame)))
    for line, column, levels in zip(values, frame.iter_columns(), schema.levels):
        line[:] = _number(column) if levels is None else _codes(column, levels)
    return Coded(schema, values)


def _frame(data: Any, nominal: Sequence[int | str] | None) -> nw.DataFrame[Any]:
    if nw.dependencies.is_into_dataframe(data):
        return nw.from_native(data, eager_only=True)
    array = np.asarray(data)
    if array.ndim != 2:
        raise InputError(f"expected a table with two dimensions, got {array.ndim}")
    names = [f"x{j}" for j in range(array.shape[1])]
    held = {names[j] for j in _numbers(names, nominal)}
    columns = {
        name: _text(column) if name in held and column.dtype.kind in "OUS" else _floats(column)
        for name, column in zip(names, array.T)
    }
    return nw.from_native(pl.DataFrame(columns), eager_only=True)


def _floats(column: np.ndarray) -> pl.Series:
    try:
        return pl.Series(column.astype(np.float64))
    except (TypeError, ValueError):
        raise InputError(
            "an array holds text in a column that is not named in nominal; name it there, "
            "or give a frame"
        ) from None


def _text(column: np.ndarray) -> pl.Series:
    return pl.Series([None if v is None or v != v else str(v) for v in column], dtype=pl.String)


def _numbers(names: Sequence[str], nominal: Sequence[int | str] | None) -> set[int]:
    """The columns in `nominal` by number."""
    chosen: set[int] = set()
    for column in [] if nominal is None else nominal:
        if isinstance(column, str) and column in names:
            chosen.add(list(names).index(column))
        elif not isinstance(column, str) and 0 <= int(column) < len(names):
            chosen.add(int(column))
        else:
            raise InputError(
                f"nominal names the column {column!r}; allowed are numbers from 0 to "
                f"{len(names) - 1} or the names {listed(names)}"
            )
    return chosen


def _schema(frame: nw.DataFrame[Any], nominal: set[int]) -> Schema:
    levels: list[Levels | None] = []
    for j, column in enumerate(frame.iter_columns()):
        dtype = column.dtype
        if j not in nominal and (dtype.is_numeric() or dtype == nw.Unknown):
            levels.append(None)
        elif dtype.is_temporal() or dtype.is_nested() or dtype == nw.Binary:
            raise InputError(
                f"column {column.name!r} is of type {dtype}; C4.5 reads numbers, text, "
                "categories and booleans: turn the column into one of these or leave it out"
            )
        else:
            levels.append(_declared(column))
    return Schema(tuple(str(name) for name in frame.columns), tuple(levels))


def _declared(column: nw.Series[Any]) -> Levels:
    categories = getattr(column.dtype, "categories", None)  # of an Enum
    if column.implementation.is_pandas_like() and categories is None:
        categories = getattr(column.to_native().dtype, "categories", None)
    if categories is not None:
        return tuple(categories)
    present = _plain(column).drop_nulls().unique()
    return tuple(present.sort().to_list())


def _plain(column: nw.Series[Any]) -> pl.Series:
    """A column in polars, categories as their values and NaN as missing."""
    try:
        series: pl.Series = column.to_polars()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"column {column.name!r} mixes kinds of values; make it all text or all numbers"
        ) from error
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    return series.fill_nan(None) if series.dtype.is_float() else series


def _number(column: nw.Series[Any]) -> np.ndarray:
    series = _plain(column)
    if not (series.dtype.is_numeric() or series.dtype == pl.Null):
        raise InputError(f"column {column.name!r} held numbers at the fit, now {series.dtype}")
    numbers: np.ndarray = series.cast(pl.Float64).fill_null(np.nan).to_numpy()
    if np.isinf(numbers).any():
        raise InputError(
            f"column {column.name!r} has infinite values; cap them or make them missing"
        )
    return numbers


def _codes(column: nw.Series[Any], levels: Levels) -> np.ndarray:
    series = _plain(column)
    if not levels or series.dtype == pl.Null:
        return np.full(len(series), np.nan)
    text = isinstance(levels[0], str)
    if text != (series.dtype == pl.String):
        expected = "text" if text else "numbers"
        raise InputError(f"column {column.name!r} held {expected} at the fit, now {series.dtype}")
    if text:
        codes = series.cast(pl.Enum(levels), strict=False).to_physical()
    else:
        places = pl.Series(range(len(levels)))
        codes = series.replace_strict(pl.Series(levels), places, default=None)
    found: np.ndarray = codes.cast(pl.Float64).fill_null(np.nan).to_numpy()
    return found
