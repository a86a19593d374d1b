"""What goes wrong on the way is said plainly, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tamis.engine.backend import DuckDB
from tamis.engine.cells import count_cells, count_rows
from tamis.engine.choice import (
    EngineOptions,
    bytes_of,
    chosen_engine,
    estimated_bytes,
    held_memory,
    running,
)
from tamis.errors import CannotMeet, InputError
from tamis.files import scratch_folder
from tamis.risk.audit import exposure
from tamis.risk.large import large_exposure
from tamis.table import Roles, Table


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two million rows, nearly all different."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    rng = np.random.default_rng(0)
    pl.DataFrame({f"x{i}": rng.integers(0, 1 << 40, 2_000_000) for i in range(3)}).write_parquet(
        path
    )
    return path


def test_no_room_to_spill(rows, tmp_path):
    engine = DuckDB(tmp_path, 60_000_000)
    engine._database.execute("SET max_temp_directory_size = '1MB'")
    with pytest.raises(CannotMeet, match=r"duckdb ran out of (disk space|memory)"):
        engine.hold(count_cells(engine.open(rows), ["c0", "c1", "c2"]))
    engine.close()


def test_sixty_megabytes_are_enough_for_two_million_cells(rows, tmp_path):
    engine = DuckDB(tmp_path, 60_000_000)
    held = engine.hold(count_cells(engine.open(rows), ["c0", "c1", "c2"]))
    assert count_rows(engine, held) == 2_000_000
    engine.close()


def test_a_lost_session(engine, behind):
    frame = pl.DataFrame({"a": ["secret-cell"] * 3})
    table = behind(engine, frame, Roles())
    engine.close()
    if engine.name == "polars":
        (engine.scratch / "rows.parquet").unlink()
    with pytest.raises(CannotMeet, match="stopped before the end") as caught, engine.trouble():
        large_exposure(table)
    assert "secret-cell" not in str(caught.value)


def test_scratch_is_private_and_goes_away(tmp_path):
    with running(EngineOptions(scratch=str(tmp_path)), "duckdb") as engine:
        space = engine.scratch.parent
        assert space.stat().st_mode & 0o777 == 0o700
        (engine.scratch / "half.parquet").write_bytes(b"PAR1")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CannotMeet), running(EngineOptions(scratch=str(tmp_path)), "polars"):
        raise CannotMeet("stopped")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    killed = (
        "import os, signal, sys\n"
        "from tamis.files import scratch_folder\n"
        "with scratch_folder(sys.argv[1]) as folder:\n"
        "    (folder / 'rows.parquet').write_bytes(b'PAR1')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", killed, str(tmp_path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with scratch_folder(tmp_path) as folder, scratch_folder(tmp_path) as other:
            assert folder.is_dir()  # a run that is alive keeps its own
            assert other.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_sizes_in_words():
    assert bytes_of("60MB") == 60_000_000
    for wrong in ("", "much", "1KB", "-4GB"):
        with pytest.raises(InputError, match="such as 4GB"):
            bytes_of(wrong)


def test_memory_is_for_the_whole_process(tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.engine.choice.held_memory", lambda: 300_000_000)
    given = []
    monkeypatch.setattr(DuckDB, "__init__", lambda self, scratch, memory: given.append(memory))
    monkeypatch.setattr(DuckDB, "close", lambda self: None)
    for memory in ("4GB", "500MB", "60MB"):
        with running(EngineOptions(memory=memory, scratch=str(tmp_path)), "duckdb"):
            pass
    assert given == [3_300_000_000, 250_000_000, 60_000_000]


def test_this_process_holds_some_memory():
    assert 10**7 < held_memory() < 10**11


def test_auto_takes_duckdb_where_half_of_memory_is_too_little(rows, monkeypatch):
    assert estimated_bytes(str(rows)) == 2_000_000 * 3 * 33
    assert estimated_bytes(str(rows), long=True) == 2_000_000 * 80
    monkeypatch.setattr("tamis.engine.choice.free_memory", lambda: 500_000_000)
    assert chosen_engine(str(rows)) == ("memory", "")
    monkeypatch.setattr("tamis.engine.choice.free_memory", lambda: 390_000_000)
    name, why = chosen_engine(str(rows))
    assert name == "duckdb"
    assert "0.2 GB" in why
    assert chosen_engine(str(rows), "memory") == ("memory", "")


def test_a_large_table_is_counted_by_duckdb_as_by_memory(rows, tmp_path, behind):
    frame = pl.read_parquet(rows).select(pl.all() % 40)
    engine = DuckDB(tmp_path, 200_000_000)
    found = large_exposure(behind(engine, frame, Roles()))
    engine.close()
    assert found.to_dict() == exposure(Table(frame)).to_dict()
