"""The chosen release of all rows as files: streamed, described, and verified by another engine.

The manifest and the reports are of all rows; most figures in them are of the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import numpy as np
import polars as pl

from tamis.analyse import Analysis, analyse
from tamis.analyse.notes import Note
from tamis.errors import InputError
from tamis.publication.bundle import recipe, write_private, write_shared, written_release
from tamis.publication.manifest import Bound, ReleaseFile, manifest, with_bounds
from tamis.publication.report import AGAIN, summarise
from tamis.require.counts import ClassCounts
from tamis.rows import EngineOptions, estimated_bytes, free_memory
from tamis.rows.counts import ReleasedRows, count_cells
from tamis.rows.large_table import HASH, LargeTable, content_text
from tamis.scale.coarse import plain_kind
from tamis.scale.search import LargeOutcome
from tamis.table_file import Format, write_parts
from tamis.unique_counts import ExposureFacts
from tamis.verification.claims import not_promised
from tamis.verification.layout import (
    HEADERS,
    PEOPLE,
    PRIVATE,
    RELEASE,
    SECRETS,
)
from tamis.verification.secret_groups import numbered_secrets
from tamis.verification.verify import other_engine, verify

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

    The parameters are those of `tamis.publish`.
    """
    out = Path(out)
    date = date or datetime.now(UTC).date().isoformat()
    format = _dense_format(found)
    analysis = _about_all_rows(found, analyse(found.outcome, k=found.k_of_sample, attacks=False))
    with written_release(out, force=force) as draft:
        private = draft / PRIVATE
        private.mkdir(mode=0o700)
        file = draft / RELEASE[format]
        shape = FileShape.of(found, format)
        _write_rows(found, shape, file, private)
        other = other_engine({"engine": {"counted": {"by": found.large.engine.name}}})
        describe(found, analysis, draft, file, shape, dict(origin or {}), date, other)
        verify(draft, engine=EngineOptions(other, scratch=str(found.large.engine.scratch)))
        free = free_memory()
        if free is None or estimated_bytes(str(file)) <= free / 2:
            verify(draft, engine="memory")  # by code that shares nothing with engines, too
    return out


def _dense_format(found: LargeOutcome) -> Format:
    format = found.outcome.settings.format
    if format not in ("csv", "parquet"):
        raise InputError(
            f"a table beyond memory is written as csv or parquet, got {format!r}; give "
            "--output-format csv"
        )
    return format


def _write_rows(found: LargeOutcome, shape: FileShape, file: Path, private: Path) -> None:
    """Stream the rows in the order of their content, as `table.content_order` has it.

    Engines sort on disk what does not fit into memory.
    """
    large = found.large
    rows, columns, last = large.frame, large.columns(found.columns), []
    secret = _private_secret(found)
    if large.who:
        whose = rows.with_columns(content_text(rows, large.who).alias(KEY))
        # A salt that nobody keeps: with a known one, the numbers could be traced to identifiers.
        rows = large.engine.with_hash(whose, KEY, token_hex(16)).rename({HASH: PERSON})
        last = [PERSON]
    last += secret
    wanted = rows.select(*columns, *last).sort(*columns, *last, nulls_last=False)
    batches = large.engine.batches(wanted)
    with ExitStack() as files:
        if large.who:
            people = files.enter_context(_numbers_file(private / PEOPLE))
            batches = _beside(batches, people, lambda batch: _person_numbers(batch[PERSON]))
        if secret:
            secrets = files.enter_context(_numbers_file(private / SECRETS))
            number = _secret_numbers(large, secret[0])
            batches = _beside(batches, secrets, lambda batch: number(batch[secret[0]]))
        write_parts(_shaped(found, shape, batches), file, _dense_format(found))


def _private_secret(found: LargeOutcome) -> list[str]:
    """The sensitive column, where something was asked about it and it is not the target."""
    shape, asked = found.large.shape, found.outcome.settings.requirements
    hidden = asked.of_secrets and shape.sensitive != shape.target
    return found.large.columns([str(shape.sensitive)]) if hidden else []


@contextmanager
def _numbers_file(path: Path) -> Iterator[IO[str]]:
    with path.open("w", encoding="ascii") as file:
        file.write(f"{HEADERS[path.name]}\n")
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


@dataclass(frozen=True, eq=False)
class FileShape:
    """What columns a file has."""

    frame: pl.DataFrame
    """The columns and their types, without rows."""
    bounds: Mapping[str, Bound]
    """Those that hold ends of the intervals of another column."""

    @classmethod
    def of(cls, found: LargeOutcome, format: Format) -> FileShape:
        """The columns by name, bounds after their column in parquet, the target last."""
        schema = found.large.shape.frame.schema
        labels = [
            found.coarse[name].labels.alias(name)
            if name in found.coarse
            else pl.Series(name, dtype=plain_kind(schema[name]))
            for name in found.columns
        ]
        most = max(map(len, labels))
        every = pl.DataFrame([each.extend_constant(None, most - len(each)) for each in labels])
        forms = found.outcome.decision.chosen.release.forms if format == "parquet" else {}
        frame, bounds = with_bounds(every, forms)
        return cls(frame.clear(), bounds)


def released_rows(found: LargeOutcome) -> ReleasedRows:
    """The rows to release, as the engine has them."""
    large = found.large
    columns = dict(zip(found.columns, large.columns(found.columns)))
    return ReleasedRows(large.engine, large.frame, columns, found.columns[-1], large.who)


def describe(
    found: LargeOutcome,
    analysis: Analysis,
    draft: Path,
    file: Path,
    shape: FileShape,
    origin: dict[str, Any],
    date: str,
    other: str,
) -> None:
    """Write the manifest and both reports, from the sample and from what was counted on all rows.

    The file of rows is in the draft already; the other engine will count it again.
    """
    outcome, large, known = found.outcome, found.large, sorted(found.promise.columns)
    content = _manifest(found, analysis, file, shape, date)
    content["engine"] = _engines(found, other)
    risks, diverse = stated_groups(
        outcome.settings, large, known, found.measured, dict(found.beyond_k)
    )
    public = large.shape.sensitive == large.shape.target
    if stated := [*risks, *(diverse if public else ())]:
        content["diversity"] = stated
    private_only = [] if public else diverse
    summary = _again(summarise(outcome, analysis, content, origin, private_only))
    write_shared(draft, content, summary)
    how = recipe(outcome, draft, origin, date, diverse)
    write_private(draft / PRIVATE, outcome, summary, how)


def stated_groups(
    settings: Any, large: LargeTable, known: list[str], k: int, found: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What is stated of groups: of their risk, and of the sensitive column.

    The smallest group has k people; `found` is from `reached_beyond_k`.
    """
    secret, unit = str(large.shape.sensitive), large.shape.unit
    numeric = large.shape.frame.schema[secret].is_numeric()
    asked = settings.requirements.about(known, secret, number=numeric)
    figures = {**found, **asked.of_sizes.reached(ClassCounts(np.array([k])))}
    public = "private" if large.who else "file"
    recount = public if secret == large.shape.target else "private"
    risks, of_secret = (
        [{**each.to_dict(unit), "measured": figures[each.name], "recount": of} for each in some]
        for some, of in ((asked.of_risks, public), (asked.about_secrets, recount))
    )
    return risks, of_secret


def _manifest(
    found: LargeOutcome, analysis: Analysis, file: Path, shape: FileShape, date: str
) -> dict[str, Any]:
    """The manifest, in which all rows are counted."""
    outcome, large, rows = found.outcome, found.large, released_rows(found)
    coarser = {name: column.stated() for name, column in found.coarse.items()}
    content = manifest(
        outcome.decision.chosen,
        ReleaseFile(file, outcome.settings.format, shape.frame, shape.bounds, coarser),
        analysis,
        measured=[found.measured],
        not_promised=_not_promised(found, analysis.exposure),
        date=date,
    )
    content["file"]["rows"] = large.rows
    content["promises"] = [
        {**found.promise.to_dict(large.shape.unit), "measured": found.measured}
        | {
            "rows_measured": rows.reached(found.promise.columns, in_people=False),
            "recount": "private" if large.who else "file",
        }
    ]
    return content


def _engines(found: LargeOutcome, other: str) -> dict[str, Any]:
    """What was sampled, and what was counted on all rows."""
    return {
        "sampled": {
            "rows": found.sample.table.rows,
            "of": found.large.rows,
            "by": found.sample.by,
            "for": "the search, the choice and every figure about models",
        },
        "counted": {
            "rows": found.large.rows,
            "by": found.large.engine.name,
            "again_by": other,
            "for": "promises and exposure",
        },
    }


def _not_promised(found: LargeOutcome, exposure: ExposureFacts | None) -> list[str]:
    outcome = found.outcome
    assert exposure is not None
    return not_promised(
        [found.promise.to_dict(outcome.table.unit)],
        outcome.table.unit,
        alone=(exposure["everything"]["k"] or 0) < outcome.settings.k,
        sensitive_released=outcome.table.sensitive == outcome.table.target,
        several=bool(found.large.who),
    )


def _about_all_rows(found: LargeOutcome, analysis: Analysis) -> Analysis:
    """An analysis of the sample, corrected where all rows were counted."""
    rows, sample, unit = found.large.rows, found.sample, found.large.shape.unit
    known = sorted(found.promise.columns)
    exposure = released_rows(found).exposure(known, found.outcome.settings.k, unit)
    people = exposure["total"]
    note = (
        f"The table has {rows:,} rows. Models were trained and evaluated on {sample.table.rows:,} "
        "of them, drawn by a salted hash; what is promised, and who is unique, was counted on all."
    )
    return replace(
        analysis,
        table=replace(
            analysis.table, rows=rows, rows_released=rows, people=people, people_released=people
        ),
        exposure=exposure,
        same_sensitive=None,
        classes=None,
        notes=(Note(level="note", text=note, public=True), *analysis.notes),
    )


def _again(summary: Analysis) -> Analysis:
    """A summary that says how to reproduce what was made beyond memory."""
    how = "run the same command again"
    private = (replace(s, value=how) if s.label == AGAIN else s for s in summary.recipe.private)
    return replace(summary, recipe=replace(summary.recipe, private=tuple(private)))
