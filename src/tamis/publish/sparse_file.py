"""Released 0/1 rows as sparse files, for columns too many for a table.

::

    release.long.csv   row,feature,TARGET: a line for each 1; a row of zeros has one line without
                       feature
    release.svm        a line for each row: its class by number, then index:1 for each 1

Rows are numbered in the order of the release, which reveals nothing. The manifest has the names
that the indices and the classes stand for, so that none is lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.binary.records import is_binary
from tamis.errors import InputError
from tamis.publish.sparse_reader import FEATURE, ROW
from tamis.table import Table, bare
from tamis.table_file import Format as TableFormat
from tamis.table_file import write_table

MANY = 200
"""With more columns than this, sparse records are released as a long file by default."""


def format_for(wanted: str, table: Table) -> str:
    """The format to write a release in; an error where it cannot hold the columns.

    >>> from tamis import Roles
    >>> ages = Table(pl.DataFrame({"age": [31, 47], "ill": ["no", "yes"]}), Roles(target="ill"))
    >>> format_for("auto", ages)
    'csv'
    """
    sparse = len(table.features) > MANY and is_binary(table)
    format = ("long" if sparse else "csv") if wanted == "auto" else wanted
    if format not in ("long", "svm"):
        return format
    if not is_binary(table):
        raise InputError(
            f"--write {format} is for columns of 0 and 1, and the chosen release has others; "
            "choose --write csv or parquet"
        )
    if format == "long" and table.target in (ROW, FEATURE):
        raise InputError(
            f"a long file has columns {ROW} and {FEATURE}, and the target has the same name; "
            "choose another --write, or rename the target"
        )
    return format


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
