"""The chosen release of all rows as files: streamed, described, and verified by another engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import polars as pl

from tamis.engine.backend import DuckDB, Engine, Polars
from tamis.engine.cells import count_cells
from tamis.engine.choice import estimated_bytes, free_memory
from tamis.engine.door import LargeTable
from tamis.engine.sampling import HASH, content_text, salt_of
from tamis.errors import InputError
from tamis.publish.folder import written_release
from tamis.publish.layout import PEOPLE, PRIVATE, RELEASE, SECRETS
from tamis.publish.people import HEADER
from tamis.publish.secret_groups import HEADER as SECRET
from tamis.publish.secret_groups import numbered_secrets
from tamis.publish.verify import verify
from tamis.scale.describing import FileShape, describe
from tamis.scale.search import LargeOutcome
from tamis.scale.verifying import other_engine, verify_large
from tamis.table_file import Format, write_parts

PERSON, KEY = "person", "key"
_DIGITS = 14
"""Hex digits of a hash that number a person."""


def publish_large(
    found: LargeOutcome,
    out: str | Path,
    *,
    force: bool = False,
    origin: Mapping[str, Any] | None = None,
    date: str | None = None,
) -> Path:
    """Write the chosen release of all rows, whole or not at all; verified before it is named.

    Parameters
    ----------
    found : LargeOutcome
    out : path
        The folder to create.
    force : bool
        Replace an earlier release of that name, once the new one is complete.
    origin : mapping, optional
        How the table was read, kept in the private recipe.
    date : str, optional
        The date to put in the manifest; `None`: today.

    Returns
    -------
    Path
    """
    out = Path(out)
    date = date or datetime.now(UTC).date().isoformat()
    format = _dense_format(found)
    with written_release(out, force=force) as draft:
        private = draft / PRIVATE
        private.mkdir(mode=0o700)
        file = draft / RELEASE[format]
        shape = FileShape.of(found, format)
        _write_rows(found, shape, file, private)
        with _another(found.large.engine) as other:
            describe(found, draft, file, shape, dict(origin or {}), date, other)
            verify_large(draft, other)
        free = free_memory()
        if free is None or estimated_bytes(str(file)) <= free / 2:
            verify(draft)  # in memory too, by code that shares nothing with engines
    return out


@contextmanager
def _another(writer: Engine) -> Iterator[Engine]:
    """Another engine than the one that wrote."""
    scratch = writer.scratch / "again"
    scratch.mkdir()
    polars = other_engine({"engine": {"counted": {"by": writer.name}}}) == "polars"
    engine = Polars(scratch) if polars else DuckDB(scratch)
    try:
        with engine.trouble():
            yield engine
    finally:
        engine.close()


def _dense_format(found: LargeOutcome) -> Format:
    format = found.outcome.settings.format
    if format not in ("csv", "parquet"):
        raise InputError(
            f"a table beyond memory is written as csv or parquet, got {format!r}; give --write csv"
        )
    return format


def _write_rows(found: LargeOutcome, shape: FileShape, file: Path, private: Path) -> None:
    """Stream the rows, sorted by a salted hash of their cells, then by the cells themselves.

    The order depends on the set of rows alone, never on the order they came in.
    """
    large, seed = found.large, found.outcome.settings.seed
    columns = large.columns(found.columns)
    keyed = large.frame.with_columns(content_text(large.frame, columns).alias(KEY))
    rows = large.engine.with_hash(keyed, KEY, salt_of(seed, "order"))
    secret = _private_secret(found)
    last = []
    if large.who:
        whose = rows.drop(KEY).rename({HASH: "place"})
        whose = whose.with_columns(content_text(whose, large.who).alias(KEY))
        # A salt that nobody keeps: with a known one, the numbers could be traced to identifiers.
        rows = large.engine.with_hash(whose, KEY, token_hex(16))
        rows, last = rows.rename({HASH: PERSON, "place": HASH}), [PERSON]
    last += secret
    wanted = rows.select(*columns, HASH, *last).sort(HASH, *columns, *last, nulls_last=True)
    batches = large.engine.batches(wanted)
    with ExitStack() as files:
        if large.who:
            people = files.enter_context(_numbers_file(private / PEOPLE, HEADER))
            batches = _beside(batches, people, lambda batch: _person_numbers(batch[PERSON]))
        if secret:
            secrets = files.enter_context(_numbers_file(private / SECRETS, SECRET))
            number = _secret_numbers(large, secret[0])
            batches = _beside(batches, secrets, lambda batch: number(batch[secret[0]]))
        write_parts(_shaped(found, shape, batches), file, _dense_format(found))


def _private_secret(found: LargeOutcome) -> list[str]:
    """The sensitive column, where something was asked about it and it is not the target."""
    shape, asked = found.large.shape, found.outcome.settings.anonymity
    hidden = asked.of_secrets and shape.sensitive != shape.target
    return found.large.columns([str(shape.sensitive)]) if hidden else []


@contextmanager
def _numbers_file(path: Path, header: str) -> Iterator[IO[str]]:
    with path.open("w", encoding="ascii") as file:
        file.write(f"{header}\n")
        yield file


def _beside(
    batches: Iterator[pl.DataFrame],
    file: IO[str],
    numbers: Callable[[pl.DataFrame], Iterable[int]],
) -> Iterator[pl.DataFrame]:
    """The batches, while a number of each row goes to a file of its own."""
    for batch in batches:
        file.writelines(f"{number}\n" for number in numbers(batch))
        yield batch


def _person_numbers(hashes: pl.Series) -> Iterator[int]:
    return (int(text[:_DIGITS], 16) for text in hashes)


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


def _shaped(
    found: LargeOutcome, shape: FileShape, batches: Iterator[pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """Batches with the real names and types of the columns, bounds beside them, and no hash."""
    place = dict(zip(found.columns, found.large.columns(found.columns)))
    for batch in batches:
        ends = {
            name: found.coarse[name].ladder.bounds(batch[place[name]], coarse.form.level)
            for name, coarse in found.coarse.items()
        }
        yield pl.DataFrame(
            [
                (
                    ends[bound.of][bound.end]
                    if (bound := shape.bounds.get(name))
                    else batch[place[name]]
                )
                .cast(kind)
                .alias(name)
                for name, kind in shape.frame.schema.items()
            ]
        )
