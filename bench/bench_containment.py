"""Containment anonymity and greedy selection, in units of one pass over the data.

A *pass* is one ``csr.T @ v`` of scipy, a *gather* one read of ``group[csc.indices]``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse

from bench.bench_risk import pycanon_seconds
from bench.labelled_tables import adult, libsvm
from bench.made_tables import skewed, uniform
from bench.ratio import Ratio, seconds, show
from tamis.risk.containment import containment_anonymity
from tamis.select.containment.greedy import SearchTask, greedy
from tamis.select.containment.paths import choose_columns as path_of

FIRST_CALL = """
import time
import numpy as np
from scipy import sparse
X = sparse.random_array((500, 200), density=0.05, format="csr", rng=np.random.default_rng(0))
X.data[:] = 1
start = time.perf_counter()
from tamis.select.containment.greedy import greedy
greedy(X, np.arange(500) % 2, 5, utility="hamdist")
greedy(X, np.arange(500) % 2, 5, utility="distcnt")
print(time.perf_counter() - start)
"""


def runs(X) -> int:
    """The best of many runs, for what takes milliseconds: some runs are undisturbed."""
    return 30 if X.size < 10**7 else 5


def one_pass(X) -> float:
    numbers, v = sparse.csr_array(X, dtype=np.float64), np.ones(X.shape[0])
    return seconds(lambda: numbers.T @ v, runs(X))


def one_gather(X) -> float:
    rows, group = sparse.csc_array(X).indices, np.zeros(X.shape[0], np.int32)
    return seconds(lambda: group[rows], runs(X))


def dense(rows: int, columns: int) -> list[Ratio]:
    rng = np.random.default_rng(0)
    even = rng.integers(0, 2, (rows, columns), dtype=np.uint8)
    rare = (rng.random((rows, columns)) < 0.05).astype(np.uint8)
    return [_anonymity("even", even), _anonymity("rare", rare)]


def _anonymity(name: str, X) -> Ratio:
    rows, columns = X.shape
    bits = (1 << np.arange(columns)).astype(np.uint64)
    ours = seconds(lambda: containment_anonymity(X))
    theirs = seconds(lambda: np.unique(X @ bits, return_counts=True))
    what = f"anonymity, dense {name} {rows:,} x {columns}"
    return Ratio(what, "np.unique of row masks", ours, theirs, 1.5)


def against_pycanon(rows: int = 500_000, columns: int = 14) -> list[Ratio]:
    """Its k-anonymity answers an easier question, on the same 0/1 table."""
    X = np.random.default_rng(0).integers(0, 2, (rows, columns), dtype=np.uint8)
    frame = pl.DataFrame(X, schema=[f"q{c}" for c in range(columns)])
    labels = np.where(np.arange(rows) % 2, "a", "b")
    theirs = pycanon_seconds(frame.with_columns(s_text=pl.Series(labels)))["k"]
    ours = seconds(lambda: containment_anonymity(X))
    what = f"anonymity, dense {rows:,} x {columns}"
    return [Ratio(what, "pycanon, k-anonymity", ours, theirs, 1 / 30)]


def choose(name, X, y, unit, aim, **choice) -> Ratio:
    peer, theirs = unit
    words = ", ".join(str(v) for v in choice.values())
    ours = seconds(lambda: greedy(X, y, 5, **choice), runs(X))
    return Ratio(f"greedy {words}: {name}", peer, ours, theirs, aim)


def sparse_tables(rows: int) -> list[Ratio]:
    found = []
    for name, made, columns, ones in (
        ("even", uniform, 50_000, 50),
        ("kosarak-like", skewed, 41_000, 8),
    ):
        X, y = made(rows, columns, ones)
        name = f"{name} {rows:,} x {columns:,} x {ones}"
        gather, by = ("gather", one_gather(X)), ("pass", one_pass(X))
        skip, stop = {"on_violation": "skip"}, {"on_violation": "stop"}
        found += [
            choose(name, X, y, gather, 5, utility="hamdist", **skip),
            choose(name, X, y, by, 5, utility="hamdist", **stop),
            choose(name, X, y, by, 5 if made is uniform else 25, utility="distcnt", **skip),
        ]
    return found


def real_tables() -> list[Ratio]:
    """Whole calls, including the check of the table; for Adult, the search alone too."""
    X, y = libsvm("pu1_body_binary.txt.gz")
    A, z = adult()
    by = ("pass", one_pass(A))
    return [
        choose("PU1", X, y, ("gather", one_gather(X)), 19, utility="hamdist"),
        choose("PU1", X, y, ("pass", one_pass(X)), 25, utility="distcnt"),
        search_distinct("Adult, on its distinct rows", A, z, by, 1),
        choose("Adult, 19 columns, from all rows", A, z, by, 4, utility="distcnt"),
    ]


def search_distinct(name, X, y, unit, aim) -> Ratio:
    """The search for DistCnt on a table that is already counted by distinct rows."""
    from tamis.select.containment.selection import StopRule

    task = SearchTask(X, y, None, StopRule(5, False, False, X.shape[1], 0.0))
    print(f"{name}: {task.source.table.shape[0]:,} of {X.shape[0]:,}")
    peer, theirs = unit
    ours = seconds(lambda: path_of(task, "distcnt"), runs(X))
    return Ratio(f"greedy distcnt: {name}", peer, ours, theirs, aim)


def peak_memory(rows: int) -> None:
    """The peak extra resident memory of a greedy search, relative to the CSR."""
    X, y = uniform(rows, 50_000, 50)
    greedy(X[:1000], y[:1000], 5, utility="hamdist")
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    for utility in ("hamdist", "distcnt"):
        Path("/proc/self/clear_refs").write_text("5")
        before = _resident("VmRSS")
        greedy(X, y, 5, utility=utility)
        more = _resident("VmHWM") - before
        print(f"peak memory, greedy {utility}: {1 + more / size:.2f} times the CSR (aim 1.2)")


def _resident(what: str) -> int:
    line = next(s for s in Path("/proc/self/status").read_text().splitlines() if what in s)
    return int(line.split()[1]) * 1024


def first_call() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("cold", "warm"):
            run = subprocess.run(
                [sys.executable, "-c", FIRST_CALL],
                env={**os.environ, "NUMBA_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            print(f"first call in a fresh process, {cache} cache: {float(run.stdout):.1f} s")


def main(rows: int = 1_000_000) -> None:
    show("dense tables", dense(rows, 20) + dense(rows, 50) + against_pycanon())
    show("real tables", real_tables())
    show(f"generated tables, {rows:,} rows", sparse_tables(rows))
    peak_memory(rows)
    first_call()
