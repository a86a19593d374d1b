"""k-anonymity, unique rows and the sizes of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis.risk.grouping import ClassSize, Grouping, grouped
from tamis.risk.scope import scope


def k_anonymity(data: Any, quasi: Sequence[str] | None = None) -> int:
    """The size of the smallest class of rows that are equal on the quasi-identifiers.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    quasi : sequence of str, optional
        The columns an attacker may know. `None`: those of the table's roles, by default all
        features; of a bare frame, all columns.

    Returns
    -------
    int
        Every row shares its quasi-identifiers with at least this many rows, itself counted.

    Notes
    -----
    Missing is a value of its own: a missing cell equals other missing cells and differs from
    every present value. Leaving such rows out, as many tools do, makes k too high.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [30, 30, 40, 40], "job": ["cook", "cook", None, None]})
    >>> k_anonymity(frame)
    2
    """
    return _grouping(data, quasi).k_anonymity


def unique_rows(data: Any, quasi: Sequence[str] | None = None) -> int:
    """The number of rows that no other row equals on the quasi-identifiers.

    Examples
    --------
    >>> import polars as pl
    >>> unique_rows(pl.DataFrame({"job": ["cook", "cook", "judge", None]}))
    2
    """
    return _grouping(data, quasi).unique_rows


def class_sizes(data: Any, quasi: Sequence[str] | None = None) -> tuple[ClassSize, ...]:
    """How many classes, and rows in them, there are of each size, small sizes first.

    Examples
    --------
    >>> import polars as pl
    >>> class_sizes(pl.DataFrame({"job": ["cook", "cook", "judge", None]}))
    (ClassSize(size=1, classes=2, rows=2), ClassSize(size=2, classes=1, rows=2))
    """
    return _grouping(data, quasi).class_sizes


def _grouping(data: Any, quasi: Sequence[str] | None) -> Grouping:
    asked = scope(data, quasi)
    return grouped(asked.frame, asked.quasi)
