"""`tamis select`: which columns may be released? One command for each kind of risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from tamis.cli import LazyGroup
from tamis.cli.options import Decorator, OutputFile, seed_option, with_options

KINDS = {
    "containment": "tamis.cli.select.containment:containment",
    "breach": "tamis.cli.select.breach:breach",
}
BY = {"by": "tamis.cli.select.by:by"}
"""The form with `--by`: no name calls it, the lack of one does."""


class _Kinds(LazyGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(KINDS)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **more: Any,
    ) -> click.Context:
        named = not args or args[0] in KINDS or args[0] in ("-h", "--help")
        given = any(arg.partition("=")[0] == "--by" for arg in args)
        if named and not given:
            return super().make_context(info_name, args, parent, **more)
        by = self.get_command(click.Context(self), "by")
        assert by is not None
        return by.make_context(info_name, args, parent, **more)


@click.group(
    cls=_Kinds,
    homes=KINDS | BY,
    epilog="`tamis select TABLE --by containment|breach` does the same.",
)
def select() -> None:
    """Choose the columns of a table that may be released."""


def search_option(searches: Sequence[str], help: str) -> Decorator:
    """Which search to use, the first by default."""
    return click.option(
        "--search",
        default=searches[0],
        show_default=True,
        type=click.Choice(searches),
        help=help,
    )


def writing_options(drawn: str) -> Decorator:
    """Where to write, what to draw and the seed."""
    return with_options(
        [
            click.option(
                "--output",
                "-o",
                type=OutputFile(),
                metavar="FILE",
                help="Write the projected table (csv or parquet).",
            ),
            click.option("--plot", type=OutputFile(), metavar="FILE.svg", help=f"Draw {drawn}."),
            seed_option,
        ]
    )
