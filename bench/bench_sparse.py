"""`tamis release` on sparse records: processor time and memory of the whole job, and their growth.

No peer does this job. Each made table is compared with the one of half the size, so that 2 is
linear growth; real ones with the minutes that they may take. The largest table, a million rows of
50,000 columns and about 50 ones, must stay within 8 GiB.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from scipy import sparse

from bench.made_tables import skewed
from bench.ratio import Ratio, show
from bench.sparse_tables import DATA

MINUTES = 5 * 60.0
"""Processor seconds that a real table may take."""
LINEAR = 2.6
MOST_GIB = 8.0
REAL = {
    "retail": ("fimi_retail", "--format", "basket", "--label-item", "39", "--sensitive", "48"),
    "supermarket": ("supermarket", "--format", "svm"),
    "a9a": ("libsvm_a9a", "--format", "svm"),
    "w8a": ("libsvm_w8a", "--format", "svm"),
    "PU1": ("pu1_body_binary", "--format", "svm"),
    "HIVA": ("hiva", "--format", "svm"),
    "Dorothea": ("dorothea", "--format", "svm"),
    "news20, 20 classes": ("news20_binary_presence", "--format", "svm"),
}


class Cost(NamedTuple):
    """Of one command: processor seconds, and the most memory in GiB."""

    seconds: float
    memory: float


def cost(*args: str) -> Cost:
    """Run a command in a process of its own; what it writes is gone afterwards."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tamis.cli", "release", *args]
        made = [*command, "--out", str(Path(folder) / "out"), "--quiet", "--allow-useless"]
        started = subprocess.Popen(made, stdout=subprocess.DEVNULL)
        _, code, used = os.wait4(started.pid, 0)
    if code:
        print(f"{' '.join(args)} ended with {os.waitstatus_to_exitcode(code)}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)


def written(folder: Path, rows: int, columns: int, ones: int) -> Path:
    """A made libsvm file; twenty columns of middling support depend on the class."""
    X, y = skewed(rows, columns, ones)
    rng = np.random.default_rng(1)
    telling = rng.random((rows, 20)) < np.where(y, 0.25, 0.05)[:, None]
    X = sparse.csr_array(sparse.hstack([X, sparse.csr_array(telling)]))
    path = folder / f"{rows}x{columns}.svm"
    with open(path, "w", encoding="ascii") as file:
        for label, begin, end in zip(y, X.indptr, X.indptr[1:]):
            words = " ".join(f"{c + 1}:1" for c in np.sort(X.indices[begin:end]))
            file.write(f"{int(label)} {words}\n")
    return path


def growth(what: str, sizes: list[int], made: Callable[[int], Path]) -> list[Ratio]:
    costs = {}
    for size in sizes:
        path = made(size)
        costs[size] = cost(str(path))
        path.unlink()
        print(f"{size:,} {what}: {costs[size].seconds:.0f} s, {costs[size].memory:.2f} GiB")
        if costs[size].memory > MOST_GIB:
            print(f"BEYOND {MOST_GIB:g} GiB")
    return [
        Ratio(f"{b:,} {what}", f"{a:,}", costs[b].seconds, costs[a].seconds, LINEAR)
        for a, b in pairwise(sizes)
    ]


def real() -> list[Ratio]:
    found = []
    for name, (stem, *options) in REAL.items():
        path = DATA / f"{stem}.txt.gz"
        if not path.exists():
            print(f"{path.name} is not next to this checkout")
            continue
        used = cost(str(path), *options)
        print(f"{name}: {used.seconds:.0f} s, {used.memory:.2f} GiB")
        found.append(Ratio(f"release of {name}", "five minutes", used.seconds, MINUTES, 1))
    return found


def main(rows: int = 1_000_000) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        sizes = [rows // 8, rows // 4, rows // 2, rows]
        show(
            "growth over rows, 50,000 columns, 50 ones a row",
            growth("rows", sizes, lambda n: written(place, n, 50_000, 50)),
        )
        show(
            f"growth over columns, {rows // 20:,} rows, 50 ones a row",
            growth(
                "columns",
                [10_000, 20_000, 40_000, 80_000],
                lambda d: written(place, rows // 20, d, 50),
            ),
        )
        show("real sparse tables, in processor seconds", real())


if __name__ == "__main__":
    main()
