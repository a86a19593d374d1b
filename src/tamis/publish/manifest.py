"""`manifest.json`: what was released, what is promised about it, and what is not.

It names no column that was held back, no seed and no cell value, and has no figure that depends on
what was held back: nothing about the sensitive column unless that is the target, no comparison
with the original but one (`kept`, in whole percent), and columns in the order of their names.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from tamis import __version__
from tamis.evaluate.figure import Figure
from tamis.evaluate.scorecard import Row
from tamis.publish.bits_facts import CloseLookFacts
from tamis.publish.coarse_columns import Bound
from tamis.publish.kept_told import share_facts
from tamis.publish.layout import SCHEMA, SCHEMA_VERSION, digest
from tamis.publish.left_out import in_hundredths, stated_left_out
from tamis.publish.promises import claim
from tamis.publish.sparse_file import classes_of
from tamis.publish.sparse_reader import WRITTEN
from tamis.publish.summary import ExposureFacts, Unit
from tamis.release import Promise, Release
from tamis.table import Table, kind_of
from tamis.table_file import safe_names

_PACKAGES = ("numpy", "polars", "scikit-learn", "scipy")
_MEASURES = ("kept", "useful", "performance", "auc", "f_measure")


def manifest(
    row: Row,
    frame: pl.DataFrame,
    file: Path,
    format: str,
    *,
    measured: list[int],
    exposure: ExposureFacts | None,
    close_look: CloseLookFacts,
    unit: Unit,
    held_back: int,
    not_promised: list[str],
    date: str,
    coarser: Mapping[str, dict[str, Any]] | None = None,
    bounds: Mapping[str, Bound] | None = None,
) -> dict[str, Any]:
    """The manifest of a release whose file is written; `measured` holds its promises' values.

    `exposure` says who is unique in it, `close_look` how well its target is guessed, `unit` what is
    counted, people or rows, `coarser` how columns in a coarser form are read, and `bounds` which
    columns hold the ends of their intervals.

    For synthetic rows it has no figures that were measured on people and no number of columns held
    back, because no epsilon covers these.
    """
    release = row.release
    parameters = dict(release.recipe.public)
    budget = parameters.pop("budget", None)
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "date": date,
        "file": _file(file, frame, format),
        "columns": _columns(release.table, frame, format, coarser or {}, bounds or {}),
        **({} if release.is_drawn else {"held_back": held_back}),
        "method": {"name": release.recipe.method, "parameters": parameters},
        "promises": [
            promise_entry(promise, unit, value)
            for promise, value in zip(release.promises, measured)
        ],
        **({} if release.kept is None else {"suppressed": stated_left_out(release)}),
        "measured": [] if release.is_drawn else _measured(row),
        **({} if release.is_drawn else {"close_look": _close_look(close_look, release)}),
        "not_promised": not_promised,
        "versions": versions(),
    }
    content |= {"exposure": exposure} if exposure else {}
    return content | ({"budget": budget} if budget else {})


def versions() -> dict[str, str]:
    """What made the release."""
    found = {"tamis": __version__, "python": platform.python_version()}
    return found | {name: version(name) for name in _PACKAGES}


def _file(file: Path, frame: pl.DataFrame, format: str) -> dict[str, Any]:
    return {
        "name": file.name,
        "format": format,
        "sha256": digest(file),
        "rows": frame.height,
        **WRITTEN[format],
        **({"classes": classes_of(frame)} if format == "svm" else {}),
    }


def promise_entry(promise: Promise, unit: Unit, measured: int) -> dict[str, Any]:
    """What the manifest says of a promise, and what the written file reaches of it."""
    return {
        "key": promise.name,
        "claim": claim(promise, unit),
        "unit": unit,
        "columns": sorted(promise.columns),
        "at_least": promise.at_least,
        **({"absences": promise.absences} if promise.absences else {}),
        "measured": measured,
    }


def _columns(
    table: Table,
    frame: pl.DataFrame,
    format: str,
    coarser: Mapping[str, dict[str, Any]],
    bounds: Mapping[str, Bound],
) -> list[dict[str, Any]]:
    stated = {table.target, *table.roles.plain, *(table.roles.quasi or ()), *bounds}
    roles = {name: f"{bound.end} bound" for name, bound in bounds.items()} | {
        table.target: "target"
    }
    headers = safe_names(frame.columns) if format == "csv" else frame.columns
    return [
        {
            "name": name,
            "header": header,
            "kind": kind_of(frame.schema[name]),
            "role": roles.get(name, "feature"),
            "stated": name in stated,
            **({"of": bounds[name].of} if name in bounds else {}),
            **({"coarser": coarser[name]} if name in coarser else {}),
        }
        for name, header in zip(frame.columns, headers)
    ]


def _measured(row: Row) -> list[dict[str, Any]]:
    figures = {name: row.figures.get(name) for name in _MEASURES}
    if kept := figures["kept"]:
        figures["kept"] = _rounded(kept)
    found = [{"key": name, **f.to_dict()} for name, f in figures.items() if f is not None]
    return found if row.release.kept is None else in_hundredths(found)


def _rounded(kept: Figure) -> Figure:
    share = in_hundredths(share_facts(kept))
    ends = share["interval"]
    return Figure(share["value"], ends and ends["low"], ends and ends["high"])


def _close_look(look: CloseLookFacts, release: Release) -> dict[str, Any]:
    """How well strong learners guess the target; what all columns would give is left out."""
    found = {key: value for key, value in look["target"].items() if key != "share"}
    return found if release.kept is None else in_hundredths(found)
