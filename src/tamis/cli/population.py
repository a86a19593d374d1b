"""The options about the population that a table was drawn from, and its register."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tamis.cli.options import TableSource, with_options
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.evaluate.in_population import InPopulation
    from tamis.table import Table

population_options = with_options(
    [
        click.option(
            "--population",
            metavar="FILE",
            help="A register of everybody, of whom the table is a sample.",
        ),
        click.option(
            "--sampling",
            type=click.FloatRange(0, 1, min_open=True),
            help="The share of the population that is in the table, such as 0.01.",
        ),
    ]
)
"""Give a command `--population` and `--sampling`."""


def read_register(source: TableSource, path: str, table: Table) -> Table:
    """The register in a file, its columns of the same types as those of the table."""
    from tamis.evaluate.in_population import register_of
    from tamis.read import read_table

    rules = source.rules()
    kinds = {c: _declared(table, c) for c in table.quasi}
    everybody = read_table(
        path,
        missing=source.missing,
        schema=replace(
            rules,
            columns={**rules.columns, **{c: kind for c, kind in kinds.items() if kind}},
            roles={},
        ),
        encoding=source.encoding,
        separator=source.separator,
        check=False,
    )
    return register_of(everybody.frame, table)


def _declared(table: Table, column: str) -> str:
    """The kind of a column, as a schema would declare it; empty where it has no such word."""
    import polars as pl

    if table.kind(column) == "nominal":
        return "text" if table.frame.schema[column] == pl.String else ""
    return "date" if table.frame.schema[column] in (pl.Date, pl.Datetime) else "number"


def known_population(
    source: TableSource, table: Table, population: str | None, sampling: float | None
) -> InPopulation | None:
    """What the options say of the population; `None` if nothing."""
    if population is None and sampling is None:
        return None
    from tamis.evaluate.in_population import InPopulation

    if population is not None and sampling is not None:
        raise InputError("--population counts everybody and --sampling estimates; give one of them")
    register = None if population is None else read_register(source, population, table)
    return InPopulation(sampling, register)
