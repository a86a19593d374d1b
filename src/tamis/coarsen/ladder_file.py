"""Ladders from csv files as users of ARX have them: ``value;level 1;...;*``, a line a value."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tamis.coarsen.intervals import only_words
from tamis.coarsen.ladder import NOTHING, Ladder
from tamis.coarsen.value_groups import ValueGroups, unlisted_label
from tamis.errors import InputError, plural
from tamis.read.text import file_at, read_bytes, read_utf8

SEPARATORS = (";", "\t", "|", ",")
_HEADERS = ("leaf", "value", "level0", "level 0", "level-0", "level_0")

Lines = list[list[str]]


def read_ladder(path: str | Path, column: str, *, unlisted: str | None = None) -> Ladder:
    """The ladder of a column from a csv file: on each line a value, then its groups.

    Parameters
    ----------
    path : path
        The separator is a semicolon, tab, bar or comma. A first line that names the column or its
        levels is a header. A last level ``*`` may be left out.
    column : str
    unlisted : str, optional
        The group of values that no line has; by default a table must not have any.

    Returns
    -------
    Ladder

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "jobs.csv")
    ...     _ = file.write_text("cook;manual;*\\nbuilder;manual;*\\njudge;office;*\\n")
    ...     read_ladder(file, "job").to_dict()
    {'groups': [{'manual': ['cook', 'builder'], 'office': ['judge']}]}
    """
    where = f"{path}, the ladder of column {column!r}"
    lines = _split(where, _text(where, path))
    if _is_header(lines, column):
        lines = lines[1:]
    if not lines:
        raise InputError(f"{where}, is empty; it needs a line for each value")
    _check_cells(where, lines)
    if len(lines[0]) > 1 and all(line[-1] == NOTHING for line in lines):
        lines = [line[:-1] for line in lines]
    try:
        return Ladder(column, ValueGroups(tuple(map(tuple, lines)), unlisted))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def ladder_from(column: str, description: Mapping[str, Any]) -> Ladder:
    """The ladder of a description, which may name a csv file: ``{"file": ..., "unlisted": ...}``.

    >>> ladder_from("zip", {"keep": [3, 2]}).top
    3
    """
    if "file" not in description:
        return Ladder.from_dict(column, description)
    try:
        only_words(description, ("file", "unlisted"))
    except InputError as error:
        raise InputError(f"the ladder of column {column!r}: {error}") from None
    return read_ladder(description["file"], column, unlisted=unlisted_label(description))


def _text(where: str, path: str | Path) -> str:
    if not read_bytes(file_at(path)).strip():
        raise InputError(f"{where}, is empty; it needs a line for each value")
    return read_utf8(path).decode("utf-8")


def _split(where: str, text: str) -> Lines:
    """The lines by the separator that gives each the same number of cells, best with a last *."""
    tried = [(separator, _records(where, text, separator)) for separator in SEPARATORS]
    even = [lines for _, lines in tried if len({len(line) for line in lines}) == 1]
    wide = [lines for lines in even if len(lines[0]) > 1]
    if len(even) == len(tried) and not wide:
        return even[0]  # a file of values alone
    if not wide:
        _refuse_ragged(where, *max(tried, key=lambda each: sum(len(line) > 1 for line in each[1])))
    return max(wide, key=lambda lines: lines[-1][-1] == NOTHING)


def _records(where: str, text: str, separator: str) -> Lines:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [[cell.strip() for cell in line] for line in reader if line]
    except csv.Error:
        # Another separator may be the right one: a quote in a cell is then no quote.
        plain = csv.reader(io.StringIO(text), delimiter=separator, quoting=csv.QUOTE_NONE)
        return [[cell.strip() for cell in line] for line in plain if line]


def _refuse_ragged(where: str, separator: str, lines: Lines) -> None:
    width = max(len(line) for line in lines)
    short = [number for number, line in enumerate(lines, start=1) if len(line) < width]
    name = "tab" if separator == "\t" else repr(separator)
    raise InputError(
        f"{where}: {plural(len(short), 'line')} (the first is line {short[0]}) "
        f"{'has' if len(short) == 1 else 'have'} fewer than {width} cells between {name}; give "
        "each value all its levels"
    )


def _is_header(lines: Lines, column: str) -> bool:
    """A first line that names the column or level 0, or alone does not end in a star."""
    first, others = lines[0], lines[1:]
    if first[0].casefold() in (column.casefold(), *_HEADERS):
        return True
    stars = [line[-1] == NOTHING for line in others]
    return len(first) > 1 and bool(stars) and all(stars) and first[-1] != NOTHING


def _check_cells(where: str, lines: Lines) -> None:
    if empty := sum(not cell for line in lines for cell in line):
        raise InputError(
            f"{where}: {plural(empty, 'cell')} {'is' if empty == 1 else 'are'} empty; give each "
            "value all its levels (missing values need no line, they are a group of their own)"
        )
