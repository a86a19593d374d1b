"""Which rows and columns a question of risk is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tamis.errors import InputError, listed
from tamis.read import polars_frame
from tamis.table import Table


@dataclass(frozen=True, eq=False)
class Scope:
    """A frame with rows, its quasi-identifiers (at least one) and its sensitive column, if any."""

    frame: pl.DataFrame
    quasi: tuple[str, ...]
    sensitive: str | None

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


def scope(data: Any, quasi: Sequence[str] | None = None, sensitive: str | None = None) -> Scope:
    """Read the question at the door.

    What is not named comes from the roles of a `Table`. A frame has no roles: its
    quasi-identifiers are all columns but the sensitive one.

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
    return Scope(table.frame, tuple(quasi), sensitive)


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
