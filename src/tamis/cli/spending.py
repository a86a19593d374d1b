"""What differential privacy may cost in total: the options, and the ledger that adds it up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tamis.cli.options import Source
    from tamis.dp.ledger import Spending

OPTIONS = (
    click.option(
        "--max-rows-per-person",
        type=click.IntRange(1),
        help="dp: the most rows that a person adds; others are left out by a draw [1].",
    ),
    click.option(
        "--ledger",
        metavar="FILE",
        help="dp: where to add up what is spent [tamis-ledger.json beside TABLE].",
    ),
    click.option(
        "--max-epsilon",
        type=click.FloatRange(0, min_open=True),
        help="dp: the most to spend on TABLE in total, by the ledger.",
    ),
)


def spending_options(command: Any) -> Any:
    """Give a command the options of what people add and what may be spent."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@contextmanager
def spending(
    source: Source,
    epsilon: float,
    into: Path,
    *,
    ledger: str | None,
    most: float | None,
    neighbours: str,
    guarantee: bool = True,
) -> Iterator[Spending]:
    """Enter what a release of the table will cost, before anything is drawn."""
    from tamis.cli.release_run import absolute, digest_of
    from tamis.dp.ledger import Entry, Ledger
    from tamis.read.text import file_at

    file_at(source.table.partition("::")[0])
    table = absolute(source.table)
    entry = Entry(
        table,
        digest_of(table),
        epsilon,
        into=str(into.resolve()),
        neighbours=neighbours,
        guarantee=guarantee,
    )
    with Ledger(ledger_path(source, ledger)).spending(entry, most) as spent:
        yield spent


def ledger_path(source: Source, ledger: str | None) -> Path:
    """The file that was named, or the usual one beside the table."""
    from tamis.dp.ledger import NAME

    if ledger is not None:
        return Path(ledger)
    return Path(source.table.partition("::")[0]).resolve().parent / NAME


def told(spent: Spending, path: Path) -> str:
    """What is spent in total, in a sentence."""
    words = spent.account.words()
    return f"{words[0].upper()}{words[1:]} (ledger: {path})."


def total(spent: Spending, path: Path) -> dict[str, Any]:
    """The same for machines."""
    return {"epsilon_total": spent.account.epsilon, "ledger": str(path)}
