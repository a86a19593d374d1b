"""`tamis perturb`: a table of altered values, or of synthetic rows."""

from __future__ import annotations

from typing import Any

import click

from tamis.cli.dp import spending_options
from tamis.cli.options import Names, OutputFile, TableSource, seed_option, table_options

CHOICE = click.Choice
POSITIVE = click.FloatRange(0, min_open=True)


@click.command()
@table_options
@click.option(
    "--method",
    type=CHOICE(["uniform", "gaussian", "flip", "dp-histogram", "dp-partition", "dp-synthesiser"]),
    required=True,
    help="How to alter the table.",
)
@click.option(
    "--output",
    "-o",
    type=OutputFile(),
    metavar="FILE",
    required=True,
    help="Where to write (csv, parquet).",
)
@click.option("--probability", default=0.1, show_default=True, help="uniform, gaussian: per cell.")
@click.option("--columns", type=Names(), default=(), help="uniform, gaussian: which [features].")
@click.option("--k", default=5, show_default=True, type=click.IntRange(1), help="flip: group size.")
@click.option("--epsilon", type=POSITIVE, help="dp: what the release may cost.")
@click.option("--bounds", metavar="FILE.toml", help="Public ranges and values of the columns.")
@click.option("--bounds-from-data", is_flag=True, help="dp: take bounds from data; no guarantee.")
@click.option("--bins", type=click.IntRange(1), help="dp: intervals of a column of numbers.")
@click.option("--rows", type=click.IntRange(1), help="dp-partition: the number of rows, if public.")
@click.option(
    "--neighbours",
    default="add-remove",
    show_default=True,
    type=CHOICE(["add-remove", "substitute"]),
    help="dp: which tables must look alike.",
)
@click.option("--features", type=click.IntRange(1), help="dp-histogram: 0/1 columns to choose.")
@click.option(
    "--mechanism",
    default="exponential",
    show_default=True,
    type=CHOICE(["exponential", "laplace"]),
    help="dp-histogram: how to choose them.",
)
@spending_options
@click.option("--python", metavar="FILE", help="dp-synthesiser: a Python that has opendp[mbi].")
@seed_option
def perturb(source: TableSource, **options: Any) -> None:
    """Alter the values of TABLE, or draw a synthetic table that resembles it.

    uniform and gaussian noise give no guarantee; flip makes 0/1 rows identical in groups of k; the
    dp methods draw synthetic rows with differential privacy.
    """
    from tamis.cli.perturb_run import run_perturb

    run_perturb(source, **options)
