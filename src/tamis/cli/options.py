"""Click commands made from the table of options, and the types that convert their values.

Nothing heavy is imported here: `tamis --help` must stay light.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.table_source import ELSEWHERE, TableSource
from tamis.errors import InputError, TamisWarning, did_you_mean, listed
from tamis.option import GENERAL, NUMBERS, Option, as_flag
from tamis.options.commands import all_options, options_of
from tamis.options.reading import CONFIG, QUIET
from tamis.options.release import PRESET

if TYPE_CHECKING:
    from tamis.coarsen.ladder import Ladder
    from tamis.rows import EngineName, EngineOptions

LAST = ("The table", "Large tables", GENERAL)
"""The sections that many commands share, listed after a command's own."""


# What is typed becomes a value.


class NumberOf(click.ParamType[int | float]):
    """A number of its option's kind and range."""

    def __init__(self, option: Option) -> None:
        self.option = option
        self.name = "N" if option.kind == "count" else "X"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float:
        return self.option.read_number(value, self.option.flag)


class ChoiceOf(click.Choice[str]):
    """One of the choices of its option."""

    def __init__(self, option: Option) -> None:
        super().__init__(option.choices)
        self.option = option

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        self.option.check(value, self.option.flag)
        return str(value)


class Names(click.ParamType[tuple[str, ...]]):
    """Comma-separated names, or a list of them from a configuration file."""

    name = "a,b"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if not isinstance(value, Iterable) or not all(isinstance(v, str) for v in value):
            raise InputError(f"{as_flag(param.name)} takes names separated by commas")
        return tuple(value)


class TextsByName(Names):
    """Pairs such as age=first,visits=count, or a table of them in a configuration file."""

    name = "name=text,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        if isinstance(value, Mapping):
            value = [f"{name}={text}" for name, text in value.items()]
        return super().convert(value, param, ctx)


class Bins(Names):
    """Comma-separated numbers, or a number or a list of them from a configuration file."""

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return super().convert(value, param, ctx)
        return tuple(map(str, value if isinstance(value, list | tuple) else [value]))


class Shares(click.ParamType[tuple[float, ...]]):
    """Shares between 0 and 1, separated by commas."""

    name = "x,y"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        try:
            return tuple(float(part) for part in parts)
        except (TypeError, ValueError):
            raise InputError(
                f"{as_flag(param.name)} takes shares separated by commas, such as .1,.3"
            ) from None


class Weights(click.ParamType[dict[str, float]]):
    """Weights such as performance=.5,privacy=.5, or a table of them in a configuration file."""

    name = "name=w,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, float]:
        parts = value.items() if isinstance(value, Mapping) else _pairs(str(value))
        try:
            return {str(name): float(number) for name, number in parts}
        except (TypeError, ValueError):
            raise InputError(
                f"{param.opts[0]} takes the form NAME=0.5,NAME=0.25, got {value!r}"
            ) from None


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.rpartition("=") for part in text.split(",")]
    return [(name.strip(), number) for name, _, number in parts]


class OutputFile(click.ParamType[str]):
    """A file to write; if it cannot be written, that is an error before any work is done."""

    name = "FILE"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        from tamis.files import check_place

        check_place(Path(value))
        return str(value)


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


class AttackerOf(click.ParamType[Any]):
    """An attacker such as "neighbour: knows age,sex; k=5", or a table [[attacker]] of a file."""

    name = "attacker"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        from tamis.require.attacker import Attacker

        return Attacker.parse(value)


_TYPES: Mapping[str, click.ParamType[Any]] = {
    "text": click.STRING,
    "names": Names(),
    "bins": Bins(),
    "shares": Shares(),
    "weights": Weights(),
    "pairs": TextsByName(),
    "output": OutputFile(),
    "table": TableOfFile(),
    "attacker": AttackerOf(),
    "flag": click.BOOL,
}


def type_of(option: Option) -> click.ParamType[Any]:
    """The click type that converts a text, or a value of a configuration file, for an option."""
    if option.kind in NUMBERS:
        return NumberOf(option)
    return ChoiceOf(option) if option.kind == "choice" else _TYPES[option.kind]


def check_table_file(output: str | None) -> None:
    """Raise, before any work is done, unless the output is csv or parquet."""
    if output and Path(output).suffix not in (".csv", ".parquet"):
        raise InputError(f"--output writes .csv or .parquet, got {Path(output).name}")


# Options and their help.


class TableOption(click.Option):
    """An option of the table as a click option; former spellings are parsed but not shown."""

    def __init__(self, option: Option) -> None:
        flag = option.kind == "flag"
        super().__init__(
            [option.dest, option.flag, *([option.short] if option.short else [])],
            type=None if flag else type_of(option),
            is_flag=flag or None,
            **({} if option.default is None else {"default": option.default}),
            multiple=option.multiple,
            required=option.required,
            hidden=option.hidden,
            help=option.help,
            metavar=option.metavar or None,
            **_AT_ONCE.get(option.name, {}),
        )
        self.option = option

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        shown = self.opts
        self.opts = [*shown, *map(as_flag, self.option.old)]
        super().add_to_parser(parser, ctx)
        self.opts = shown

    def help_line(self, ctx: click.Context, *, ranges: bool) -> tuple[str, str]:
        """The flags and their help; `ranges` adds the allowed numbers."""
        option = self.option
        value = "" if self.is_flag else f" {self.make_metavar(ctx)}"
        default = option.otherwise or _shown(option.default)
        notes = [
            f"default: {default}" if default else "",
            _range(option) if ranges else "",
            "required" if option.required else "",
        ]
        said = "; ".join(note for note in notes if note)
        flags = ", ".join(sorted(self.opts, key=len))
        return f"{flags}{value}", f"{option.help}{f'  [{said}]' if said else ''}"


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return ", ".join(map(str, default))
    return "" if default is None else str(default)


def _range(option: Option) -> str:
    low = option.least if option.above is None else option.above
    high = option.most if option.below is None else option.below
    before = "" if low is None else f"{low:g}{'<=' if option.above is None else '<'}"
    after = "" if high is None else f"{'<=' if option.below is None else '<'}{high:g}"
    if before and not after:
        return f"x{'>=' if option.above is None else '>'}{low:g}"
    return f"{before}x{after}" if before or after else ""


def _print_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and isinstance(ctx.command, TableCommand):
        click.echo(ctx.command.complete_help(ctx))
        ctx.exit()


class TableCommand(click.Command):
    """A command whose help lists the usual options by section; `--help-all` lists the others."""

    complete = False
    """Whether the help that is being printed lists all options."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        if not any(option.rare for option in _visible(self)):
            return params
        more = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_all,
            help="Show all options and exit.",
        )
        return [*params, more]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = {word.partition("=")[0] for word in args}
        for option in [] if "--quiet" in given else _visible(self):
            for former in given.intersection(map(as_flag, option.old)):
                click.echo(f"tamis: {former} is now called {option.flag}; both work", err=True)
        return super().parse_args(ctx, args)

    def complete_help(self, ctx: click.Context) -> str:
        self.complete = True
        try:
            return self.get_help(ctx)
        finally:
            self.complete = False

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, TableOption):
                if not param.hidden and (self.complete or not param.option.rare):
                    line = param.help_line(ctx, ranges=self.complete)
                    found.setdefault(param.option.section, []).append(line)
            elif isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                found.setdefault(GENERAL, []).append(record)
        for title in sorted(found, key=lambda each: LAST.index(each) if each in LAST else -1):
            with formatter.section(title):
                formatter.write_dl(found[title])


def _visible(command: click.Command) -> list[Option]:
    params = (param for param in command.params if isinstance(param, TableOption))
    return [param.option for param in params if not param.hidden]


Callback = Callable[..., Any]


def command(name: str, *, table: bool = True) -> Callable[[Callback], TableCommand]:
    """Make a command of a function, with the options that the table lists for it.

    A function with a parameter `source` gets TABLE and the options of reading as one `TableSource`,
    one with `engine` those of engines as `EngineOptions`. `table` says whether TABLE must be named.
    """

    def make(function: Callback) -> TableCommand:
        options = [TableOption(option) for option in options_of(name)]
        wants = signature(function).parameters
        callback = function
        params: list[click.Parameter] = []
        if "source" in wants:
            callback = _with_source(callback)
            params = [click.Argument(["table"], required=table)]
        if "engine" in wants:
            callback = _with_engine(callback)
        if any(option.dest == PRESET.dest for option in options_of(name)):
            callback = _with_preset(callback)
        own = list(reversed(getattr(function, "__click_params__", [])))
        return TableCommand(
            name.rpartition(" ")[2],
            callback=callback,
            params=[*params, *own, *options],
            help=function.__doc__,
        )

    return make


def _with_source(command: Callback) -> Callback:
    @wraps(command)
    def gathered(**given: Any) -> Any:
        source = TableSource(**{f.name: given.pop(f.name) for f in fields(TableSource)})
        return command(source=source, **given)

    return gathered


def _with_engine(command: Callback) -> Callback:
    @wraps(command)
    def gathered(**given: Any) -> Any:
        from tamis.rows import EngineOptions

        said = {f.name: given.pop(f.name) for f in fields(EngineOptions) if f.name in given}
        return command(engine=EngineOptions(**said), **given)

    return gathered


def _with_preset(command: Callback) -> Callback:
    """Apply a preset: its limits replace defaults, and of given limits the stricter counts."""

    @wraps(command)
    def gathered(**given: Any) -> Any:
        from click.core import ParameterSource

        from tamis.catalogue.measures import PRESETS

        ctx, name = click.get_current_context(), given.pop(PRESET.dest)
        for option in () if name is None else PRESETS[name].asks:
            default = ctx.get_parameter_source(option) == ParameterSource.DEFAULT
            said = None if default else given[option]
            given[option] = PRESETS[name].stricter(option, said)
        return command(**given)

    return gathered


# Options of a configuration file.


def _load_config(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    from tamis.files import load_toml

    content = load_toml(value, CONFIG.flag)
    given = {key.replace("-", "_"): entry for key, entry in content.items()}
    if "ladders" in given:
        from tamis.read.schema import ladder_tables

        given["ladders"] = ladder_tables(value, given["ladders"])
    own = _visible_and_hidden(ctx.command)
    _refuse_attackers(value, given, str(ctx.command.name))
    ctx.default_map = {**(ctx.default_map or {}), **named_once(value, given, own)}


_AGAINST_ONE = ("select", "containment", "coarsen", "perturb")
"""Commands whose tables meet requirements for a single attacker."""


def _refuse_attackers(file: str, given: Mapping[str, Any], command: str) -> None:
    """Raise for attackers of a file if the command only meets requirements for one attacker."""
    if "attacker" in given and command in _AGAINST_ONE:
        raise InputError(
            f"{file}: tamis {command} keeps what is required for one attacker, not for each "
            "[[attacker]]; use tamis release, or a file without them, with --quasi and --k"
        )


def _visible_and_hidden(command: click.Command) -> list[Option]:
    return [param.option for param in command.params if isinstance(param, TableOption)]


_SECTIONS = ("table", "weights", "pairs")
"""The kinds of options that a file may give as a section."""


def named_once(file: str, given: Mapping[str, Any], own: Sequence[Option]) -> dict[str, Any]:
    """The entries of a file by a command's option names; an error for one that no command has.

    >>> from tamis.options.commands import options_of
    >>> named_once("tamis.toml", {"take": "job", "k": 3}, options_of("release"))
    {'take': 'job', 'k': 3}
    """
    known = {name: option for _, option in all_options() for name in option.spellings}
    if unknown := [key for key in given if key not in known]:
        names = sorted({option.name for _, option in all_options()})
        meant = [f"{key!r}{did_you_mean(key, known)}" for key in unknown]
        if not any("did you mean" in each for each in meant):
            meant[-1] += f"; known are {', '.join(names)}"
        raise InputError(f"{file}: there is no option {', nor '.join(meant)}")
    takes = {name for _, o in all_options() if o.kind in _SECTIONS for name in o.spellings}
    sections = [key for key, entry in given.items() if isinstance(entry, dict)]
    if unread := [key for key in sections if key not in takes]:
        raise InputError(
            f"{file}: section {listed(unread)} is not read; [ladders], [[attacker]] and methods "
            "such as [containment] are sections, so write options above the first of them"
        )
    dests = {name: option for option in own for name in option.spellings}
    found: dict[str, Any] = {}
    for key, entry in given.items():
        dest = dests[key].dest if key in dests else key
        if dest in found:
            raise InputError(f"{file}: {listed(dests[key].spellings)} are one option; give it once")
        several = key in dests and dests[key].multiple and isinstance(entry, dict)
        found[dest] = [entry] if several else entry
    return found


def _silence(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    if value:
        warnings.simplefilter("ignore", TamisWarning)
    return value


_AT_ONCE: Mapping[str, dict[str, Any]] = {
    CONFIG.name: {"is_eager": True, "expose_value": False, "callback": _load_config},
    QUIET.name: {"is_eager": True, "callback": _silence},
}
"""Options that are read before the others."""


# What options become.


def named_engine(
    source: TableSource, options: EngineOptions, silent: bool, *, long: bool = False
) -> EngineName:
    """The engine to use, printed in one line where it was not asked for.

    Sparse records stay in memory unless an engine was asked for, or `long` ones can be large.
    """
    from tamis.rows import chosen_engine

    large = long and bool(source.long)
    in_memory = options.engine == "auto" and source.sparse and not large
    asked: EngineName = "memory" if in_memory else options.engine
    name, why = chosen_engine(source.table, asked, long=large)
    if name == "memory" and source.table.startswith(ELSEWHERE):
        raise InputError("a table in a database needs an engine; pass --engine duckdb or spark")
    if why and not silent:
        click.echo(why, err=True)
    return name


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
