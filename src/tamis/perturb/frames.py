"""Tables of any kind in, and the same kind out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tamis.errors import InputError
from tamis.read import polars_frame
from tamis.read.frames import native_kind
from tamis.table import Roles, Table


@dataclass(frozen=True, eq=False)
class Given:
    """What was handed in: its frame, its features, and the way back to its own kind."""

    frame: pl.DataFrame
    features: tuple[str, ...]
    back: Callable[[pl.DataFrame], Any]


def given(data: Any) -> Given:
    """A `Table`, a pandas, polars or pyarrow frame, or an array, as a polars frame.

    >>> given(np.array([[1, 2], [3, 4]])).frame.columns
    ['x0', 'x1']
    """
    if isinstance(data, Table):
        return Given(data.frame, data.features, lambda frame: replace(data, frame=frame))
    if isinstance(data, np.ndarray | list):
        return _array(np.asarray(data))
    frame = polars_frame(data)
    if not frame.width or not frame.height:
        raise InputError(f"the table has no {'rows' if frame.width else 'columns'}")
    whole = Table(frame, Roles(), native_kind(data))
    return Given(frame, whole.features, lambda new: replace(whole, frame=new).native())


def _array(values: Any) -> Given:
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(
            f"a table has two dimensions, at least one row and one column; got shape {values.shape}"
        )
    names = [f"x{i}" for i in range(values.shape[1])]
    frame = polars_frame(
        pl.DataFrame({name: values[:, i].tolist() for i, name in enumerate(names)}, strict=False)
    )

    def back(new: pl.DataFrame) -> Any:
        return new.to_numpy().astype(values.dtype)

    return Given(frame, tuple(names), back)
