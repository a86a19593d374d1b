"""Comma- or tab-separated text -> a typed frame; ragged records and odd headers are refused."""

from __future__ import annotations

import csv
import io
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis.errors import InputError, TamisWarning, listed, plural
from tamis.read.text import check_width, read_utf8, whole_lines
from tamis.read.types import EXACT, as_dates, looks_numeric, typed
from tamis.table import bare

_SAMPLE = 1000
_CHUNK = 1 << 18


def direct_frame(
    data: bytes,
    separator: str,
    *,
    missing: Collection[str] = (),
    declared: Mapping[str, str] | None = None,
    untouched: Collection[str] = (),
) -> pl.DataFrame | None:
    """The typed frame, or `None` if only the slow way is certain to be right."""
    if b'"' in data or b"+" in data:
        return None
    options: dict[str, Any] = {"separator": separator, "quote_char": None}
    guided: dict[str, Any] = {"declared": declared, "untouched": untouched}
    try:
        sample = pl.read_csv(data, infer_schema=False, n_rows=_SAMPLE, **options)
        with warnings.catch_warnings():  # the slow way will warn about the whole file
            warnings.simplefilter("ignore", TamisWarning)
            first = typed(sample, missing=missing, **guided)
        if any(looks_numeric(first[c]) for c in first.columns if c not in untouched):
            return None
        dates = [c for c, kind in first.schema.items() if kind.is_temporal()]
        schema: dict[str, Any] = {**first.schema, **dict.fromkeys(dates, pl.String)}
        with ThreadPoolExecutor(1) as beside:  # numpy scans while polars parses
            scan = beside.submit(_scan, data, separator, first.width)
            frame = pl.read_csv(data, schema=schema, null_values=list(missing), **options)
    except (pl.exceptions.PolarsError, ValueError):
        return None
    numbers = {i for i, kind in enumerate(first.dtypes) if kind.is_numeric()}
    fields, zero_led = scan.result()
    if fields != (frame.height + 1) * frame.width or numbers & zero_led or not _exact(frame):
        return None
    return _with_dates(typed(frame, missing=missing, infer=False), dates)


def _with_dates(frame: pl.DataFrame, dates: Collection[str]) -> pl.DataFrame | None:
    """The frame with these columns as dates, or `None` if one is not of dates after all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TamisWarning)
        found = {c: as_dates(bare(frame.get_column(c)), c) for c in dates}
    if any(column is None for column in found.values()):
        return None
    return frame.with_columns([c.alias(name) for name, c in found.items() if c is not None])


def _exact(frame: pl.DataFrame) -> bool:
    return all(bool((bare(c).abs() < EXACT).all()) for c in frame.select(pl.selectors.float()))


def _scan(data: bytes, separator: str, width: int) -> tuple[int, set[int]]:
    """The number of fields, and the columns with a number that has a leading zero."""
    text = np.frombuffer(data, np.uint8)
    found: set[int] = set()
    before = 0  # fields that ended in earlier chunks
    for start in range(0, text.size, _CHUNK):
        chunk = text[start : start + _CHUNK + 2]
        ends = (chunk == ord(separator)) | (chunk == ord("\n"))
        led = ends | (chunk == ord("-"))
        led[:-1] &= chunk[1:] == ord("0")
        led[:-2] &= (chunk[2:] - np.uint8(ord("0"))) < 10
        if led[:-2].any():
            at = np.flatnonzero(led[: min(_CHUNK, len(led) - 2)])
            fields = before + np.searchsorted(np.flatnonzero(ends), at, side="right")
            found.update(np.unique(fields % width).tolist())
        before += int(np.count_nonzero(ends[:_CHUNK]))
    return before, found


def delimited_frame(
    path: Path,
    separator: str = ",",
    encoding: str = "utf-8",
    *,
    missing: Collection[str] = (),
    declared: Mapping[str, str] | None = None,
    untouched: Collection[str] = (),
) -> pl.DataFrame:
    """The table in a file, typed by the rule of `tamis.read.types`; an empty cell is missing."""
    _check_separator(separator)
    data = read_utf8(path, encoding)
    header = _header(path, data, separator)
    guided: dict[str, Any] = {"missing": missing, "declared": declared, "untouched": untouched}
    frame = direct_frame(data, separator, **guided)
    if frame is None:
        frame = typed(_text_frame(path, data, header, separator), **guided)
    if frame.is_empty():
        raise InputError(f"{path} has a header but no rows")
    return frame


def _check_separator(separator: str) -> None:
    if len(separator.encode()) != 1:
        raise InputError(f"the separator must be one ASCII character, got {len(separator)}")


def delimited_chunks(
    path: Path, separator: str = ",", encoding: str = "utf-8", *, size: int = 1 << 25
) -> Iterator[pl.DataFrame]:
    """The table in a file of any size with every cell as text, some records at a time.

    Parameters
    ----------
    path : Path
    separator, encoding : str
    size : int
        About how many characters to take at once.
    """
    _check_separator(separator)
    header: list[str] = []
    line = b""
    read = 0
    for block in whole_lines(path, encoding, size):
        if not header:
            header = _header(path, block, separator)
            line = _first_record(block)
        data = line + block if read else block
        frame = _text_frame(path, data, header, separator, read)
        read += block.count(b"\n")
        yield frame


def _first_record(data: bytes) -> bytes:
    """The bytes of the header, which may have line breaks inside quotes."""
    end = data.find(b"\n")
    while end >= 0 and data.count(b'"', 0, end) % 2:
        end = data.find(b"\n", end + 1)
    return data[: end + 1] if end >= 0 else data + b"\n"


def _text_frame(
    path: Path, data: bytes, header: list[str], separator: str, before: int = 0
) -> pl.DataFrame:
    """Every cell as text; so many lines of the file come before those of `data`."""
    try:
        frame = pl.read_csv(data, separator=separator, infer_schema=False)
        if frame.width == len(header):
            frame.columns = header  # polars leaves quotes inside a name doubled
        if not _evenly_split(data, frame, separator):
            frame = _record_by_record(path, data, header, separator, before)
    except pl.exceptions.PolarsError:
        frame = _record_by_record(path, data, header, separator, before)
    return frame


def _header(path: Path, data: bytes, separator: str) -> list[str]:
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    try:
        names = next(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        raise InputError(f"{path}: a quote in the header is not closed") from None
    check_width(path, len(names))
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

    Polars refuses longer records but silently fills shorter ones. So count: the separators in
    the file are those between fields plus those inside quoted cells.
    """
    inside = 0
    if b'"' in data:
        counts = frame.select(pl.all().str.count_matches(separator, literal=True).sum())
        inside = sum(counts.row(0)) + sum(name.count(separator) for name in frame.columns)
    total = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(separator))
    return bool(total == (frame.height + 1) * (frame.width - 1) + inside)


def _record_by_record(
    path: Path, data: bytes, header: list[str], separator: str, before: int = 0
) -> pl.DataFrame:
    """The slow and exact way, for files with blank or ragged lines."""
    # A later part starts with a copy of the header, which is no line of its own.
    before -= _first_record(data).count(b"\n") if before else 0
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    next(reader)
    records, ragged = [], []
    try:
        for record in reader:
            if len(record) == len(header):
                records.append(record)
            elif record:
                ragged.append((before + reader.line_num, len(record)))
    except csv.Error:
        raise InputError(
            f"{path}: a quoted cell is not closed properly near line {before + reader.line_num}; "
            "double every quote inside a quoted cell and close it"
        ) from None
    if ragged:
        line, fields = ragged[0]
        more = f" ({len(ragged)} such lines in total)" if len(ragged) > 1 else ""
        raise InputError(
            f"{path}: line {line} has {plural(fields, 'field')}, the header has "
            f"{len(header)}{more}; "
            f"quote cells that contain {separator!r}, or pass another separator"
        )
    frame = pl.DataFrame(records, schema=dict.fromkeys(header, pl.String), orient="row")
    return frame.with_columns(pl.all().replace("", None))
