"""Synthetic rows under differential privacy, beside OpenDP's and SmartNoise's AIM and MST.

All draw from the same half of a table, with the same values public (numbers are cut into ten bins
first), at the same epsilon and delta. Each drawn table is judged by the same measures: the distance
of its one-, two- and three-way counts from the true ones, and, on the other half of the people,
what it keeps of the target and tells of the secret, and by how much rules mined from the table are
right more or less often (Rule Accuracy, an error: 0 is best).

`python -m bench synthesis` takes three tables and three epsilons with OpenDP, about an hour;
`python -m bench.bench_synthesis TABLE[,TABLE] [EPSILON,...] [PYTHON]` some of them, and with the
path of a Python that has smartnoise-synth, that peer too (it brings gigabytes of its own).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table as Lines

from bench.front_tables import read
from tamis import DPMarginals, DPPartition, DPSynthesiser, Roles, Table, judge
from tamis.errors import CannotMeet, TamisWarning

DELTA = 1e-9
EPSILONS = (0.1, 1.0, 10.0)
BINS = 10
OURS = ("marginals", "partition")
"""Of tamis alone; what has no delta promises as much with a delta of 0."""
PEER = Path(__file__).with_name("synthesis_peers.py")
OPENDP = ["uv", "run", "--isolated", "--no-project", "--python", "3.11"]
OPENDP += ["--with", "opendp[mbi]==0.16.0", "--with", "pandas", "python"]

Draw = Callable[[pl.DataFrame, str], pl.DataFrame]
"""Rows drawn from the rows of people, of which the target is named."""


def adult() -> tuple[pl.DataFrame, str, str]:
    names = "age,workclass,education-num,marital-status,occupation,relationship,race,sex"
    frame = read("adult_train").select(*names.split(","), "hours-per-week", "class")
    return frame, "class", "marital-status"


def bank() -> tuple[pl.DataFrame, str, str]:
    names = "age,job,marital,education,balance,housing,loan,duration,campaign,y"
    return read("bank_marketing").select(names.split(",")), "y", "marital"


def diabetes() -> tuple[pl.DataFrame, str, str]:
    names = "race,gender,age,admission_type_id,time_in_hospital,num_medications,number_inpatient"
    names += ",insulin,diabetesMed,readmitted"
    frame = read("diabetes130").sort("encounter_id").unique("patient_nbr", keep="first")
    return frame.sort("encounter_id").select(names.split(",")), "readmitted", "race"


TABLES = {"adult": adult, "bank": bank, "diabetes": diabetes}


def coded(frame: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers from 0: numbers of many values by ten bins of equal width, others by value."""

    def codes(column: pl.Series) -> pl.Series:
        if column.dtype.is_numeric() and column.n_unique() > BINS:
            numbers = column.cast(pl.Float64).to_numpy()
            ends = np.linspace(numbers.min(), numbers.max(), BINS + 1)
            found = np.searchsorted(ends[1:-1], numbers, side="right")
        else:
            texts = column.cast(pl.String).fill_null("").to_numpy()
            found = np.unique(texts, return_inverse=True)[1]
        # Only values that occur: SmartNoise learns the domain from the table.
        return pl.Series(column.name, np.unique(found, return_inverse=True)[1])

    return pl.DataFrame([codes(column) for column in frame.get_columns()])


def ours(kind: str, epsilon: float, most: dict[str, int], numbers: Sequence[str]) -> Draw:
    """A partition takes numbers as numbers, since it cuts them; to the others all are values."""

    def draw(people: pl.DataFrame, target: str) -> pl.DataFrame:
        bounds: dict[str, Any] = {c: [str(code) for code in range(n)] for c, n in most.items()}
        if kind == "partition":
            bounds |= {c: [0, most[c] - 1] for c in numbers}
        makers = {
            "marginals": lambda: DPMarginals(epsilon, bounds=bounds),
            "partition": lambda: DPPartition(epsilon, bounds=bounds),
            "aim": lambda: DPSynthesiser(epsilon, bounds=bounds, delta=DELTA),
            "mst": lambda: DPSynthesiser(epsilon, bounds=bounds, delta=DELTA, algorithm="mst"),
        }
        texts = people.select(pl.all().cast(pl.String))
        drawn: pl.DataFrame = makers[kind]().fit(texts, target=target).sample()
        return drawn.select(pl.col(people.columns).cast(pl.Int64))

    return draw


def peer(
    python: Sequence[str], library: str, kind: str, epsilon: float, most: dict[str, int]
) -> Draw:
    def draw(people: pl.DataFrame, target: str) -> pl.DataFrame:
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder) / "in.csv", Path(folder) / "out.csv"
            people.write_csv(source)
            Path(f"{source}.json").write_text(json.dumps(most))
            words = [PEER, library, kind, epsilon, DELTA, source, out]
            command = [*python, *map(str, words)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            return pl.read_csv(out).select(people.columns)

    return draw


def distance(true: pl.DataFrame, drawn: pl.DataFrame, size: int) -> float:
    """Half the sum of absolute differences between shares, a mean over all sets of columns."""

    def one(names: list[str]) -> float:
        counts = [frame.group_by(names).agg(pl.len() / frame.height) for frame in (true, drawn)]
        both = counts[0].join(counts[1], on=names, how="full", suffix="_drawn")
        gaps = both["len"].fill_null(0.0) - both["len_drawn"].fill_null(0.0)
        return float(gaps.abs().sum()) / 2

    return float(np.mean([one([*names]) for names in combinations(true.columns, size)]))


def measure(name: str, epsilon: float, smartnoise: str | None) -> None:
    frame, target, secret = TABLES[name]()
    whole = coded(frame.drop_nulls(target))
    most = {c: int(whole[c].max()) + 1 for c in whole.columns}  # type: ignore[arg-type]
    numbers = [c for c in frame.columns if frame[c].dtype.is_numeric() and c != target]
    half = np.random.default_rng(7).random(whole.height) < 0.5
    people, others = whole.filter(half), whole.filter(~half)
    draws = {f"ours {kind}": ours(kind, epsilon, most, numbers) for kind in OURS}
    for kind in ("mst", "aim"):
        draws[f"ours {kind}"] = ours(kind, epsilon, most, numbers)
        draws[f"OpenDP {kind}"] = peer(OPENDP, "opendp", kind, epsilon, most)
        if smartnoise is not None:
            draws[f"SmartNoise {kind}"] = peer([smartnoise], "smartnoise", kind, epsilon, most)
    columns = ("method", "1-way", "2-way", "3-way", "kept", "told", "rule error", "wall s")
    lines = Lines(*columns, title=f"{name}, {people.height:,} people, epsilon {epsilon:g}")
    roles = Roles(target=target, sensitive=secret)
    as_text = pl.all().cast(pl.String)
    truth = Table(people.select(as_text), roles)
    control = Table(others.select(as_text), roles)
    for method, draw in draws.items():
        start = time.perf_counter()
        try:
            drawn = draw(people, target)
        except CannotMeet:  # a partition of so many columns has more cells than it may count
            lines.add_row(method, "refused")
            continue
        seconds = time.perf_counter() - start
        found = judge(truth, {method: Table(drawn.select(as_text))}, control=control).releases[0]
        errors = [f"{distance(people, drawn, size):.3f}" for size in (1, 2, 3)]
        figures = [found.figure("kept"), found.figure("told")]
        figures.append(None if found.retention is None else found.retention.rule_accuracy)
        shown = ["" if x is None else f"{x:.3f}" for x in figures]
        lines.add_row(method, *errors, *shown, f"{seconds:.1f}")
        print(name, epsilon, method, *errors, *shown, f"{seconds:.1f}", file=sys.stderr, flush=True)
    Console().print(lines)


def main(arguments: Sequence[str] = ()) -> None:
    warnings.simplefilter("ignore", TamisWarning)
    names = arguments[0].split(",") if arguments else list(TABLES)
    epsilons = [float(x) for x in arguments[1].split(",")] if len(arguments) > 1 else EPSILONS
    for name in names:
        for epsilon in epsilons:
            measure(name, epsilon, arguments[2] if len(arguments) > 2 else None)


if __name__ == "__main__":
    main(sys.argv[1:])
