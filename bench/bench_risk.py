"""k-anonymity, l-diversity and t-closeness on a million rows and eight quasi-identifiers.

pycanon takes minutes; `python -m bench.bench_risk ROWS` gives both fewer rows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.ratio import Ratio, seconds, show
from tamis.risk.anonymity import k_anonymity
from tamis.risk.audit import exposure
from tamis.risk.diversity import l_diversity, t_closeness

ROWS = 1_000_000
PEER = Path(__file__).parents[1] / "tests" / "risk" / "pycanon_peer.py"
TEXT = {"sex": 2, "race": 5, "education": 4, "marital": 3, "job": 6, "country": 4}
NUMBERS = {"age": 6, "hours": 3}
SENSITIVE = "s_disease_text"


def people(rows: int) -> pl.DataFrame:
    """Eight quasi-identifiers, six of them text, in about 50,000 classes; four diseases."""
    rng = np.random.default_rng(0)
    columns = {
        f"q_{name}_text": np.array([f"{name} {i}" for i in range(values)])[
            rng.integers(0, values, rows)
        ]
        for name, values in TEXT.items()
    }
    numbers = {f"q_{name}": rng.integers(0, values, rows) for name, values in NUMBERS.items()}
    diseases = np.array(["flu", "cold", "asthma", "gout"])[rng.integers(0, 4, rows)]
    return pl.DataFrame(columns | numbers | {SENSITIVE: diseases})


def pycanon_seconds(frame: pl.DataFrame) -> dict[str, float]:
    """The seconds of one run of each measure; reading the table is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        frame.write_csv(path)
        run = subprocess.run(["uv", "run", "--script", PEER, path], capture_output=True, check=True)
    found: dict[str, float] = json.loads(run.stdout)[0]["seconds"]
    return found


def against_pandas(frame: pl.DataFrame) -> list[Ratio]:
    """The second line includes converting the pandas frame to polars."""
    quasi = [c for c in frame.columns if c != SENSITIVE]
    pandas = frame.to_pandas()
    theirs = seconds(lambda: pandas.groupby(quasi).size(), repeat=7)
    ours = seconds(lambda: k_anonymity(frame, quasi), repeat=7)
    converted = seconds(lambda: k_anonymity(pandas, quasi), repeat=7)
    return [
        Ratio("k of a polars frame", "pandas groupby.size", ours, theirs, 1),
        Ratio("k of a pandas frame", "pandas groupby.size", converted, theirs, 1.5),
    ]


def against_pycanon(frame: pl.DataFrame) -> list[Ratio]:
    theirs = pycanon_seconds(frame)
    k = seconds(lambda: k_anonymity(frame.drop(SENSITIVE)))
    diversity = seconds(lambda: l_diversity(frame, SENSITIVE))
    t = seconds(lambda: t_closeness(frame, SENSITIVE))
    everything = seconds(lambda: exposure(frame, sensitive=SENSITIVE))
    return [
        Ratio("k-anonymity", "pycanon", k, theirs["k"], 1 / 5),
        Ratio("l-diversity, all three", "pycanon, distinct", diversity, theirs["distinct"], 1 / 10),
        Ratio("t-closeness", "pycanon", t, theirs["t"], 1 / 20),
        Ratio("every risk measure", "pycanon k + l + t", everything, sum(theirs.values()), 1 / 20),
    ]


def main(peer_rows: int = ROWS) -> None:
    show(f"risk, {ROWS:,} rows x 8 quasi-identifiers", against_pandas(people(ROWS)))
    show(f"risk, {peer_rows:,} rows x 8 quasi-identifiers", against_pycanon(people(peer_rows)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
