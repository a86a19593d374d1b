"""A release of a table behind an engine: searched on a sample, counted and written whole."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from tamis.errors import CannotMeet, InputError
from tamis.flow import Outcome, Settings, consider
from tamis.publication import streamed
from tamis.publication.bundle import publish
from tamis.rows.engines import DuckDB, Engine, Polars
from tamis.rows.sources import open_large
from tamis.table import sort_by_content
from tamis.verification.verify import verify
from tests.long import daily


def visits(rows: int = 3000, seed: int = 0) -> pl.DataFrame:
    """A table that teaches, with people who have several rows and a rare combination."""
    rng = np.random.default_rng(seed)
    age, dose = rng.integers(0, 6, rows), np.round(rng.normal(size=rows), 1) + 0.0
    ill = age + dose + 0.5 * rng.normal(size=rows) > 3
    return pl.DataFrame(
        {
            "who": rng.integers(0, rows, rows),
            "age": age * 10,
            "dose": dose,
            "place": [f"p{i}" for i in rng.integers(0, 4, rows)],
            "ill": np.where(ill, "yes", "no"),
            "hiv": np.where(rng.random(rows) < 0.2 + 0.1 * age, "p", "n"),
        }
    )


SETTINGS = Settings(k=5, methods={"breach": {}}, attackers=("nb",), format="csv")
ROLES: dict[str, Any] = {
    "target": "ill",
    "sensitive": "hiv",
    "quasi": ("age", "place"),
    "drop": ("who",),
}
PEOPLE = {**ROLES, "drop": (), "identifier": ("who",)}


def released(
    frame: pl.DataFrame, folder: Path, kind: type[Engine], settings: Settings = SETTINGS, **roles
) -> Path:
    folder.mkdir()
    (folder / "scratch").mkdir()
    frame.write_parquet(folder / "rows.parquet")
    engine = kind(folder / "scratch")
    try:
        large = open_large(engine, str(folder / "rows.parquet"), **(roles or ROLES))
        found = consider(large, settings, sample=1000)
        return publish(found, folder / "out", date="2026-01-01")
    finally:
        engine.close()


@pytest.mark.parametrize("roles", daily([ROLES, PEOPLE], PEOPLE), ids=["rows", "people"])
def test_both_engines_publish_the_same_bytes_in_any_order(tmp_path, roles):
    frame = visits()
    one = released(frame, tmp_path / "a", DuckDB, **roles)
    two = released(frame.sample(fraction=1, shuffle=True, seed=3), tmp_path / "b", Polars, **roles)
    assert (one / "release.csv").read_bytes() == (two / "release.csv").read_bytes()
    for out in (one, two):
        verify(out)
    said = json.loads((one / "manifest.json").read_text())
    assert said["file"]["rows"] == frame.height
    assert said["engine"]["counted"]["rows"] == frame.height
    assert said["engine"]["counted"]["again_by"] == "polars"
    assert said["engine"]["sampled"]["rows"] < 1300
    assert (one / "private" / "people.csv").exists() == (roles is PEOPLE)


def test_the_file_holds_the_rows_of_the_table(tmp_path):
    frame = visits()
    out = released(frame, tmp_path / "a", DuckDB, replace(SETTINGS, format="parquet"))
    found = pl.read_parquet(out / "release.parquet")
    columns = found.columns
    assert found.equals(sort_by_content(frame.select(columns)))
    assert not found.equals(frame.select(columns))


ODD = pl.DataFrame(
    {
        "age": [10.0, 9.5, None, -0.0, float("nan"), 0.0] * 60,
        "place": ["Z", "a", "", None, "é", "z"] * 60,
        "well": [True, None, False, False, True, True] * 60,
        "y": ["u", "v", "v"] * 120,
    }
)


@pytest.mark.parametrize("kind", [DuckDB, Polars])
def test_every_engine_has_the_order_of_memory(tmp_path, kind):
    asked = replace(SETTINGS, format="parquet", methods={"front": {}})
    roles = {"target": "y", "feature": ("place",)}  # which gives y away
    out = released(ODD.reverse(), tmp_path / "a", kind, asked, **roles)
    found = pl.read_parquet(out / "release.parquet")
    assert found.width > 1
    assert found.equals(sort_by_content(ODD.select(found.columns)))


def test_k_is_counted_on_rows_that_the_sample_lacks(tmp_path):
    """One rare person among thousands is not in the sample, but must not be released alone."""
    frame = visits()
    rare = frame.head(1).with_columns(age=pl.lit(990, pl.Int64), place=pl.lit("nowhere"))
    found = released(pl.concat([frame, rare]), tmp_path / "a", DuckDB)
    promise = json.loads((found / "manifest.json").read_text())["promises"][0]
    assert promise["columns"] == []  # neither age nor place hides this person
    assert "990" not in (found / "release.csv").read_text()


def test_columns_of_zeros_and_ones_are_promised_by_equality(tmp_path):
    """A sample can only seem to be of 0 and 1: here one row of all has a 2."""
    rng = np.random.default_rng(0)
    ill = rng.random(1200) < 0.4
    bits = (rng.random((1200, 3)) < np.where(ill, 0.6, 0.2)[:, None]).astype(np.int64)
    bits[0, 0] = 2
    frame = pl.DataFrame({f"x{i}": bits[:, i] for i in range(3)})
    out = released(
        frame.with_columns(ill=pl.Series(np.where(ill, "yes", "no"))),
        tmp_path / "a",
        Polars,
        target="ill",
    )
    (promise,) = json.loads((out / "manifest.json").read_text())["promises"]
    assert promise["key"] == "k_anonymity"
    assert promise["measured"] >= 5
    assert "x0" not in promise["columns"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Settings(methods={"noise": {}}), "alters cells"),
        (Settings(methods={"containment": {}}), "--engine memory"),
        (Settings(absences=1), "--known-absences needs the table in memory: absences"),
        (Settings(sampling=0.1, max_population_risk=0.1), "--sampling needs the table in memory"),
        (
            Settings(max_suppressed=0.1),
            "--max-suppressed needs the table in mem",
        ),
    ],
)
def test_what_is_done_in_memory_only_is_refused(tmp_path, asked, words):
    with pytest.raises(InputError, match=words):
        released(visits(300), tmp_path / "a", Polars, asked)


def test_rows_that_get_lost_on_the_way_stop_the_release(tmp_path, monkeypatch):
    whole = streamed._shaped

    def short(found, batches):
        return (batch.head(-1) for batch in whole(found, batches))

    monkeypatch.setattr(streamed, "_shaped", short)
    with pytest.raises(CannotMeet, match="2999 rows, but the manifest says 3000"):
        released(visits(), tmp_path / "a", Polars)
    assert not (tmp_path / "a" / "out").exists()


def out_of_memory(engine):
    if engine.name == "polars":
        raise MemoryError("could not allocate, cell 'secret-cell'")
    raise duckdb.OutOfMemoryException("could not allocate, cell 'secret-cell'")


def out_of_disk(engine):
    raise OSError(errno.ENOSPC, "No space left on device", "secret-cell")


def session_lost(engine):
    """The database is closed, or the files of one that is none are gone."""
    file = next(engine.scratch.glob("*.parquet"))
    engine.close()
    if engine.name == "polars":
        file.unlink()
    engine.small(engine.open(file))


@pytest.fixture(scope="module", params=[DuckDB, Polars], ids=["duckdb", "polars"])
def considered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Outcome]]:
    """What was chosen of a table, before anything is written."""
    folder = tmp_path_factory.mktemp("faults")
    visits(800).write_parquet(folder / "rows.parquet")
    (folder / "scratch").mkdir()
    engine = request.param(folder / "scratch")
    large = open_large(engine, str(folder / "rows.parquet"), **ROLES)
    yield folder, consider(large, SETTINGS, sample=600)
    engine.close()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (out_of_memory, "ran out of memory"),
        (out_of_disk, "the disk is full"),
        (session_lost, "stopped before the end"),  # the last, since it takes the engine
    ],
)
def test_a_fault_while_rows_are_written_leaves_nothing(considered, monkeypatch, fault, words):
    folder, found = considered
    assert found.all_rows is not None
    whole, engine = streamed._shaped, found.all_rows.large.engine

    def stopping(*given):
        yield next(whole(*given)).head(10)
        fault(engine)

    monkeypatch.setattr(streamed, "_shaped", stopping)
    before = sorted(folder.iterdir())
    with pytest.raises(CannotMeet, match=words) as caught, engine.trouble():
        publish(found, folder / "out")
    assert re.search("nothing was (published|left behind)", str(caught.value))
    assert "secret-cell" not in str(caught.value)
    assert sorted(folder.iterdir()) == before
