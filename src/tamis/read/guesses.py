"""Guesses at the role of each column, drafted for a person to correct."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.read.identifiers import content_of
from tamis.read.keys import ORDER, Finding, identifying_columns, likely_weights
from tamis.table import Table

TARGETS = ("class", "target", "label", "outcome", "y")
"""Common names of target columns."""
MOST_CLASSES = 20
"""The most values of a column that is taken for the target."""


@dataclass(frozen=True)
class ColumnGuess:
    """One column: what it contains, and what it looks like."""

    name: str
    kind: str
    distinct: int
    missing: int
    looks: str
    """"identifier", "order" (of the rows), "constant", "weight", "target" or ""."""
    content: str = ""
    """The direct identifier that its values look like, in words, or ""."""
    why: str = ""
    """Why it could identify people, or ""."""
    person: bool = False
    """Whether it repeats like an id of people with several rows."""


def guess_columns(table: Table) -> list[ColumnGuess]:
    """Guess the role of every column.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"who": [f"P{i}" for i in range(40)], "class": ["a", "b"] * 20})
    >>> [(c.name, c.looks) for c in guess_columns(Table(frame))]
    [('who', 'identifier'), ('class', 'target')]
    """
    target = table.roles.target or likely_target(table)
    said = (target, *table.roles.named(), *table.roles.plain)
    asked = [c for c in table.frame.columns if c not in said]
    found = identifying_columns(table.frame, known=table.roles.identifiers, among=asked)
    return [_column(table, name, target, found.get(name)) for name in table.frame.columns]


def likely_target(table: Table) -> str | None:
    """A column named like a target, or else the last one; it must have few values, none missing."""
    names = table.frame.columns
    named = [c for c in names if c.lower() in TARGETS]
    for name in (*named, names[-1]):
        column = table.frame.get_column(name)
        if not column.null_count() and 2 <= column.n_unique() <= MOST_CLASSES:
            return name
    return None


def _column(table: Table, name: str, target: str | None, finding: Finding | None) -> ColumnGuess:
    column = table.frame.get_column(name)
    distinct = column.alias("").drop_nulls().n_unique()
    looks, content = "", content_of(column)
    if name == target:
        looks = "target"
    elif distinct <= 1 and not column.null_count():
        looks = "constant"
    elif name in table.roles.identifiers:
        looks = "identifier"
    elif finding is not None:
        looks = "order" if finding.why == ORDER else "identifier"
    elif name in likely_weights(table):
        looks = "weight"
    return ColumnGuess(
        name,
        table.kind(name),
        distinct,
        column.null_count(),
        looks,
        "" if content is None else content.words,
        "" if finding is None else finding.why,
        finding is not None and finding.person,
    )
