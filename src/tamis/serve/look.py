"""What the columns of a table hold and what they seem to be for; runs in a process of its own.

``python -m tamis.serve.look`` reads the options of `tamis.read_table` as JSON from stdin and writes
what it found as JSON to stdout. No value of a cell is in it.
"""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import polars as pl

from tamis.datasets import patients
from tamis.errors import InputError, TamisWarning
from tamis.read import format_of, read_table
from tamis.read.keys import ColumnGuess, guess_columns, identifying_form
from tamis.serve.work import answer_on_stdout
from tamis.table import Table, bare

MOST_COLUMNS = 1000
"""How many columns a page can ask about one by one."""
BARS = 12
MARKERS = ("?", "NA", "N/A", "NULL", "null", "-", ".", "unknown")
"""Texts that often mean a missing value."""
WIDELY_KNOWN = (
    "age", "birth", "born", "sex", "gender", "zip", "postcode", "postal", "city", "town", "region",
    "county", "state", "country", "nation", "job", "occupation", "profession", "employ",
    "education", "school", "marital", "married", "race", "ethnic", "religion", "language", "date",
)  # fmt: skip
"""What neighbours, colleagues and registers know about people."""


@dataclass(frozen=True)
class RoleGuess:
    """What a column seems to be for, and why."""

    role: str
    why: str


def look(options: dict[str, Any]) -> dict[str, Any]:
    """Read a table and describe its columns; with `made`, write the demo table first."""
    if (made := options.pop("made", None)) is not None:
        patients(**made).frame.write_csv(options["source"])
    if format_of(options["source"]) in ("svm", "basket"):
        raise InputError(
            "this file has sparse 0/1 records, which the pages cannot show column by column; use "
            "tamis release in a terminal"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TamisWarning)
        table = read_table(**options, check=False)
        if table.frame.width > MOST_COLUMNS:
            raise InputError(
                f"the table has {table.frame.width:,} columns and the pages show at most "
                f"{MOST_COLUMNS:,}; use tamis release in a terminal"
            )
        guesses = guess_columns(table)
    return {
        "rows": table.rows,
        "columns": [_described(table, guess) for guess in guesses],
        "markers": _markers(table),
        "notes": [str(w.message) for w in caught if issubclass(w.category, TamisWarning)],
    }


def _described(table: Table, guess: ColumnGuess) -> dict[str, Any]:
    column = table.frame.get_column(guess.name)
    found = guess_role(guess, identifying_form(column) if guess.looks == "identifier" else "")
    return {
        "name": guess.name,
        "kind": guess.kind,
        "distinct": guess.distinct,
        "missing": guess.missing,
        "telling": guess.looks in ("identifier", "order"),
        "role": found.role,
        "why": found.why,
        "bars": distribution(column),
    }


def guess_role(guess: ColumnGuess, reason: str = "") -> RoleGuess:
    """What a column seems to be for.

    >>> guess_role(ColumnGuess("sex", "nominal", 2, 0, "")).role
    'quasi'
    >>> guess_role(ColumnGuess("note", "nominal", 0, 9, "")).why
    'It is empty.'
    """
    if not guess.distinct:
        return RoleGuess("drop", "It is empty.")
    known = {
        "target": ("target", "Few values, none missing, and named or placed like a label."),
        "identifier": ("identifier", f"It has {reason or 'values that single people out'}."),
        "order": ("drop", "It follows the order of the rows, like a row number."),
        "constant": ("drop", "It has the same value in every row."),
    }
    if guess.looks in known:
        return RoleGuess(*known[guess.looks])
    parts = re.split(r"[^a-z]+", guess.name.lower())
    if any(part.startswith(WIDELY_KNOWN) for part in parts):
        return RoleGuess("quasi", "Neighbours, colleagues or registers often know this.")
    return RoleGuess("quasi", "Someone may know it. Call it ordinary only if nobody outside does.")


def distribution(column: pl.Series) -> list[float]:
    """The shares of rows in intervals of equal width, or with each of the most frequent values.

    >>> distribution(pl.Series(["a", "a", "b", None]))
    [0.5, 0.25]
    """
    present = bare(column).drop_nulls()
    if not present.len():
        return []
    if present.dtype.is_numeric() and present.n_unique() > BARS:
        whole = present.cast(pl.Float64)
        counts = whole.filter(whole.is_finite()).hist(bin_count=BARS)["count"].to_list()
    else:
        counts = present.value_counts(sort=True, name="rows")["rows"].to_list()[:BARS]
    return [count / column.len() for count in counts]


def _markers(table: Table) -> list[str]:
    """Texts that often mean a missing value and stand alone in some cells."""
    texts = [bare(c) for c in table.frame.get_columns() if c.dtype == pl.String]
    return [m for m in MARKERS if any((column == m).any() for column in texts)]


if __name__ == "__main__":
    sys.exit(answer_on_stdout(look))
