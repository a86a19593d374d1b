"""`tamis demo`: the flow on a table that tamis makes itself."""

from __future__ import annotations

import click

from tamis.cli.options import seed_option, speaking


@click.command()
@click.option("--rows", type=click.IntRange(50), default=3000, show_default=True)
@seed_option
@speaking
def demo(rows: int, seed: int, as_json: bool, quiet: bool) -> None:
    """Audit a made table of hospital stays.

    Nothing is read and nothing is written: the table is made from the seed.
    """
    from tamis.cli.audit import audit_table, print_audit
    from tamis.cli.show import console, print_json, print_understood, understood
    from tamis.datasets import patients

    table = patients(rows, random_state=seed)
    if not (quiet or as_json):
        print_understood(table)
    result = audit_table(table)
    if as_json:
        print_json({"table": understood(table), **result["exposure"].to_dict()})
        return
    print_audit(**result)
    worst = result["exposure"].columns[0]
    console().print(
        f"\nWithout [bold]{worst.column}[/bold] {worst.fewer_unique:,} fewer people stand alone. "
        "The next step is to choose which columns\nmay leave: those that teach a recipient and do "
        "not tell on people. Try your own table:\n\n  tamis audit TABLE --target COL --quasi a,b"
    )
