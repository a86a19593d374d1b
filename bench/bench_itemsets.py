"""The 20 largest maximal itemsets, against pyfim's fpgrowth listing all maximal ones.

Runs that take milliseconds are repeated, and the best run counts.
The peer runs in a process of its own and is stopped after `TAMIS_BENCH_SECONDS` (20): its time is
then that limit, and the ratio an upper bound. Both are CPU seconds, without reading the data.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench.ratio import Ratio, show
from bench.sparse_tables import LIBSVM, TRANSACTIONS, load
from tamis.binary.matrix import class_counts, differing_pairs
from tamis.select.containment.itemsets import largest_itemsets

NAMES = ("aminer_ed", "SMS words", *(name for name in LIBSVM if name != "w8a"), *TRANSACTIONS)
SUPPORTS = (5, 8, 11, 50, 200)
MOST = 20

PEER = """
import sys
import fim
from bench.bench_itemsets import cpu_seconds
from bench.sparse_tables import load
X, _ = load(sys.argv[1])
rows = [X.indices[a:b].tolist() for a, b in zip(X.indptr, X.indptr[1:])]
print("ready", flush=True)
print(cpu_seconds(lambda: fim.fpgrowth(rows, target="m", supp=-int(sys.argv[2]), zmin=1)))
"""
ENOUGH = 0.3
"""Seconds after which the best of several runs is taken."""


def main() -> None:
    limit = float(os.environ.get("TAMIS_BENCH_SECONDS", "20"))
    for side, table in (("columns", np.eye(3)), ("rows", np.ones((1, 50)))):
        took = cpu_seconds(partial(largest_itemsets, table, 1, 2), enough=0)
        print(f"first call by {side} in this process: {took:.2f} s CPU")
    lines = [
        _line(name, k, limit) for name in NAMES for k in SUPPORTS if k < load(name)[0].shape[0]
    ]
    show(f"{MOST} largest maximal itemsets; all maximal ones by the peer", lines)


def cpu_seconds(work: Callable[[], Any], enough: float = ENOUGH) -> float:
    """The shortest CPU time of a run; runs that take milliseconds are repeated."""
    best, spent = float("inf"), 0.0
    while best == float("inf") or spent < enough:
        start = time.process_time()
        work()
        took = time.process_time() - start
        best, spent = min(best, took), spent + took
    return best


def _line(name: str, k: int, limit: float) -> Ratio:
    X, y = load(name)
    positive = y == 1
    support, ones = class_counts(X, positive)
    values = differing_pairs(support, ones, len(y), int(positive.sum()))
    ours = cpu_seconds(lambda: largest_itemsets(X, k, MOST, values))
    theirs, ended = _peer(name, k, limit)
    peer = "pyfim fpgrowth" + (", stopped" if ended else "")
    return Ratio(f"{name}, k = {k}", peer, ours, theirs, 1.0)


def _peer(name: str, k: int, limit: float) -> tuple[float, bool]:
    """CPU seconds of the peer, or the limit and true if it took longer."""
    command = [sys.executable, "-c", PEER, name, str(k)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            out, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            return limit, True
    return max(float(out), 1e-4), False
