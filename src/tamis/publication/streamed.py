"""A release of all rows behind an engine: streamed, and stated as it was counted there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import polars as pl

from tamis.all_rows import AllRows, written_columns
from tamis.coarsen.coarsener import CoarseColumn, plain_kind
from tamis.errors import InputError
from tamis.outcome import Outcome
from tamis.publication.manifest import Bound, ReleaseFile, WrittenRelease, stated_of, with_bounds
from tamis.require.k import KAnonymity
from tamis.risk.behind_engine import Reached
from tamis.rows import EngineOptions, estimated_bytes, free_memory, other_engine
from tamis.rows.counts import count_cells
from tamis.rows.large_table import HASH, LargeTable, content_text
from tamis.settings import Settings
from tamis.table import Table
from tamis.table_file import Format, write_parts
from tamis.verification.layout import PEOPLE, PRIVATE, RELEASE, SECRETS
from tamis.verification.people import number_header
from tamis.verification.secret_groups import numbered_secrets
from tamis.verification.verify import verify

PERSON, KEY = "person", "key"
_DIGITS = 14
"""Hex digits of a hash that number a person."""


def write_streamed(outcome: Outcome, counted: AllRows, draft: Path) -> WrittenRelease:
    """Stream the chosen release of all rows, which were counted where they are."""
    found, large = Streamed.of(outcome, counted), counted.large
    file, released = draft / RELEASE[found.format], counted.released(outcome.release)
    _write_rows(found, file, draft / PRIVATE)
    coarser = {name: stated_coarse(column) for name, column in counted.coarse.items()}
    entries = stated_groups(large, counted.reached)
    promises = [each for each in entries if each["key"] == KAnonymity.key]
    for each in promises:
        each["rows_measured"] = released.reached(each["columns"], in_people=False)
    return WrittenRelease(
        ReleaseFile(file, found.format, found.frame, found.bounds, coarser, streamed=large.rows),
        promises,
        [each for each in entries if each not in promises and "column" not in each],
        [each for each in entries if "column" in each],
        bool(large.who),
        counted.left_out,
    )


def verify_streamed(counted: AllRows, draft: Path, register: Table | None = None) -> None:
    """Count the rows of a draft by another engine, and in memory too where they fit."""
    engine = counted.large.engine
    again = EngineOptions(other_engine(engine.name), scratch=str(engine.scratch))
    content = verify(draft, register, engine=again).manifest
    free = free_memory()
    if free is None or estimated_bytes(str(draft / content["file"]["name"])) <= free / 2:
        verify(draft, register, engine="memory")  # by code that shares nothing with engines


@dataclass(frozen=True, eq=False)
class Streamed:
    """A release of all rows, and what the columns of its file are."""

    outcome: Outcome
    rows: AllRows
    format: Format
    names: list[str]
    """The released columns in the order of the file, the target last; bounds are not among them."""
    frame: pl.DataFrame
    """The columns of the file and their types, without rows."""
    bounds: Mapping[str, Bound]
    """Those that hold ends of the intervals of another column."""

    @classmethod
    def of(cls, outcome: Outcome, rows: AllRows) -> Streamed:
        """The columns by name, bounds after their column in parquet, the target last."""
        format, names = _dense_format(outcome.settings), written_columns(outcome.release)
        schema = rows.large.shape.frame.schema
        labels = [
            rows.coarse[name].labels.alias(name)
            if name in rows.coarse
            else pl.Series(name, dtype=plain_kind(schema[name]))
            for name in names
        ]
        most = max(map(len, labels))
        every = pl.DataFrame([each.extend_constant(None, most - len(each)) for each in labels])
        forms = outcome.release.forms if format == "parquet" else {}
        frame, bounds = with_bounds(every, forms)
        return cls(outcome, rows, format, names, frame.clear(), bounds)

    @property
    def large(self) -> LargeTable:
        return self.rows.large

    @property
    def hidden_secrets(self) -> list[str]:
        """The sensitive columns that something is asked of and that are not the target, in order.

        That of the recipe's entries, by which whoever counts again knows them.
        """
        names = dict.fromkeys(str(e.secret) for e in self.rows.reached if e.about_secret)
        return [name for name in names if name != self.large.shape.target]


def _dense_format(settings: Settings) -> Format:
    format = settings.format
    if format not in ("csv", "parquet"):
        raise InputError(
            f"a table beyond memory is written as csv or parquet, got {format!r}; give "
            "--output-format csv"
        )
    return format


def _write_rows(found: Streamed, file: Path, private: Path) -> None:
    """Stream the rows in the order of their content, as `table.content_order` has it.

    Engines sort on disk what does not fit into memory.
    """
    large = found.large
    rows, columns, last = large.frame, large.columns(found.names), []
    hidden = found.hidden_secrets
    secrets = large.columns(hidden)
    if large.who:
        whose = rows.with_columns(content_text(rows, large.who).alias(KEY))
        # A salt that nobody keeps: with a known one, the numbers could be traced to identifiers.
        rows = large.engine.with_hash(whose, KEY, token_hex(16)).rename({HASH: PERSON})
        last = [PERSON]
    last += secrets
    wanted = rows.select(*columns, *last).sort(*columns, *last, nulls_last=False)
    batches = large.engine.batches(wanted)
    with ExitStack() as files:
        if large.who:
            people = files.enter_context(_numbers_file(private / PEOPLE))
            batches = _beside(batches, people, lambda batch: _person_numbers(batch[PERSON]))
        if secrets:
            kept = files.enter_context(_numbers_file(private / SECRETS, len(secrets)))
            number = [_secret_numbers(large, column) for column in secrets]
            batches = _beside(
                batches, kept, lambda batch: zip(*(n(batch[c]) for n, c in zip(number, secrets)))
            )
        write_parts(_shaped(found, batches), file, found.format)


@contextmanager
def _numbers_file(path: Path, columns: int = 1) -> Iterator[IO[str]]:
    with path.open("w", encoding="ascii") as file:
        file.write(f"{number_header(path, columns)}\n")
        yield file


def _beside(
    batches: Iterator[pl.DataFrame],
    file: IO[str],
    numbers: Callable[[pl.DataFrame], Iterable[tuple[int, ...]]],
) -> Iterator[pl.DataFrame]:
    """The batches, while numbers of each row go to a file of their own."""
    for batch in batches:
        file.writelines(f"{','.join(map(str, each))}\n" for each in numbers(batch))
        yield batch


def _person_numbers(hashes: pl.Series) -> Iterator[tuple[int]]:
    return ((int(text[:_DIGITS], 16),) for text in hashes)


def _secret_numbers(large: LargeTable, column: str) -> Callable[[pl.Series], pl.Series]:
    """What numbers sensitive values as `numbered_secrets` does, given all of them."""
    counted = large.engine.small(count_cells(large.frame, [column]))[column]
    values = counted.drop_nulls()
    ranks = pl.DataFrame({column: values, "number": numbered_secrets(values)})

    def numbers(cells: pl.Series) -> pl.Series:
        here = cells.to_frame(column)
        joined = here.join(ranks, on=column, how="left", maintain_order="left")
        return joined["number"].fill_null(0)

    return numbers


def _shaped(found: Streamed, batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Batches with the real names and types of the columns, bounds beside them, and no hash."""
    place = dict(zip(found.names, found.large.columns(found.names)))
    for batch in batches:
        ends = {
            name: found.rows.coarse[name].ladder.bounds(batch[place[name]], coarse.form.level)
            for name, coarse in found.rows.coarse.items()
        }
        yield pl.DataFrame(
            [
                (
                    ends[bound.of][bound.end]
                    if (bound := found.bounds.get(name))
                    else batch[place[name]]
                )
                .cast(kind)
                .alias(name)
                for name, kind in found.frame.schema.items()
            ]
        )


def stated_groups(large: LargeTable, reached: Reached) -> list[dict[str, Any]]:
    """What is stated of groups: what is asked of each, by each attacker, and what is reached."""
    public = "private" if large.who else "file"
    return [
        {
            **each.to_dict(large.shape.unit),
            "measured": figure,
            "recount": "private" if each.secret not in (None, large.shape.target) else public,
        }
        for each, figure in reached.items()
    ]


def stated_coarse(column: CoarseColumn) -> dict[str, Any]:
    """The form of a column as a manifest states it."""
    return stated_of(column.ladder, column.form.level, lambda: column.named)
