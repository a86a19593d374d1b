"""Releases as a forger would leave them, for the tests of `verify`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from tamis.dp.budget import NEIGHBOURS
from tamis.formulas import safe_names
from tamis.publication.manifest import versions
from tamis.stated import sentence
from tamis.table import kind_of
from tamis.table_file import ROW_GROUP, WRITTEN, read_release, write_release
from tamis.verification.checks import equals_by_grouping, recounted
from tamis.verification.claims import possible_not_promised
from tamis.verification.layout import SCHEMA, SCHEMA_VERSION, digest, write_json
from tamis.verification.shape import OF_PEOPLE_ALONE, in_place


def edited(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """A careful forger writes the manifest as tamis does, its keys in their order."""
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    write_json(path, in_place(content))


def rehashed(folder: Path) -> None:
    """A careful forger also puts the new hash and the number of rows into the manifest."""
    file = folder / "release.csv"
    lines = file.read_text().splitlines()
    edited(folder, lambda m: m["file"].update(sha256=digest(file), rows=len(lines) - 1))


def rewritten(folder: Path, change: Callable[[list[str]], list[str]]) -> None:
    file = folder / "release.csv"
    file.write_text("\n".join(change(file.read_text().splitlines())) + "\n")
    rehashed(folder)


def relaid(
    folder: Path, change: Callable[[pl.DataFrame], pl.DataFrame], stated: bool = False
) -> None:
    """A forger who changes rows of a csv file with tamis at hand: every figure fits them again."""
    file = folder / "release.csv"
    content = json.loads((folder / "manifest.json").read_text())
    described = {column["name"]: column for column in content["columns"]}
    target = next(name for name, column in described.items() if column["role"] == "target")
    rows = change(pl.read_csv(file))
    rows = rows.select(*sorted({*rows.columns} - {target}), target)
    rows = rows.sort(rows.columns)
    write_release(rows, file, "csv")
    back = read_release(file, "csv", rows.columns, [])
    content["file"] |= {"sha256": digest(file), "rows": rows.height}
    content["columns"] = [
        described.get(name)
        or {
            **{"name": name, "header": safe_names([name])[0], "kind": kind_of(dtype)},
            **{"role": "feature", "stated": stated},
        }
        for name, dtype in rows.schema.items()
    ]
    for entry in content["promises"]:
        reached = equals_by_grouping(back.select(entry["columns"]))
        entry |= {"measured": reached, "rows_measured": reached}
    known = content["exposure"]["known"]
    figures: dict[str, Any] = recounted(back, known["columns"], known["kind"], target)
    content["exposure"] |= {**figures, "total": rows.height, "known": known | figures["known"]}
    content["not_promised"] = next(possible_not_promised(content))
    write_json(folder / "manifest.json", in_place(content))


def drawn(folder: Path, **changes: Any) -> None:
    """Real rows of a csv file, with a manifest that calls them synthetic, at a made-up cost."""
    rows = pl.read_csv(folder / "release.csv")

    def change(content: dict[str, Any]) -> None:
        for key in OF_PEOPLE_ALONE:
            content.pop(key, None)
        parts = [{"what": "counts of the grid", "epsilon": 0.05, "delta": 0.0}]
        parts += [{"what": "counts of the boxes", "epsilon": 0.05, "delta": 0.0}]
        domain = {c["name"]: _domain(rows[c["name"]], c["kind"]) for c in content["columns"]}
        content["promises"], content["measured"] = [], []
        content["method"] = {"name": "dp", "parameters": {"kind": "partition"}}
        content["budget"] = {
            "epsilon": 0.1,
            "delta": 0.0,
            "neighbours": "add-remove",
            "neighbours_in_words": NEIGHBOURS["add-remove"],
            "unit": "row",
            "spent": parts,
            "max_rows_per_person": None,
            "bounds": {n: d.get("values") or [d["low"], d["high"]] for n, d in domain.items()},
            "domain": domain,
            "bounds_from_data": [],
            "guarantee": True,
            **changes,
        }
        content["not_promised"] = next(possible_not_promised(content))

    edited(folder, change)


def _domain(cells: pl.Series, kind: str) -> dict[str, Any]:
    rest = {"other": False, "missing": False}
    if kind == "number":
        return {"type": "integer", "low": cells.min(), "high": cells.max(), **rest}
    values = sorted(str(value) for value in cells.drop_nulls().unique())
    return {"type": "category", "values": values, **rest}


def hand_made(folder: Path, frame: pl.DataFrame, k: int) -> Path:
    """A release of a parquet file that somebody else wrote, with a manifest that fits it."""
    folder.mkdir()
    file, report = folder / "release.parquet", folder / "report.html"
    frame = frame.sort(frame.columns)
    frame.write_parquet(file, statistics=False, row_group_size=ROW_GROUP)
    report.write_text("<p>")
    columns = [
        {
            "name": c,
            "header": c,
            "kind": "number" if t.is_numeric() else "nominal",
            "role": "target" if c == "y" else "feature",
            "stated": c == "y",
        }
        for c, t in frame.schema.items()
    ]
    promise = {"key": "k_anonymity", "columns": ["x"], "at_least": k, "unit": "people"}
    alone: dict[str, Any] = recounted(frame, ["x"], "equal", "y")
    alone["known"] |= {"columns": ["x"], "kind": "equal"}
    stated = {"name": file.name, "format": "parquet", "sha256": digest(file), "rows": frame.height}
    figure = {"value": 0.5, "interval": None}
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "date": "2026-11-15",
        "file": {**stated, **WRITTEN["parquet"]},
        "columns": columns,
        "held_back": 0,
        "promises": [
            {
                **promise,
                "claim": sentence(promise),
                "measured": k,
                "rows_measured": k,
                "recount": "file",
            }
        ],
        "exposure": {"unit": "people", "asked": 1, "total": frame.height, **alone},
        "method": {"name": "everything", "parameters": {}},
        "measured": [],
        "close_look": {
            "accuracy": figure,
            "guessing": 0.5,
            "bits": figure,
            "beside": {"name": "naive Bayes", "accuracy": figure, "auc": None},
            **{"auc": None, "known": None, "group": None, "surest": [], "largest": []},
        },
        "versions": versions(),
        "report": {"name": report.name, "sha256": digest(report)},
    }
    content["not_promised"] = next(possible_not_promised(content))
    write_json(folder / "manifest.json", in_place(content))
    return folder
