"""`tamis curve`: what rising noise leaves of the rules, and which measures of it agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.options import model_options, seed_option, table_options
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import console, decimals, escape, print_json, progress, rich_table
from tamis.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from tamis.evaluate.curve import Curve, Measure
    from tamis.table import Table

NOISES = ("uniform", "gaussian")
THIS = "this table"


@click.command()
@table_options
@click.option(
    "--method",
    type=click.Choice(NOISES),
    default=NOISES[0],
    show_default=True,
    help="The noise.",
)
@click.option(
    "--levels",
    default="0,0.05,0.1,0.15,0.2,0.25,0.3",
    show_default=True,
    metavar="P,P,...",
    help="The chance that a cell changes.",
)
@click.option(
    "--draws", default=10, show_default=True, type=click.IntRange(1), help="Releases at each level."
)
@click.option("--rules", "rules_file", metavar="FILE", help="Rules [mined from the table].")
@model_options
@click.option(
    "--beside",
    multiple=True,
    metavar="FILE.json",
    help="The curve of another table, written with --json; may be repeated.",
)
@seed_option
def curve(source: TableSource, as_json: bool, quiet: bool, **options: Any) -> None:
    """How much of the rules of TABLE does rising noise leave?

    TABLE is released several times at each level. Of the measures of these releases it says which
    rise and fall together, in this table and over those given with --beside.
    """
    from tamis.evaluate.curve import correlations

    levels = _levels(options["levels"])
    others = {Path(path).name: _read(path) for path in options["beside"]}
    table = source.read_with_roles()
    with progress(not (quiet or as_json)) as tell:
        found = _measured(table, source, levels, options, tell)
    agree = correlations({THIS: found, **others})
    if as_json:
        print_json(_plain(found, agree, levels, options))
    else:
        _show(found, agree, several=bool(others))


def _levels(text: str) -> list[float]:
    try:
        levels = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--levels takes numbers separated by commas, got {text!r}") from None
    if not all(0 <= level <= 1 for level in levels) or len(set(levels)) < len(levels):
        raise InputError(f"--levels takes different numbers from 0 to 1, got {text!r}")
    return sorted(levels)


def _read(path: str) -> Curve:
    """The points of a curve that was written with --json."""
    import polars as pl

    from tamis.evaluate.curve import Curve

    names = ["level", "draw", "measure", "value"]
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        points = [[point[name] for name in names] for point in record["points"]]
        types = [pl.Float64, pl.Int64, pl.String, pl.Float64]
        return Curve(pl.DataFrame(points, schema=dict(zip(names, types)), orient="row"))
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        raise InputError(
            f"{path} is not a curve; write one with tamis curve TABLE --json > FILE.json"
        ) from None


def _measured(
    table: Table, source: TableSource, levels: list[float], options: dict[str, Any], tell: Any
) -> Curve:
    from tamis.cli.retain import read_like, rules_to_check
    from tamis.evaluate.curve import retention_curve
    from tamis.evaluate.prediction import prediction_measures
    from tamis.perturb.noise import GaussianNoise, UniformNoise

    noise = UniformNoise if options["method"] == "uniform" else GaussianNoise
    if options["test"] is None and options["positive"] is not None:
        raise InputError("--positive concerns the F-measure, which needs --test FILE")
    measures: tuple[Measure, ...] = ()
    if options["test"] is not None:
        test = read_like(table, source, options["test"])
        measures = prediction_measures(test, positive=options["positive"])

    def released(original: Table, level: float, seed: int) -> Table:
        tell(f"releasing with noise {level:g}", levels.index(level), len(levels))
        altered: Table = noise(level, random_state=seed).fit_transform(original)
        return altered

    return retention_curve(
        rules_to_check(table, options["rules_file"], options["seed"]),
        table,
        released,
        levels,
        draws=options["draws"],
        measures=measures,
        random_state=options["seed"],
    )


def _plain(
    found: Curve, agree: pl.DataFrame, levels: list[float], options: dict[str, Any]
) -> dict[str, Any]:
    return {
        "method": options["method"],
        "levels": levels,
        "draws": options["draws"],
        "means": found.means().to_dicts(),
        "correlations": agree.to_dicts(),
        "points": found.points.to_dicts(),
    }


def _show(found: Curve, agree: pl.DataFrame, several: bool) -> None:
    means = found.means()
    shown = rich_table(*means.columns, numbers=means.columns)
    for row in means.iter_rows():
        shown.add_row(*(decimals(value) for value in row))
    console().print(shown)
    scopes = ("within", "pooled") if several else (THIS,)
    heads = [f"r, {scope}" for scope in scopes]
    pairs = rich_table("measure", "and", *heads, numbers=heads)
    for a, b in agree.select("a", "b").unique(maintain_order=True).iter_rows():
        both = {row["scope"]: row["r"] for row in agree.filter(a=a, b=b).iter_rows(named=True)}
        pairs.add_row(escape(a), escape(b), *(decimals(both[scope]) for scope in scopes))
    console().print(pairs)
