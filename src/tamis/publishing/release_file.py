"""The released rows as a file, in an order that tells nothing, and read back as they stand."""

from __future__ import annotations

import csv
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet, InputError
from tamis.publishing.cells import safe, undone
from tamis.table import Table

Format = Literal["csv", "parquet"]


def arranged(table: Table, random_state: int) -> pl.DataFrame:
    """Columns by name, the target last; rows sorted by their values, then shuffled.

    The sorting makes the result the same for every order of the original rows, so that not even
    one who knows the seed learns anything of that order.

    >>> from tamis import Roles
    >>> rows = pl.DataFrame({"b": [1, 2, 3], "a": [4, 5, 6], "y": [0, 1, 0]})
    >>> one = arranged(Table(rows, Roles(target="y")), 7)
    >>> two = arranged(Table(rows.reverse(), Roles(target="y")), 7)
    >>> one.columns, one.equals(two)
    (['a', 'b', 'y'], True)
    """
    columns = [*sorted(table.features), table.target]
    return table.only(columns)[order_of(table, random_state)]


def order_of(
    table: Table, random_state: int, people: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The row numbers of `arranged`; rows that are equal stand in the order of their people."""
    rows = table.only([*sorted(table.features), table.target])
    keys = [s.alias(str(i)) for i, s in enumerate(rows.get_columns())]
    if people is not None:
        keys.append(pl.Series("people", people))
    numbers = pl.Series("row", np.arange(rows.height))
    placed = pl.DataFrame([*keys, numbers]).sort([key.name for key in keys], nulls_last=True)
    drawn = np.random.default_rng(random_state).permutation(rows.height)
    order: NDArray[np.int64] = placed["row"].to_numpy()[drawn]
    return order


def write_release(frame: pl.DataFrame, path: Path, format: Format) -> None:
    """Write the rows; texts in csv are made safe for spreadsheets."""
    if format == "parquet":
        frame.write_parquet(path)
        return
    _refuse_same_headers(frame)
    safe(_as_text(frame)).write_csv(path, line_terminator="\n")


def read_release(path: Path, format: Format) -> pl.DataFrame:
    """What a recipient finds: every cell of csv as text, the rule for texts undone."""
    try:
        if format == "parquet":
            return pl.read_parquet(path)
        # polars leaves doubled quotes in the names of columns.
        return undone(pl.read_csv(path, infer_schema=False, new_columns=_headers(path)))
    except (pl.exceptions.PolarsError, OSError, ValueError, csv.Error) as error:
        raise CannotMeet(f"{path.name} cannot be read: {type(error).__name__}") from None


def _headers(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        names = next(csv.reader(file), [])
    if len(set(names)) < len(names):
        raise ValueError("two columns of one name")
    return names


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    found = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Categories as their texts, so that the rule for texts sees them."""
    kinds = (pl.Categorical, pl.Enum)
    return pl.DataFrame(
        [s.cast(pl.String) if isinstance(s.dtype, kinds) else s for s in frame.get_columns()]
    )


def _refuse_same_headers(frame: pl.DataFrame) -> None:
    if any(not name.strip() for name in frame.columns):
        raise InputError("a column without a name cannot be released; name it, or --drop it")
