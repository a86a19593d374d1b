"""The main job on a table beyond memory: search on a sample, count and publish all rows.

What to release is learnt from a sample. What is promised is counted on all rows by the engine,
the file is streamed in an order that reveals nothing, and another engine counts it again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import polars as pl

from tamis.engine.backend import DuckDB, Engine, Polars
from tamis.engine.cells import (
    SIZE,
    alike_counts,
    count_cells,
    merge_cells,
    size_counts,
)
from tamis.engine.choice import estimated_bytes, free_memory
from tamis.engine.door import LargeTable
from tamis.engine.sampling import HASH, Sample, content_text, salt_of, sampled
from tamis.errors import CannotMeet, InputError, Progress, TamisWarning, listed
from tamis.flow import Outcome, Settings, consider
from tamis.publish.bundle import held_back, recipe
from tamis.publish.exposure import shown_from
from tamis.publish.folder import written_release
from tamis.publish.kept_told import close_look_facts
from tamis.publish.layout import NAME, PEOPLE, PRIVATE, RECIPE, RELEASE, REPORT, digest, write_json
from tamis.publish.manifest import manifest
from tamis.publish.people import HEADER
from tamis.publish.promises import claim, not_promised
from tamis.publish.report import render
from tamis.publish.summarise import summarise
from tamis.publish.summary import ExposureFacts, Setting, Summary, TableFacts
from tamis.publish.verify import verify
from tamis.read.delimited import delimited_chunks
from tamis.release import Promise
from tamis.table_file import Format, write_parts

TRIES = 4
"""Searches on the sample, each for twice the anonymity of the one before."""
ALTERING = ("flip", "noise", "dp")
SELECTING = ("front", "breach")
"""Methods that release some columns as they are; others work on tables in memory."""
PERSON, KEY = "person", "key"
_DIGITS = 14
"""Hex digits of a hash that number a person."""


@dataclass(frozen=True, eq=False)
class LargeOutcome:
    """What was chosen on a sample, and what all rows reach.

    Parameters
    ----------
    large : LargeTable
    sample : Sample
    outcome : Outcome
        On the sample; its settings are those asked for.
    k : int
        The k that the search on the sample used.
    promises : tuple of Promise
        Of the release, about all rows.
    measured : tuple of int
        What all rows reach for each, in people.
    """

    large: LargeTable
    sample: Sample
    outcome: Outcome
    k: int
    promises: tuple[Promise, ...]
    measured: tuple[int, ...]

    @property
    def columns(self) -> list[str]:
        """The names of the released columns, in the order of the file: the target last."""
        release = self.outcome.decision.chosen.release
        return [*sorted(release.features), release.table.target]


def consider_large(
    large: LargeTable, settings: Settings, rows: int, *, tell: Progress | None = None
) -> LargeOutcome:
    """Choose a release on a sample, and count its promises on all rows.

    Parameters
    ----------
    large : LargeTable
        With a target.
    settings : Settings
    rows : int
        About how many rows to sample.
    tell : callable, optional
        Called with what is being done.

    Returns
    -------
    LargeOutcome
        `CannotMeet` where no release reaches on all rows what is asked for.
    """
    settings = _only_columns(settings)
    sample = sampled(large, rows, settings.seed)
    k, best = sample.k_for(settings.k), 0
    for _ in range(TRIES):
        outcome = consider(sample.table, replace(settings, k=k), tell=tell)
        promises = _promises(outcome, settings.k)
        if tell is not None:
            tell("counting all rows", 0, 1)
        measured = tuple(_measured(large, promise) for promise in promises)
        if all(value >= settings.k for value in measured):
            asked = replace(outcome, settings=settings)
            return LargeOutcome(large, sample, asked, k, promises, measured)
        best, k = max(best, *measured), 2 * k
    raise CannotMeet(
        f"no release chosen on {sample.table.rows:,} sampled rows keeps k = {settings.k} on all "
        f"{large.rows:,}; the best reached {best}. Ask for a smaller --k, a larger --sample, or "
        "say which columns attackers may know with --quasi"
    )


def _only_columns(settings: Settings) -> Settings:
    """The settings without methods that recode cells; an error where one was asked for."""
    if settings.anonymity.of_secrets:
        raise InputError(
            "l and t are counted in memory only; pass --engine memory, or ask for --k alone"
        )
    if settings.max_population_risk is not None or settings.sampling is not None:
        raise InputError("the population is counted in memory only; pass --engine memory")
    chosen = settings.proposing
    if altering := [name for name in chosen if name in ALTERING]:
        raise InputError(
            f"{listed(altering)} alters cells, which is done in memory only; pass --engine memory, "
            "or --methods front"
        )
    kept = {name: options for name, options in chosen.items() if name in SELECTING}
    if not kept:
        raise InputError(
            f"{listed(chosen)} works in memory only; pass --engine memory, or --methods front"
        )
    return replace(settings, methods=kept)


def _promises(outcome: Outcome, k: int) -> tuple[Promise, ...]:
    release = outcome.decision.chosen.release
    whole, chosen = outcome.table.frame, release.table.frame
    known = [c for c in release.features if c in whole.columns]
    same = [c for c in known if chosen.get_column(c).equals(whole.get_column(c))]
    if strange := [c for c in release.features if c not in same]:
        raise CannotMeet(
            f"the release has column {listed(strange)} in another form than the table, which is "
            "made in memory only; pass --engine memory"
        )
    return tuple(replace(promise, at_least=k) for promise in release.promises)


def _measured(large: LargeTable, promise: Promise) -> int:
    return _crowd(large, large.columns(promise.columns), large.who)[0]


def _crowd(large: LargeTable, columns: list[str], who: list[str]) -> tuple[int, int]:
    """The smallest group, and who is alone in one: in people where `who` tells them apart."""
    if not columns and not who:
        return large.rows, int(large.rows == 1)
    cells = count_cells(large.frame, [*columns, *who])
    sizes = size_counts(large.engine, large.engine.hold(cells), columns, who)
    alone = sizes.filter(pl.col(SIZE) == 1)
    return int(sizes[SIZE][0]), int(alone["people"].sum())


def publish_large(
    found: LargeOutcome,
    out: str | Path,
    *,
    force: bool = False,
    origin: Mapping[str, Any] | None = None,
    date: str | None = None,
) -> Path:
    """Write the chosen release of all rows, whole or not at all; counted again before it is named.

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
    with written_release(out, force=force) as draft:
        private = draft / PRIVATE
        private.mkdir(mode=0o700)
        file = draft / RELEASE[found.outcome.settings.format]
        _write_rows(found, file, private)
        other, in_rows = _counted_again(found, file)
        _describe(found, draft, file, dict(origin or {}), date, other, in_rows)
        _verify_if_it_fits(draft, file)
    return out


def _verify_if_it_fits(draft: Path, file: Path) -> None:
    """Check everything in memory too, unless the file is too large for it."""
    free = free_memory()
    if free is None or estimated_bytes(str(file)) <= free / 2:
        verify(draft)
        return
    warnings.warn(
        f"{file.name} is too large for this memory to verify all that the manifest says; another "
        "engine has counted its rows and promises; run tamis verify on a larger machine",
        TamisWarning,
        stacklevel=3,
    )


def _write_rows(found: LargeOutcome, file: Path, private: Path) -> None:
    """Stream the rows, sorted by a salted hash of their cells, then by the cells themselves.

    The order depends on the set of rows alone, never on the order they came in.
    """
    large, seed = found.large, found.outcome.settings.seed
    columns = large.columns(found.columns)
    keyed = large.frame.with_columns(content_text(large.frame, columns).alias(KEY))
    rows = large.engine.with_hash(keyed, KEY, salt_of(seed, "order"))
    last = []
    if large.who:
        whose = rows.drop(KEY).rename({HASH: "place"})
        whose = whose.with_columns(content_text(whose, large.who).alias(KEY))
        # A salt that nobody keeps: with a known one, the numbers could be traced to identifiers.
        rows = large.engine.with_hash(whose, KEY, token_hex(16))
        rows, last = rows.rename({HASH: PERSON, "place": HASH}), [PERSON]
    wanted = rows.select(*columns, HASH, *last).sort(HASH, *columns, *last, nulls_last=True)
    format = _dense_format(found)
    if not large.who:
        write_parts(_named(found, large.engine.batches(wanted)), file, format)
        return
    with (private / PEOPLE).open("w", encoding="ascii") as people:
        people.write(f"{HEADER}\n")
        batches = _tell_people(large.engine.batches(wanted), people)
        write_parts(_named(found, batches), file, format)


def _tell_people(batches: Iterator[pl.DataFrame], file: IO[str]) -> Iterator[pl.DataFrame]:
    """The batches, while the number of the person of each row goes to a file of its own."""
    for batch in batches:
        file.writelines(f"{int(text[:_DIGITS], 16)}\n" for text in batch[PERSON])
        yield batch


def _named(found: LargeOutcome, batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Batches with the real names and types of the columns, and no hash."""
    schema = found.large.shape.frame.schema
    texts = (pl.Categorical, pl.Enum)
    kinds = {c: pl.String if isinstance(schema[c], texts) else schema[c] for c in found.columns}
    columns = found.large.columns(found.columns)
    for batch in batches:
        named = [batch[c].cast(kinds[name]).alias(name) for c, name in zip(columns, found.columns)]
        yield pl.DataFrame(named)


def _counted_again(found: LargeOutcome, file: Path) -> tuple[str, list[int]]:
    """Count the written file on another engine than the one that wrote it.

    The name of that engine, and the rows that the file reaches for each promise.
    """
    large = found.large
    scratch = large.engine.scratch / "again"
    scratch.mkdir()
    kind: type[Engine] = DuckDB if isinstance(large.engine, Polars) else Polars
    other = kind(scratch)
    try:
        with other.trouble():
            in_rows = _recount(found, other, file)
    finally:
        other.close()
    for promise, people, rows in zip(found.promises, found.measured, in_rows):
        if rows < max(people, promise.at_least) or (rows != people and not large.who):
            raise CannotMeet(
                f"the written file has {promise.name} {rows} in rows, where {people} was counted "
                f"before and {promise.at_least} is asked for; nothing was published"
            )
    return other.name, in_rows


def _dense_format(found: LargeOutcome) -> Format:
    format = found.outcome.settings.format
    if format not in ("csv", "parquet"):
        raise InputError(
            f"a table beyond memory is written as csv or parquet, got {format!r}; give --write csv"
        )
    return format


def _recount(found: LargeOutcome, other: Engine, file: Path) -> list[int]:
    source = file
    if found.outcome.settings.format == "csv":
        source = other.scratch / "written.parquet"
        source.mkdir()
        for i, part in enumerate(delimited_chunks(file)):
            part.write_parquet(source / f"part-{i:06}.parquet", statistics=False)
    rows = other.open(source)
    whole = other.small(merge_cells(count_cells(rows, ["c0"]), [])).item()
    if whole != found.large.rows:
        raise CannotMeet(
            f"{whole:,} rows were written of {found.large.rows:,}; nothing was published"
        )
    values = []
    for promise in found.promises:
        columns = [f"c{i}" for i, name in enumerate(found.columns) if name in promise.columns]
        if not columns:
            values.append(whole)
            continue
        sizes = size_counts(other, other.hold(count_cells(rows, columns)), columns, [])
        values.append(int(sizes[SIZE][0]))
    return values


def _describe(
    found: LargeOutcome,
    draft: Path,
    file: Path,
    origin: dict[str, Any],
    date: str,
    other: str,
    in_rows: list[int],
) -> None:
    """The manifest and both reports, from the sample and from what was counted on all rows."""
    outcome, large = found.outcome, found.large
    exposure, look = large_exposure_facts(found), close_look_facts(outcome)
    shape = large.shape.only(found.columns)
    content = manifest(
        outcome.decision.chosen,
        shape,
        file,
        outcome.settings.format,
        measured=list(found.measured),
        exposure=exposure,
        close_look=look,
        unit=large.shape.unit,
        held_back=held_back(outcome),
        not_promised=_not_promised(found, exposure),
        date=date,
    )
    content["file"]["rows"] = large.rows
    content["promises"] = [
        _entry(found, *each) for each in zip(found.promises, found.measured, in_rows)
    ]
    content["engine"] = _said(found, other)
    summary = _about_all_rows(found, summarise(outcome, content, origin, look, []))
    report = draft / REPORT
    report.write_text(render(summary, "recipient"), encoding="utf-8")
    content["report"] = {"name": report.name, "sha256": digest(report)}
    write_json(draft / NAME, content)
    private = draft / PRIVATE
    (private / REPORT).write_text(render(summary, "holder"), encoding="utf-8")
    write_json(private / "summary.json", summary)
    write_json(private / "scorecard.json", outcome.decision.scorecard.to_dict())
    write_json(private / RECIPE, recipe(outcome, draft, origin, date))
    for path in private.iterdir():
        path.chmod(0o600)


def _entry(found: LargeOutcome, promise: Promise, people: int, rows: int) -> dict[str, Any]:
    large, unit = found.large, found.large.shape.unit
    return {
        "key": promise.name,
        "claim": claim(promise, unit),
        "unit": unit,
        "columns": sorted(promise.columns),
        "at_least": promise.at_least,
        "measured": people,
        "rows_measured": rows,
        "recount": "private" if large.who else "file",
    }


def _said(found: LargeOutcome, other: str) -> dict[str, Any]:
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


def large_exposure_facts(found: LargeOutcome) -> ExposureFacts:
    """Who is unique in the release, counted on all rows."""
    who = found.large.who
    facts = _exposure_facts(found, who)
    return {**facts, "rows": _exposure_facts(found, [])} if who else facts


def _exposure_facts(found: LargeOutcome, who: list[str]) -> ExposureFacts:
    large, settings = found.large, found.outcome.settings
    shown = shown_from(settings.k if who else 1)
    known = sorted({c for promise in found.promises[:1] for c in promise.columns})
    columns, every = large.columns(known), large.columns(found.columns)
    cells = large.engine.hold(count_cells(large.frame, [*every, *who]))
    groups, of, members = alike_counts(large.engine, cells, columns, every[-1], who)
    k, unique = _crowd(large, columns, who)
    least, alone = _crowd(large, every, who)
    total = large.rows if not who else int(_people(large, who))
    members_shown = shown(members)
    return {
        "unit": large.shape.unit if who or not large.who else "rows",
        "asked": settings.k,
        "total": total,
        "known": {"columns": known, "kind": "equal", "k": shown(k), "unique": shown(unique)},
        "everything": {"k": shown(least), "unique": shown(alone)},
        "same_target": {
            "groups": None if members_shown is None else groups,
            "of": of,
            "members": members_shown,
        },
    }


def _people(large: LargeTable, who: list[str]) -> int:
    counted = count_cells(count_cells(large.frame, who), who)
    return int(large.engine.small(merge_cells(counted, [])).item())


def _not_promised(found: LargeOutcome, exposure: ExposureFacts) -> list[str]:
    outcome = found.outcome
    return not_promised(
        found.promises,
        outcome.table.unit,
        alone=(exposure["everything"]["k"] or 0) < outcome.settings.k,
        sensitive_released=outcome.table.sensitive == outcome.table.target,
        several=bool(found.large.who),
    )


def _about_all_rows(found: LargeOutcome, summary: Summary) -> Summary:
    """A summary of the sample, corrected where all rows were counted."""
    rows, sample = found.large.rows, found.sample
    people = summary["exposure"]["total"] if summary["exposure"] else rows
    table: TableFacts = {
        **summary["table"],
        "rows": rows,
        "rows_released": rows,
        "people": people,
        "people_released": people,
    }
    note = (
        f"The table has {rows:,} rows. Models were trained and evaluated on {sample.table.rows:,} "
        "of them, drawn by a salted hash; what is promised, and who is unique, was counted on all."
    )
    again: Setting = {"label": "Reproduce the same bytes", "value": "run the same command again"}
    private = [again if s["label"] == again["label"] else s for s in summary["recipe"]["private"]]
    return {
        **summary,
        "table": table,
        "same_sensitive": None,
        "classes": None,
        "recipe": {**summary["recipe"], "private": private},
        "notes": [{"level": "note", "text": note, "public": True}, *summary["notes"]],
    }
