"""The whole job in CPU time and memory: the demo, Adult, and how both grow with rows and columns.

No peer does this job, so each run is compared with the time it may take. `python -m bench release`
does the first part; `python -m bench.bench_release growth` adds the second, some ten minutes;
`... rows` or `... columns` does one half of it. `... different` releases and audits made tables of
which every row differs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from rich.console import Console
from rich.table import Table

from bench.labelled_tables import DATA
from bench.made_tables import grown, mixed
from bench.ratio import Ratio, show

DEMO, ADULT, MILLION = 8.0, 10.0, 60.0
"""CPU seconds that the demo, 30,000 rows of Adult and a million rows of its kind may take, warm."""
ROOM = 4.0
"""The most memory that a million rows may take, in GiB."""
ROWS = (15_000, 60_000, 250_000, 1_000_000)
COLUMNS = (8, 15, 30, 60)
DIFFERENT = ((1_000_000, 15), (100_000, 100))


@dataclass(frozen=True)
class Cost:
    """What one command took: CPU seconds of all its threads, and the most memory in GiB."""

    cpu: float
    memory: float


def run(*args: str, cache: Path) -> Cost:
    """Run one command; `cache` is where Python and numba keep what they have compiled."""
    env = dict(os.environ) | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": str(cache)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "tamis.cli", *args, "--quiet"]
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL) as started:
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise SystemExit(f"tamis {args[0]} ended with {started.returncode}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)


def release(frame: pl.DataFrame, folder: Path, cache: Path) -> Cost:
    """Publish Adult, or a table of its kind, with sex hidden."""
    with TemporaryDirectory(dir=folder) as place:
        table, out = Path(place) / "adult.csv", Path(place) / "out"
        frame.write_csv(table)
        asked = ("--target", "class", "--sensitive", "sex", "--row-is-person", "--out", str(out))
        # Among few rows hardly any has the same weight, so that it looks like a key.
        weights = [name for name in frame.columns if name.startswith("fnlwgt")]
        plain = ("--feature", ",".join(weights)) if weights else ()
        return run("release", str(table), *asked, *plain, cache=cache)


def demo(folder: Path, cache: Path) -> list[Ratio]:
    cold, warm = (
        run("demo", "--out", str(folder / name), cache=cache).cpu for name in ("cold", "warm")
    )
    return [
        Ratio("demo, nothing compiled yet", "a minute", cold, 60.0, 1),
        Ratio("demo, second run", f"{DEMO:g} s", warm, DEMO, 1),
    ]


def adult() -> pl.DataFrame | None:
    """The training rows of Adult without missing values, where the real data are."""
    path = DATA / "adult_train.csv.gz"
    if not path.exists():
        print("the real datasets are not next to this checkout: no release of Adult")
        return None
    return pl.read_csv(path, null_values="?", infer_schema_length=None).drop_nulls()


def widths(frame: pl.DataFrame, sizes: Iterable[int]) -> Iterable[pl.DataFrame]:
    """The same rows with fewer columns, or with more, drawn again for other rows."""
    wide, rest = frame.select("class", "sex"), frame.drop("class", "sex")
    wide = wide.hstack(rest)
    for size in sizes:
        while wide.width < size:
            time = wide.width // rest.width
            again = grown(rest, rest.height, seed=time)
            wide = wide.hstack(again.rename({name: f"{name} {time}" for name in again.columns}))
        yield wide[:, :size]


def growth(frames: Iterable[pl.DataFrame], folder: Path, cache: Path) -> None:
    """CPU and memory of tables of several sizes."""
    table = Table("rows", "columns", "CPU s", "GiB", title="growth of a release")
    for frame in frames:
        cost = release(frame, folder, cache)
        size = f"{frame.height:,}", str(frame.width)
        table.add_row(*size, f"{cost.cpu:.1f}", f"{cost.memory:.1f}")
    Console().print(table)
    print(f"aims at 1,000,000 x 15: {MILLION:g} CPU s, {ROOM:g} GiB")


def different(folder: Path, cache: Path) -> None:
    """CPU and memory where every row differs, long and wide."""
    table = Table("rows", "columns", "command", "CPU s", "GiB", title="every row different")
    for rows, columns in DIFFERENT:
        path = folder / "different.csv"
        mixed(rows, columns).write_csv(path)
        asked = (str(path), "--target", "outcome", "--sensitive", "secret", "--row-is-person")
        for args in (("audit", *asked), ("release", *asked, "--out", str(folder / f"{columns}"))):
            cost = run(*args, cache=cache)
            size = f"{rows:,}", str(columns)
            table.add_row(*size, args[0], f"{cost.cpu:.1f}", f"{cost.memory:.1f}")
    Console().print(table)


def main(*parts: str) -> None:
    with TemporaryDirectory() as name:
        folder, frame = Path(name), adult()
        cache = folder / "cache"
        found = demo(folder, cache)
        if frame is not None:
            release(frame[:2_000], folder, cache)  # compiles what the demo does not use
            cost = release(frame[:30_000], folder, cache)
            found.append(Ratio("Adult, 30,000 x 15", f"{ADULT:g} s", cost.cpu, ADULT, 1))
        show("from a table to a verified release, CPU seconds", found)
        if "different" in parts:
            different(folder, cache)
        if frame is not None and {"rows", "growth"} & {*parts}:
            growth((grown(frame, rows) for rows in ROWS), folder, cache)
        if frame is not None and {"columns", "growth"} & {*parts}:
            growth(widths(frame[:30_000], COLUMNS), folder, cache)


if __name__ == "__main__":
    main(*sys.argv[1:])
