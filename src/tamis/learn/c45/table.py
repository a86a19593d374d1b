"""Tables as C4.5 reads them: every column a line of floats, missing values NaN.

A number stays as it is; a nominal value becomes its position among the declared values of its
column. A table is coded once, then fitted on any of its rows and columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tamis.errors import InputError
from tamis.learn.columns import Coding, Column, Features, frame_of, nominal_names

Levels = tuple[str, ...]


@dataclass(frozen=True)
class ColumnSchema:
    """The columns a table must have: their names, and the declared values of the nominal ones."""

    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    """`None` for a number."""


@dataclass(frozen=True, eq=False)
class C45Table:
    """A coded table: `values` has one line per column.

    Examples
    --------
    >>> import polars as pl
    >>> coded = encode(pl.DataFrame({"age": [31, None], "job": ["judge", "cook"]}))
    >>> coded.schema
    ColumnSchema(names=('age', 'job'), levels=(None, ('cook', 'judge')))
    >>> coded.values
    array([[31., nan],
           [ 1.,  0.]])
    """

    schema: ColumnSchema
    values: np.ndarray
    columns: tuple[Column, ...]
    """Where the values come from: a column that several tables have is sorted once for all."""

    @property
    def rows(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def order(self) -> np.ndarray:
        """The rows sorted by each numeric column, missing values last, ties in table order.

        The lines of nominal columns are present but meaningless.
        """
        order = np.zeros(self.values.shape, np.int32)
        for line, column, levels in zip(order, self.columns, self.schema.levels):
            if levels is None:
                line[:] = column.order
        return order

    def select(self, columns: Sequence[int]) -> C45Table:
        """The same rows with only these columns, by number."""
        picked = [int(c) for c in columns]
        if picked == list(range(len(self.values))):
            return self
        schema = ColumnSchema(
            tuple(self.schema.names[c] for c in picked),
            tuple(self.schema.levels[c] for c in picked),
        )
        chosen = replace(
            self,
            schema=schema,
            values=np.ascontiguousarray(self.values[picked]),
            columns=tuple(self.columns[c] for c in picked),
        )
        vars(chosen)["order"] = self.order[picked]  # sorted once for all selections
        return chosen


def encode(
    data: Any, nominal: Sequence[int | str] | None = None, schema: ColumnSchema | None = None
) -> C45Table:
    """Code a pandas, polars or pyarrow frame.

    `nominal` columns, by number or name, are nominal although they contain numbers; text,
    categorical and boolean columns of a frame always are. A nominal value that the `schema` to
    expect does not declare is treated as missing.

    The declared values of a polars `Enum` or a pandas `Categorical` are those of its type,
    whether they occur or not; those of any other column are the ones that occur, sorted.
    """
    if isinstance(data, Features):
        features = data.with_nominal(nominal)
        known = tuple(feature.known for feature in features)
        return _filled(ColumnSchema(tuple(features.names), known), features.columns, features.rows)
    frame, declared = frame_of(data)
    if schema is None:
        known = Coding.of(frame, nominal_names(frame.columns, nominal), declared).known
        schema = ColumnSchema(tuple(frame.columns), known)
    elif frame.width != len(schema.names):
        raise InputError(f"expected the {len(schema.names)} columns of the fit, got {frame.width}")
    return _filled(schema, Coding(schema.levels).columns(frame), frame.height)


def _filled(schema: ColumnSchema, columns: Sequence[Column], rows: int) -> C45Table:
    values = np.empty((len(columns), rows))
    for line, column in zip(values, columns):
        line[:] = column.values
        if column.categories is not None:
            line[column.values < 0] = np.nan
    return C45Table(schema, values, tuple(columns))
