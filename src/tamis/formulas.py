"""Guard text that a spreadsheet would run as a formula with an apostrophe, reversibly.

Spreadsheets split a csv file at commas, but some (by locale, or as the user last chose) split at
semicolons, tabs or bars and then ignore its quotes. So the rule applies to every piece of a text
between such characters and line breaks. A piece that begins with ``=``, ``+``, ``-`` or ``@`` or
their full-width forms, ignoring blanks and quotes, gets an apostrophe in front unless it is a
number or only signs; so does a piece that begins with an apostrophe, and a text that begins with a
tab or a line break. To undo it, remove one apostrophe from the start of every piece.

Invisible characters count as blanks: a program that drops a byte order mark at the start of a file
would find a formula in the first cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

from tamis.table import bare

RULE = (
    "A text and each piece of it after a comma, semicolon, tab, bar or line break has an "
    "apostrophe in front where it begins with = + - @ (full-width forms too), ignoring blanks "
    "and quotes, and is no number; so do pieces that begin with an apostrophe, and texts that "
    "begin with a tab or line break. To undo it, remove one apostrophe from the start of every "
    "piece."
)

_SPLIT = r"[;\t,|\r\n]"
_SIGNS = r"=+\-@＝＋－＠"  # noqa: RUF001
_SEPARATOR = re.compile(f"({_SPLIT})")
_BLANKS = r'[\s"\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff]*'
_RUNS = re.compile(f"{_BLANKS}[{_SIGNS}]")
# A closing bracket may follow, as in "[-10, -5)", which cannot become a formula.
_HARMLESS = re.compile(
    r"\s*[+-]?\s*(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*[%)\]]?\s*|[\s+-]*"
)
_MAY_CHANGE = rf"(?:^|{_SPLIT})(?:'|{_BLANKS}[{_SIGNS}])|^[\t\r\n]"
_GUARDED = rf"(?:^|{_SPLIT})'"


# Columns are used without their names: polars reads "^a.*$" or "*" as patterns in expressions, and
# methods of a series run as expressions.


def safe(frame: pl.DataFrame) -> pl.DataFrame:
    """A copy with the rule applied to text cells and column names.

    >>> safe(pl.DataFrame({"=a": ["=1+1", "-1", "'x", "b;=2"]})).to_dict(as_series=False)
    {"'=a": ["'=1+1", '-1', "''x", "b;'=2"]}
    """
    cells = [_safe(s) if s.dtype == pl.String else s for s in frame.get_columns()]
    return pl.DataFrame([s.alias(name) for s, name in zip(cells, safe_names(frame.columns))])


def safe_names(names: list[str]) -> list[str]:
    """Column names with the rule applied."""
    return [_guard(name) for name in names]


def undone(frame: pl.DataFrame) -> pl.DataFrame:
    """The inverse of `safe`.

    >>> undone(pl.DataFrame({"'=a": ["'=1+1", "-1", "''x", "b;'=2"]})).to_dict(as_series=False)
    {'=a': ['=1+1', '-1', "'x", 'b;=2']}
    """
    cells = [_undone(s) if s.dtype == pl.String else s for s in frame.get_columns()]
    return pl.DataFrame([s.alias(_undo(s.name)) for s in cells])


def unguarded(cells: pl.Series) -> bool:
    """Whether some text of a csv file breaks the rule, so that a spreadsheet may run it.

    >>> unguarded(pl.Series(["'=1", "b;'=2", "- 5."])), unguarded(pl.Series(["b;=2"]))
    (False, True)
    """
    texts = bare(cells)
    suspects = texts.filter(texts.str.contains(_MAY_CHANGE)).unique()
    return any(_starts_bare(text) or any(map(_runs, _pieces(text)[::2])) for text in suspects)


def _safe(texts: pl.Series) -> pl.Series:
    return _by_text(texts, _MAY_CHANGE, _guard)


def _undone(texts: pl.Series) -> pl.Series:
    return _by_text(texts, _GUARDED, _undo)


def _by_text(texts: pl.Series, pattern: str, change: Callable[[str], str]) -> pl.Series:
    """Apply a change to texts that match a pattern, once for each distinct text."""
    cells = bare(texts)
    old = cells.filter(cells.str.contains(pattern)).unique()
    if old.is_empty():
        return texts
    new = pl.Series([change(text) for text in old], dtype=pl.String)
    return cells.replace(old, new).alias(texts.name)


def _guard(text: str) -> str:
    pieces = _pieces(text)
    pieces[::2] = ["'" * (_runs(piece) or piece.startswith("'")) + piece for piece in pieces[::2]]
    return "'" * _starts_bare(text) + "".join(pieces)


def _undo(text: str) -> str:
    pieces = _pieces(text)
    pieces[::2] = [piece.removeprefix("'") for piece in pieces[::2]]
    return "".join(pieces)


def _pieces(text: str) -> list[str]:
    """The pieces of a text at even indices, the separators between them at odd ones."""
    return _SEPARATOR.split(text)


def _runs(piece: str) -> bool:
    return _RUNS.match(piece) is not None and _HARMLESS.fullmatch(piece) is None


def _starts_bare(text: str) -> bool:
    """Whether a text begins with a tab or a line break, which some spreadsheets drop."""
    return text.startswith(("\t", "\r", "\n"))
