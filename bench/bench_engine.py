"""The exposure of one and five million rows of 10 columns, in memory and on each engine.

Each runs in a process of its own: CPU seconds, and the most memory it held; those of Java are added
to Spark's. For other sizes and for Spark: `python -m bench.bench_engine ROWS [ENGINE ...]`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

ROWS = (1_000_000, 5_000_000)
COLUMNS = 10
LIMIT = 1_000_000_000
ENGINES = ("memory", "polars", "duckdb")
PART = 1_000_000


def main(sizes: Sequence[int] = ROWS, engines: Sequence[str] = ENGINES) -> None:
    print("rows        engine     CPU s   wall s   peak GB   k   unique rows", flush=True)
    for rows in sizes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            _write(rows, path)
            found = [_asked(engine, path) for engine in engines]
        assert len({(f["k"], f["unique"], f["classes"]) for f in found}) == 1, "the counts differ"
        for f in found:
            print(
                f"{rows:<11,} {f['engine']:<8} {f['cpu']:7.1f} {f['wall']:8.1f} "
                f"{f['peak']:8.2f} {f['k']:4} {f['unique']:12,}"
            )


def _write(rows: int, path: Path) -> None:
    """A made table of any size as parquet, never whole in memory."""
    from polars.io.plugins import register_io_source

    starts = range(0, rows, PART)
    sizes = [min(PART, rows - start) for start in starts]

    def parts(*_: object) -> Iterator[pl.DataFrame]:
        return (_table(size, seed) for seed, size in enumerate(sizes))

    register_io_source(parts, schema=_table(0, 0).schema).sink_parquet(path)


def _table(rows: int, seed: int) -> pl.DataFrame:
    """Nine quasi-identifiers with 2 to 30 values, skewed, and a secret of 5."""
    rng = np.random.default_rng(seed)
    sizes = [2, 3, 4, 5, 6, 8, 12, 20, 30]
    columns = {
        f"q{i}": (size * rng.random(rows) ** 3).astype(np.int64) for i, size in enumerate(sizes)
    }
    return pl.DataFrame({**columns, "secret": rng.integers(0, 5, rows).astype(str)})


def _asked(engine: str, path: Path) -> dict[str, object]:
    run = [sys.executable, "-m", "bench.bench_engine", engine, str(path)]
    found: dict[str, object] = json.loads(subprocess.check_output(run, text=True))
    return found


def _measure(engine: str, path: Path) -> None:
    from tamis import read_table
    from tamis.risk.audit import exposure
    from tamis.rows import EngineOptions, running
    from tamis.rows.sources import open_large

    start, wall, java = time.process_time(), time.perf_counter(), (0.0, 0.0)
    if engine == "memory":
        found = exposure(read_table(path, target="secret"))
    else:
        options = EngineOptions(memory=f"{LIMIT // 10**6}MB")
        with running(options, engine) as behind:  # type: ignore[arg-type]
            found = exposure(open_large(behind, str(path), target="secret"))
            java = _of_java(behind) if engine == "spark" else java
    print(
        json.dumps(
            {
                "engine": engine,
                "cpu": time.process_time() - start + java[0],
                "wall": time.perf_counter() - wall,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6 + java[1],
                "k": found.k_anonymity,
                "unique": found.unique_rows,
                "classes": found.classes,
            }
        )
    )


def _of_java(spark: Any) -> tuple[float, float]:
    """The CPU seconds of a session's Java, and the most gigabytes that it held."""
    process = spark._session._jvm.java.lang.ProcessHandle.current()
    seconds = process.info().totalCpuDuration().get().toMillis() / 1000
    lines = Path(f"/proc/{process.pid()}/status").read_text(encoding="ascii").splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return seconds, int(peak) / 1e6


if __name__ == "__main__":
    if sys.argv[1].isdecimal():
        main([int(sys.argv[1])], sys.argv[2:] or ENGINES)
    else:
        _measure(sys.argv[1], Path(sys.argv[2]))
