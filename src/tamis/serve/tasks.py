"""What the server has done in a process of its own: look at a table, hand a draft over.

``python -m tamis.serve.tasks NAME`` reads the options of the task as JSON from stdin and writes
what it found as JSON to stdout.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.catalogue.formats import SPARSE
from tamis.datasets import stays
from tamis.dp.ledger import Ledger, fingerprint
from tamis.errors import InputError, TamisError, TamisWarning
from tamis.files import written
from tamis.publication.bundle import refuse_existing, written_release
from tamis.read import format_of, read_table, stored_frame
from tamis.read.dialect import Dialect
from tamis.read.guesses import ColumnGuess, guess_columns
from tamis.read.types import MARKERS
from tamis.serve.project import shown_of
from tamis.table import Table, bare
from tamis.verification.claims import exposure_words, unique_words
from tamis.verification.layout import NAME, read_json
from tamis.verification.verify import verify

if TYPE_CHECKING:
    from tamis.outcome import Outcome
    from tamis.release import Release

MOST_COLUMNS = 1000
"""How many columns a page can ask about one by one."""
BARS = 12
SAMPLES = 4
"""Values of a column that a page shows."""
LONGEST_SAMPLE = 40
MOST_VALUES = 30
"""Texts of a column that a page lists, to be put into groups by hand."""
SHOWN_ROWS, MOST_SHOWN = 8, 40
"""Rows and columns that a page shows before and after."""
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
    """What the columns of a table hold, with some of their values, and what they seem to be for.

    With `made`, the demo table is written first.
    """
    if made is not None:
        stays(**made).frame.write_csv(source)
    if format_of(source) in SPARSE:
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
    found, values = guess_role(guess), common_values(column)
    ends, whole = number_ends(column)
    return {
        "name": guess.name,
        "question": entry.question if (entry := table.dictionary.get(guess.name)) else "",
        "kind": guess.kind,
        "distinct": guess.distinct,
        "missing": guess.missing,
        "telling": guess.looks in ("identifier", "order"),
        "role": found.role,
        "why": found.why,
        "bars": distribution(column),
        "samples": [cut_short(value) for value, _ in values[:SAMPLES]],
        "values": values if guess.kind == "nominal" and len(values) <= MOST_VALUES else [],
        "ends": ends,
        "whole": whole,
    }


def number_ends(column: pl.Series) -> tuple[list[float] | None, bool]:
    """The lowest and the highest number of a column, and whether all are whole.

    >>> number_ends(pl.Series([3, 1, None])), number_ends(pl.Series(["a"]))
    (([1.0, 3.0], True), (None, False))
    """
    if not column.dtype.is_numeric():
        return None, False
    numbers = bare(column).cast(pl.Float64).drop_nulls()
    numbers = numbers.filter(numbers.is_finite())
    if not numbers.len():
        return None, False
    ends = numbers.to_numpy()
    return [float(ends.min()), float(ends.max())], bool((ends == np.floor(ends)).all())


def guess_role(guess: ColumnGuess) -> RoleGuess:
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
        "identifier": ("identifier", _because(guess)),
        "order": ("drop", "It follows the order of the rows, like a row number."),
        "constant": ("drop", "It has the same value in every row."),
        "weight": ("weight", "It says how many people of a population a row stands for."),
    }
    if guess.looks in known:
        return RoleGuess(*known[guess.looks])
    parts = re.split(r"[^a-z]+", guess.name.lower())
    if any(part.startswith(WIDELY_KNOWN) for part in parts):
        return RoleGuess("quasi", "Neighbours, colleagues or registers often know this.")
    return RoleGuess("quasi", "Someone may know it. Call it ordinary only if nobody outside does.")


def _because(guess: ColumnGuess) -> str:
    """Why a column is one that says who someone is, as a sentence."""
    if guess.why.startswith(("looks", "headed", "repeats", "follows", "tells")):
        return f"It {guess.why}.".replace("It headed", "It is headed")
    return f"It has {guess.why or 'values that single people out'}."


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


def common_values(column: pl.Series) -> list[tuple[str, int]]:
    """The values of a column as texts, with their rows, the most frequent first.

    >>> common_values(pl.Series(["ward 3", "ward 1", "ward 1", None]))
    [('ward 1', 2), ('ward 3', 1)]
    """
    present = bare(column).drop_nulls().cast(pl.String).alias("value")
    if column.dtype == pl.Datetime:  # days alone, as many files store them
        present = present.str.replace(r"(?: 00:00:00)?(?:\.0+)?$", "")
    counts = present.value_counts(name="rows").sort("rows", "value", descending=[True, False])
    return list(counts.iter_rows())


def cut_short(text: str) -> str:
    return text if len(text) <= LONGEST_SAMPLE else f"{text[:LONGEST_SAMPLE]}…"


def _markers(table: Table) -> list[str]:
    """Texts that often mean a missing value and stand alone in some cells."""
    texts = [bare(c) for c in table.frame.get_columns() if c.dtype == pl.String]
    return [m for m in MARKERS if any((column == m).any() for column in texts)]


def write_shown(outcome: Outcome, out: str | Path) -> None:
    """What the page about the draft `out` shows besides its files; written beside it, not in it."""
    drawn, manifest = outcome.release.is_drawn, read_json(Path(out) / NAME)
    exposure, leave = manifest.get("exposure"), [column["name"] for column in manifest["columns"]]
    shown = {
        "examples": None if drawn else example_rows(outcome.table, outcome.release, leave),
        "alone": exposure_words(exposure, outcome.table.target) if exposure else [],
        "unique": unique_words(exposure) if exposure else "",
    }
    with written(shown_of(out)) as file:
        file.write_text(json.dumps(shown), encoding="utf-8")
        file.chmod(0o600)


def example_rows(table: Table, release: Release, leave: Sequence[str]) -> dict[str, Any]:
    """Some rows of the original, each cell with what is released of it; `None` where nothing is.

    Rows are taken evenly from all that are released. Columns that `leave` come first, in that
    order, then those that stay; identifiers are not shown.

    >>> from tamis.release import Recipe, released
    >>> ages = pl.DataFrame({"age": [31, 47], "job": ["cook", "judge"], "ill": ["no", "yes"]})
    >>> whole = Table(ages).with_roles(target="ill")
    >>> age = released(whole, ["age"], "by hand", Recipe("hand"))
    >>> example_rows(whole, age, ["age", "ill"])["rows"][0]
    [['31', '31'], ['no', 'no'], ['cook', None]]
    """
    after = release.table.frame
    kept = np.flatnonzero(release.mask)
    places = np.unique(np.linspace(0, len(kept) - 1, min(SHOWN_ROWS, len(kept))).astype(np.intp))
    stay = [c for c in (*table.features, table.target) if c not in leave]
    names = [*leave, *stay][:MOST_SHOWN]
    cells = [
        (
            _texts(table.frame, name, kept[places]),
            _texts(after, name, places),
        )
        for name in names
    ]
    return {
        "columns": names,
        "rows": [[[b[i], a[i]] for b, a in cells] for i in range(len(places))],
    }


def _texts(frame: pl.DataFrame, name: str, rows: NDArray[np.intp]) -> list[str | None]:
    """Cells as a page shows them; `None` where the frame has no such column."""
    if name not in frame.columns:
        return [None] * len(rows)
    return bare(frame[name])[rows].cast(pl.String).fill_null("missing").to_list()


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
    exposure = found.manifest.get("exposure")
    with written(beside) as file:
        file.write_text(config, encoding="utf-8")
        file.chmod(0o600)
    return {
        "out": str(out),
        "config": str(beside),
        "checks": [check.name for check in found.checks],
        "claims": list(found.claims),
        "alone": found.alone,
        "unique": unique_words(exposure) if exposure else "",
        "not_checked": found.not_checked,
    }


def account(source: str, ledger: str, **options: Any) -> dict[str, Any]:
    """What differential privacy has cost a table so far, by the ledger at a path."""
    file, mark, inside = source.partition("::")
    missing = options.pop("missing", ())
    cells = stored_frame(source, dialect=Dialect(**options))
    known = fingerprint(cells, missing=missing)
    with open(file, "rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    place = f"{Path(file).resolve()}{mark}{inside}"
    found = Ledger(ledger).account(place, digest, rows=known.rows, columns=known.columns)
    return {
        "epsilon": found.epsilon,
        "words": found.words(),
        "entries": [
            {"date": e.date[:10], "epsilon": e.epsilon, "table": Path(e.table).name}
            for e in found.entries
        ],
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


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "look": look,
    "account": account,
    "hand_over": hand_over,
}

if __name__ == "__main__":
    sys.exit(answer_on_stdout(TASKS[sys.argv[1]]))
