"""`tamis release`: from a table to a published, verified release with its reports; `tamis demo`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tamis.catalogue.methods import BY_DEFAULT, DP, METHODS
from tamis.cli.dp import Public, private, public_bounds, spending_options
from tamis.cli.options import (
    POSITIVE,
    PROGRAM,
    Names,
    TableOfFile,
    command,
    common_options,
    diversity_options,
    engine_options,
    force_option,
    given_ladders,
    ladder_options,
    likeness_options,
    named_engine,
    option,
    promise,
    seed_option,
    table_options,
    with_options,
)
from tamis.cli.population import (
    about_population,
    check_register,
    population_options,
    presence_option,
)
from tamis.cli.release.run import (
    Request,
    again_from,
    release_large,
    release_pairs,
    run_front,
    run_release,
)
from tamis.cli.table_source import TableSource
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.engine import EngineOptions
    from tamis.flow import Settings

SHARE = click.FloatRange(0, 1)
DEMO = "tamis-demo"
DEMO_METHODS: dict[str, dict[str, Any]] = {
    "front": {},
    "breach": {"most": 5},
    "containment": {"utilities": ["difference"]},
}
"""Fewer releases than the default: enough to see how they compare, in a few seconds."""


class Weights(click.ParamType[dict[str, float]]):
    """Weights such as performance=.5,privacy=.5, or a table of them in a configuration file."""

    name = "name=w,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, float]:
        parts = value.items() if isinstance(value, Mapping) else _pairs(str(value))
        try:
            return {str(name): float(number) for name, number in parts}
        except (TypeError, ValueError):
            raise InputError(
                f"--{param.name} takes the form NAME=0.5,NAME=0.25, got {value!r}"
            ) from None


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.rpartition("=") for part in text.split(",")]
    return [(name.strip(), number) for name, _, number in parts]


def _methods(
    chosen: tuple[str, ...] | None, settings: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    return {name: settings.get(name) or {} for name in chosen or BY_DEFAULT}


method_options = with_options(
    [
        option(f"--{name}", type=TableOfFile(), hidden=True, help="Settings of the method.")
        for name in reversed(list(METHODS))
    ]
)
"""Give a command the settings of each method, for a configuration file."""


_choice = partial(option, section="The choice")
_search = partial(option, section="The search")


@command()
@table_options(required=False)
@option("--out", metavar="DIR", help="The folder to create.")
@option(
    "--write",
    type=click.Choice(["csv", "parquet", "long", "svm", "sav", "dta", "xlsx"]),
    help="The format of the rows.",
    show_default="csv; long for sparse records of which many columns are left",
)
@force_option
@option("--take", metavar="NAME", help="Publish this one of the releases, not the best.")
@option("--beside", multiple=True, metavar="DIR", help="Earlier releases of the same people.")
@option("--again", metavar="DIR", help="Make an earlier release again, byte for byte.")
@promise("--k", type=click.IntRange(1), default=5, help="Everybody hides among at least this many.")
@promise(
    "--absences",
    type=click.IntRange(0, 4),
    default=0,
    help="In 0/1 columns: things a person lacks that an attacker may know too.",
)
@diversity_options
@promise(
    "--t-distance",
    type=click.Choice(["equal", "ordered"]),
    help="How far apart two values are.",
    show_default="ordered for numbers",
)
@likeness_options
@promise(
    "--max-suppressed",
    type=click.FloatRange(0, 0.5),
    default=0.0,
    metavar="SHARE",
    help="The largest share that may be left out, so that the rest keeps k, l and t.",
)
@_choice(
    "--choose",
    type=click.Choice(["value", "ranks", "front"]),
    default="value",
    help="By what is kept and told; by ranks, E(S); or show the front and publish nothing.",
)
@_choice(
    "--caution",
    type=click.FloatRange(0),
    default=1.0,
    help="How much what is told weighs against what is kept.",
)
@_choice("--min-kept", type=SHARE, help="The least to keep of what teaches the target.")
@_choice("--max-told", type=SHARE, help="The most to tell of the sensitive column.")
@_choice("--allow-useless", is_flag=True, help="Publish even what is no better than guessing.")
@_choice("--max-pbi", type=float, help="The most an attacker may gain over all columns.")
@_choice("--min-performance", type=float, help="The least accuracy, between 0 and 1.")
@_choice("--max-features", type=click.IntRange(1), help="The most columns to release.")
@_choice("--max-lost-rules", type=float, help="The largest share of rules to lose.")
@_choice(
    "--weights",
    type=Weights(),
    help="With --choose ranks: how much each factor counts.",
    show_default="performance=.5,privacy=.25,size=.25",
)
@_search(
    "--methods",
    type=Names(),
    help="How to find releases.",
    show_default=", ".join(BY_DEFAULT),
)
@_search(
    "--classifier",
    default="nb",
    metavar="NAME",
    help="What a recipient would train: nb, c45, tree, forest, logistic, ...",
)
@_search("--attackers", type=Names(), help="Models whose gain is the PBI.", show_default="c45, nb")
@_search(
    "--holdout",
    type=float,
    default=0.25,
    help="The share of rows used to choose, and again to report.",
)
@_search(
    "--search-rows",
    type=click.IntRange(100),
    default=50_000,
    help="The most rows to learn from; promises count all.",
)
@ladder_options
@method_options
@population_options
@about_population(
    "--max-population-risk", type=SHARE, help="The largest share of people found in the population."
)
@presence_option
@private(
    "--epsilon",
    type=POSITIVE,
    help="Release only synthetic rows, differentially private at this cost.",
)
@private("--bounds", metavar="FILE.toml", help="Public ranges and values of the columns.")
@spending_options
@private("--python", metavar="FILE", help="A Python that has opendp[mbi].")
@engine_options
@seed_option
def release(
    source: TableSource,
    engine: EngineOptions,
    out: str | None,
    force: bool,
    again: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Choose what may be released of a table, publish and verify it.

    DIR gets release.csv, manifest.json and report.html to share, and private/ to keep. With
    --again DIR the release in DIR is made once more from the same table and compared.
    """
    if again is not None:
        again_from(again, source.table, out, force, as_json, quiet)
        return
    if source.table is None:
        raise InputError("name the TABLE to release, or --again DIR")
    only_front = options["choose"] == "front"
    if out is None and not only_front:
        raise InputError("name the folder to create with --out DIR")
    # A schema may name a weight, too.
    _check_population(options, weighed=bool(source.weight or source.schema))
    asked = _request(source, Path(out or ""), force, as_json, quiet, options)
    name = named_engine(source, engine, quiet or as_json, long=True)
    if name == "memory":
        (run_front if only_front else run_release)(asked)
        return
    _refuse_beyond_memory(only_front, asked)
    (release_pairs if source.long else release_large)(asked, engine, name)


def _request(
    source: TableSource,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    options: dict[str, Any],
) -> Request:
    """What was asked, read from all options but those of engines."""
    given = {name: options.pop(name) for name in ("beside", "population", "ledger", "max_epsilon")}
    ladders = given_ladders(source, options.pop("ladder"), options.pop("ladders"))
    public = public_bounds(options.pop("bounds"))
    options["write"] = options["write"] or ("auto" if source.sparse else "csv")
    settings = _settings(options, public)
    if settings.epsilon is None and (given["ledger"], given["max_epsilon"]) != (None, None):
        raise InputError("--ledger and --max-epsilon add up costs; give the cost with --epsilon")
    watched = not (quiet or as_json)
    return Request(source, settings, out, force, as_json, watched, ladders, **given)


def _refuse_beyond_memory(only_front: bool, asked: Request) -> None:
    given = {
        "--choose front": only_front,
        "--beside": asked.beside,
        "--max-population-risk": asked.population or asked.settings.sampling,
    }
    for name, value in given.items():
        if value:
            raise InputError(f"{name} needs the table in memory; give --engine memory")


def _check_population(options: Mapping[str, Any], weighed: bool = False) -> None:
    """Before any work is done: a limit in the population needs one that is known, and only once."""
    population = options["population"]
    if population is not None and options["sampling"] is not None:
        raise InputError("--population counts everybody and --sampling estimates; give one of them")
    check_register(population, options["delta_presence"])
    known = population is not None or options["sampling"] is not None or weighed
    if options["max_population_risk"] is not None and not known:
        raise InputError(
            "--max-population-risk needs to know the population: give a register of it with "
            "--population FILE, the share that is in the table with --sampling, or weights with "
            "--weight COL"
        )


def _settings(options: dict[str, Any], public: Public) -> Settings:
    from tamis.flow import Settings

    tables = {name: options.pop(name) for name in METHODS}
    chosen = _methods(options.pop("methods"), tables)
    most, python = options.pop("max_rows_per_person"), options.pop(PROGRAM)
    if options["epsilon"] is not None:
        known = {**public._asdict(), "max_rows_per_person": most, PROGRAM: python}
        chosen[DP.name] = (tables[DP.name] or {}) | {k: v for k, v in known.items() if v}
    elif public.bounds or most:
        raise InputError(
            "--bounds and --max-rows-per-person are for synthetic rows; give their cost with "
            "--epsilon"
        )
    if options["choose"] == "front":
        if options["epsilon"] is not None:
            raise InputError("--choose front shows figures that no --epsilon covers; give one")
        options["choose"] = "value"
    given = {name: options.pop(name) for name in ("weights", "attackers")}
    options |= {name: value for name, value in given.items() if value}
    return Settings(methods=chosen, format=options.pop("write"), **options)


@command()
@option("--out", metavar="DIR", help="The folder to create.", show_default=f"a new {DEMO} here")
@option("--rows", type=click.IntRange(300), default=3000, help="The rows of the table.")
@force_option
@seed_option
@common_options
def demo(out: str | None, rows: int, force: bool, seed: int, as_json: bool, quiet: bool) -> None:
    """Publish a simulated table of hospital stays, with its reports.

    Nothing is read: the table is generated from the seed.
    """
    from tamis.cli.release.outcome_words import print_outcome
    from tamis.cli.release.run import make
    from tamis.cli.terminal import print_noticed, print_understood
    from tamis.datasets import stays
    from tamis.flow import Settings
    from tamis.publish.bundle import refuse_existing

    folder = fresh() if out is None else Path(out)
    refuse_existing(folder, force)
    table = stays(rows, random_state=seed)
    watched = not (quiet or as_json)
    if watched:
        print_understood(table)
        print_noticed(table)
    origin = {"name": "patients", "made": {"rows": rows, "random_state": seed}}
    settings = Settings(methods=DEMO_METHODS, seed=seed)
    made = make(table, settings, folder, force, watched, origin)
    print_outcome(*made, folder, as_json)


def fresh() -> Path:
    """The first of tamis-demo, tamis-demo-2, ... that does not exist yet."""
    names = (DEMO if i == 1 else f"{DEMO}-{i}" for i in count(1))
    return next(path for path in map(Path, names) if not path.exists())
