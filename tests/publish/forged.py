"""Releases as a forger would leave them, for the tests of `verify`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from tamis.publish.checks import recounted
from tamis.publish.layout import SCHEMA, SCHEMA_VERSION, digest, write_json
from tamis.publish.promises import claim
from tamis.release import Promise
from tamis.table_file import WRITTEN


def edited(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def rehashed(folder: Path) -> None:
    """A careful forger also puts the new hash and the number of rows into the manifest."""
    file = folder / "release.csv"
    lines = file.read_text().splitlines()
    edited(folder, lambda m: m["file"].update(sha256=digest(file), rows=len(lines) - 1))


def rewritten(folder: Path, change: Callable[[list[str]], list[str]]) -> None:
    file = folder / "release.csv"
    file.write_text("\n".join(change(file.read_text().splitlines())) + "\n")
    rehashed(folder)


def hand_made(folder: Path, frame: pl.DataFrame, k: int) -> Path:
    """A release of a parquet file that somebody else wrote, with a manifest that fits it."""
    folder.mkdir()
    file, report = folder / "release.parquet", folder / "report.html"
    frame.write_parquet(file)
    report.write_text("<p>")
    columns = [
        {
            "name": c,
            "header": c,
            "kind": "number" if t.is_numeric() else "nominal",
            "role": "target" if c == "y" else "feature",
        }
        for c, t in frame.schema.items()
    ]
    promise = Promise("k_anonymity", k, ("x",))
    alone: dict[str, Any] = recounted(frame, ["x"], "equal", "y")
    alone["known"] |= {"columns": ["x"], "kind": "equal"}
    stated = {"name": file.name, "format": "parquet", "sha256": digest(file), "rows": frame.height}
    content = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "file": {**stated, **WRITTEN["parquet"]},
        "columns": columns,
        "promises": [
            {
                "key": "k_anonymity",
                "claim": claim(promise),
                "columns": ["x"],
                "at_least": k,
                "measured": k,
                "unit": "people",
            }
        ],
        "exposure": {"unit": "people", "asked": 1, "total": frame.height, **alone},
        "method": {"name": "hand", "parameters": {}},
        "report": {"name": report.name, "sha256": digest(report)},
        "not_promised": [],
    }
    write_json(folder / "manifest.json", content)
    return folder
