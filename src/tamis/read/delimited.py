"""Comma- or tab-separated text -> a typed frame; ragged records and odd headers are refused."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis.errors import InputError, listed
from tamis.read.columns import typed
from tamis.read.direct import direct_frame
from tamis.read.text import read_utf8

MOST_COLUMNS = 100_000


def delimited_frame(
    path: Path,
    separator: str = ",",
    encoding: str = "utf-8",
    *,
    missing: Collection[str] = (),
    declared: Mapping[str, str] | None = None,
    untouched: Collection[str] = (),
) -> pl.DataFrame:
    """The table of a file, typed by the rule of `tamis.read.columns`; an empty cell is missing."""
    if len(separator.encode()) != 1:
        raise InputError(f"the separator is one ASCII character, got {len(separator)} characters")
    data = read_utf8(path, encoding)
    header = _header(path, data, separator)
    guided: dict[str, Any] = {"missing": missing, "declared": declared, "untouched": untouched}
    frame = direct_frame(data, separator, **guided)
    if frame is None:
        frame = typed(_text_frame(path, data, header, separator), **guided)
    if frame.is_empty():
        raise InputError(f"{path} has a header but no rows")
    return frame


def _text_frame(path: Path, data: bytes, header: list[str], separator: str) -> pl.DataFrame:
    """Every cell as text."""
    try:
        frame = pl.read_csv(data, separator=separator, infer_schema=False)
        if frame.width == len(header):
            frame.columns = header  # polars leaves the quotes inside a name doubled
        if not _evenly_split(data, frame, separator):
            frame = _record_by_record(path, data, header, separator)
    except pl.exceptions.PolarsError:
        frame = _record_by_record(path, data, header, separator)
    return frame


def _header(path: Path, data: bytes, separator: str) -> list[str]:
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    try:
        names = next(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        raise InputError(f"{path}: the quotes of the header do not close") from None
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"{path} has {len(names):,} columns, more than {MOST_COLUMNS:,}; give 0/1 records in a "
            "sparse format, or check the separator"
        )
    if blank := [str(i + 1) for i, name in enumerate(names) if not name.strip()]:
        raise InputError(
            f"{path}: column {', '.join(blank[:8])} has no name in the header; name it, or remove "
            "it if it is a row number"
        )
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise InputError(f"{path}: column name {listed(twice)} occurs twice; rename one")
    return names


def _evenly_split(data: bytes, frame: pl.DataFrame, separator: str) -> bool:
    """Whether every record has as many fields as the header.

    Polars refuses longer records but fills shorter ones in silence. So count: the separators in
    the file are those between fields plus those inside quoted cells.
    """
    inside = 0
    if b'"' in data:
        counts = frame.select(pl.all().str.count_matches(separator, literal=True).sum())
        inside = sum(counts.row(0)) + sum(name.count(separator) for name in frame.columns)
    total = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(separator))
    return bool(total == (frame.height + 1) * (frame.width - 1) + inside)


def _record_by_record(path: Path, data: bytes, header: list[str], separator: str) -> pl.DataFrame:
    """The slow and exact way, for files with blank or ragged lines."""
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    next(reader)
    records, ragged = [], []
    try:
        for record in reader:
            if len(record) == len(header):
                records.append(record)
            elif record:
                ragged.append((reader.line_num, len(record)))
    except csv.Error:
        raise InputError(
            f"{path}: a quoted cell does not end properly near line {reader.line_num}; double "
            "every quote inside a quoted cell and close it"
        ) from None
    if ragged:
        line, fields = ragged[0]
        more = f" ({len(ragged)} such lines in all)" if len(ragged) > 1 else ""
        raise InputError(
            f"{path}: line {line} has {fields} fields where the header has {len(header)}{more}; "
            f"quote cells that contain {separator!r}, or name another separator"
        )
    frame = pl.DataFrame(records, schema=dict.fromkeys(header, pl.String), orient="row")
    return frame.with_columns(pl.all().replace("", None))
