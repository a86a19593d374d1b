"""Tables beyond memory: the few queries that tamis needs, on polars-lazy, DuckDB or Spark.

::

    engines      read, write and hash frames; nothing else knows which engine is at work
    sources      files and tables that a user names, as frames with columns c0 to cn
    large_table  such rows with their roles, and samples of them
    counts       sizes of equivalence classes, and the sensitive values within them
    pairs        queries on sparse 0/1 records
    memory_only  what needs more than these queries, refused in one place

This module chooses the engine: the one asked for, or by the memory that a table would take.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tamis.errors import InputError
from tamis.files import scratch_folder
from tamis.options.reading import ENGINE, SAMPLING

if TYPE_CHECKING:
    from tamis.rows.engines import Engine

EngineName = Literal["auto", "memory", "polars", "duckdb", "spark"]
"""Values of `--engine`; a running engine is never `auto`."""

SPARK = "spark::"
POSTGRES = ("postgresql://", "postgres://")
"""Prefixes of sources that are not files."""
BYTES_A_CELL = 33
"""Memory that a cell of a table takes while risks are measured, in bytes."""
BYTES_A_PAIR = 80
"""Memory that a pair of sparse records takes, in bytes."""
TEXT_A_CELL = 8
"""Bytes of a text file per cell, roughly."""
_USUAL: dict[str, Any] = {option.name: option.default for option in (*ENGINE, *SAMPLING)}
"""The defaults of the options."""
SAMPLED: int = _USUAL["sample"]
"""Rows of the sample on which a release of a table behind an engine is searched for."""
LEAST_ROOM = 250_000_000
"""Memory that an engine gets even where the rest of the process takes all that is allowed."""
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class EngineOptions:
    """A user's options about engines.

    Parameters
    ----------
    engine : {"auto", "memory", "polars", "duckdb", "spark"}
    memory : str
        The most memory that the process may take while it counts, such as 4GB.
    scratch : str, optional
        The folder for intermediate results; by default that of the system.
    spark_master : str
        The address of a Spark cluster.
    sample : int
        The rows on which a release is searched for.
    """

    engine: EngineName = _USUAL["engine"]
    memory: str = _USUAL["memory"]
    scratch: str | None = None
    spark_master: str = _USUAL["spark_master"]
    sample: int = SAMPLED


def bytes_of(text: str) -> int:
    """Parse a size such as 4GB into bytes.

    >>> bytes_of("4GB"), bytes_of("500 mb")
    (4000000000, 500000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*", text, re.IGNORECASE)
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if size < 1_000_000:
        raise InputError(f"--memory takes a size of at least 1MB, such as 4GB, got {text!r}")
    return size


def chosen_engine(
    source: str, asked: EngineName = "auto", *, long: bool = False
) -> tuple[EngineName, str]:
    """Choose the engine for a source; also return a line that says why, unless it was asked for.

    Auto chooses memory, except for a table that would fill more than half of what is free. With
    `long`, rows are pairs of a long table.
    """
    if asked != "auto":
        return asked, ""
    if source.startswith(POSTGRES):
        return "duckdb", "engine: duckdb, since the table is in a database"
    if source.startswith(SPARK):
        return "spark", "engine: spark, since it is to read the table"
    needed, free = estimated_bytes(source, long=long), free_memory()
    if free is None or needed <= free / 2:
        return "memory", ""
    words = f"about {needed / 1e9:.1f} GB in memory, where {free / 1e9:.1f} GB are free"
    return "duckdb", f"engine: duckdb, since the table would take {words}"


def other_engine(writer: str | None) -> EngineName:
    """An independent engine to verify with: DuckDB, or polars if DuckDB or Spark wrote the rows.

    >>> other_engine("duckdb"), other_engine(None)
    ('polars', 'duckdb')
    """
    return "polars" if writer in ("duckdb", "spark") else "duckdb"


def estimated_bytes(source: str, *, long: bool = False) -> int:
    """Estimate the memory that measuring a table takes, from its file size or metadata."""
    path = Path(source.partition("::")[0])
    if not path.is_file():
        return 0
    size = path.stat().st_size
    if path.suffix in (".parquet", ".pq"):
        rows, columns = _parquet_shape(path)
        return rows * (BYTES_A_PAIR if long else columns * BYTES_A_CELL)
    packed = 5 if path.suffix in (".gz", ".duckdb") else 1  # assumed ratio of compression
    cells = size * packed // TEXT_A_CELL
    return cells // 2 * BYTES_A_PAIR if long else cells * BYTES_A_CELL


def _parquet_shape(path: Path) -> tuple[int, int]:
    import polars as pl

    from tamis.table_file import panics_unheard

    try:
        with panics_unheard():
            rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
            return int(rows), len(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return 0, 0  # the reader will raise a proper error


def free_memory() -> int | None:
    """Free memory in bytes; `None` where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
        return sizes["MemAvailable"] * 1024
    except (OSError, KeyError, ValueError, IndexError):
        try:
            return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, AttributeError):  # macOS has no such number, Windows no call
            return None


def held_memory() -> int:
    """Memory that this process holds, in bytes; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def left_of(memory: int, held: int) -> int:
    """What an engine in this process may use of `memory`, given what is `held` already.

    A tenth is reserved for data that passes between the engine and Python.

    >>> left_of(4_000_000_000, 300_000_000), left_of(60_000_000, 300_000_000)
    (3300000000, 60000000)
    """
    return max(memory * 9 // 10 - held, min(memory, LEAST_ROOM))


@contextmanager
def running(options: EngineOptions, name: EngineName) -> Iterator[Engine]:
    """Run an engine with a scratch folder; both are gone when the block ends."""
    from tamis.rows.engines import DuckDB, Polars, Spark

    memory = bytes_of(options.memory)
    with scratch_folder(options.scratch) as scratch:
        if name == "duckdb":
            engine: Engine = DuckDB(scratch, left_of(memory, held_memory()))
        elif name == "spark":
            engine = Spark(scratch, options.spark_master, memory)
        else:
            engine = Polars(scratch)
        try:
            with engine.trouble():
                yield engine
        finally:
            engine.close()
