"""The only door: files and frames become a `Table`."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl

from tamis.errors import InputError


def polars_frame(data: Any) -> pl.DataFrame:
    """A pandas, polars or pyarrow frame as a polars frame, NaN read as missing.

    >>> polars_frame(pl.DataFrame({"x": [1.0, float("nan")]}))["x"].to_list()
    [1.0, None]
    """
    try:
        frame: pl.DataFrame = nw.from_native(data, eager_only=True).to_polars()
    except TypeError:
        raise InputError(
            "expected a path or a pandas, polars or pyarrow frame, got "
            f"{type(data).__module__}.{type(data).__name__}"
        ) from None
    return frame.with_columns(pl.selectors.float().fill_nan(None))
