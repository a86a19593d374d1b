"""Write rows to files that may be published, in every format, and read them again.

Everything published goes through here, so a file contains the values of its rows and nothing else:
equal values have equal bits, categories are text, and a spreadsheet runs no text of a csv file as a
formula (`formulas` has the rule, and undoes it). Rows are sorted by content
(`table.sort_by_content`): in a file sorted by name, the line number would identify the person.

With too many columns for a table, released 0/1 rows may be sparse::

    release.long.csv   row,feature,TARGET: a line for each 1; a row of zeros has one line without
                       feature
    release.svm        a line for each row: its class by number, then index:1 for each 1

Their rows are in the order of the table that they stand for. The manifest has the names behind the
indices and the classes. The readers of these files share no code with the readers of input tables.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, InputError, MissingExtra, listed_as
from tamis.files import open_plain_file
from tamis.formulas import RULE, safe, undone, unguarded
from tamis.spreadsheet import read_sheet, write_sheet
from tamis.statistical_file import parse_statistical, read_statistical, write_statistical
from tamis.table import Dictionary, bare, one_form, sort_by_content

Format = Literal["csv", "parquet", "sav", "dta", "xlsx"]

WRITTEN: dict[str, dict[str, str]] = {
    "csv": {"missing": "an empty cell", "texts": RULE},
    "parquet": {"missing": "null", "texts": "as they are"},
    "sav": {"missing": "system missing", "texts": "codes from 1, with value labels"},
    "dta": {"missing": ".", "texts": "codes from 1, with value labels"},
    "xlsx": {"missing": "an empty cell", "texts": "as they are, never formulas"},
    "long": {
        "missing": "no cell is missing; a row of zeros has one line with an empty feature",
        "texts": RULE,
    },
    "svm": {
        "missing": "no cell is missing; an index that a line lacks is 0",
        "texts": "a line begins with the place of its class in classes, from 0; an index is the "
        "place of a column, from 1",
    },
}
"""How each format represents missing cells and text, in words."""
ROW, FEATURE = "row", "feature"
"""The first two columns of a long file."""
MOST_CELLS = 1 << 31
"""Most cells that a sparse file may stand for when it is read again; it bounds the memory."""

ROW_GROUP = 1 << 18
"""Rows in a group of a parquet file; fixed, so that the same rows give the same bytes."""
MOMENT = "%Y-%m-%d %H:%M:%S%.f"
"""Format of dates with a time of day in csv; a fraction of a second only if there is one."""


def write_table(
    frame: pl.DataFrame,
    path: Path,
    format: Format | None = None,
    dictionary: Dictionary | None = None,
) -> None:
    """Write rows in canonical form, sorted by content.

    The file name determines the format if none is given. `dictionary` has questions and codes for
    statistical programs.
    """
    _write_rows(sort_by_content(frame), path, format or format_named(path), dictionary)


def _write_rows(
    frame: pl.DataFrame, path: Path, kind: Format, dictionary: Dictionary | None = None
) -> None:
    """Write rows that are in canonical form and order already."""
    if kind in ("sav", "dta", "xlsx"):
        _write_labelled(frame, path, kind, dictionary)
        return
    if kind == "parquet":
        # Without statistics, so that the file contains nothing but the rows.
        frame.write_parquet(path, statistics=False, row_group_size=ROW_GROUP)
        return
    if any(not name.strip() for name in frame.columns):
        raise InputError("a column without a name cannot be released; name it, or --drop it")
    safe(frame).write_csv(path, line_terminator="\n", datetime_format=MOMENT)


def csv_lines(cells: pl.DataFrame, *, header: bool = False) -> bytes:
    """Cells as the lines of a csv file.

    >>> csv_lines(pl.DataFrame({"a": ["x", None, "y,z"]}), header=True)
    b'a\\nx\\n\\n"y,z"\\n'
    """
    text = cells.write_csv(include_header=header, line_terminator="\n", datetime_format=MOMENT)
    return text.encode()


def _write_labelled(
    frame: pl.DataFrame, path: Path, kind: Format, dictionary: Dictionary | None
) -> None:
    """Write a labelled format and read it back: these alter values that they cannot represent."""
    if kind == "xlsx":
        write_sheet(frame, path)
    else:
        write_statistical(frame, path, kind, dictionary)
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
    """Write sorted rows that come in parts as one file, like `write_table` of all of them."""
    if format == "parquet":
        _as_one_parquet(parts, path)
        return
    with path.open("wb") as file:
        for i, part in enumerate(parts):
            rows = safe(one_form(part, texts=True))
            file.write(csv_lines(rows, header=i == 0))


def _as_one_parquet(parts: Iterable[pl.DataFrame], path: Path) -> None:
    from polars.io.plugins import register_io_source

    rest = iter(parts)
    first = one_form(next(rest), texts=True)

    def rows(*_: object) -> Iterator[pl.DataFrame]:
        yield first
        for part in rest:
            yield one_form(part, texts=True)

    register_io_source(rows, schema=first.schema).sink_parquet(
        path, statistics=False, row_group_size=ROW_GROUP
    )


def format_named(path: str | Path) -> Format:
    """The format that an output file's name implies.

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
    """Read the raw cells of a written file; in csv all are text, including apostrophes."""
    try:
        if format in ("sav", "dta", "xlsx"):
            return _read_labelled(path, format)
        data = path.read_bytes()
        with panics_unheard():
            if format == "parquet":
                return pl.read_parquet(data)
            # Headers are parsed here, since polars leaves doubled quotes in them.
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
    """Read the cells of a written file like `read_raw`, some rows at a time."""
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
"""Raised by polars on some damaged files; it is no subclass of `Exception`."""


@contextmanager
def panics_unheard() -> Iterator[None]:
    """Silence panic messages of polars, which it writes to file descriptor 2 past Python."""
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
    """Read a file as a recipient would: csv cells as text, with the formula guard undone."""
    frame = read_raw(path, format)
    return undone(frame) if format == "csv" else frame


def _text(data: bytes) -> TextIOWrapper:
    return TextIOWrapper(BytesIO(data), encoding="utf-8", newline="")


def _headers(lines: Iterable[str]) -> list[str]:
    names = next(csv.reader(lines), [])
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    return names


def write_release(
    frame: pl.DataFrame, file: Path, format: str, dictionary: Dictionary | None = None
) -> None:
    """Write rows in any format; the target is the last column."""
    frame = sort_by_content(frame)
    if format == "long":
        _write_rows(_long(frame), file, "csv")
    elif format == "svm":
        file.write_text(_svm(frame), encoding="ascii")
    else:
        _write_rows(frame, file, cast(Format, format), dictionary)


def classes_of(frame: pl.DataFrame) -> list[str]:
    """The labels of a release, in the order of their class numbers.

    >>> classes_of(pl.DataFrame({"x": [0, 1, 1], "ill": ["yes", "no", "yes"]}))
    ['no', 'yes']
    """
    return sorted(frame.to_series(-1).cast(pl.String).unique().to_list())


def _ones(frame: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column numbers of all ones, sorted by row."""
    columns = [bare(s).cast(pl.Boolean).to_numpy() for s in frame.get_columns()[:-1]]
    cells = np.column_stack(columns) if columns else np.zeros((frame.height, 0), np.bool_)
    row, column = np.nonzero(cells)
    return row, column


def _long(frame: pl.DataFrame) -> pl.DataFrame:
    if any(not name.strip() for name in frame.columns):
        raise InputError("a column without a name cannot be released; name it, or --drop it")
    row, column = _ones(frame)
    names = pl.Series(frame.columns[:-1], dtype=pl.String)
    label = frame.to_series(-1).cast(pl.String)
    bare_rows = np.setdiff1d(np.arange(frame.height), row)
    rows = np.concatenate([row, bare_rows])
    features = names[column].extend(pl.Series([None] * len(bare_rows), dtype=pl.String))
    order = np.argsort(rows, kind="stable")
    return pl.DataFrame(
        [
            pl.Series(ROW, rows[order] + 1),
            features[order].alias(FEATURE),
            label[rows[order]].alias(frame.columns[-1]),
        ]
    )


def _svm(frame: pl.DataFrame) -> str:
    row, column = _ones(frame)
    number = {label: str(i) for i, label in enumerate(classes_of(frame))}
    labels = frame.to_series(-1).cast(pl.String).to_list()
    words = [f"{index}:1" for index in range(1, frame.width)]
    starts = np.searchsorted(row, np.arange(frame.height + 1))
    lines = (
        " ".join([number[label], *(words[c] for c in column[begin:end])])
        for label, begin, end in zip(labels, starts, starts[1:])
    )
    return "\n".join(lines) + "\n"


def read_release(path: Path, format: str, names: list[str], classes: list[str]) -> pl.DataFrame:
    """Read a release as a recipient would: the named columns, the target last.

    The text is parsed here and shares no code with the readers of sparse input tables.
    """
    if format == "long":
        return _read_long(path, names)
    if format == "svm":
        return _read_svm(path, names, classes)
    return read_written(path, cast(Format, format))


def read_cells(path: Path, content: dict[str, Any]) -> pl.DataFrame:
    """Read the raw cells of a manifest's file; in csv all are text, including apostrophes."""
    format = content["file"]["format"]
    if format in get_args(Format):
        return read_raw(path, format)
    columns = content["columns"]
    if [c["role"] for c in columns[-1:]] != ["target"]:
        raise CannotMeet("the manifest of a sparse file must name the target last")
    classes = content["file"].get("classes", [])
    if not (isinstance(classes, list) and all(isinstance(name, str) for name in classes)):
        raise CannotMeet("the manifest does not name the classes that the numbers of a file mean")
    return read_release(path, format, [c["name"] for c in columns], classes)


def _read_long(path: Path, names: list[str]) -> pl.DataFrame:
    raw = read_raw(path, "csv")
    for cells in raw.get_columns()[1:]:
        if unguarded(cells):
            raise CannotMeet(f"{path.name} holds a text that a spreadsheet would run")
    frame = undone(raw)
    if frame.columns != [ROW, FEATURE, names[-1]]:
        raise CannotMeet(f"{path.name} does not have the columns {ROW}, {FEATURE} and the target")
    row, feature, label = frame.get_columns()
    place = row.cast(pl.Int64, strict=False)
    plain = (place.cast(pl.String) == row).all()  # a second spelling, 01, could hide a message
    if not plain or place.null_count() or label.null_count() or not _counts_up(place.to_numpy()):
        raise CannotMeet(f"{path.name} does not number its rows from 1, each with a label")
    numbers = place.to_numpy() - 1
    column = feature.replace_strict(
        names[:-1], list(range(len(names) - 1)), default=-1, return_dtype=pl.Int64
    )
    has = feature.is_not_null().to_numpy()
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    labels = label[first]
    if not (labels[numbers] == label).all():
        raise CannotMeet(f"{path.name} gives some row two labels")
    lone = np.bincount(numbers)[numbers[~has]] != 1
    if lone.any():
        raise CannotMeet(f"{path.name} has a line without feature for a row that has others")
    return _dense(path, len(labels), numbers[has], column.to_numpy()[has], names, labels)


def _counts_up(numbers: NDArray[np.int64]) -> bool:
    return bool(len(numbers) and np.isin(np.diff(numbers, prepend=0), (0, 1)).all() and numbers[0])


def _read_svm(path: Path, names: list[str], classes: list[str]) -> pl.DataFrame:
    with open_plain_file(path) as file:
        text = file.read().decode("ascii", "replace")
    rows, columns, labels = [], [], []
    try:
        for number, line in enumerate(text.removesuffix("\n").split("\n")):
            label, *words = line.split(" ")
            labels.append(classes[_whole(label)])
            for word in words:
                index, colon, one = word.partition(":")
                if not (colon and one == "1"):
                    raise ValueError
                rows.append(number)
                columns.append(_whole(index) - 1)
    except (ValueError, IndexError):
        raise CannotMeet(
            f"{path.name} is not a class by number and index:1 words on every line"
        ) from None
    row, column = (np.array(part, dtype=np.int64) for part in (rows, columns))
    return _dense(path, len(labels), row, column, names, pl.Series(labels, dtype=pl.String))


def _whole(text: str) -> int:
    """Parse a whole number in its only spelling: a second one, 01, could hide a message."""
    if not (text.isascii() and text.isdecimal() and (text == "0" or text[0] != "0")):
        raise ValueError
    return int(text)


def _dense(
    path: Path,
    height: int,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    names: list[str],
    labels: pl.Series,
) -> pl.DataFrame:
    width = len(names) - 1
    if height * width > MOST_CELLS:
        raise CannotMeet(f"{path.name} stands for more than {MOST_CELLS:,} cells")
    if len(columns) and not (columns.min() >= 0 and columns.max() < width):
        raise CannotMeet(f"{path.name} has a feature that the manifest does not name")
    steps = np.diff(rows * width + columns)  # packed keys, which must be strictly ascending
    if (steps == 0).any():
        raise CannotMeet(f"{path.name} says twice of some row that it has a feature")
    if (steps < 0).any():  # another order could hide a message
        raise CannotMeet(f"{path.name} has features of a row in another order than the manifest")
    cells = np.zeros((width, height), np.uint8)
    cells[columns, rows] = 1
    series = [pl.Series(name, cells[i]) for i, name in enumerate(names[:-1])]
    return pl.DataFrame([*series, labels.alias(names[-1])])
