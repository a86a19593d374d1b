"""Texts that a spreadsheet would run as a formula, made safe by a rule that can be undone.

The rule: a text that begins with ``=``, ``+``, ``-`` or ``@``, their wide forms, a tab, a
carriage return or a line feed, blanks before it not counted, gets an apostrophe in front, unless
it is a plain number; so does a text that begins with an apostrophe. To undo it, take one
apostrophe off every text that begins with one.
"""

from __future__ import annotations

import polars as pl

RULE = (
    "A text that begins with = + - @ (also in wide form), a tab or a line break, blanks before it "
    "not counted, and is not a plain number, and every text that begins with an apostrophe, has "
    "one apostrophe in front. Take one apostrophe off every text that begins with one to undo it."
)

_RUNS = r"^(?:\s*[=+\-@＝＋－＠]|[\t\r\n]|')"  # noqa: RUF001
_NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def runs(text: pl.Expr) -> pl.Expr:
    """Which texts the rule changes."""
    return text.str.contains(_RUNS) & ~text.str.contains(_NUMBER)


def safe(frame: pl.DataFrame) -> pl.DataFrame:
    """The same frame, its texts and the names of its columns by the rule.

    >>> safe(pl.DataFrame({"=a": ["=1+1", "-1", "'x", "b"]})).to_dict(as_series=False)
    {"'=a": ["'=1+1", '-1', "''x", 'b']}
    """
    texts = [c for c in frame.columns if frame.schema[c] == pl.String]
    cells = frame.with_columns(
        pl.when(runs(pl.col(c))).then(pl.concat_str(pl.lit("'"), pl.col(c))).otherwise(pl.col(c))
        for c in texts
    )
    return cells.rename(dict(zip(frame.columns, safe_names(frame.columns))))


def safe_names(names: list[str]) -> list[str]:
    """Names of columns by the rule."""
    column = pl.Series("name", names, dtype=pl.String).to_frame()
    marked: list[bool] = column.select(runs(pl.col("name")))["name"].to_list()
    return [f"'{name}" if odd else name for name, odd in zip(names, marked)]


def undone(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as it was before `safe`.

    >>> undone(pl.DataFrame({"'=a": ["'=1+1", "-1", "''x"]})).to_dict(as_series=False)
    {'=a': ['=1+1', '-1', "'x"]}
    """
    texts = [c for c in frame.columns if frame.schema[c] == pl.String]
    cells = frame.with_columns(pl.col(c).str.strip_prefix("'") for c in texts)
    return cells.rename({c: c.removeprefix("'") for c in frame.columns})
