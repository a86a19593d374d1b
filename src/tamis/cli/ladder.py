"""`tamis ladder`: the coarser forms of one column, and how many people each is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tamis.cli.options import given_ladders, ladder_options, table_options
from tamis.cli.table_source import TableSource
from tamis.errors import plural
from tamis.publish.figures import count_words

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from tamis.coarsen.ladder import CountedLabel, Ladder
    from tamis.table import Table

MOST = 25
"""The most labels of a level that are printed; --json gives all."""


@click.command()
@table_options
@click.option("--column", required=True, metavar="COL", help="The column to show.")
@ladder_options
@click.option(
    "--k",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="The fewest people in a group, where tamis makes the ladder.",
)
def ladder(
    source: TableSource,
    column: str,
    ladder: tuple[str, ...],
    ladders: dict[str, object] | None,
    k: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show the ladder of a column of TABLE: its coarser forms, with the people in each.

    It is the one of a csv file (--ladder COL=FILE), of [ladders] in a schema or configuration,
    or else one that tamis makes.
    """
    from tamis.cli.terminal import print_json
    from tamis.coarsen.draft import ladders_of
    from tamis.coarsen.ladder import rungs

    table = source.read()
    given = given_ladders(source, ladder, ladders)
    shown = ladders_of(table, given, [column], k=k)[column]
    shown.check(table.frame.get_column(column))
    levels = [rungs(shown, table, level) for level in range(shown.top + 1)]
    if as_json:
        each = (_level(shown, number, found) for number, found in enumerate(levels))
        said = {"column": column, "given": column in given, "unit": table.unit}
        print_json({**said, "ladder": shown.to_dict(), "levels": list(each)})
    else:
        _print_levels(shown, table, levels, column in given)


def _level(shown: Ladder, number: int, found: list[CountedLabel]) -> dict[str, object]:
    return {
        "level": number,
        "words": shown.words(number),
        "groups": len(found),
        "smallest": min(rung.people for rung in found),
        # Level 0 has a label for each value of the table, which nobody needs to see again.
        **({"labels": [rung.to_dict() for rung in found]} if number else {}),
    }


def _print_levels(
    shown: Ladder, table: Table, levels: list[list[CountedLabel]], given: bool
) -> None:
    from tamis.cli.terminal import console

    out = console()
    by = "as given" if given else "made by tamis; tamis init writes it where you can change it"
    out.print(f"{shown.column!r}: levels 0 to {shown.top}, {by}", markup=False)
    for number, found in enumerate(levels):
        few = count_words(min(rung.people for rung in found), table.unit)
        groups = f"{plural(len(found), 'group')}, the smallest of {few}"
        out.print(f"level {number}: {groups} ({shown.words(number)})", markup=False)
        if 0 < number < shown.top:
            out.print(_labels(found, table))


def _labels(found: list[CountedLabel], table: Table) -> RichTable:
    from tamis.cli import printable
    from tamis.cli.terminal import bar, escape, rich_table

    lines = rich_table("label", table.unit, "", numbers=(table.unit,))
    for rung in found[:MOST]:
        label = "missing" if rung.label is None else escape(printable(rung.label))
        lines.add_row(label, f"{rung.people:,}", bar(rung.people / table.everybody))
    if len(found) > MOST:
        lines.add_row(f"and {len(found) - MOST:,} more", "", "")
    return lines
