"""What is stated of groups of people alike, counted again by an engine from a written file.

The engine counts the sensitive values of each group; what they reach is then found by the
definitions of `tamis.publish.secret_groups`, some groups at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from tamis.engine.backend import Frame
from tamis.engine.cells import ROWS, SIZE, count_cells, merge_cells, size_counts
from tamis.engine.spread import PEOPLE, SensitiveCounts, sensitive_counts, whole_classes
from tamis.errors import CannotMeet
from tamis.publish.layout import PRIVATE, RECIPE, SECRETS, is_folder, read_json
from tamis.publish.secret_groups import RISKS, SecretGroup, reached_by_groups, wrong_entry_by
from tamis.scale.exposed import ReleasedRows

ALL, SECRET = "all", "secret"


def private_entries(folder: Path) -> list[dict[str, Any]]:
    """What the holder's recipe states of a sensitive column that is not in the file."""
    if not is_folder(folder / PRIVATE):
        return []
    found: list[dict[str, Any]] = read_json(folder / PRIVATE / RECIPE).get("diversity", [])
    return found


def wrong_groups(
    rows: ReleasedRows, folder: Path, content: dict[str, Any], secrets: str | None
) -> str:
    """What does not hold for people alike, as the manifest and the holder's recipe state it.

    Parameters
    ----------
    rows : ReleasedRows
    folder : Path
    content : dict
        The manifest.
    secrets : str, optional
        The column with the numbers of the holder's sensitive values.
    """
    target = next(c for c in content["columns"] if c["role"] == "target")
    public = nw.col(rows.columns[target["name"]])
    if target["kind"] == "number":
        public = public.cast(nw.Float64)
    for entry in content.get("diversity", []):
        if entry["key"] not in RISKS and entry["column"] != target["name"]:
            return f"{entry['key']} is stated of a column that is not the target"
        counted = entry["recount"] == "file" or bool(rows.who)
        if counted and (wrong := wrong_entry_by(partial(_reached, rows, public), entry)):
            return wrong
    return _wrong_private(rows, folder, secrets)


def _wrong_private(rows: ReleasedRows, folder: Path, secrets: str | None) -> str:
    entries = private_entries(folder)
    if secrets is None or not entries:
        there = is_folder(folder / PRIVATE) and (folder / PRIVATE / SECRETS).exists()
        return f"{PRIVATE}/{SECRETS} is there, but nothing says what for" if there else ""
    number = nw.col(secrets)
    hidden = nw.when(number > 0).then(number)  # 0 is missing
    count = partial(_reached, rows, hidden)
    return next(filter(None, (wrong_entry_by(count, entry) for entry in entries)), "")


def _reached(rows: ReleasedRows, secret: nw.Expr, entry: dict[str, Any]) -> float:
    """What the rows reach of what an entry asks for."""
    if missing := [c for c in entry["columns"] if c not in rows.columns]:
        raise CannotMeet(f"{entry['key']} is about {len(missing)} columns that the file lacks")
    columns = rows.named(entry["columns"])
    frame = rows.frame.with_columns(nw.lit(1).alias(ALL), secret.alias(SECRET))
    cells = count_cells(frame, [ALL, *columns, SECRET, *rows.who])
    if entry["key"] in RISKS:
        return _risk(rows, cells, columns, entry["key"])
    counts = sensitive_counts(
        rows.engine, rows.engine.hold(cells), [ALL, *columns], SECRET, rows.who, number=True
    )
    usual = dict(zip(_numbers(counts), counts.values[ROWS].to_list()))
    found = [reached_by_groups(entry, part, usual) for part in _parts(counts)]
    lowest = entry["key"] == "l_diversity" and entry["kind"] != "recursive"
    return min(found) if lowest else max(found)


def _risk(rows: ReleasedRows, cells: Frame, columns: list[str], key: str) -> float:
    members = rows.engine.hold(merge_cells(cells, [ALL, *columns, *rows.who]))
    sizes = size_counts(rows.engine, members, [ALL, *columns], rows.who)
    if key == "max_risk":
        return 1 / int(sizes[SIZE].min())  # type: ignore[arg-type]
    mean = (pl.col("people") / pl.col(SIZE)).sum() / pl.col("people").sum()
    return float(sizes.select(mean).item())


def _numbers(counts: SensitiveCounts) -> list[int]:
    """The number of each value: 0 if missing, larger for larger ones."""
    missing = counts.values[counts.sensitive].is_null()
    return [0 if gone else i + 1 for i, gone in enumerate(missing)]


def _parts(counts: SensitiveCounts) -> Iterator[list[SecretGroup]]:
    """The groups, some at a time."""
    numbers = _numbers(counts)
    for part in whole_classes(counts):
        people = pl.col(PEOPLE).first() if counts.several else pl.col(ROWS).sum()
        each = part.group_by("class", maintain_order=True).agg(people.alias("of"), "value", ROWS)
        rows = each.select("of", "value", ROWS).iter_rows()
        yield [SecretGroup(n, {numbers[v]: c for v, c in zip(vs, cs)}) for n, vs, cs in rows]
