"""What the server has done in a process of its own: look at a table, hand a draft over.

``python -m tamis.serve.tasks NAME`` reads the options of the task as JSON from stdin and writes
what it found as JSON to stdout.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from tamis.datasets import patients
from tamis.errors import InputError, TamisError, TamisWarning
from tamis.files import written
from tamis.publish.bundle import refuse_existing, written_release
from tamis.publish.verify import verify
from tamis.read import format_of, read_table
from tamis.read.keys import ColumnGuess, guess_columns, identifying_form
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


class RoleGuess(NamedTuple):
    """What a column seems to be for, and why."""

    role: str
    why: str


def look(source: str, *, made: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """What the columns of a table hold and what they seem to be for; no value of a cell is in it.

    With `made`, the demo table is written first.
    """
    if made is not None:
        patients(**made).frame.write_csv(source)
    if format_of(source) in ("svm", "basket"):
        raise InputError(
            "this file has sparse 0/1 records, which the pages cannot show column by column; use "
            "tamis release in a terminal"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TamisWarning)
        table = read_table(source, **options, check=False)
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


def hand_over(
    draft: str | Path, out: str | Path, config: str, *, force: bool = False
) -> dict[str, Any]:
    """Copy a draft that was looked at to `out`, a folder to share; gives what was checked.

    What is published is what was shown: the draft is copied, byte for byte, and verified again
    before the copy gets its name. The configuration file goes beside the folder, not into it.
    """
    out = Path(out)
    beside = out.with_name(f"{out.name}.toml")
    refuse_existing(out, force)
    if beside.exists() and not force:
        raise InputError(f"{beside} already exists; choose another name, or let it be replaced")
    with written_release(out, force=force) as copy:
        shutil.copytree(draft, copy, dirs_exist_ok=True)
        found = verify(copy)
    with written(beside) as file:
        file.write_text(config, encoding="utf-8")
        file.chmod(0o600)
    return {
        "out": str(out),
        "config": str(beside),
        "checks": [check.name for check in found.checks],
        "claims": [*found.claims, *found.alone],
    }


def answer_on_stdout(task: Callable[..., dict[str, Any]]) -> int:
    """The whole of such a process: options on stdin, what was found on stdout; gives the exit code.

    Both are JSON, and an error is ``{"error": words}``.
    """
    try:
        found, code = task(**json.load(sys.stdin)), 0
    except TamisError as error:
        found, code = {"error": str(error)}, error.exit_code
    sys.stdout.write(json.dumps(found))
    return code


TASKS: dict[str, Callable[..., dict[str, Any]]] = {"look": look, "hand_over": hand_over}

if __name__ == "__main__":
    sys.exit(answer_on_stdout(TASKS[sys.argv[1]]))
