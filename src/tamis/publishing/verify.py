"""`verify`: read a published folder again and check everything that its manifest says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any

import polars as pl

from tamis.errors import CannotMeet, InputError, listed
from tamis.publishing.checks import measure
from tamis.publishing.manifest import NAME, SCHEMA, SCHEMA_VERSION, read_json
from tamis.publishing.release_file import digest, read_release
from tamis.read.guess import identifier_like
from tamis.release import Promise
from tamis.table import bare

FORMATS = ("csv", "parquet")
ROUNDING = 1e-9
RANGED = ("number", "feature")
"""Columns whose public bounds are a range; of others, every possible value is listed."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; `wrong` says what does not hold."""

    name: str
    wrong: str = ""

    @property
    def holds(self) -> bool:
        return not self.wrong


@dataclass(frozen=True)
class Verified:
    """A published folder whose every check holds.

    `private` tells whether the holder's part was there to be checked too.
    """

    checks: tuple[Check, ...]
    manifest: dict[str, Any]
    private: bool


def verify(folder: str | Path) -> Verified:
    """Check a published folder by code that did not make it.

    Parameters
    ----------
    folder : path
        What `publish` wrote, with or without its private part.

    Returns
    -------
    Verified
        `CannotMeet` names everything that does not hold.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"no folder {folder} to verify")
    content = read_json(folder / NAME)
    checks = [_checked("manifest", lambda: _wrong_shape(content))]
    if checks[0].holds:
        checks += _all_checks(folder, content)
    failed = [check for check in checks if not check.holds]
    if failed:
        raise CannotMeet(
            f"{folder} does not hold what it says: " + "; ".join(c.wrong for c in failed)
        )
    return Verified(tuple(checks), content, (folder / "private").is_dir())


def _all_checks(folder: Path, content: dict[str, Any]) -> Iterator[Check]:
    yield _checked("files", lambda: _strange_files(folder, content))
    yield _checked("hash", lambda: _wrong_hashes(folder, content))
    path = folder / content["file"]["name"]
    try:
        frame = read_release(path, content["file"]["format"])
    except CannotMeet as error:
        yield Check("schema", str(error))
        return
    yield _checked("schema", lambda: _wrong_columns(frame, content))
    for entry in content["promises"]:
        yield _checked(str(entry["key"]), partial(_wrong_promise, frame, entry))
    yield _checked("budget", lambda: _wrong_budget(frame, content))
    yield _checked("identifiers", lambda: _identifiers(folder, frame, content))
    if (folder / "private").is_dir():
        yield _checked("private", lambda: _wrong_private(folder))


def _checked(name: str, look: Callable[[], str]) -> Check:
    """A check; a manifest that is odd in a way nobody thought of fails it too."""
    try:
        return Check(name, look())
    except CannotMeet as error:
        return Check(name, str(error))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        return Check(name, f"the manifest is malformed ({type(error).__name__} at {name})")


def _wrong_shape(content: Any) -> str:
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        return f"{NAME} is not the manifest of a release"
    if content.get("schema_version") != SCHEMA_VERSION:
        return f"{NAME} is of another version than this tamis reads ({SCHEMA_VERSION})"
    parts = {"file": dict, "columns": list, "promises": list, "method": dict, "report": dict}
    if odd := [name for name, kind in parts.items() if not isinstance(content.get(name), kind)]:
        return f"{NAME} lacks {listed(odd)}"
    name = content["file"].get("name")
    if content["file"].get("format") not in FORMATS or name != Path(str(name)).name:
        return f"{NAME} does not name a csv or parquet file of its own folder"
    return ""


def _strange_files(folder: Path, content: dict[str, Any]) -> str:
    known = {NAME, content["file"]["name"], content["report"]["name"], "private"}
    here = {path.name for path in folder.iterdir()}
    if strange := sorted(here - known):
        return f"the folder holds {listed(strange)}, which the manifest does not know"
    if lacking := sorted(known - here - {"private"}):
        return f"the folder lacks {listed(lacking)}"
    return ""


def _wrong_hashes(folder: Path, content: dict[str, Any]) -> str:
    for entry in (content["file"], content["report"]):
        path = folder / entry["name"]
        if path.is_symlink() or not path.is_file() or digest(path) != entry["sha256"]:
            return f"{entry['name']} is not the file that was published (its SHA-256 differs)"
    return ""


def _wrong_columns(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    said = [column["name"] for column in content["columns"]]
    if frame.columns != said:
        return f"the columns of the file are not those of the manifest ({len(said)} in it)"
    if frame.height != content["file"]["rows"]:
        return f"the file has {frame.height} rows, the manifest says {content['file']['rows']}"
    if [c["role"] for c in content["columns"]].count("target") != 1:
        return "the manifest does not name one target"
    for column in content["columns"]:
        cells = bare(frame[column["name"]])
        if column["kind"] == "number" and not _numbers(cells):
            return f"column {column['name']!r} is said to hold numbers and does not"
    return ""


def _numbers(cells: pl.Series) -> bool:
    read = cells.cast(pl.Float64, strict=False)
    return cells.null_count() == read.null_count()


def _wrong_promise(frame: pl.DataFrame, entry: dict[str, Any]) -> str:
    if entry["key"] not in ("k_anonymity", "containment_anonymity"):
        return f"the promise {entry['key']!r} is none that can be checked"
    promise = Promise(entry["key"], int(entry["at_least"]), tuple(entry["columns"]))
    value = measure(promise, frame)
    if value < promise.at_least:
        return f"{promise.name} is {value}, below the promised {promise.at_least}"
    if value != entry["measured"]:
        return f"{promise.name} is {value}, the manifest says {entry['measured']}"
    return ""


def _wrong_budget(frame: pl.DataFrame, content: dict[str, Any]) -> str:
    budget = content.get("budget")
    if budget is None:
        return ""
    spent = fsum(float(part["epsilon"]) for part in budget["spent"])
    if spent > float(budget["epsilon"]) + ROUNDING:
        return f"the parts of the privacy budget add up to {spent:g}, above {budget['epsilon']:g}"
    ranged = {c["name"] for c in content["columns"] if (c["kind"], c["role"]) == RANGED}
    for name, bound in budget.get("bounds", {}).items():
        if not _within(bare(frame[name]).drop_nulls(), bound, name in ranged):
            return f"column {name!r} has values beyond the public bounds that rows are drawn within"
    return ""


def _within(cells: pl.Series, bound: list[Any], ranged: bool) -> bool:
    if ranged:
        low, high = bound
        return bool(cells.cast(pl.Float64).is_between(low, high).all())
    # Truth values are true and false in JSON and in csv alike.
    allowed = [str(v).lower() if isinstance(v, bool) else str(v) for v in bound]
    return bool(cells.cast(pl.String).is_in(allowed).all())


def _identifiers(folder: Path, frame: pl.DataFrame, content: dict[str, Any]) -> str:
    if like := _unstated(frame, content):
        return f"column {listed(like)} has another value in every row, as identifiers have"
    path = folder / "private" / "recipe.json"
    if path.is_file():
        known = read_json(path)
        kept = {*known["identifiers"], known["sensitive"]} - {known["target"]}
        if shown := sorted(kept & set(frame.columns)):
            return f"column {listed(shown)} must never be released"
    return ""


def _unstated(frame: pl.DataFrame, content: dict[str, Any]) -> list[str]:
    """Columns like identifiers that the holder did not say to be something else.

    Numbers that were drawn or altered differ in every row by themselves.
    """
    numbers = {c["name"] for c in content["columns"] if c["kind"] == "number"}
    stated = {c["name"] for c in content["columns"] if c.get("stated") is True}
    if content["method"]["name"] in ("dp", "noise"):
        stated |= numbers
    return [c for c in identifier_like(frame, numbers) if c not in stated]


def _wrong_private(folder: Path) -> str:
    private = folder / "private"
    if private.is_symlink() or private.stat().st_mode & 0o077:
        return "others may read private/; run chmod 700 on it"
    for name, said in read_json(private / "recipe.json")["sha256"].items():
        path = folder / name
        if not path.is_file() or digest(path) != said:
            return f"{name} is not the file that was published, says private/recipe.json"
    return ""
