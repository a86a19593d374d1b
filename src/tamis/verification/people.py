"""The people of the released rows: row order, the person of each row, suppression, names of rows.

No identifier is released, so a recipient can only count rows, in the order of their content.
Where people have several rows, the holder keeps ``private/people.csv``: for each row of the
released file, in its order, a number that stands for a person. The numbers follow from the released
rows and reveal nothing about the order of the original or of its identifiers.

Where the rows of a person are released together, the first column of the file numbers the people,
from 1, by a permutation drawn for this release. Anybody can then count people, and there is no
``private/people.csv``.

For suppressed people the manifest states a rounded share and no count, since a count would tell how
many rows the original had and so whether one more was among them. The holder's recipe has the
counts.

``private/rows.csv`` has names of the released rows, by which `tamis release --earlier` finds people
who are in both releases: hashes of the columns that say whose a row is, of all identifiers, and of
all cells of the original row; empty where there is no identifier. The recipe says which columns
were hashed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet
from tamis.figures import count_words
from tamis.files import open_plain_file
from tamis.people import People
from tamis.release import Release
from tamis.release_counts import PERCENT, rounded_up
from tamis.table import Table, bare, content_order, frame_of_columns, number_people, sort_by_content
from tamis.verification.checks import measure
from tamis.verification.layout import (
    HEADERS,
    NAMES,
    PEOPLE,
    PRIVATE,
    RECIPE,
    is_folder,
    read_json,
)

DIGITS = 20
"""Room for a number and its separator. Numbers have at most 18 digits, so that int64 holds them."""


def link_numbers(release: Release, name: str, draw: np.random.Generator) -> pl.Series:
    """The column that links the rows of each person, by numbers drawn for this release.

    People are first numbered by their released rows and then permuted, so that even someone who
    knows the seed learns nothing about the order of rows or identifiers in the original.
    """
    people = number_people(_leaving(release.table), release.people).renumbered()
    return pl.Series(name, draw.permutation(people.count)[people.codes] + 1)


def arranged(table: Table, link: pl.Series | None = None) -> pl.DataFrame:
    """The released cells: columns by name, the target last; rows in the order of their content.

    The `link` column comes first, where there is one.

    >>> from tamis import Roles
    >>> rows = pl.DataFrame({"b": [1, 2, 3], "a": [4, 4, None], "y": [1, 0, 0]})
    >>> arranged(Table(rows, Roles(target="y"))).rows()
    [(None, 3, 0), (4, 1, 1), (4, 2, 0)]
    """
    return sort_by_content(_leaving(table, link))


def arrange_private(
    release: Release, secrets: NDArray[np.int64] | None = None, link: pl.Series | None = None
) -> tuple[People, NDArray[np.int64] | None]:
    """The person, and the secrets if any, of each row of the file that `arranged` gives.

    Identical rows are in the order of their people, and those of one person in the order of their
    secrets. So the order is a function of the rows and secrets alone, and says nothing about where
    a row was in the original or which identifier it had.
    """
    rows, ties = _leaving(release.table, link), () if secrets is None else tuple(_lines(secrets))
    people = number_people(rows, release.people, *ties)
    if not people.each_row and link is None:  # else they number the rows of the original
        ties = (people.codes, *ties)
    order = content_order(rows, *ties)
    return people[order], None if secrets is None else secrets[order]


def arrange_names(
    release: Release, names: pl.DataFrame, link: pl.Series | None = None
) -> pl.DataFrame:
    """The names of the original rows, in the order of the file that `arranged` gives.

    Identical rows are in the order of their names, which says nothing about where they were.
    """
    released = names.filter(pl.Series(release.mask))
    ties = [column.rank("dense").fill_null(0) for column in released.get_columns()]
    codes = [ranks.to_numpy().astype(np.int64) for ranks in ties]
    return released[content_order(_leaving(release.table, link), *codes)]


def _leaving(table: Table, link: pl.Series | None = None) -> pl.DataFrame:
    rows = table.only([*sorted(table.features), table.target])
    return rows if link is None else frame_of_columns([link, *rows.get_columns()], rows.height)


def _lines(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The columns of an array that has one number or several for each row."""
    return numbers.reshape(len(numbers), -1).T


def write_numbers(path: Path, numbers: NDArray[np.int64]) -> None:
    """Write a private file: one number or several on each line, under a header."""
    columns = [map(str, column.tolist()) for column in _lines(numbers)]
    lines = [number_header(path, len(columns)), *map(",".join, zip(*columns))]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def number_header(path: Path, columns: int) -> str:
    """The header line of a file of numbers."""
    return ",".join([HEADERS[path.name]] * columns)


def read_numbers(path: Path, rows: int, columns: int = 1) -> NDArray[np.int64]:
    """The numbers of a private file; `CannotMeet` unless it has a valid line for each row."""
    most = DIGITS * columns * (rows + 1)
    with open_plain_file(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise CannotMeet(f"{PRIVATE}/{path.name} is longer than {rows} rows need")
    header = number_header(path, columns)
    first, *lines = data.decode("ascii", "replace").splitlines() or [""]
    cells = [line.split(",") for line in lines]
    fits = all(len(line) == columns and all(map(_is_number, line)) for line in cells)
    if first != header or len(lines) != rows or not fits:
        raise CannotMeet(f"{PRIVATE}/{path.name} does not hold a {header} for each of {rows} rows")
    numbers = np.array([list(map(int, line)) for line in cells], dtype=np.int64)
    return numbers.reshape(rows, columns) if columns > 1 else numbers.reshape(rows)


def _is_number(line: str) -> bool:
    return line.isdecimal() and line.isascii() and len(line) < DIGITS - 1


def promises_in_people(
    entries: list[dict[str, Any]], frame: pl.DataFrame, people: People, unit: str
) -> list[dict[str, Any]]:
    """The promises of a manifest with people counted in the written file.

    What was `measured` in rows becomes `rows_measured`; `recount` says where people can be counted
    again, in the file itself or with the private part. `CannotMeet` where there are too few people.
    """
    recount = "file" if people.each_row or people.together else "private"
    counted = []
    for entry in entries:
        rows = entry["measured"]
        value = rows if people.each_row else measure(entry, frame, people)
        if value < entry["at_least"]:
            raise CannotMeet(
                f"the written file has {entry['key']} {value} counted in people, below "
                f"{entry['at_least']}; nothing was published"
            )
        counts = {"unit": unit, "measured": value, "rows_measured": rows, "recount": recount}
        counted.append({**entry, **counts})
    return counted


def kept_people(folder: Path, frame: pl.DataFrame, content: dict[str, Any]) -> People | None:
    """The person of each row of a file; `None` where only an absent private part has them."""
    if (link := link_column(content)) is not None:
        numbers = frame.get_column(link).cast(pl.Int64, strict=False).fill_null(0).to_numpy()
        return People.named(numbers, frame.height).linked()
    is_kept = any(entry.get("recount") == "private" for entry in content["promises"])
    if not is_kept or not is_folder(folder / PRIVATE):
        return None
    return People.named(read_numbers(folder / PRIVATE / PEOPLE, frame.height), frame.height)


def link_column(content: Mapping[str, Any]) -> str | None:
    """The column that links the rows of each person, if a manifest has one."""
    return next((c["name"] for c in content["columns"] if c["role"] == "link"), None)


def wrong_link(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    """Why the link column does not number the people 1, 2, ... without a gap; empty if it does.

    With all numbers used, their choice cannot carry information about a person.
    """
    link = link_column(content)
    if link is None:
        return ""
    numbers = bare(frame.get_column(link)).cast(pl.String).cast(pl.Int64, strict=False).unique()
    if numbers.drop_nulls().sort().to_list() == [*range(1, numbers.len() + 1)]:
        return ""
    return f"column {link!r} does not number the people from 1 on"


def wrong_people(
    count: Callable[[dict[str, Any]], int] | None, folder: Path, content: dict[str, Any]
) -> str:
    """What is wrong with the counts of people in a manifest; empty where nothing is.

    `count` gives the people of a promise; it is `None` where the people of the rows are not known.
    Then only this is checked: that no promise counts more people than rows.
    """
    for entry in content["promises"]:
        said, rows = entry["measured"], entry.get("rows_measured", entry["measured"])
        if not entry["at_least"] <= said <= rows:
            return f"{entry['key']} is given as {said} people and {rows} rows, which is impossible"
        if entry.get("linked"):
            if (folder / PRIVATE / PEOPLE).exists():
                return f"{PRIVATE}/{PEOPLE} is there, but the file itself says whose rows are whose"
            if count is not None and (value := count(entry)) != said:
                return f"{entry['key']} is {value} in people, but the manifest says {said}"
        elif entry.get("recount", "file") != "private":
            if said != rows or (folder / PRIVATE / PEOPLE).exists():
                return f"{entry['key']} counts {said} of {rows} rows and not whose they are"
        elif count is not None:
            value = count(entry)
            if value != said:
                return f"{entry['key']} is {value} in people, but the manifest says {said}"
    return ""


def rows_stated(entry: dict[str, Any]) -> int:
    """The rows that a promise of a manifest says were counted."""
    several = entry.get("recount") == "private" or entry.get("linked")
    stated: int = entry["rows_measured" if several else "measured"]
    return stated


def uncounted(content: dict[str, Any], private: bool) -> bool:
    """Whether a promise counts people, and the private part that has them is missing."""
    return not private and any(e.get("recount") == "private" for e in content["promises"])


def wrong_left_out(folder: Path, rows: int, content: dict[str, Any]) -> str:
    """What is wrong with the stated share of suppressed rows or people; empty where nothing is."""
    stated = content.get("suppressed")
    if stated is not None and not _is_stated(stated):
        return "what is left out is not stated as a share in whole percent alone"
    if not is_folder(folder / PRIVATE):
        return ""
    recipe = read_json(folder / PRIVATE / RECIPE)
    numbers = recipe.get("suppressed")
    if (numbers is None) != (stated is None):
        return "manifest and recipe differ in whether anybody is left out"
    if numbers is None or stated is None:
        return ""
    if numbers["rows"] + rows != numbers["of_rows"]:
        return f"{count_words(rows, 'rows')} and those left out are not all that there were"
    fewest = max((promise["at_least"] for promise in content["promises"]), default=1)
    if stated["share_at_most"] != rounded_up(numbers, fewest):
        return "the share that is left out is not the one that the recipe has"
    most = recipe["settings"]["max_suppressed"]
    if numbers["people"] > most * numbers["of_people"] * (1 + 1e-12):
        return f"more are left out than {most:g} allows"
    return ""


def _is_stated(stated: Any) -> bool:
    if not isinstance(stated, dict) or set(stated) != {"unit", "share_at_most"}:
        return False
    share = stated["share_at_most"]
    if stated["unit"] not in ("people", "rows"):
        return False
    if type(share) is not float or not 0 < share <= 1:
        return False
    return abs(PERCENT * share - round(PERCENT * share)) < 1e-9


KINDS = tuple(HEADERS[NAMES].split(","))
LONGEST_NAME_LINE = 80
"""More characters than a line can have: three hashes of 20 digits, commas and a line end."""
_LINE = re.compile(r"(?:[0-9a-f]{20})?,(?:[0-9a-f]{20})?,[0-9a-f]{20}")


def write_names(path: Path, names: pl.DataFrame) -> None:
    """Write the names of the released rows, in the order of their file."""
    lines = names.select(pl.concat_str(pl.col(KINDS).fill_null(""), separator=","))
    path.write_text("\n".join([HEADERS[NAMES], *lines.to_series()]) + "\n", encoding="ascii")


def read_names(folder: Path, rows: int) -> tuple[dict[str, tuple[str, ...]], pl.DataFrame] | None:
    """The columns that were hashed, and the names of the rows; `None` where none were kept."""
    path = folder / PRIVATE / NAMES
    if not path.exists():
        return None
    with open_plain_file(path) as file:
        data = file.read(LONGEST_NAME_LINE * (rows + 1) + 1)
    first, *lines = data.decode("ascii", "replace").splitlines() or [""]
    if first != HEADERS[NAMES] or len(lines) != rows or not all(map(_LINE.fullmatch, lines)):
        raise CannotMeet(f"{PRIVATE}/{NAMES} does not hold the names of {rows} rows")
    cells = [[name or None for name in line.split(",")] for line in lines]
    frame = pl.DataFrame(cells, schema=dict.fromkeys(KINDS, pl.String), orient="row")
    return _columns(read_json(folder / PRIVATE / RECIPE)), frame


def wrong_names(folder: Path, rows: int) -> str:
    """What is wrong with the names of the released rows; empty where they are right or absent."""
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
