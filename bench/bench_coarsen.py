"""Coarsening against ARX's figures, anjana and anonypy; and how it grows with the rows.

ARX's cases, with its CPU seconds, are looked for in `../shared/golden/arx`. All 247 are searched
and their scores compared, and so are all nodes of one lattice. The peers run in an environment of
their own. `python -m bench.bench_coarsen growth|arx|peers|accuracy|lattice` runs a part.
"""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

from bench.ratio import Ratio, show
from tamis.coarsen.classes import CodedRows, coded_rows, grouped_at
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.ladder_sources import read_ladder
from tamis.coarsen.lattice import full_domain
from tamis.coarsen.local import SplitBy, local_classes
from tamis.coarsen.metrics import metric_named
from tamis.coarsen.search import coarsened
from tamis.require import requirements
from tamis.require.base import Requirements
from tamis.table import Roles, Table

SHARED = Path(__file__).resolve().parents[2] / "shared"
ARX = SHARED / "golden" / "arx"
SMALLEST = 0.01
"""The resolution of ARX's CPU seconds."""
PEERS = Path(__file__).parent / "coarsen_peers.py"


def about(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ARX / "tables.json").read_text())[name]
    return found


def frame_of(name: str, file: str | None = None) -> pl.DataFrame:
    told = about(name)
    path = SHARED / "data" / f"{file or told['file']}.csv.gz"
    frame = pl.read_csv(path, infer_schema=False)
    if told["drop_rows_with"]:
        frame = frame.filter(~pl.any_horizontal(pl.all() == told["drop_rows_with"]))
    return frame


def ladders_of_arx(name: str) -> dict[str, Ladder]:
    told = about(name)
    folder = ARX / "hierarchies"
    return {c: read_ladder(folder / f"{told['prefix']}_{c}.csv", c) for c in told["qi"]}


def rows_of(name: str, sensitive: bool) -> CodedRows:
    frame, told = frame_of(name), about(name)
    leaves = [ladder.hierarchy(frame[c]) for c, ladder in ladders_of_arx(name).items()]
    values = frame[told["sensitive"]].rank("dense").to_numpy() - 1 if sensitive else None
    return coded_rows(
        [each.codes for each in leaves],
        [each.hierarchy for each in leaves],
        values=None if values is None else values.astype(np.int64),
    )


def asked_for(case: dict[str, str]) -> Requirements:
    kind, number = case["privacy"][2:3], case["privacy"][3:]
    return requirements(
        k=int(case["k"]),
        l=int(number) if kind == "l" else None,
        t=float(number) if kind == "t" else None,
    )


def against_arx(repeat: int = 1) -> list[Ratio]:
    """CPU seconds of the search alone: the slowest case of each kind, then all together."""
    with (ARX / "arx_optimal.csv").open() as file:
        cases = list(csv.DictReader(file))
    tables = {key: rows_of(*key) for key in {(c["table"], c["privacy"] != "k") for c in cases}}
    for rows in tables.values():  # load the compiled kernels, and number the forms: ARX was warm
        more = {} if rows.values is None else {"l": 2, "t": 0.5}
        full_domain(rows, requirements(k=5, **more), metric="aecs")
    worst: dict[tuple[str, ...], list[Ratio]] = defaultdict(list)
    for case in cases:
        theirs = max(float(case["cpu_s"]), SMALLEST)
        times = repeat if theirs > 10 * SMALLEST else 3 * repeat
        ours = searched(case, tables[case["table"], case["privacy"] != "k"], times)
        kind = (case["table"], case["metric"], case["suppression_limit"])
        worst[kind].append(Ratio(case["id"], "ARX", ours, theirs, 1.2))
    every = [ratio for ratios in worst.values() for ratio in ratios]
    ours, theirs = sum(r.ours for r in every), sum(r.theirs for r in every)
    print(
        f"{len(every)} scores are equal; the median ratio is {median(r.value for r in every):.3f}"
    )
    slowest = [max(ratios, key=lambda ratio: ratio.value) for ratios in worst.values()]
    return [*slowest, Ratio("all cases", "ARX", ours, theirs, 0.5)]


def searched(case: dict[str, str], rows: CodedRows, repeat: int) -> float:
    """The CPU seconds of a search, whose score is that of ARX."""
    asked, limit = asked_for(case), float(case["suppression_limit"])
    how: dict[str, Any] = {"metric": case["metric"], "factor": float(case["gs_factor"])}
    times = []
    for _ in range(repeat):
        start = time.process_time()
        found = full_domain(rows, asked, max_suppressed=limit, **how)
        times.append(time.process_time() - start)
    expected = float(case["score_low"])
    if abs(found.score - expected) > 1e-9 * max(1, expected):
        raise SystemExit(f"{case['id']}: {found.score} instead of {expected}")
    return min(times)


def whole_lattice() -> None:
    """Every node of adult8, for five k."""
    rows = rows_of("adult8", False)
    with np.load(ARX / "adult8_lattice.npz") as file:
        known = dict(file)
    shape = tuple(level + 1 for level in rows.top)
    largest: dict[str, float] = defaultdict(float)
    for at, k in enumerate(known["k"].tolist()):
        asked = requirements(k=k)
        names = ("discernability", "loss", "entropy")
        metrics = {name: metric_named(name, rows, asked) for name in names}
        for levels in np.ndindex(*shape):
            node = grouped_at(rows, levels, asked)
            figures = {name: m.score(m.total(node)) for name, m in metrics.items()}
            figures["suppressed"] = node.rows_suppressed
            figures["kept_classes"] = int(np.count_nonzero(~node.suppressed))
            for name, figure in figures.items():
                expected = known[name][(at, *levels)]
                off = abs(figure - expected) / max(1, abs(expected))
                largest[name] = max(largest[name], float(off))
    print("largest deviation over all nodes:", {n: f"{v:.1e}" for n, v in largest.items()})


def against_peers() -> list[Ratio]:
    """Adult, 8 columns: anjana at k = 5 with 5 % suppressed, anonypy at k = 25."""
    frame, ladders = frame_of("adult8"), ladders_of_arx("adult8")
    quasi = tuple(ladders)
    table = Table(frame, Roles(target="class", quasi=quasi))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.csv"
        frame.write_csv(path)
        given = [str(path), str(ARX / "hierarchies"), ",".join(quasi)]
        asked = ["uv", "run", "--script", str(PEERS), *given]
        run = subprocess.run(asked, capture_output=True, text=True)
    if run.returncode:
        print("the peers did not run:", run.stderr.strip().splitlines()[-1:])
        return []
    theirs = json.loads(run.stdout.splitlines()[-1])
    k25, k5 = requirements(k=25), requirements(k=5)
    leaves = [ladder.hierarchy(frame[c]) for c, ladder in ladders.items()]
    codes = [each.codes for each in leaves]
    widths = [each.hierarchy.leaves for each in leaves]
    cut = cpu_seconds(lambda: local_classes(codes, widths, k25))
    local = cpu_seconds(lambda: coarsened(table, ladders, k25, search="local"))
    exact = cpu_seconds(lambda: coarsened(table, ladders, k5, max_suppressed=0.05))
    return [
        Ratio("cutting alone, k = 25", "anonypy", cut, theirs["anonypy"], 1 / 100),
        Ratio(
            "local recoding with its forms", "anonypy, cutting", local, theirs["anonypy"], 1 / 50
        ),
        Ratio("best levels, k = 5", "anjana (greedy)", exact, theirs["anjana"], 1),
    ]


def cpu_seconds(work: Callable[[], Any], repeat: int = 3) -> float:
    """The fewest CPU seconds of a call, as the peers count theirs; the first loads the kernels."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def local_accuracy(k: int = 5) -> list[Ratio]:
    """Loss and accuracy of local recoding on adult, as the README beside ARX's figures measures it.

    A logistic regression learns from the release, each cell spread evenly over the values that it
    may be, and is asked about the complete rows of the test set as they are.
    """
    from sklearn.linear_model import LogisticRegression

    ladders = ladders_of_arx("adult8")
    quasi = tuple(ladders)
    train, test = (
        frame_of("adult8", file).with_columns(pl.col("age").cast(pl.Int64))
        for file in ("adult_train", "adult_test")
    )
    label = [(frame["class"] == ">50K").to_numpy() for frame in (train, test)]
    table = Table(train.select(*quasi, "class"), Roles(target="class", quasi=quasi))
    leaves = {c: leaves_of_adult(c) for c in quasi}
    asked = np.hstack([spread_cells(test[c], leaves[c]) for c in quasi])
    found: list[Ratio] = []
    ways: tuple[SplitBy, ...] = ("range", "target")
    for way in ways:
        local = coarsened(table, ladders, requirements(k=k), search="local", split_by=way)
        cells = [spread_cells(local.table.frame[c], leaves[c]) for c in quasi]
        model = LogisticRegression(max_iter=2_000).fit(np.hstack(cells), label[0])
        right = float(model.score(asked, label[1]))
        print(f"split by {way}: loss {local.score:.4f}, accuracy {right:.4f}")
        if way == "range":
            found += [Ratio("loss, k = 5", "prototype", local.score, 0.041, 1)]
            found += [Ratio("errors, k = 5", "prototype", 1 - right, 1 - 0.830, 1)]
    return found


def leaves_of_adult(column: str) -> list[str]:
    """The values of a ladder file, in its order."""
    lines = (ARX / "hierarchies" / f"adult_{column}.csv").read_text().splitlines()
    return [line.partition(";")[0] for line in lines]


def spread_cells(column: pl.Series, values: list[str]) -> np.ndarray[Any, Any]:
    """A line for each cell: shares of the values that it may be, which add up to one."""
    place = {value: i for i, value in enumerate(values)}
    texts = column.cast(pl.String)
    lines = {}
    for text in texts.unique():
        line = np.zeros(len(values), dtype=np.float32)
        line[[place[value] for value in meant(text, values) if value in place]] = 1
        lines[text] = line / line.sum()
    return np.array([lines[text] for text in texts])


def meant(text: str, values: list[str]) -> list[str]:
    """The values that a cell of local recoding may be."""
    if text == "*":
        return values
    if text.startswith("{"):
        return text[1:-1].split(", ")
    if text.startswith("["):
        low, high = (int(end) for end in text[1:-1].split(", "))
        return [value for value in values if low <= int(value) <= high]
    return [text]


def growth(sizes: tuple[int, ...] = (30_000, 300_000, 3_000_000)) -> list[Ratio]:
    """CPU seconds on made rows: the distinct ones become ever fewer of them."""
    found: list[Ratio] = []
    before: tuple[int, float, float] | None = None
    for size in sizes:
        table = made(size)
        start = time.process_time()
        exact = coarsened(table, max_suppressed=0.02)
        middle = time.process_time()
        coarsened(table, search="local")
        times = size, middle - start, time.process_time() - middle
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{size:,} rows: {times[1]:.2f} s exact (loss {exact.score:.3f}), "
              f"{times[2]:.2f} s local, at most {peak:,.0f} MB so far")  # fmt: skip
        if before:
            peer = f"{before[0]:,} rows"
            found.append(Ratio(f"exact, {size:,} rows", peer, times[1], before[1], 12))
            found.append(Ratio(f"local, {size:,} rows", peer, times[2], before[2], 15))
        before = times
    return found


def made(rows: int) -> Table:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "age": rng.integers(17, 91, rows),
            "hours": np.clip(rng.normal(40, 12, rows).round(), 1, 99).astype(int),
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice([f"r{i}" for i in range(20)], rows),
            "job": rng.choice([f"j{i}" for i in range(14)], rows, p=np.arange(1, 15) / 105),
            "y": rng.choice(["no", "yes"], rows),
        }
    )
    return Table(frame, Roles(target="y"))


def main(*what: str) -> None:
    if not what or "growth" in what:
        show("coarsening: growth with the rows", growth())
    if not ARX.exists():
        print(f"the figures of ARX are not in {ARX}, so there is nothing to compare with")
        return
    if not what or "arx" in what:
        show("coarsening: CPU seconds of the search, slowest of each kind", against_arx())
    if not what or "peers" in what:
        show("coarsening: adult, 30,162 rows x 8 columns", against_peers())
    if not what or "accuracy" in what:
        show("coarsening: local recoding of adult", local_accuracy())
    if not what or "lattice" in what:
        whole_lattice()


if __name__ == "__main__":
    main(*sys.argv[1:])
