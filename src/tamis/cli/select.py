"""`tamis select`: which columns may leave?"""

from __future__ import annotations

from typing import Any

import click

from tamis.cli.options import Source, seed_option, table_options

CHOICE = click.Choice
_UTILITIES = (
    "distcnt", "hamdist", "cm", "difference", "information", "likelihood", "auc", "best",
)  # fmt: skip


@click.command()
@table_options
@click.option(
    "--by", type=CHOICE(["containment"]), required=True, help="The kind of risk to keep low."
)
@click.option(
    "--k", default="5", metavar="N[,N...]", help="The anonymity to keep [5]; may be several."
)
@click.option(
    "--utility",
    default="distcnt",
    show_default=True,
    type=CHOICE(_UTILITIES),
    help="What the columns should be good for; difference or best to predict well.",
)
@click.option(
    "--search",
    default="greedy",
    show_default=True,
    type=CHOICE(["greedy", "improve", "maximal", "exact"]),
    help="How hard to look.",
)
@click.option(
    "--privacy",
    default="containment",
    show_default=True,
    type=CHOICE(["containment", "equality"]),
    help="Hide among those who have as much, or among equals.",
)
@click.option(
    "--on-violation",
    default="skip",
    show_default=True,
    type=CHOICE(["skip", "stop"]),
    help="What greedy does at a column that does not fit.",
)
@click.option("--no-extend", is_flag=True, help="Do not add what still fits afterwards.")
@click.option(
    "--largest", default=20, type=click.IntRange(1), help="Itemsets that maximal compares."
)
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), help="Seconds to search.")
@click.option("--output", "-o", metavar="FILE", help="Write the projected table (csv or parquet).")
@click.option("--plot", metavar="FILE.svg", help="Draw the path, or utility against several k.")
@seed_option
def select(source: Source, by: str, **options: Any) -> None:
    """Choose the columns of TABLE that may leave.

    By containment: the 0/1 columns that teach most while everything a person has is had by at
    least k people.
    """
    from tamis.cli.select_containment import run

    run(source, **options)
