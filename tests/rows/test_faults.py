"""What goes wrong on the way is said plainly, and leaves nothing behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tamis.errors import CannotMeet, InputError
from tamis.files import scratch_folder
from tamis.risk.audit import exposure
from tamis.rows import (
    EngineOptions,
    bytes_of,
    chosen_engine,
    estimated_bytes,
    held_memory,
    running,
)
from tamis.rows.counts import count_cells, count_rows
from tamis.rows.engines import DuckDB, Engine, Polars, Spark, _advice, _started_session
from tamis.table import Roles, Table
from tests.long import LONG, long
from tests.spark import engines, needs_spark

ROWS = 2_000_000 if LONG else 800_000


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Very many rows, nearly all different."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    rng = np.random.default_rng(0)
    pl.DataFrame({f"x{i}": rng.integers(0, 1 << 40, ROWS) for i in range(3)}).write_parquet(path)
    return path


def test_no_room_to_spill(rows, tmp_path):
    engine = DuckDB(tmp_path, 30 * ROWS)
    engine._database.execute("SET max_temp_directory_size = '1MB'")
    with pytest.raises(CannotMeet, match=r"duckdb ran out of (disk space|memory)"):
        engine.hold(count_cells(engine.open(rows), ["c0", "c1", "c2"]))
    engine.close()


@contextmanager
def short_files(engine: Engine) -> Iterator[None]:
    """Let the process of an engine write no file of more than a megabyte, as a full disk would."""
    process = os.getpid()
    if isinstance(engine, Spark):
        process = engine._session._jvm.java.lang.ProcessHandle.current().pid()
    soft, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard))


def test_no_room_for_what_is_held(engine, rows):
    opened = engine.open(rows)
    assert count_rows(engine, opened) == ROWS
    with (
        pytest.raises(CannotMeet, match=f"{engine.name} ran out of disk space") as caught,
        short_files(engine),
    ):
        engine.hold(count_cells(opened, ["c0", "c1", "c2"]))
    assert "--scratch DIR; nothing was published" in str(caught.value)


@long
def test_sixty_megabytes_are_enough_for_two_million_cells(rows, tmp_path):
    engine = DuckDB(tmp_path, 60_000_000)
    held = engine.hold(count_cells(engine.open(rows), ["c0", "c1", "c2"]))
    assert count_rows(engine, held) == ROWS
    engine.close()


def test_spark_says_how_much_memory_it_needs(tmp_path):
    with pytest.raises(InputError, match=r"Spark needs 500MB of memory or more, got 60MB.*duckdb"):
        _started_session(None, tmp_path, "local[2]", 60_000_000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("java.lang.OutOfMemoryError: Java heap space, cell 'secret-cell'", "out of memory"),
        ("java.io.IOException: No space left on device, 'secret-cell'", "out of disk space"),
        ("Job aborted due to stage failure: 'secret-cell'", "stopped before the end"),
    ],
)
def test_what_java_says_is_told_without_cells(text, words):
    told = _advice("spark", RuntimeError(text))
    assert words in told
    assert "secret-cell" not in told


def lose(engine: Engine) -> None:
    """End what an engine needs to answer."""
    if isinstance(engine, Spark):
        engine._session.stop()
    engine.close()
    if isinstance(engine, Polars):
        (engine.scratch / "rows.parquet").unlink()


def test_a_lost_session(engine, behind):
    frame = pl.DataFrame({"a": ["secret-cell"] * 3})
    table = behind(engine, frame, Roles())
    lose(engine)
    with pytest.raises(CannotMeet, match="stopped before the end") as caught, engine.trouble():
        exposure(table)
    assert "secret-cell" not in str(caught.value)


def test_scratch_is_private_and_goes_away(tmp_path):
    with running(EngineOptions(scratch=str(tmp_path)), "duckdb") as engine:
        space = engine.scratch.parent
        assert space.stat().st_mode & 0o777 == 0o700
        (engine.scratch / "half.parquet").write_bytes(b"PAR1")
    assert list(tmp_path.iterdir()) == []
    options = EngineOptions(scratch=str(tmp_path))
    with pytest.raises(CannotMeet, match="stopped"), running(options, "polars"):
        raise CannotMeet("stopped")
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from tamis.rows.counts import count_cells
from tamis.rows import EngineOptions, running
source, scratch, name = sys.argv[1:]
with running(EngineOptions(scratch=scratch, memory="1GB"), name) as engine:
    engine.hold(count_cells(engine.open(source), ["c0"]))
    java = engine._session._jvm.java.lang.ProcessHandle.current().pid() if name == "spark" else 0
    print(java, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", ["polars", "duckdb", pytest.param("spark", marks=engines)])
def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path, name):
    if name == "spark":
        needs_spark()
    pl.DataFrame({"a": [1, 1, 2]}).write_parquet(tmp_path / "rows.parquet")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    run = [sys.executable, "-c", KILLED, str(tmp_path / "rows.parquet"), str(scratch), name]
    done = subprocess.run(run, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (left,) = scratch.iterdir()
    assert list((left / "new").iterdir())
    ended(int(done.stdout))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with scratch_folder(scratch) as folder, scratch_folder(scratch) as other:
            assert folder.is_dir()  # a run that is alive keeps its own
            assert other.is_dir()
    assert list(scratch.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"rows.parquet", "scratch"}


def ended(process: int) -> None:
    """Wait for a process that ends by itself."""
    for _ in range(600):
        if not process or not Path(f"/proc/{process}").exists():
            return
        time.sleep(0.1)
    raise AssertionError("Java outlived the run that started it by a minute")


def test_sizes_in_words():
    assert bytes_of("60MB") == 60_000_000
    for wrong in ("", "much", "1KB", "-4GB"):
        with pytest.raises(InputError, match="such as 4GB"):
            bytes_of(wrong)


def test_memory_is_for_the_whole_process(tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.rows.held_memory", lambda: 300_000_000)
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
    assert estimated_bytes(str(rows)) == ROWS * 3 * 33
    assert estimated_bytes(str(rows), long=True) == ROWS * 80
    monkeypatch.setattr("tamis.rows.free_memory", lambda: 250 * ROWS)
    assert chosen_engine(str(rows)) == ("memory", "")
    monkeypatch.setattr("tamis.rows.free_memory", lambda: 195 * ROWS)
    name, why = chosen_engine(str(rows))
    assert name == "duckdb"
    assert f"{99 * ROWS / 1e9:.1f} GB" in why
    assert chosen_engine(str(rows), "memory") == ("memory", "")


@long
def test_a_large_table_is_counted_by_duckdb_as_by_memory(rows, tmp_path, behind):
    frame = pl.read_parquet(rows).select(pl.all() % 40)
    engine = DuckDB(tmp_path, 200_000_000)
    found = exposure(behind(engine, frame, Roles()))
    engine.close()
    assert found.to_dict() == exposure(Table(frame)).to_dict()
