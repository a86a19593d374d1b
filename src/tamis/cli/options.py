"""The options that commands share.

Nothing heavy is imported here: `tamis --help` must stay light.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial, reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.table_source import ELSEWHERE, TableSource
from tamis.errors import InputError, TamisWarning, did_you_mean, listed

if TYPE_CHECKING:
    from tamis.coarsen.ladder import Ladder
    from tamis.engine import EngineName, EngineOptions

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
OWN, GENERAL = "Options", "General"
LAST = ("The table", "Large tables", GENERAL)
"""The sections of a help that many commands have: after those of its own."""
METAVARS = {"integer": "N", "integer range": "N", "float": "X", "float range": "X"}
PROGRAM = "python"
"""The option that names a program to run."""


class SectionOption(click.Option):
    """An option that shows its default, in a section of the help."""

    def __init__(self, *args: Any, section: str = OWN, **settings: Any) -> None:
        super().__init__(*args, **{"show_default": True, **settings})
        self.section = section
        self.metavar = self.metavar or METAVARS.get(self.type.name)


class SectionCommand(click.Command):
    """A command whose help lists the options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                found.setdefault(getattr(param, "section", GENERAL), []).append(record)
        for title in sorted(found, key=lambda each: LAST.index(each) if each in LAST else -1):
            with formatter.section(title):
                formatter.write_dl(found[title])


option = partial(click.option, cls=SectionOption)


def command() -> Callable[[Command], SectionCommand]:
    return click.command(cls=SectionCommand)


class Names(click.ParamType[tuple[str, ...]]):
    """Comma-separated names, or a list of them from a configuration file."""

    name = "a,b"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if param.name == "target_bins":  # of a configuration file: a number, or a list of them
            numbers = value if isinstance(value, list | tuple) else [value]
            return tuple(map(str, numbers))
        if not isinstance(value, Iterable) or not all(isinstance(v, str) for v in value):
            raise InputError(f"--{param.name.replace('_', '-')} takes names separated by commas")
        return tuple(value)


class Shares(click.ParamType[tuple[float, ...]]):
    """Shares between 0 and 1, separated by commas."""

    name = "x,y"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        try:
            return tuple(float(part) for part in parts)
        except (TypeError, ValueError):
            raise InputError(
                f"--{param.name.replace('_', '-')} takes shares separated by commas, such as .1,.3"
            ) from None


class OutputFile(click.ParamType[str]):
    """A file to write; if that is impossible, the error comes before any work is done."""

    name = "FILE"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        from tamis.files import check_place

        check_place(Path(value))
        return str(value)


def check_table_file(output: str | None) -> None:
    """Before any work is done: a written table is csv or parquet."""
    if output and Path(output).suffix not in (".csv", ".parquet"):
        raise InputError(f"--output writes .csv or .parquet, got {Path(output).name}")


def _load_config(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    from tamis.files import load_toml

    content = load_toml(value, "--config")
    given = {key.replace("-", "_"): entry for key, entry in content.items()}
    known = _known_options()
    _refuse_programs(value, given)
    if "ladders" in given:
        from tamis.read.schema import ladder_tables

        given["ladders"] = ladder_tables(value, given["ladders"])
    if unknown := [key for key in given if key not in known]:
        meant = did_you_mean(unknown[0], known) or f"; known are {', '.join(sorted(known))}"
        raise InputError(f"{value}: there is no option {listed(unknown)}{meant}")
    ctx.default_map = {**(ctx.default_map or {}), **given}


def _refuse_programs(file: str, given: Mapping[str, Any]) -> None:
    """A file may come from anybody: a program to run is only accepted on the command line."""
    tables = [given, *(entry for entry in given.values() if isinstance(entry, Mapping))]
    if any(PROGRAM in {str(key).replace("-", "_") for key in table} for table in tables):
        raise InputError(
            f"{file}: {PROGRAM} names a program to run, which a file must not do; pass "
            f"--{PROGRAM} FILE on the command line"
        )


def _known_options() -> set[str]:
    from tamis.cli import all_commands

    params = [p for command in all_commands() for p in command.params]
    return {str(p.name) for p in params if isinstance(p, click.Option)}


def _silence(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    if value:
        warnings.simplefilter("ignore", TamisWarning)
    return value


_reading = partial(option, section="The table")
_names = partial(_reading, type=Names(), default=())
_READING = [
    _reading("--target", metavar="COL", help="What a recipient will learn to predict."),
    _names(
        "--target-bins",
        metavar="N|x,y",
        help="Classes of a target of numbers: how many, or where they end.",
    ),
    _reading(
        "--sensitive", metavar="COL", help="What must stay hard to guess.", show_default="target"
    ),
    _names("--quasi", help="What an attacker may know.", show_default="all features"),
    _names("--identifier", help="Columns that say who is who; never released."),
    _names("--person", help="Which of these identify people.", show_default="all"),
    _reading("--row-is-person", is_flag=True, help="Every row is a different person."),
    _reading("--exact-identifiers", is_flag=True, help="p1 and P1 are two people, not one."),
    _names("--drop", help="Columns to ignore."),
    _reading("--drop-unlabelled", is_flag=True, help="Leave out rows without a label."),
    _names("--feature", help="Ordinary columns that look like keys."),
    _reading(
        "--weight",
        metavar="COL",
        help="How many of the population each row stands for; not released.",
    ),
    _reading(
        "--missing", multiple=True, metavar="TEXT", help="Text that means missing; may be repeated."
    ),
    _reading("--schema", metavar="FILE.toml", help="Types, roles and 0/1 encoding."),
    _reading(
        "--format",
        metavar="NAME",
        help="csv, tsv, parquet, arrow, sav, dta, sas, excel, svm or basket.",
        show_default="by the name of the file",
    ),
    _reading(
        "--encoding",
        metavar="NAME",
        help="Of text files: utf-8, windows-1252, ...",
        show_default="found in the file",
    ),
    _reading(
        "--separator",
        metavar="CHAR",
        help="Between cells or items of text files: , ; tab or another.",
        show_default="found in the file",
    ),
    _reading(
        "--decimal",
        metavar="MARK",
        help="Of numbers in text files: point or comma.",
        show_default="found in the file",
    ),
    _reading(
        "--thousands",
        metavar="MARK",
        help="Between thousands: point, comma, space, apostrophe or none.",
        show_default="found in the file",
    ),
    _reading(
        "--dates",
        metavar="ORDER",
        help="Of dates in text files: dmy, mdy or ymd.",
        show_default="found in the file",
    ),
    _names("--long", metavar="ENTITY,FEATURE", help="The columns of a long table."),
    _reading("--labels", metavar="FILE", help="The labels of baskets or of a long table."),
    _names("--label-item", help="Items that are labels."),
]
_general = partial(option, section=GENERAL)
_COMMON = [
    _general(
        "--config",
        metavar="FILE.toml",
        is_eager=True,
        expose_value=False,
        callback=_load_config,
        help="A file with any of these options; flags override it.",
    ),
    _general("--json", "as_json", is_flag=True, help="Print one JSON document on stdout."),
    _general(
        "--quiet", is_flag=True, is_eager=True, callback=_silence, help="No notes, no progress."
    ),
]


def table_options(command: Command | None = None, *, required: bool = True) -> Any:
    """Give a command the options of a table; it gets them as one `source`."""
    if command is None:
        return lambda command: table_options(command, required=required)

    @wraps(command)
    def gathered(**given: Any) -> Any:
        source = TableSource(**{f.name: given.pop(f.name) for f in fields(TableSource)})
        return command(source=source, **given)

    read = with_options(_READING)(gathered)
    return click.argument("table", required=required)(common_options(read))


_large = partial(option, section="Large tables")
_ENGINE = [
    _large(
        "--engine",
        type=click.Choice(["auto", "memory", "polars", "duckdb", "spark"]),
        default="auto",
        help="What counts the rows; auto: memory, or DuckDB for a table too large for it.",
    ),
    _large("--memory", default="4GB", metavar="SIZE", help="The most memory for DuckDB."),
    _large(
        "--scratch", metavar="DIR", help="For intermediate results.", show_default="the system's"
    ),
]
_SAMPLING = [
    _large(
        "--sample",
        type=click.IntRange(100),
        default=50_000,
        help="With an engine: the rows that models are trained on.",
    ),
    _large("--spark-master", default="local[2]", metavar="URL", help="The Spark cluster."),
]


def engine_options(command: Command) -> Command:
    """Give a command the options of engines; it gets them as one `engine`."""
    return with_options([*_ENGINE, *_SAMPLING])(_with_engine(command))


def recount_options(command: Command) -> Command:
    """Give a command that only counts the options of engines, also as one `engine`."""
    return with_options(_ENGINE)(_with_engine(command))


def _with_engine(command: Command) -> Command:
    @wraps(command)
    def gathered(**given: Any) -> Any:
        from tamis.engine import EngineOptions

        said = {f.name: given.pop(f.name) for f in fields(EngineOptions) if f.name in given}
        return command(engine=EngineOptions(**said), **given)

    return gathered


def named_engine(
    source: TableSource, options: EngineOptions, silent: bool, *, long: bool = False
) -> EngineName:
    """The engine to use, said in one line where it was not asked for.

    Sparse records stay in memory unless an engine was asked for, or `long` ones can be large.
    """
    from tamis.engine import chosen_engine

    large = long and bool(source.long)
    in_memory = options.engine == "auto" and source.sparse and not large
    asked: EngineName = "memory" if in_memory else options.engine
    name, why = chosen_engine(source.table, asked, long=large)
    if name == "memory" and source.table.startswith(ELSEWHERE):
        raise InputError("a table in a database needs an engine; pass --engine duckdb or spark")
    if why and not silent:
        click.echo(why, err=True)
    return name


def common_options(command: Command) -> Command:
    """Give a command `--config`, `--json` and `--quiet`."""
    return with_options(_COMMON)(command)


def with_options(options: Sequence[Decorator]) -> Decorator:
    """Give a command some options, in their order."""

    def give(command: Command) -> Command:
        return reduce(lambda made, option: option(made), reversed(options), command)

    return give


class TableOfFile(click.ParamType[dict[str, Any]]):
    """A table of settings, which only a configuration file can give."""

    name = "TABLE"

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(
                f"--{param.name} takes no value; write a table [{param.name}] in the file given "
                "with --config"
            )
        return dict(value)


ladder_options = with_options(
    [
        option(
            "--ladder",
            multiple=True,
            metavar="COL=FILE",
            help="A csv file with coarser forms of a column's values.",
        ),
        option(
            "--ladders",
            type=TableOfFile(),
            default=None,
            hidden=True,
            help="The table [ladders] of a configuration file.",
        ),
    ]
)
"""Give a command `--ladder`, and `[ladders]` in its configuration file."""


def given_ladders(
    source: TableSource, ladder: Sequence[str], ladders: Mapping[str, Any] | None
) -> dict[str, Ladder]:
    """The ladders that people wrote: flags override the configuration, which overrides a schema."""
    from tamis.coarsen.ladder_sources import ladder_from

    described = {**source.rules().ladders, **(ladders or {})}
    for each in ladder:
        column, equals, file = each.partition("=")
        if not (column and equals and file):
            raise InputError("--ladder takes COL=FILE, such as --ladder age=age.csv")
        described[column] = {"file": file}
    return {column: ladder_from(column, how) for column, how in described.items()}


SEED = click.IntRange(0)
seed_option = _general("--seed", type=SEED, default=0, help="For all random draws but secret ones.")
secret_seed_option = _general(
    "--seed", type=SEED, help="Repeat a secret draw.", show_default="a new secret"
)
force_option = option("--force", is_flag=True, help="Replace an earlier release of that name.")
model_options = with_options(
    [
        option("--test", metavar="FILE", help="Held-out original rows, for model measures."),
        option("--positive", metavar="LABEL", help="The label whose F-measure is reported."),
    ]
)
"""Give a command the rows that models are tested on."""

promise = partial(option, section="Promises")
"""An option that says what must hold for people who look alike."""
_SOME = click.FloatRange(0, 1, min_open=True)
POSITIVE = click.FloatRange(0, min_open=True)
diversity_options = with_options(
    [
        # Its range is checked where it is asked for, by one rule in words.
        promise("--l", type=int, help="The fewest sensitive values among people alike."),
        promise(
            "--l-kind",
            type=click.Choice(["distinct", "entropy", "recursive"]),
            default="distinct",
            help="How sensitive values are counted for --l.",
        ),
        promise("--c", type=POSITIVE, default=3.0, help="For --l-kind recursive."),
        promise(
            "--t",
            type=click.FloatRange(0, 1),
            help="How far sensitive values of people alike may be from everybody's.",
        ),
    ]
)
"""What l and t are required of groups of people alike."""
likeness_options = with_options(
    [
        promise("--alpha", type=_SOME, help="The largest share of people alike with one value."),
        promise(
            "--beta",
            type=POSITIVE,
            help="How far its share among people alike may exceed that among all.",
        ),
        promise(
            "--beta-kind",
            type=click.Choice(["basic", "enhanced"]),
            default="basic",
            help="enhanced: at most minus the logarithm of the share, too.",
        ),
        promise(
            "--delta-disclosure",
            type=POSITIVE,
            help="What the logarithm of the ratio of these shares stays below.",
        ),
        promise("--max-risk", type=_SOME, help="The largest chance of finding a row: 1/k."),
        promise("--max-average-risk", type=_SOME, help="The largest average of that chance."),
    ]
)
"""What is required of groups of people alike, besides k, l and t."""


def search_option(searches: Sequence[str], help: str) -> Decorator:
    """Which search to use, the first by default."""
    return option(
        "--search",
        default=searches[0],
        type=click.Choice(searches),
        help=help,
    )


def writing_options(drawn: str) -> Decorator:
    """Where to write, what to draw and the seed."""
    return with_options(
        [
            option(
                "--output",
                "-o",
                type=OutputFile(),
                metavar="FILE",
                help="Write the projected table (csv or parquet).",
            ),
            option("--plot", type=OutputFile(), metavar="FILE.svg", help=f"Draw {drawn}."),
            seed_option,
        ]
    )
