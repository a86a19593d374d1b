"""`private/rows.csv`: names for the released rows, so that a later release can be counted with it.

For each row of the released file, in its order: hashes of what tells people apart, of all its
identifiers, and of all cells of its row in the original; empty where there is no identifier. The
recipe says which columns these are of. `tamis release --earlier` finds by them who is in both.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from tamis.errors import CannotMeet
from tamis.files import open_plain_file
from tamis.verification.layout import HEADERS, NAMES, PRIVATE, RECIPE, read_json

KINDS = tuple(HEADERS[NAMES].split(","))
LONGEST = 80
"""The most characters a line may have."""
_LINE = re.compile(r"(?:[0-9a-f]{20})?,(?:[0-9a-f]{20})?,[0-9a-f]{20}")


def write_names(path: Path, names: pl.DataFrame) -> None:
    """Write the names of the released rows, in the order of their file."""
    lines = names.select(pl.concat_str(pl.col(KINDS).fill_null(""), separator=","))
    path.write_text("\n".join([HEADERS[NAMES], *lines.to_series()]) + "\n", encoding="ascii")


def read_names(folder: Path, rows: int) -> tuple[dict[str, tuple[str, ...]], pl.DataFrame] | None:
    """The columns that rows are named by, and their names; `None` where nobody kept them."""
    path = folder / PRIVATE / NAMES
    if not path.exists():
        return None
    with open_plain_file(path) as file:
        data = file.read(LONGEST * (rows + 1) + 1)
    first, *lines = data.decode("ascii", "replace").splitlines() or [""]
    if first != HEADERS[NAMES] or len(lines) != rows or not all(map(_LINE.fullmatch, lines)):
        raise CannotMeet(f"{PRIVATE}/{NAMES} does not hold the names of {rows} rows")
    cells = [[name or None for name in line.split(",")] for line in lines]
    frame = pl.DataFrame(cells, schema=dict.fromkeys(KINDS, pl.String), orient="row")
    return _columns(read_json(folder / PRIVATE / RECIPE)), frame


def wrong_names(folder: Path, rows: int) -> str:
    """What is wrong with the names of the released rows; empty where nothing is, or none are."""
    try:
        read_names(folder, rows)
    except CannotMeet as error:
        return str(error)
    return ""


def _columns(recipe: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    said = recipe.get("named_by")
    if not isinstance(said, dict) or set(said) != set(KINDS):
        raise CannotMeet(f"{PRIVATE}/{RECIPE} does not say what rows are named by")
    return {kind: tuple(map(str, said[kind])) for kind in KINDS}
