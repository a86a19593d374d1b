"""Fixtures that several test modules share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.long import LONG

# Some tests start a process: without compiled modules on disk, each would compile all it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A worker has a core to itself: threads that wait by spinning would take the core of another one.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_configure() -> None:
    """Few examples are tried each time, as they are drawn anew, and `fuzz/` looks for longer.

    The first one may wait for a kernel to compile. A test whose examples are slow asks for fewer.
    """
    from hypothesis import settings  # not before compiled modules may be written: pytest alters it

    settings.register_profile("untimed", deadline=None, max_examples=50 if LONG else 15)
    settings.load_profile("untimed")
    gc.disable()  # until all is imported


def pytest_collection_finish() -> None:
    """What was imported stays: the garbage collector need not look at it again and again."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # what a test leaves behind is small beside what stays


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # libraries count what is left of theirs at the end


SHARED = Path(__file__).resolve().parents[2] / "shared"


def _shared(folder: str) -> Callable[[str], Path]:
    def path_of(name: str) -> Path:
        path = SHARED / folder / name
        if not path.exists():
            pytest.skip(f"the real datasets are not beside this checkout ({folder}/{name})")
        return path

    return path_of


@pytest.fixture(scope="session")
def dataset() -> Callable[[str], Path]:
    """The path of a real dataset by file name; skips where the folder is absent."""
    return _shared("data")


@pytest.fixture(scope="session")
def golden() -> Callable[[str], Path]:
    """The path of a file of figures measured elsewhere; skips where the folder is absent."""
    return _shared("golden")


@pytest.fixture
def parsed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of SPSS, Stata and SAS are parsed in this process, not in one of their own."""
    from tamis import statistical_file

    def parsed(command: list[str], **_: Any) -> CompletedProcess[bytes]:
        with redirect_stdout(StringIO()) as said:
            code = statistical_file._parse(*command[-3:])
        return CompletedProcess(command, code, said.getvalue().encode())

    monkeypatch.setattr("tamis.statistical_file.subprocess.run", parsed)


@pytest.fixture
def spark(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A Spark session that every `Spark` engine of the test uses; skips where there is none."""
    from tests.spark import running_session

    running_session(tmp_path_factory.mktemp("spark"))


@pytest.fixture(params=["duckdb", "polars", pytest.param("spark", marks=pytest.mark.engines)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Each engine in turn, with a scratch folder."""
    from tamis.rows.engines import DuckDB, Polars, Spark

    if request.param == "spark":
        request.getfixturevalue("spark")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    made = {"duckdb": DuckDB, "polars": Polars, "spark": Spark}[request.param](scratch)
    yield made
    made.close()


@pytest.fixture
def behind(tmp_path: Path) -> Callable[..., Any]:
    """Put a frame behind an engine, with the roles of its columns."""
    from tamis.rows.sources import open_large

    def put(engine: Any, frame: Any, **roles: Any) -> Any:
        frame.write_parquet(tmp_path / "rows.parquet")
        return open_large(engine, str(tmp_path / "rows.parquet"), **roles)

    return put
