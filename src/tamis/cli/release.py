"""`tamis release`: from a table to a published, verified release with its reports."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tamis.cli.bounds import Public, public_bounds
from tamis.cli.options import PROGRAM, Names, Source, seed_option, table_options
from tamis.cli.spending import spending_options
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.flow import Settings


class Weights(click.ParamType[dict[str, float]]):
    """Weights such as performance=.5,privacy=.5, or a table of them in a configuration file."""

    name = "name=w,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, float]:
        parts = value.items() if isinstance(value, Mapping) else _pairs(str(value))
        try:
            return {str(name): float(number) for name, number in parts}
        except (TypeError, ValueError):
            raise InputError(
                f"--weights is written as performance=.5,privacy=.25,size=.25, got {value!r}"
            ) from None


class Options(click.ParamType[dict[str, Any]]):
    """The settings of one method: a table in a configuration file."""

    name = "TABLE"

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(
                f"the settings of {param.name} are a table [{param.name}] of the file given with "
                "--config"
            )
        return dict(value)


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.rpartition("=") for part in text.split(",")]
    return [(name.strip(), number) for name, _, number in parts]


def _methods(
    chosen: tuple[str, ...], settings: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    from tamis.propose import BY_DEFAULT

    return {name: settings.get(name) or {} for name in chosen or BY_DEFAULT}


METHODS = ("breach", "containment", "flip", "noise", "dp")


def method_options(command: Any) -> Any:
    """Give a command the settings of each method, for a configuration file."""
    for name in METHODS:
        command = click.option(
            f"--{name}", type=Options(), hidden=True, help="Settings of the method."
        )(command)
    return command


@click.command()
@table_options(required=False)
@click.option("--out", metavar="DIR", help="The folder to make.")
@click.option(
    "--k",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Everybody hides among at least so many.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0, min_open=True),
    help="Release only rows drawn with differential privacy at this cost.",
)
@click.option("--bounds", metavar="FILE.toml", help="With --epsilon: public ranges and values.")
@spending_options
@click.option("--max-pbi", type=float, help="The most an attacker may gain over everything.")
@click.option("--min-performance", type=float, help="The least accuracy, between 0 and 1.")
@click.option("--max-features", type=click.IntRange(1), help="The most columns to release.")
@click.option("--max-lost-rules", type=float, help="The largest share of rules to lose.")
@click.option(
    "--weights",
    type=Weights(),
    help="What counts how much [performance=.5,privacy=.25,size=.25].",
)
@click.option(
    "--classifier",
    default="nb",
    show_default=True,
    metavar="NAME",
    help="What a recipient would learn: nb, c45, tree, forest, logistic, ...",
)
@click.option(
    "--attackers", type=Names(), default=(), help="Who guesses [c45, nb, boosting, logistic]."
)
@click.option(
    "--methods", type=Names(), default=(), help="What proposes releases [breach, containment]."
)
@click.option(
    "--holdout",
    type=float,
    default=0.25,
    show_default=True,
    help="Share of rows to choose by, and again to report from.",
)
@click.option(
    "--write",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="The format of the released rows.",
)
@method_options
@click.option("--python", metavar="FILE", help="With --epsilon: a Python that has opendp[mbi].")
@click.option("--force", is_flag=True, help="Replace an earlier release of that name.")
@click.option("--again", metavar="DIR", help="Make an earlier release again, byte for byte.")
@seed_option
def release(
    source: Source,
    out: str | None,
    force: bool,
    again: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Choose what of TABLE may leave, publish it with its reports, and verify it.

    DIR gets release.csv, manifest.json and report.html to hand on, and private/ to keep. With
    --again DIR the release in DIR is made once more from the same table and compared.
    """
    from tamis.cli.release_run import Limits, run

    if again is not None:
        from tamis.cli.release_again import again_from

        again_from(again, source.table, out, force, as_json, quiet)
        return
    if source.table is None:
        raise InputError("name the TABLE to release, or --again DIR")
    if out is None:
        raise InputError("name the folder to make with --out DIR")
    limits = Limits(options.pop("ledger"), options.pop("max_epsilon"))
    public = public_bounds(options.pop("bounds"))
    settings = _settings(options, public)
    if settings.epsilon is None and limits != Limits(None, None):
        raise InputError("--ledger and --max-epsilon add up costs; name the cost with --epsilon")
    known = Public.of(settings.proposing.get("dp", {}))
    run(source, settings, Path(out), force, as_json, quiet, known, limits)


def _must_stay_secret(chosen: Iterable[str]) -> bool:
    """Whether nobody named a seed and a method alters values: one who knows it undoes that."""
    from tamis.propose import BY_DEFAULT

    named = click.get_current_context().get_parameter_source("seed")
    return named is ParameterSource.DEFAULT and not set(chosen) <= set(BY_DEFAULT)


def _settings(options: dict[str, Any], public: Public) -> Settings:
    from tamis.flow import Settings

    tables = {name: options.pop(name) for name in METHODS}
    chosen = _methods(options.pop("methods"), tables)
    most, python = options.pop("max_rows_per_person"), options.pop(PROGRAM)
    if options["epsilon"] is not None:
        known = {**public._asdict(), "max_rows_per_person": most, PROGRAM: python}
        chosen["dp"] = (tables["dp"] or {}) | {k: v for k, v in known.items() if v}
    elif public.bounds or most:
        raise InputError(
            "--bounds and --max-rows-per-person tell what rows are drawn within; name the cost "
            "with --epsilon"
        )
    if _must_stay_secret(chosen):
        options["seed"] = secrets.randbits(32)
    given = {name: options.pop(name) for name in ("weights", "attackers")}
    options |= {name: value for name, value in given.items() if value}
    return Settings(methods=chosen, format=options.pop("write"), **options)
