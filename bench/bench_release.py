"""The whole job in wall time: the demo, cold and warm, and a release of Adult with defaults.

No peer does this job, so each run is compared with the time it may take.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from bench.labelled_tables import DATA
from bench.ratio import Ratio, show

DEMO, ADULT = 60.0, 600.0
"""Seconds that the demo and a release of 45,000 rows may take on two cores."""


def run(*args: str, cache: str | None = None) -> float:
    """The wall time of one command; an empty `cache` makes numba recompile everything."""
    env = dict(os.environ) | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "tamis.cli", *args], check=True, env=env, capture_output=True
    )
    return time.perf_counter() - begin


def demo(folder: Path) -> list[Ratio]:
    cache = str(folder / "cache")
    cold = run("demo", "--out", str(folder / "cold"), cache=cache)
    warm = run("demo", "--out", str(folder / "warm"), cache=cache)
    return [
        Ratio("demo, nothing compiled yet", "a minute", cold, DEMO, 1),
        Ratio("demo, second run", "a minute", warm, DEMO, 1),
    ]


def adult(folder: Path) -> list[Ratio]:
    files = [DATA / f"adult_{part}.csv.gz" for part in ("test", "train")]
    if not all(path.exists() for path in files):
        print("the real datasets are not next to this checkout: no release of Adult")
        return []
    table = folder / "adult.csv"
    parts = [pl.read_csv(path, null_values="?", infer_schema_length=None) for path in files]
    pl.concat(parts).drop_nulls().write_csv(table)
    took = run("release", str(table), "--target", "class", "--out", str(folder / "adult"))
    return [Ratio("release of Adult, 45,222 rows", "ten minutes", took, ADULT, 1)]


def main() -> None:
    with TemporaryDirectory() as folder:
        show("from a table to a verified release", [*demo(Path(folder)), *adult(Path(folder))])


if __name__ == "__main__":
    main()
