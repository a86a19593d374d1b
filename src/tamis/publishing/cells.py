"""Texts that a spreadsheet would run as a formula, made safe by a rule that can be undone.

The rule: a text that begins with ``=``, ``+``, ``-`` or ``@``, their wide forms, a tab, a
carriage return or a line feed, blanks before it not counted, gets an apostrophe in front, unless
it is a plain number; so does a text that begins with an apostrophe. To undo it, take one
apostrophe off every text that begins with one.
"""

from __future__ import annotations

import polars as pl

from tamis.table import bare

RULE = (
    "A text that begins with = + - @ (also in wide form), a tab or a line break, blanks before it "
    "not counted, and is not a plain number, and every text that begins with an apostrophe, has "
    "one apostrophe in front. Take one apostrophe off every text that begins with one to undo it."
)

_RUNS = r"^(?:\s*[=+\-@＝＋－＠]|[\t\r\n]|')"  # noqa: RUF001
_NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


# Columns are taken one by one: a name such as "^a.*$" or "*" is a pattern to polars' expressions.


def runs(texts: pl.Series) -> pl.Series:
    """Which texts the rule changes."""
    return texts.str.contains(_RUNS) & ~texts.str.contains(_NUMBER)


def safe(frame: pl.DataFrame) -> pl.DataFrame:
    """The same frame, its texts and the names of its columns by the rule.

    >>> safe(pl.DataFrame({"=a": ["=1+1", "-1", "'x", "b"]})).to_dict(as_series=False)
    {"'=a": ["'=1+1", '-1', "''x", 'b']}
    """
    cells = [_safe(s) if s.dtype == pl.String else s for s in frame.get_columns()]
    return pl.DataFrame([s.alias(name) for s, name in zip(cells, safe_names(frame.columns))])


def safe_names(names: list[str]) -> list[str]:
    """Names of columns by the rule."""
    return _safe(pl.Series("names", names, dtype=pl.String)).to_list()


def undone(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as it was before `safe`.

    >>> undone(pl.DataFrame({"'=a": ["'=1+1", "-1", "''x"]})).to_dict(as_series=False)
    {'=a': ['=1+1', '-1', "'x"]}
    """
    cells = [_undone(s) if s.dtype == pl.String else s for s in frame.get_columns()]
    return pl.DataFrame([s.alias(s.name.removeprefix("'")) for s in cells])


def _safe(texts: pl.Series) -> pl.Series:
    cells = bare(texts)
    return ("'" + cells).zip_with(runs(cells).fill_null(False), cells).alias(texts.name)


def _undone(texts: pl.Series) -> pl.Series:
    return bare(texts).str.strip_prefix("'").alias(texts.name)
