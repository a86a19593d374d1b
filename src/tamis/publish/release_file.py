"""The file of released rows: written in any format, and read again.

The reader shares no code with those of tables that come in. For columns too many for a table, rows
of 0 and 1 may be sparse::

    release.long.csv   row,feature,TARGET: a line for each 1; a row of zeros has one line without
                       feature
    release.svm        a line for each row: its class by number, then index:1 for each 1

Rows are numbered in the order of the release, which reveals nothing. The manifest has the names
that the indices and the classes stand for, so that none is lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, InputError
from tamis.publish.layout import open_plain_file
from tamis.table import bare
from tamis.table_file import HOW, RULE, Format, read_raw, read_written, runs, undone, write_table
from tamis.table_file import Format as TableFormat

MOST_CELLS = 1 << 31
"""The most cells that a sparse file may stand for, to be read again."""


def write_release(frame: pl.DataFrame, file: Path, format: str) -> None:
    """Write arranged rows, the target last, in any format."""
    if format == "long":
        write_table(_long(frame), file, "csv")
    elif format == "svm":
        file.write_text(_svm(frame), encoding="ascii")
    else:
        write_table(frame, file, cast(TableFormat, format))


def classes_of(frame: pl.DataFrame) -> list[str]:
    """The labels of a release in the order of their numbers.

    >>> classes_of(pl.DataFrame({"x": [0, 1, 1], "ill": ["yes", "no", "yes"]}))
    ['no', 'yes']
    """
    return sorted(frame.to_series(-1).cast(pl.String).unique().to_list())


def _ones(frame: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows and columns of all ones, by row."""
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


ROW, FEATURE = "row", "feature"
"""The first two columns of a long file."""
WRITTEN: dict[str, dict[str, str]] = HOW | {
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


def read_release(path: Path, format: str, names: list[str], classes: list[str]) -> pl.DataFrame:
    """What a recipient reads: a table of the named columns, the target last.

    This parses the text by itself: it shares no code with the readers of sparse tables.
    """
    if format == "long":
        return _read_long(path, names)
    if format == "svm":
        return _read_svm(path, names, classes)
    return read_written(path, cast(Format, format))


def read_cells(path: Path, content: dict[str, Any]) -> pl.DataFrame:
    """The cells of the file of a manifest as they are: in csv all are text, with apostrophes."""
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
    plain = (place.cast(pl.String) == row).all()  # 01 is 1 too, and could tell more than that
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


def unguarded(cells: pl.Series) -> bool:
    """Whether a spreadsheet would run a text of a csv file: no apostrophe goes before it."""
    return bool((runs(cells) & ~cells.str.starts_with("'")).any())


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
    """A whole number written in the one way that there is: 01 could tell more than 1."""
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
    steps = np.diff(rows * width + columns)  # rows come in their order
    if (steps == 0).any():
        raise CannotMeet(f"{path.name} says twice of some row that it has a feature")
    if (steps < 0).any():  # any other order could tell more than who has what
        raise CannotMeet(f"{path.name} has features of a row in another order than the manifest")
    cells = np.zeros((width, height), np.uint8)
    cells[columns, rows] = 1
    series = [pl.Series(name, cells[i]) for i, name in enumerate(names[:-1])]
    return pl.DataFrame([*series, labels.alias(names[-1])])
