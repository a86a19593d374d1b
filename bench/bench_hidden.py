"""Secrets hidden in the form of a column: what a release says it tells, and what a decoder reads.

`python -m bench hidden` tries every encoding of `bench.hidden_secrets` with default settings, and
looks for views of secrets that are shuffled in public tables, where nothing is hidden;
`python -m bench.bench_hidden NAME ...` tries the encodings whose name begins so.
"""

from __future__ import annotations

import sys
import time
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table as Lines

from bench.front_tables import DATA
from bench.hidden_secrets import ENCODINGS, Encoding, share_read
from tamis import Settings, consider
from tamis.errors import InputError
from tamis.evaluate.figure import Figure
from tamis.evaluate.subset_bits import SubsetBits
from tamis.learn.holdout import column_labels
from tamis.table import Table

CAUGHT = 0.8
"""Told is right where it says at least this part of what the decoder reads."""
LITTLE = 0.02
"""A decoder that reads less has nothing."""


@dataclass(frozen=True)
class Found:
    """What was said of one encoding, and what was read."""

    name: str
    kept: float
    told: Figure
    read: float
    """By the decoder from the chosen release, as a share of what is unknown of the secret."""
    read_everything: float
    columns: str
    cpu: float

    @property
    def verdict(self) -> str:
        if self.read < LITTLE:
            return "cured" if self.kept >= 0.5 else "dropped"
        return "caught" if self.told.value >= CAUGHT * self.read else "MISSED"


def found(encoding: Encoding, seed: int = 0) -> Found:
    table = encoding.table(seed)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = consider(table, Settings(seed=seed))
    cpu = time.process_time() - start
    secret = (table.frame["hiv"] == "positive").to_numpy()
    target = (table.frame["readmitted"] == "yes").to_numpy().astype(int)
    chosen = outcome.decision.chosen
    release = chosen.release
    inside = release.mask
    read = encoding.read(table, release.table.frame)
    forms = [f"{n}{'~' if n in release.forms else ''}" for n in release.features]
    told = chosen.figures["told"]
    assert isinstance(told, Figure)
    return Found(
        encoding.name,
        chosen.value("kept") or 0.0,
        told,
        share_read(read, secret[inside], target[inside]),
        share_read(encoding.read(table, table.frame), secret, target),
        ", ".join(forms),
        cpu,
    )


def main(*names: str) -> None:
    heads = ("encoding", "kept", "told (95 %)", "decoder", "of all columns", "verdict", "CPU s")
    table = Lines(*heads, "columns (~ coarser)", title="secrets hidden in the form of a column")
    tally: dict[str, int] = {}
    for encoding in ENCODINGS:
        if names and not any(encoding.name.startswith(name) for name in names):
            continue
        one = found(encoding)
        tally[one.verdict] = tally.get(one.verdict, 0) + 1
        told = f"{one.told.value:.2f} ({one.told.low:.2f} to {one.told.high:.2f})"
        shares = f"{one.read:.2f}", f"{one.read_everything:.2f}"
        table.add_row(
            one.name, f"{one.kept:.2f}", told, *shares, one.verdict, f"{one.cpu:.1f}", one.columns
        )
        print(one.name, one.verdict, flush=True, file=sys.stderr)
    Console(width=150).print(table)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(tally.items())))


def shuffled(name: str, times: int = 4, most: int = 3) -> tuple[int, int, int]:
    """How many secrets of a public table were shuffled, how many views tested, and kept.

    Secrets are columns of two to twenty values, shuffled among rows of the same target, which is
    the last column if that has no more than twenty values, else none.
    """
    frame = pl.read_csv(
        DATA / f"{name}.csv.gz", null_values=["?", ""], infer_schema_length=None
    ).head(20_000)
    frame = frame.drop_nulls(frame.columns[-1]).select(frame.columns[-41:])
    target = column_labels(Table(frame), frame.columns[-1])
    strata = np.unique(target, return_inverse=True)[1]
    if strata.max() >= 20:  # texts or numbers: among equal ones next to nothing would be shuffled
        strata = np.zeros_like(strata)
    few = [c for c in frame.columns[:-1] if 2 <= frame[c].drop_nulls().n_unique() <= 20]
    tables = tested = kept = 0
    for secret in few[:: max(1, len(few) // most)][:most]:
        for time_ in range(times):
            draw = np.random.default_rng([time_, zlib.crc32(f"{name} {secret}".encode())])
            order = np.lexsort((draw.random(frame.height), strata))
            label = np.empty(frame.height, dtype=np.int64)
            codes = np.unique(column_labels(Table(frame), secret), return_inverse=True)[1]
            label[np.lexsort((draw.random(frame.height), strata))] = codes[order]
            bits = SubsetBits.of(frame.drop(secret, frame.columns[-1]), strata, label)
            assert bits.secret is not None
            tables, tested = tables + 1, tested + bits.secret.views.tested
            kept += len(bits.secret.views.kept)
    return tables, tested, kept


def false_alarms(names: Sequence[str] = ()) -> None:
    every = names or [path.name.removesuffix(".csv.gz") for path in sorted(DATA.glob("*.csv.gz"))]
    found = []
    for name in every:
        try:
            one = shuffled(name)
        except (InputError, pl.exceptions.PolarsError) as wrong:
            print(name, "left out:", str(wrong)[:60], file=sys.stderr)
            continue
        found.append(one)
        print(name, *one, flush=True, file=sys.stderr)
    tables, tested, kept = (sum(each) for each in zip(*found))
    print(f"{tables} tables with a shuffled secret: {tested} views tested, {kept} kept")


if __name__ == "__main__":
    main(*sys.argv[1:])
    if len(sys.argv) == 1 and DATA.exists():
        false_alarms()
