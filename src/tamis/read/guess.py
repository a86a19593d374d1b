"""What the columns of a table seem to be for: a first draft for a person to correct."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.read.identifiers import content_of
from tamis.read.keys import ORDER, telling
from tamis.table import Table

TARGETS = ("class", "target", "label", "outcome", "y")
MOST_CLASSES = 20


@dataclass(frozen=True)
class ColumnGuess:
    """One column: what it contains, and what it looks like."""

    name: str
    kind: str
    distinct: int
    missing: int
    looks: str
    """"identifier", "order" (of the rows), "constant", "target" or nothing."""
    content: str = ""
    """The direct identifier that its values look like, in words, or nothing."""


def guess_columns(table: Table) -> list[ColumnGuess]:
    """Look at every column.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"who": [f"P{i}" for i in range(40)], "class": ["a", "b"] * 20})
    >>> [(c.name, c.looks) for c in guess_columns(Table(frame))]
    [('who', 'identifier'), ('class', 'target')]
    """
    target = table.roles.target or likely_target(table)
    return [_column(table, name, target) for name in table.frame.columns]


def likely_target(table: Table) -> str | None:
    """A column named like a target, else the last one, if it has few values and none missing."""
    names = table.frame.columns
    named = [c for c in names if c.lower() in TARGETS]
    for name in (*named, names[-1]):
        column = table.frame.get_column(name)
        if not column.null_count() and 2 <= column.n_unique() <= MOST_CLASSES:
            return name
    return None


def _column(table: Table, name: str, target: str | None) -> ColumnGuess:
    column = table.frame.get_column(name)
    distinct = column.alias("").drop_nulls().n_unique()
    looks, content = "", content_of(column)
    if name == target:
        looks = "target"
    elif distinct <= 1 and not column.null_count():
        looks = "constant"
    elif name in table.roles.identifiers:
        looks = "identifier"
    elif name not in (*table.roles.named(), *table.roles.plain):
        why = telling(column)
        looks = "order" if why == ORDER else "identifier" if why or content else ""
    words = "" if content is None else content.words
    return ColumnGuess(name, table.kind(name), distinct, column.null_count(), looks, words)
