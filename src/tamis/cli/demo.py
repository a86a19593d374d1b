"""`tamis demo`: the whole flow on a simulated table of hospital stays."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import click

from tamis.cli.options import common_options, force_option, seed_option

HERE = "tamis-demo"
METHODS: dict[str, dict[str, Any]] = {
    "front": {},
    "breach": {"most": 5},
    "containment": {"utilities": ["difference"]},
}
"""Fewer releases than the default: enough to see how they compare, in a few seconds."""


@click.command()
@click.option("--out", metavar="DIR", help=f"The folder to create [a new {HERE} here].")
@click.option("--rows", type=click.IntRange(200), default=3000, show_default=True)
@force_option
@seed_option
@common_options
def demo(out: str | None, rows: int, force: bool, seed: int, as_json: bool, quiet: bool) -> None:
    """Publish a simulated table of hospital stays, with its reports.

    Nothing is read: the table is generated from the seed.
    """
    from tamis.cli.release.outcome_words import print_outcome
    from tamis.cli.release.run import make
    from tamis.cli.terminal import print_understood
    from tamis.datasets import patients
    from tamis.flow import Settings
    from tamis.publish.bundle import refuse_existing

    folder = fresh() if out is None else Path(out)
    refuse_existing(folder, force)
    table = patients(rows, random_state=seed)
    watched = not (quiet or as_json)
    if watched:
        print_understood(table)
    origin = {"name": "patients", "made": {"rows": rows, "random_state": seed}}
    settings = Settings(methods=METHODS, seed=seed)
    print_outcome(make(table, settings, folder, force, watched, origin), folder, as_json)


def fresh() -> Path:
    """The first of tamis-demo, tamis-demo-2, ... that does not exist yet."""
    names = (HERE if i == 1 else f"{HERE}-{i}" for i in count(1))
    return next(path for path in map(Path, names) if not path.exists())
