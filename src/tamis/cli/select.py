"""`tamis select`: which columns may be released?"""

from __future__ import annotations

from typing import Any

import click

from tamis.cli.options import Names, OutputFile, Source, seed_option, table_options
from tamis.errors import InputError

CHOICE = click.Choice
_UTILITIES = (
    "distcnt", "hamdist", "cm", "difference", "information", "likelihood", "auc", "best",
)  # fmt: skip

SEARCHES = {
    "containment": ("greedy", "improve", "maximal", "exact"),
    "breach": ("auto", "walk", "exhaustive", "forward", "backward"),
}
CONTAINMENT = [
    click.option(
        "--k", default="5", metavar="N[,N...]", help="The anonymity to keep [5]; may be several."
    ),
    click.option(
        "--utility",
        default="distcnt",
        show_default=True,
        type=CHOICE(_UTILITIES),
        help="What makes columns good; difference or best to predict well.",
    ),
    click.option(
        "--privacy",
        default="containment",
        show_default=True,
        type=CHOICE(["containment", "equality"]),
        help="Hide among those who have as much, or among identical rows.",
    ),
    click.option(
        "--on-violation",
        default="skip",
        show_default=True,
        type=CHOICE(["skip", "stop"]),
        help="What greedy does when a column does not fit.",
    ),
    click.option("--no-extend", is_flag=True, help="Do not add columns that still fit afterwards."),
    click.option(
        "--largest", default=20, type=click.IntRange(1), help="Itemsets that maximal compares."
    ),
    click.option(
        "--time-limit", type=click.FloatRange(0, min_open=True), help="Seconds to search."
    ),
]
BREACH = [
    click.option(
        "--classifier",
        default="nb",
        show_default=True,
        type=CHOICE(["c45", "nb", "tree", "forest", "boosting", "neighbours", "logistic"]),
        help="What a recipient would train.",
    ),
    click.option("--preset", type=CHOICE(["paper"]), help="Ten folds once, and the walk."),
    click.option(
        "--weights",
        metavar="NAME=N,...",
        help="Of performance, privacy and size in the choice [equal].",
    ),
    click.option("--alpha", metavar="N|distp", help="The largest breach increase allowed."),
    click.option("--alpha-in-search", is_flag=True, help="Apply --alpha during the search too."),
    click.option(
        "--attackers", type=Names(), default=(), help="Models that attack [the classifier]."
    ),
    click.option(
        "--cut",
        default="auto",
        show_default=True,
        metavar="RULE",
        help="Classes of a sensitive number: mdl, quantiles, none, or cut points a,b.",
    ),
    click.option(
        "--scoring", default="accuracy", metavar="NAME", help="The performance score [accuracy]."
    ),
    click.option("--folds", type=click.IntRange(2), help="Folds of the cross-validation [10]."),
    click.option("--repeats", type=click.IntRange(1), help="Repeats of the cross-validation [5]."),
    click.option(
        "--holdout",
        default=0.25,
        show_default=True,
        type=click.FloatRange(0, 1, max_open=True),
        help="Share of rows that the search never sees; 0: none.",
    ),
    click.option(
        "--stability",
        default=0,
        metavar="SEEDS",
        type=click.IntRange(0),
        help="Search again with this many seeds.",
    ),
    click.option("--jobs", type=int, help="Number of processes."),
]


def _options(groups: list[Any]) -> Any:
    def give(command: Any) -> Any:
        for option in reversed(groups):
            command = option(command)
        return command

    return give


@click.command()
@table_options
@click.option(
    "--by",
    type=CHOICE(["containment", "breach"]),
    required=True,
    help="The kind of risk to keep low.",
)
@click.option(
    "--search",
    metavar="NAME",
    help="How to search. By containment: greedy [default], improve, maximal, exact. By breach: "
    "auto [default], walk, exhaustive, forward, backward.",
)
@_options(CONTAINMENT)
@_options(BREACH)
@click.option(
    "--output",
    "-o",
    type=OutputFile(),
    metavar="FILE",
    help="Write the projected table (csv or parquet).",
)
@click.option(
    "--plot",
    type=OutputFile(),
    metavar="FILE.svg",
    help="Draw the path (by containment) or the regions (by breach).",
)
@seed_option
def select(source: Source, by: str, **options: Any) -> None:
    """Choose the columns of TABLE that may be released.

    By containment: the 0/1 columns that teach most, such that whatever a person has, at least k
    people have. By breach: the columns that predict the target as well as all columns do, and
    make the sensitive column harder to guess.
    """
    owned = _owned()
    other = "breach" if by == "containment" else "containment"
    _refuse_other(by, other, owned[other])
    options = {name: value for name, value in options.items() if name not in owned[other]}
    options["search"] = options["search"] or SEARCHES[by][0]
    if options["search"] not in SEARCHES[by]:
        raise InputError(
            f"--search with --by {by} is one of {', '.join(SEARCHES[by])}, got "
            f"{options['search']!r}"
        )
    if by == "containment":
        from tamis.cli import select_containment

        select_containment.run(source, **options)
    else:
        from tamis.cli import select_breach

        select_breach.run(source, **options)


def _owned() -> dict[str, set[str]]:
    """The names of the options that go with one kind only."""
    probes = {"containment": CONTAINMENT, "breach": BREACH}
    return {
        by: {p.name for p in _options(group)(click.Command(by)).params}
        for by, group in probes.items()
    }


def _refuse_other(by: str, other: str, names: set[str]) -> None:
    ctx = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    given = [n for n in names if ctx.get_parameter_source(n) is typed]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(given))
        raise InputError(f"{flags} goes with --by {other}, not with --by {by}")
