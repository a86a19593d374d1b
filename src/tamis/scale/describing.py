"""The manifest and the reports of a release of all rows, most figures of which are of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tamis.engine.backend import Engine
from tamis.publish.bundle import held_back, recipe
from tamis.publish.coarse_columns import Bound, with_bounds
from tamis.publish.kept_told import close_look_facts
from tamis.publish.layout import NAME, PRIVATE, RECIPE, REPORT, digest, write_json
from tamis.publish.manifest import manifest
from tamis.publish.promises import claim, not_promised
from tamis.publish.report import render
from tamis.publish.summarise import summarise
from tamis.publish.summary import ExposureFacts, Setting, Summary, TableFacts
from tamis.release import Promise
from tamis.scale.coarse import plain_kind
from tamis.scale.diverse import stated_groups
from tamis.scale.exposed import ReleasedRows
from tamis.scale.search import LargeOutcome
from tamis.table_file import Format


@dataclass(frozen=True, eq=False)
class FileShape:
    """What columns a file has.

    Parameters
    ----------
    frame : polars.DataFrame
        The columns and their types, without rows.
    bounds : mapping of name to Bound
        Those that hold ends of the intervals of another column.
    """

    frame: pl.DataFrame
    bounds: Mapping[str, Bound]

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
    draft: Path,
    file: Path,
    shape: FileShape,
    origin: dict[str, Any],
    date: str,
    other: Engine,
) -> None:
    """Write the manifest and both reports, from the sample and from what was counted on all rows.

    Parameters
    ----------
    found : LargeOutcome
    draft, file : Path
        The folder, and the rows that are written there already.
    shape : FileShape
    origin : dict
        How the table was read.
    date : str
    other : Engine
        What will count the file again.
    """
    outcome, large, rows = found.outcome, found.large, released_rows(found)
    known = sorted({c for promise in found.promises[:1] for c in promise.columns})
    exposure = rows.exposure(known, outcome.settings.k, large.shape.unit)
    look = close_look_facts(outcome)
    content = manifest(
        outcome.decision.chosen,
        shape.frame,
        file,
        outcome.settings.format,
        measured=list(found.measured),
        exposure=exposure,
        close_look=look,
        unit=large.shape.unit,
        held_back=held_back(outcome),
        not_promised=_not_promised(found, exposure),
        date=date,
        coarser={name: column.stated() for name, column in found.coarse.items()},
        bounds=shape.bounds,
    )
    content["file"]["rows"] = large.rows
    content["promises"] = [
        _entry(found, promise, people, rows.reached(promise.columns, in_people=False))
        for promise, people in zip(found.promises, found.measured)
    ]
    content["engine"] = _said(found, other.name)
    risks, diverse = stated_groups(
        outcome.settings, large, known, found.measured[0], dict(found.beyond_k)
    )
    public = large.shape.sensitive == large.shape.target
    if stated := [*risks, *(diverse if public else ())]:
        content["diversity"] = stated
    private_only = [] if public else diverse
    summary = _about_all_rows(found, summarise(outcome, content, origin, look, [], private_only))
    report = draft / REPORT
    report.write_text(render(summary, "recipient"), encoding="utf-8")
    content["report"] = {"name": report.name, "sha256": digest(report)}
    write_json(draft / NAME, content)
    _write_private(found, draft, summary, recipe(outcome, draft, origin, date, diverse))


def _write_private(found: LargeOutcome, draft: Path, summary: Summary, how: dict[str, Any]) -> None:
    private = draft / PRIVATE
    (private / REPORT).write_text(render(summary, "holder"), encoding="utf-8")
    write_json(private / "summary.json", summary)
    write_json(private / "scorecard.json", found.outcome.decision.scorecard.to_dict())
    write_json(private / RECIPE, how)
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
