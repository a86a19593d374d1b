"""Secrets hidden in the form of a column: what a release says it tells, and what a decoder reads.

`python -m bench hidden` tries every encoding of `bench.hidden_secrets` with default settings;
`python -m bench.bench_hidden NAME ...` those whose name begins so.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from bench.hidden_secrets import ENCODINGS, Encoding, share_read
from tamis import Settings, consider
from tamis.evaluate.figure import Figure

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
    table = Table(*heads, "columns (~ coarser)", title="secrets hidden in the form of a column")
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


if __name__ == "__main__":
    main(*sys.argv[1:])
