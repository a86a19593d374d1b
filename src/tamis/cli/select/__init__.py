"""`tamis select`: which columns may be released? One command for each kind of risk.

`tamis select TABLE --by KIND` is both in one command, told apart by an option.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tamis.catalogue.methods import BREACH_SEARCHES
from tamis.cli.options import command
from tamis.cli.select import breach, containment
from tamis.cli.table_source import TableSource
from tamis.errors import InputError
from tamis.option import as_flag
from tamis.options.steps import BREACH, CONTAINMENT, CONTAINMENT_SEARCHES

SEARCHES = {"containment": CONTAINMENT_SEARCHES, "breach": BREACH_SEARCHES}
OWN = {"containment": CONTAINMENT, "breach": BREACH}
RUN: dict[str, Callable[..., None]] = {
    "containment": containment.run_containment,
    "breach": breach.run_breach,
}


@command("select")
def by(source: TableSource, by: str, **options: Any) -> None:
    """Choose the columns of TABLE that may be released.

    The same as tamis select containment and tamis select breach, whose help tells which options
    go with which.
    """
    other = "breach" if by == "containment" else "containment"
    foreign = {o.dest for o in OWN[other]} - {o.dest for o in OWN[by]}
    _refuse_other(by, other, foreign)
    options = {name: value for name, value in options.items() if name not in foreign}
    options["search"] = options["search"] or SEARCHES[by][0]
    if options["search"] not in SEARCHES[by]:
        raise InputError(
            f"--search with --by {by} is one of {', '.join(SEARCHES[by])}, got "
            f"{options['search']!r}"
        )
    RUN[by](source, **options)


def _refuse_other(by: str, other: str, names: set[str]) -> None:
    ctx = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    given = [n for n in names if ctx.get_parameter_source(n) is typed]
    if given:
        flags = ", ".join(map(as_flag, sorted(given)))
        raise InputError(f"{flags} goes with --by {other}, not with --by {by}")


class _Kinds(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(RUN)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **more: Any,
    ) -> click.Context:
        named = not args or args[0] in RUN or args[0] in ("-h", "--help")
        given = any(arg.partition("=")[0] == "--by" for arg in args)
        if named and not given:
            return super().make_context(info_name, args, parent, **more)
        return by.make_context(info_name, args, parent, **more)


@click.group(
    cls=_Kinds,
    commands=[containment.containment, breach.breach, by],
    epilog="`tamis select TABLE --by containment|breach` does the same.",
)
def select() -> None:
    """Choose the columns of a table that may be released."""
