"""The only way rows are written to a file that may be published: csv or parquet.

Everything published goes through `write_table`, so a file contains the values of its rows and
nothing else: equal values are equal bits, categories are text, and no text in a csv file is run
as a formula by a spreadsheet. The rule for such text can be undone: text that begins with ``=``,
``+``, ``-`` or ``@``, their full-width forms, a tab, a carriage return or a line feed, ignoring
leading spaces, gets an apostrophe in front, unless it is a plain number; so does text that begins
with an apostrophe. To undo it, remove one apostrophe from any text that begins with one.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from tamis.errors import CannotMeet, InputError, MissingExtra, listed_as
from tamis.statistical_file import (
    parse_statistical,
    read_sheet,
    read_statistical,
    write_sheet,
    write_statistical,
)
from tamis.table import bare, one_form

Format = Literal["csv", "parquet", "sav", "dta", "xlsx"]

RULE = (
    "Text that begins with = + - @ (full-width forms too), a tab or a line break, ignoring "
    "leading spaces, and is not a plain number, and text that begins with an apostrophe, has "
    "one apostrophe in front. To undo it, remove one apostrophe from any text that begins with one."
)
HOW: dict[str, dict[str, str]] = {
    "csv": {"missing": "an empty cell", "texts": RULE},
    "parquet": {"missing": "null", "texts": "as they are"},
    "sav": {"missing": "system missing", "texts": "codes from 1, with value labels"},
    "dta": {"missing": ".", "texts": "codes from 1, with value labels"},
    "xlsx": {"missing": "an empty cell", "texts": "as they are, never formulas"},
}
"""How each format represents missing cells and text, in words."""

MOMENT = "%Y-%m-%d %H:%M:%S%.f"
"""How a date with a time of day is written in csv; the fraction only where there is one."""

_RUNS = r"^(?:\s*[=+\-@＝＋－＠]|[\t\r\n]|')"  # noqa: RUF001
_NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def write_table(frame: pl.DataFrame, path: Path, format: Format | None = None) -> None:
    """Write rows in one form; the format is told by the name of the file where none is given."""
    frame = one_form(frame, texts=True)
    kind = format or format_named(path)
    if kind in ("sav", "dta", "xlsx"):
        _write_labelled(frame, path, kind)
        return
    if kind == "parquet":
        # Statistics would add nothing; a file without them contains only the rows.
        frame.write_parquet(path, statistics=False)
        return
    if any(not name.strip() for name in frame.columns):
        raise InputError("a column without a name cannot be released; name it, or --drop it")
    safe(frame).write_csv(path, line_terminator="\n", datetime_format=MOMENT)


def _write_labelled(frame: pl.DataFrame, path: Path, kind: Format) -> None:
    """Write a statistical file and read it again: these formats change values that they lack."""
    if kind == "xlsx":
        write_sheet(frame, path)
    else:
        write_statistical(frame, path, kind)
    again = _texts(read_sheet(path) if kind == "xlsx" else parse_statistical(path, kind))
    whole = again.columns == frame.columns and again.height == frame.height
    changed = [
        cells.name
        for cells in (frame if whole else ())
        if cells.to_list() != again.get_column(cells.name).to_list()
    ]
    if not whole or changed:
        what = listed_as("column", changed) if changed else "blank rows"
        raise InputError(
            f"a .{kind} file cannot hold {what} unchanged (blank texts, spaces at an end, numbers "
            "of more than 15 digits or parts of a second, for example); write csv or parquet"
        )


def write_parts(parts: Iterable[pl.DataFrame], path: Path, format: Format) -> None:
    """Write rows that come in parts as one file, as `write_table` would write them all."""
    if format == "parquet":
        _as_one_parquet(parts, path)
        return
    with path.open("wb") as file:
        for i, part in enumerate(parts):
            rows = safe(one_form(part, texts=True))
            rows.write_csv(file, include_header=i == 0, line_terminator="\n")


def _as_one_parquet(parts: Iterable[pl.DataFrame], path: Path) -> None:
    from polars.io.plugins import register_io_source

    rest = iter(parts)
    first = one_form(next(rest), texts=True)

    def rows(*_: object) -> Iterator[pl.DataFrame]:
        yield first
        for part in rest:
            yield one_form(part, texts=True)

    register_io_source(rows, schema=first.schema).sink_parquet(path, statistics=False)


def format_named(path: str | Path) -> Format:
    """The format that the name of an output file implies.

    >>> format_named("out/rows.parquet")
    'parquet'
    """
    formats: tuple[Format, ...] = get_args(Format)
    for format in formats:
        if Path(path).suffix == f".{format}":
            return format
    endings = ", ".join(f".{format}" for format in formats)
    raise InputError(f"--output must end in one of {endings}, got {Path(path).name}")


def read_raw(path: Path, format: Format) -> pl.DataFrame:
    """The cells of a written file as they are: in csv all are text, with the apostrophes."""
    try:
        if format in ("sav", "dta", "xlsx"):
            return _read_labelled(path, format)
        data = path.read_bytes()
        with panics_unheard():
            if format == "parquet":
                return pl.read_parquet(data)
            # polars leaves doubled quotes in the names of columns.
            return pl.read_csv(data, infer_schema=False, new_columns=_headers(_text(data)))
    except MissingExtra:
        raise
    except InputError as error:
        raise CannotMeet(str(error)) from None
    except (pl.exceptions.PolarsError, OSError, ValueError, csv.Error, _PANIC) as error:
        raise CannotMeet(f"{path.name} cannot be read: {type(error).__name__}") from None


def _read_labelled(path: Path, format: Format) -> pl.DataFrame:
    return _texts(read_sheet(path) if format == "xlsx" else read_statistical(path, format))


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))


def raw_parts(path: Path, format: Format, rows: int) -> Iterator[pl.DataFrame]:
    """The cells of a written file as `read_raw` gives them, so many rows at a time."""
    try:
        with panics_unheard():
            if format == "parquet":
                cells = pl.scan_parquet(path, glob=False)
            else:
                with path.open(encoding="utf-8", newline="") as file:
                    headers = _headers(file)
                cells = pl.scan_csv(path, infer_schema=False, new_columns=headers, glob=False)
            yield from cells.collect_batches(chunk_size=rows)
    except (pl.exceptions.PolarsError, OSError, ValueError, csv.Error, _PANIC) as error:
        raise CannotMeet(f"{path.name} cannot be read: {type(error).__name__}") from None


_PANIC = pl.exceptions.PanicException
"""What polars raises on some damaged files; it is not an `Exception`."""


@contextmanager
def panics_unheard() -> Iterator[None]:
    """Keep polars from telling where it panicked: it writes to the terminal past Python."""
    try:
        kept = os.dup(2)
    except OSError:  # there is no standard error
        yield
        return
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def read_written(path: Path, format: Format) -> pl.DataFrame:
    """What a recipient reads: every csv cell as text, with the rule for text undone."""
    frame = read_raw(path, format)
    return undone(frame) if format == "csv" else frame


def _text(data: bytes) -> TextIOWrapper:
    return TextIOWrapper(BytesIO(data), encoding="utf-8", newline="")


def _headers(lines: Iterable[str]) -> list[str]:
    names = next(csv.reader(lines), [])
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    return names


# Columns are taken one by one and without their names: "^a.*$" or "*" would be a pattern to
# polars' expressions, and so to the methods of a series.


def runs(texts: pl.Series) -> pl.Series:
    """Which cells the rule changes."""
    return texts.str.contains(_RUNS) & ~texts.str.contains(_NUMBER)


def safe(frame: pl.DataFrame) -> pl.DataFrame:
    """The same frame with the rule applied to its text and its column names.

    >>> safe(pl.DataFrame({"=a": ["=1+1", "-1", "'x", "b"]})).to_dict(as_series=False)
    {"'=a": ["'=1+1", '-1', "''x", 'b']}
    """
    cells = [_safe(s.alias("")) if s.dtype == pl.String else s for s in frame.get_columns()]
    return pl.DataFrame([s.alias(name) for s, name in zip(cells, safe_names(frame.columns))])


def safe_names(names: list[str]) -> list[str]:
    """Column names with the rule applied."""
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
