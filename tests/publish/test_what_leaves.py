"""Every byte that is handed on: nothing in it tells of what stays."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tamis import Roles, Table
from tamis.flow import Outcome, Settings, consider
from tamis.publish.bundle import publish
from tests.long import daily

from .conftest import DATE

ROWS = 300
SEED = 918_273_645
ORIGIN = {"name": "MARKfile", "path": "/MARKfolder/MARKfile.csv"}
WORDS = Roles(
    target="again",
    sensitive="MARKill",
    quasi=("ward", "MARKplace", "dose"),
    identifiers=("MARKname",),
    dropped=("MARKgone",),
)


def stays() -> Table:
    """Two columns that teach, and four that must stay: each cell of them is marked too."""
    rng = np.random.default_rng(5)
    dose, ward = rng.integers(0, 4, ROWS), rng.integers(0, 3, ROWS)
    ill = rng.random(ROWS) < 0.4
    again = (dose + ward + rng.normal(0, 0.7, ROWS)) > 2.5
    frame = pl.DataFrame(
        {
            "ward": np.array(["west", "south", "north"])[ward],
            "MARKname": [f"MARKperson{i}" for i in range(ROWS)],
            "MARKplace": [f"MARKzip{i % 37}" for i in range(ROWS)],
            "MARKpay": np.where(ill, 7_340_033.25, 7_340_047.75) + rng.integers(0, 9, ROWS),
            "dose": dose,
            "MARKill": np.where(ill, "MARKyes", "MARKno"),
            "MARKother": [f"MARKpart{i}" for i in rng.integers(0, 2, ROWS)],
            "again": np.where(again, "yes", "no"),
            "MARKgone": ["MARKaside"] * ROWS,
        }
    )
    return Table(frame, WORDS)


WAYS: dict[str, dict[str, Any]] = {
    "breach": {"breach": {"search": "walk", "folds": 3}},
    "containment": {"containment": {"ks": [20], "utilities": ["difference"]}},
}


def considered(table: Table, way: str, **changes: Any) -> Outcome:
    """What is found of a table, the choice being that of dose and ward in some form."""
    settings = Settings(methods=WAYS[way], attackers=("nb",), seed=SEED)
    outcome = consider(table, replace(settings, **changes))
    (chosen,) = (
        row
        for row in outcome.decision.scorecard.candidates
        if {name.split()[0] for name in row.release.features} == {"dose", "ward"}
    )
    return replace(outcome, decision=replace(outcome.decision, chosen=chosen))


def handed_on(outcome: Outcome, out: Path, origin: Any = ORIGIN) -> dict[str, bytes]:
    """The public files by their names."""
    folder = publish(outcome, out, origin=origin, date=DATE)
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module", params=daily(WAYS, "breach"))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def first(way: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return handed_on(considered(stays(), way), tmp_path_factory.mktemp("first") / "out")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_no_public_byte_is_marked(way: str, format: Any, tmp_path: Path):
    outcome = considered(stays(), way, format=format)
    for name, content in handed_on(outcome, tmp_path / "out").items():
        for mark in (b"MARK", b"73400", str(SEED).encode(), str(tmp_path).encode()):
            assert mark not in content, f"{mark!r} is in {name}"


def other_names(table: Table) -> Table:
    frame = table.frame.rename({c: f"another {c}" for c in table.frame.columns if "MARK" in c})
    code, name, ill = (f"another {c}" for c in ("MARKplace", "MARKname", "MARKill"))
    roles = replace(
        WORDS, sensitive=ill, quasi=("ward", code, "dose"), identifiers=(name,), dropped=("else",)
    )
    return Table(frame, roles)


def other_order(table: Table) -> Table:
    frame = table.only(sorted(table.frame.columns, reverse=True))
    return Table(frame, replace(WORDS, quasi=("dose", "ward", "MARKplace")))


def other_secret(table: Table) -> Table:
    return table.with_roles(sensitive="MARKother", quasi=("ward", "MARKplace", "dose"))


def other_cells(table: Table) -> Table:
    """What stays has other values, as many of each."""
    shuffled = table.frame.get_column("MARKpay").shuffle(seed=3)
    return Table(table.frame.with_columns(shuffled), WORDS)


@pytest.mark.parametrize("change", [other_names, other_order, other_secret, other_cells])
def test_originals_that_differ_in_what_stays_give_the_same_bytes(
    way: str, first: dict[str, bytes], change: Callable[[Table], Table], tmp_path: Path
):
    other = considered(change(stays()), way)
    origin = {"name": "another", "path": "/elsewhere/another.parquet"}
    found = without_kept(handed_on(other, tmp_path / "out", origin))
    assert found == without_kept(first)
    assert b"Keeps" in first["report.html"]
    assert b"Keeps" not in found["report.html"]


def without_kept(files: dict[str, bytes]) -> dict[str, bytes]:
    """All that is handed on but the one figure, in whole percent, that compares with what stays."""
    content = json.loads(files["manifest.json"])
    (kept,) = (entry for entry in content["measured"] if entry["key"] == "kept")
    assert all(round(100 * kept[key], 9).is_integer() for key in ("value", "low", "high"))
    content["measured"].remove(kept)
    del content["report"]["sha256"]
    headline = re.compile(rb'<div class="headline">.*?</div>', re.DOTALL)
    return {
        **files,
        "manifest.json": json.dumps(content).encode(),
        "report.html": headline.sub(b"", files["report.html"]),
    }


def test_rows_in_another_order_give_the_same_rows(
    way: str, first: dict[str, bytes], tmp_path: Path
):
    table = stays()
    turned = considered(Table(table.frame.reverse(), WORDS), way)
    assert handed_on(turned, tmp_path / "out")["release.csv"] == first["release.csv"]
