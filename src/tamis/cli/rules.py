"""`tamis rules`: which rules does this table contain?"""

from __future__ import annotations

import click

from tamis.cli.options import OutputFile, seed_option, table_options
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import console, print_json, print_understood
from tamis.errors import plural


@click.command()
@table_options
@click.option(
    "--max-depth",
    type=click.IntRange(1),
    default=12,
    show_default=True,
    help="The most splits on the way to a leaf.",
)
@click.option(
    "--min-support",
    type=float,
    default=0.02,
    show_default=True,
    help="The least share of the rows that meet a rule.",
)
@click.option("--shares", is_flag=True, help="Give every label's share, not just the likeliest.")
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write them; .json gives JSON.",
)
@seed_option
def rules(
    source: TableSource,
    max_depth: int,
    min_support: float,
    shares: bool,
    output: str | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print the rules of a decision tree trained on TABLE, one per line.

    Edit them, add your own, and pass them to `tamis retain --rules`.
    """
    from tamis.files import written
    from tamis.rules.tree import mine_rules

    table = source.read_with_roles()
    found = mine_rules(
        table, min_support=min_support, max_depth=max_depth, shares=shares, random_state=seed
    )
    if not (quiet or as_json):
        print_understood(table)
        words = plural(len(found), "rule predicts", "rules predict")
        console(stderr=True).print(f"{words} {table.target!r}", markup=False)
    if output is not None:
        content = found.to_json() if output.endswith(".json") else found.to_text()
        with written(output) as draft:
            draft.write_text(content + "\n", encoding="utf-8")
    if as_json:
        print_json(found.to_dict())
    elif output is None:
        click.echo(found.to_text())
