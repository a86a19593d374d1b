"""Whether the cells of a file are those that its manifest describes, looked at some rows at a time.

What is right of all parts of a file is right of the file, so that one of any size can be looked at.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from tamis.formulas import safe_names, unguarded
from tamis.table import bare, kind_of
from tamis.verification.checks import unlike_a_table
from tamis.verification.labels import wrong_bounds, wrong_labels

BOUNDS = ("lower bound", "upper bound")
"""Columns that hold the ends of the intervals of another one."""
_WRITTEN_DATE = r"^(?:[+-]?[0-9]{4,}-[0-9]{2}-[0-9]{2})?(?: ?[0-9]{2}:[0-9]{2}:[0-9]{2}[.0-9]*)?$"


def wrong_rows(rows: int, content: dict[str, Any]) -> str:
    """Whether a file has another number of rows than its manifest says."""
    said = content["file"]["rows"]
    return "" if rows == said else f"the file has {rows} rows, but the manifest says {said}"


def wrong_schema(raw: pl.DataFrame, content: dict[str, Any]) -> str:
    """What does not fit the manifest in the columns of a file, or of some of its rows."""
    said, format = [column["name"] for column in content["columns"]], content["file"]["format"]
    headers = safe_names(said) if format == "csv" else said
    if raw.columns != headers or [c["header"] for c in content["columns"]] != headers:
        return f"the columns of the file are not those of the manifest ({len(said)} in it)"
    if [c["role"] for c in content["columns"]].count("target") != 1:
        return "the manifest does not name exactly one target"
    for column, cells in zip(content["columns"], map(bare, raw.get_columns())):
        if column["kind"] == "number" and not _numbers(cells):
            return f"column {column['name']!r} is declared numeric but holds something else"
        if column["kind"] == "date" and not _dates(cells):
            return f"column {column['name']!r} is declared a date but holds something else"
        if format == "csv" and unguarded(cells):
            return f"column {column['name']!r} holds a text that a spreadsheet would run"
    return unlike_a_table(raw) if format == "parquet" else ""


def _wrong_bins(cells: pl.Series, column: dict[str, Any]) -> str:
    """What does not fit the classes that a target of numbers is said to be cut into."""
    cuts, labels = column["bins"]["cuts"], column["bins"]["labels"]
    if column["role"] != "target" or not cuts or len(labels) != len(cuts) + 1:
        return f"the classes of column {column['name']!r} are not those between its cuts"
    if cuts != sorted(set(cuts)):
        return f"the cuts of column {column['name']!r} do not rise"
    if not bare(cells).drop_nulls().is_in(labels).all():
        return f"column {column['name']!r} has a value that is none of its stated classes"
    return ""


def wrong_ladders(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    """What is not on the stated ladders, or no bound of one, among some rows."""
    for column in content["columns"]:
        if "coarser" in column and wrong_labels(frame[column["name"]], column["coarser"]):
            return f"column {column['name']!r} has a value that is not on its stated ladder"
    for column in content["columns"]:
        if "bins" in column and (wrong := _wrong_bins(frame[column["name"]], column)):
            return wrong
    ladders = {c["name"]: c["coarser"] for c in content["columns"] if "coarser" in c}
    for column in content["columns"]:
        if column["role"] not in BOUNDS:
            continue
        if column.get("of") not in ladders:
            return f"column {column['name']!r} holds bounds of a column that has no intervals"
        of, end = column["of"], column["role"].removesuffix(" bound")
        if wrong_bounds(frame[of], frame[column["name"]], end, ladders[of]):
            return f"column {column['name']!r} does not hold the bounds that {of!r} has"
    return ""


def _numbers(cells: pl.Series) -> bool:
    read = cells.cast(pl.Float64, strict=False)
    return cells.null_count() == read.null_count()


def _dates(cells: pl.Series) -> bool:
    if cells.dtype != pl.String:
        return kind_of(cells.dtype) == "date" or cells.null_count() == cells.len()
    return bool(cells.str.contains(_WRITTEN_DATE).all())
