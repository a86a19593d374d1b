"""Whose the released rows are, where a person has several: told to the holder, counted again.

No identifier leaves, so a recipient can count rows only. The holder keeps ``private/people.csv``:
for each row of the released file, in its order, a number that stands for a person. The numbers
are drawn, and tell nothing of the original's order. People are counted here by other ways than
those that chose the release.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import CannotMeet
from tamis.publishing.release_file import order_of
from tamis.release import Promise, Release

NAME = "people.csv"
HEADER = "person"
DIGITS = 20
"""The most characters of a line."""

People = NDArray[np.int64]


def arranged_people(release: Release, random_state: int) -> People | None:
    """The person of each row of the file that `arranged` gives; `None` if each row is one."""
    if release.people is None:
        return None
    drawn = np.random.default_rng([random_state, 1]).permutation(release.everybody)
    people: People = drawn[release.people]
    return people[order_of(release.table, random_state, people)]


def write_people(path: Path, people: People) -> None:
    """Write one number a line, under a header."""
    path.write_text("\n".join([HEADER, *map(str, people.tolist())]) + "\n", encoding="ascii")


def read_people(path: Path, rows: int) -> People:
    """The numbers of a written file of people; an error where it is none of so many rows."""
    if path.is_symlink() or not path.is_file():
        raise CannotMeet(f"private/{NAME} is not there, so people cannot be counted again")
    if path.stat().st_size > DIGITS * (rows + 1):
        raise CannotMeet(f"private/{NAME} is longer than {rows} rows need")
    header, *lines = path.read_bytes().decode("ascii", "replace").splitlines() or [""]
    if header != HEADER or len(lines) != rows or not all(map(_is_number, lines)):
        raise CannotMeet(f"private/{NAME} does not hold a person for each of {rows} rows")
    return np.array([int(line) for line in lines], dtype=np.int64)


def _is_number(line: str) -> bool:
    return line.isdecimal() and line.isascii() and len(line) < DIGITS - 1


def counted(
    entries: list[dict[str, Any]], frame: pl.DataFrame, people: People | None, unit: str
) -> list[dict[str, Any]]:
    """The promises of a manifest, told in people, as a written file and its people show.

    Parameters
    ----------
    entries : list of dict
        As a manifest has them, `measured` being a number of rows.
    frame : polars frame
        The written rows.
    people : array of int, optional
        The person of each of them; `None`: each row is one.
    unit : {"people", "rows"}

    Returns
    -------
    list of dict
        `measured` counts people, `rows_measured` rows; `recount` tells what people can be counted
        from, the file itself or the holder's private part. `CannotMeet` where people are too few.
    """
    recount = "file" if people is None else "private"
    found = []
    for entry in entries:
        rows = entry["measured"]
        value = rows if people is None else count_people(_promise(entry), frame, people)
        if value < entry["at_least"]:
            raise CannotMeet(
                f"the written file has {entry['key']} {value} in people, below "
                f"{entry['at_least']}; nothing was published"
            )
        told = {"unit": unit, "measured": value, "rows_measured": rows, "recount": recount}
        found.append({**entry, **told})
    return found


def count_people(promise: Promise, frame: pl.DataFrame, people: People) -> int:
    """The people that a written table reaches for a promise.

    >>> rows = pl.DataFrame({"job": ["cook", "cook", "cook"]})
    >>> count_people(Promise("k_anonymity", 2, ("job",)), rows, np.array([4, 4, 7]))
    2
    """
    if not promise.columns:
        return len(set(people.tolist()))
    cells = [frame.get_column(c).alias(str(i)) for i, c in enumerate(promise.columns)]
    if promise.name == "containment_anonymity":
        return _holders(pl.DataFrame(cells), people)
    who = pl.Series(HEADER, people)
    classes = pl.DataFrame([*cells, who]).group_by([str(i) for i in range(len(cells))])
    return int(classes.agg(pl.col(HEADER).n_unique())[HEADER].min())  # type: ignore[arg-type]


def _holders(cells: pl.DataFrame, people: People) -> int:
    """The fewest people who have a row with all the ones of some row, by the definition."""
    ones = cells.cast(pl.String).select(pl.all().is_in(["1", "true"])).to_numpy()
    bitmaps = np.packbits(ones, axis=0).T.copy()
    least = len(np.unique(people))
    for row in np.unique(ones, axis=0):
        held = np.flatnonzero(row)
        if len(held):
            together = np.bitwise_and.reduce(bitmaps[held], axis=0)
            rows = np.flatnonzero(np.unpackbits(together, count=len(ones)))
            least = min(least, len(np.unique(people[rows])))
    return least


def wrong_people(folder: Path, frame: pl.DataFrame, content: dict[str, Any]) -> str:
    """What does not hold of the people that a manifest counts; nothing where all does.

    Without the private part, people cannot be counted, only that they are no more than the rows.
    """
    private = (folder / "private").is_dir()
    for entry in content["promises"]:
        said, rows = entry["measured"], entry.get("rows_measured", entry["measured"])
        if not entry["at_least"] <= said <= rows:
            return f"{entry['key']} is said to be {said} people and {rows} rows, which cannot be"
        if entry.get("recount", "file") != "private":
            if said != rows or (folder / "private" / NAME).exists():
                return f"{entry['key']} counts {said} of {rows} rows and not whose they are"
        elif private:
            people = read_people(folder / "private" / NAME, frame.height)
            value = count_people(_promise(entry), frame, people)
            if value != said:
                return f"{entry['key']} is {value} in people, the manifest says {said}"
    return ""


def rows_said(entry: dict[str, Any]) -> int:
    """The rows that a promise of a manifest says were counted."""
    said: int = entry["rows_measured" if entry.get("recount") == "private" else "measured"]
    return said


def uncounted(content: dict[str, Any], private: bool) -> bool:
    """Whether people are promised that cannot be counted from what is here."""
    return not private and any(e.get("recount") == "private" for e in content["promises"])


def _promise(entry: dict[str, Any]) -> Promise:
    return Promise(entry["key"], int(entry["at_least"]), tuple(entry["columns"]))
