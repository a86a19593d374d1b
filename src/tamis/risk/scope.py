"""Which rows and columns a question of risk is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tamis.errors import InputError, listed
from tamis.read import polars_frame
from tamis.risk.coding import Ints
from tamis.risk.grouping import Grouping, grouped
from tamis.table import Table


@dataclass(frozen=True, eq=False)
class Scope:
    """A frame with rows, its quasi-identifiers (at least one) and its sensitive column, if any.

    `people` has the number of the person that each row is about, from 0 without gaps; `None`:
    each row is a person.
    """

    frame: pl.DataFrame
    quasi: tuple[str, ...]
    sensitive: str | None
    people: Ints | None = None

    def grouped(self) -> Grouping:
        """The rows in classes by the quasi-identifiers."""
        return grouped(self.frame, self.quasi, self.people)

    @property
    def sensitive_column(self) -> pl.Series:
        """The sensitive column; an error where none was named."""
        if self.sensitive is None:
            raise InputError(
                "this needs a sensitive column; name it with sensitive=... or --sensitive COL"
            )
        if self.sensitive in self.quasi:
            raise InputError(
                f"column {self.sensitive!r} is both sensitive and a quasi-identifier; "
                "give it one role"
            )
        return self.frame[self.sensitive]


def scope(
    data: Any,
    quasi: Sequence[str] | None = None,
    sensitive: str | None = None,
    people: Any = None,
) -> Scope:
    """Read the question at the door.

    What is not named comes from the roles of a `Table`. A frame has no roles: its
    quasi-identifiers are all columns but the sensitive one, and each row is a person.

    Examples
    --------
    >>> scope(pl.DataFrame({"age": [31], "job": ["cook"], "ill": [1]}), sensitive="ill").quasi
    ('age', 'job')
    """
    table = data if isinstance(data, Table) else Table(polars_frame(data))
    sensitive = table.sensitive if sensitive is None else sensitive
    if isinstance(quasi, str):
        raise InputError("quasi is a list of column names, got one text; write quasi=[...]")
    if quasi is None:
        quasi = [c for c in table.quasi if c != sensitive]
    _check(table, quasi, sensitive)
    who = table.people if people is None else numbered(people, table.rows)
    return Scope(table.frame, tuple(quasi), sensitive, who)


def numbered(people: Any, rows: int) -> Ints | None:
    """People as numbers from 0 without gaps; `None` where each row is another person's.

    Examples
    --------
    >>> numbered(["eve", "bob", "eve"], 3).tolist(), numbered(["eve", "bob"], 2)
    ([1, 0, 1], None)
    """
    each = np.asarray(people)
    if each.shape != (rows,):
        raise InputError(
            f"people names one person for each row: {rows} rows, got shape {each.shape}"
        )
    try:
        names, numbers = np.unique(each, return_inverse=True)
    except TypeError:
        raise InputError("people holds missing or mixed values; name every row's person") from None
    return None if len(names) == rows else numbers


def _check(table: Table, quasi: Sequence[str], sensitive: str | None) -> None:
    columns = table.frame.columns
    named = [*quasi] if sensitive is None else [*quasi, sensitive]
    known = set(columns)
    if unknown := [c for c in named if c not in known]:
        raise InputError(
            f"no column {listed(unknown)} in the table; its columns are {listed(columns, most=30)}"
        )
    if twice := [c for c, times in Counter(quasi).items() if times > 1]:
        raise InputError(f"quasi-identifier {listed(twice)} is named twice; name each once")
    if not quasi:
        raise InputError(
            "there is no quasi-identifier to group the rows by; name at least one column "
            "with quasi=[...] or --quasi a,b"
        )
    if table.rows == 0:
        raise InputError("the table has no rows, so there is no risk to measure")
