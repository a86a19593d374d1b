"""k-anonymity, unique people and the sizes of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis.risk.grouping import ClassSize
from tamis.risk.scope import scope


def k_anonymity(data: Any, quasi: Sequence[str] | None = None, *, people: Any = None) -> int:
    """The people in the smallest class of rows that are equal on the quasi-identifiers.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    quasi : sequence of str, optional
        The columns an attacker may know. `None`: those of the table's roles, by default all
        features; of a bare frame, all columns.
    people : array, optional
        Whose row each row is, by name or number. `None`: as the table's identifiers show, see
        `Table.people`; of a bare frame, each row is a person.

    Returns
    -------
    int
        Everybody shares what is known of them with at least this many people, themselves counted.

    Notes
    -----
    Where a person has several rows, a class counts each person once: eight rows of one person are
    a crowd of one.

    Missing is a value of its own: a missing cell equals other missing cells and differs from
    every present value. Leaving such rows out, as many tools do, makes k too high.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [30, 30, 40, 40], "job": ["cook", "cook", None, None]})
    >>> k_anonymity(frame)
    2
    >>> k_anonymity(frame, people=["ann", "bob", "eve", "eve"])
    1
    """
    return scope(data, quasi, people=people).grouped().k_anonymity


def unique_rows(data: Any, quasi: Sequence[str] | None = None, *, people: Any = None) -> int:
    """The number of rows that no other person's row equals on the quasi-identifiers.

    Examples
    --------
    >>> import polars as pl
    >>> unique_rows(pl.DataFrame({"job": ["cook", "cook", "judge", None]}))
    2
    """
    return scope(data, quasi, people=people).grouped().unique_rows


def unique_people(data: Any, quasi: Sequence[str] | None = None, *, people: Any = None) -> int:
    """The number of people who have a row that nobody else's row equals.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "judge", "judge"]})
    >>> unique_people(frame, people=["ann", "bob", "bob", "bob"])
    1
    """
    return scope(data, quasi, people=people).grouped().unique_people


def class_sizes(
    data: Any, quasi: Sequence[str] | None = None, *, people: Any = None
) -> tuple[ClassSize, ...]:
    """How many classes, and rows and people in them, there are of each size, small sizes first.

    A person with rows in several classes counts in the smallest.

    Examples
    --------
    >>> import polars as pl
    >>> for each in class_sizes(pl.DataFrame({"job": ["cook", "cook", "judge", None]})):
    ...     print(each)
    ClassSize(size=1, classes=2, rows=2, people=2)
    ClassSize(size=2, classes=1, rows=2, people=2)
    """
    return scope(data, quasi, people=people).grouped().class_sizes
