"""`manifest.json`: what was released, what holds for it, and what does not.

It names no column that was held back, no seed and no value of a cell.
"""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from tamis import __version__
from tamis.errors import CannotMeet
from tamis.evaluate.scorecard import Row
from tamis.publishing.cells import RULE, safe_names
from tamis.publishing.promises import claim
from tamis.publishing.release_file import Format, digest

SCHEMA = "tamis-release"
SCHEMA_VERSION = 1
NAME = "manifest.json"
_PACKAGES = ("numpy", "polars", "scikit-learn", "scipy")
_TOLD = ("performance", "auc", "f_measure", "pbi")


def manifest(
    row: Row,
    frame: pl.DataFrame,
    file: Path,
    format: Format,
    *,
    measured: list[int],
    held_back: int,
    not_promised: list[str],
    date: str,
) -> dict[str, Any]:
    """The manifest of a release whose file is written; `measured` are its promises' values.

    Of drawn rows it has no figures that were measured on people and no number of columns that were
    held back, for no epsilon covers these.
    """
    release = row.release
    parameters = dict(release.recipe.public)
    budget = parameters.pop("budget", None)
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "date": date,
        "file": {
            "name": file.name,
            "format": format,
            "sha256": digest(file),
            "rows": frame.height,
            "missing": "an empty cell" if format == "csv" else "null",
            "texts": RULE if format == "csv" else "as they are",
        },
        "columns": _columns(release.table.target, frame, format),
        **({} if release.is_drawn else {"held_back": held_back}),
        "method": {"name": release.recipe.method, "parameters": parameters},
        "promises": [
            {
                "key": promise.name,
                "claim": claim(promise),
                "columns": list(promise.columns),
                "at_least": promise.at_least,
                "measured": value,
            }
            for promise, value in zip(release.promises, measured)
        ],
        "measured": [] if release.is_drawn else _measured(row),
        "not_promised": not_promised,
        "versions": versions(),
    }
    return content | ({"budget": budget} if budget else {})


def versions() -> dict[str, str]:
    """What made the release."""
    found = {"tamis": __version__, "python": platform.python_version()}
    return found | {name: version(name) for name in _PACKAGES}


def write_json(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """A JSON document of a release; an error where it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise CannotMeet(f"there is no {path.name} in {path.parent}") from None
    except (ValueError, RecursionError):
        raise CannotMeet(f"{path.name} is not a JSON document") from None


def _columns(target: str, frame: pl.DataFrame, format: Format) -> list[dict[str, Any]]:
    headers = safe_names(frame.columns) if format == "csv" else frame.columns
    return [
        {
            "name": name,
            "header": header,
            "kind": "number" if frame.schema[name].is_numeric() else "nominal",
            "role": "target" if name == target else "feature",
        }
        for name, header in zip(frame.columns, headers)
    ]


def _measured(row: Row) -> list[dict[str, Any]]:
    figures = {name: row.figures.get(name) for name in _TOLD}
    return [{"key": name, **f.to_dict()} for name, f in figures.items() if f is not None]
