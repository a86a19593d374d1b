"""Reading: a table of a million rows against polars' own reader; sparse records within memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.ratio import Ratio, seconds, show
from tamis import read_table

ROWS = 1_000_000
_PEAK = """
import resource, sys, time
from tamis import read_binary
start = time.perf_counter()
table = read_binary(sys.argv[1])
took = time.perf_counter() - start
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, table.matrix.nnz)
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        csv = _csv(Path(folder))
        theirs = seconds(lambda: pl.read_csv(csv), repeat=7)
        ours = seconds(lambda: read_table(csv), repeat=7)
        show(
            "reading",
            [Ratio(f"read_table, {ROWS:,} x 10 csv", "polars.read_csv", ours, theirs, 1.5)],
        )
        svm = _svm(Path(folder))
        command = [sys.executable, "-c", _PEAK, str(svm)]
        took, peak, ones = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.split()
        print(
            f"read_binary, {ROWS:,} x 50,000 libsvm with {int(ones):,} ones: {float(took):.1f} s, "
            f"peak {float(peak):.2f} GiB of the 6 GiB allowed"
        )


def _csv(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    columns: dict[str, object] = {f"i{j}": rng.integers(0, 1000, ROWS) for j in range(3)}
    columns |= {f"f{j}": rng.normal(size=ROWS).round(3) for j in range(3)}
    columns["zip"] = np.char.zfill(rng.integers(0, 99999, ROWS).astype(str), 5)
    columns |= {f"s{j}": rng.choice(["yes", "no", "maybe"], ROWS) for j in range(3)}
    pl.DataFrame(columns).write_csv(folder / "table.csv")
    return folder / "table.csv"


def _svm(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    path = folder / "records.svm"
    with path.open("w") as file:
        for _ in range(0, ROWS, 50_000):
            items = np.sort(rng.integers(1, 50_001, (50_000, 50)), axis=1)
            words = pl.DataFrame(items).select(pl.all().cast(pl.String) + ":1")
            lines = words.select(pl.concat_str(pl.all(), separator=" ")).to_series()
            labels = pl.Series(np.where(rng.random(50_000) < 0.5, "+1", "-1"))
            file.write("\n".join((labels + " " + lines).to_list()) + "\n")
    return path
