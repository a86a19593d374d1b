"""`tamis rules`, `retain` and `curve`: the rules of a table, and what a release leaves of them."""

from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.options import command
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import (
    console,
    decimals,
    escape,
    print_json,
    print_understood,
    rich_table,
    show_progress,
)
from tamis.errors import CannotMeet, InputError, TamisWarning, listed, plural
from tamis.figures import percent

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from tamis.evaluate.curve import Curve, Measure
    from tamis.evaluate.prediction import Prediction
    from tamis.evaluate.retention import Retention
    from tamis.evaluate.rule_measure import RuleMeasure
    from tamis.release import Coarsening
    from tamis.rules.ruleset import RuleSet
    from tamis.table import Table

LEAST_MATCHED = 0.5
"""Below this share of matched rows, a note says that the given rules match few."""
THIS = "this table"


@command("rules")
def rules(
    source: TableSource,
    max_depth: int,
    min_support: float,
    shares: bool,
    output: str | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Mine the rules of a table with a decision tree.

    Prints those of TABLE, one per line. Edit them, add your own, and pass them to `tamis retain
    --rules`.
    """
    from tamis.files import written
    from tamis.rules.tree import mine_rules

    table = source.read_with_roles()
    found = mine_rules(
        table, min_support=min_support, max_depth=max_depth, shares=shares, random_state=seed
    )
    if not (quiet or as_json):
        print_understood(table)
        words = plural(len(found), "rule predicts", "rules predict")
        console(stderr=True).print(f"{words} {table.target!r}", markup=False)
    if output is not None:
        content = found.to_json() if output.endswith(".json") else found.to_text()
        with written(output) as draft:
            draft.write_text(content + "\n", encoding="utf-8")
    if as_json:
        print_json(found.to_dict())
    elif output is None:
        click.echo(found.to_text())


@command("retain")
@click.argument("released")
def retain(source: TableSource, released: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Check which rules of a table still hold in its release.

    TABLE is the original. RELEASED is a file, or a published folder: rules are then asked of
    coarser columns as their manifest says. A rule that uses a column which was not released is
    reported as lost.
    """
    from tamis.evaluate.retention import limited_measures, retention
    from tamis.publication.read_back import published_folder, read_published, value_labels

    further = load_measures(options["rule_measures"])
    limits = limited_measures(merged_limits(options["rule_limits"]), further)
    original = source.read()
    folder = published_folder(released)
    forms: dict[str, Coarsening] = {}
    if folder is None:
        release = source.read_like(original, released)
    else:
        release, forms = read_published(folder, original)
    rules = _chosen_rules(original, options)
    kept = retention(
        rules,
        original,
        release,
        reading=options["reading"],
        default=options["default"],
        weights=options["weigh"],
        measures=further,
        coarser=value_labels(original, forms),
    )
    if options["rules_file"] is not None:
        _say_few(kept)
    learnt = _learnt(original, release, source, options, forms)
    if options["plot"] is not None:
        kept.plot().save(options["plot"])
    if as_json:
        print_json({**kept.to_dict(), "prediction": learnt.to_dict() if learnt else None})
    else:
        _print_retention(console(), kept, learnt, options["top"])
    _refuse_beyond(limits, kept)


def load_measures(texts: Sequence[str]) -> tuple[RuleMeasure, ...]:
    """Measures of rules from the user's modules, whose code is run because it was asked for."""
    return tuple(map(_load_measure, texts))


def _load_measure(text: str) -> RuleMeasure:
    from tamis.evaluate.rule_measure import RuleMeasure

    module, _, name = text.partition(":")
    if not (module and name):
        raise InputError(f"--measure takes MODULE:NAME, such as mine:divergence, got {text!r}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), name)
    except AttributeError:
        raise InputError(f"the module {module!r} of --measure has no {name!r}") from None
    except Exception as error:  # whatever the user's module does wrong
        raise InputError(
            f"--measure cannot import the module {module!r}: {type(error).__name__}: {error}"
        ) from None
    finally:
        sys.path.pop(0)
    if isinstance(found, RuleMeasure):
        return found
    if not callable(found):
        raise InputError(f"--measure {text} is neither a RuleMeasure nor a function")
    return RuleMeasure(name, "min", found)


def merged_limits(given: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The limits of all --limit options; an error where two are on the same measure."""
    found: dict[str, float] = {}
    for limits in given:
        if twice := [name for name in limits if name in found]:
            raise InputError(f"--limit gives {listed(twice)} twice; give one limit a measure")
        found |= limits
    return found


def _refuse_beyond(limits: Mapping[RuleMeasure, float], kept: Retention) -> None:
    figures = {**kept.to_dict(), **kept.own}
    worse = [
        _beyond(measure, figures[measure.name], limit)
        for measure, limit in limits.items()
        if not measure.meets(figures[measure.name], limit)
    ]
    if worse:
        raise CannotMeet("; ".join(worse))


def _beyond(measure: RuleMeasure, total: float | None, limit: float) -> str:
    if total is None:
        return f"{measure.name} cannot be measured, so its limit {limit:g} is not met"
    side = "above" if measure.better == "min" else "below"
    return f"{measure.name} is {decimals(total)}, {side} its limit {limit:g}"


def _chosen_rules(original: Table, options: dict[str, Any]) -> RuleSet:
    from tamis.rules.count import kept_rules

    rules = rules_to_check(original, options)
    if not (options["min_support"] or options["min_confidence"] or options["only"]):
        return rules
    return kept_rules(
        rules,
        original.frame,
        original.target,
        min_support=options["min_support"],
        min_confidence=options["min_confidence"],
        only=options["only"] or None,
    )


def rules_to_check(original: Table, options: Mapping[str, Any]) -> RuleSet:
    """The rules of a file, or mined from the original where none is given."""
    from tamis.rules.tree import mine_rules

    path = options["rules_file"]
    if path is None:
        return mine_rules(original, random_state=options["seed"])
    return load_rules(path, original.target, options["rules_format"], options["rule_labels"])


def load_rules(path: str, target: str, format: str = "auto", labels: Sequence[str] = ()) -> RuleSet:
    """The rules of a file, in whatever format."""
    from tamis.rules.imported import rules_of_text

    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError:
        raise InputError(f"no file {path} for --rules") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8") from None
    known = "tamis" if path.endswith(".json") else format
    return rules_of_text(text, known, target, labels)


def _say_few(kept: Retention) -> None:
    if kept.coverage_original < LEAST_MATCHED:
        matched = round(kept.coverage_original * kept.rows_original)
        warnings.warn(
            f"the rules match {matched:,} of {plural(kept.rows_original, 'row')} "
            f"({percent(kept.coverage_original)}); the figures say nothing about the others",
            TamisWarning,
            stacklevel=2,
        )


def _learnt(
    original: Table,
    release: Table,
    source: TableSource,
    options: dict[str, Any],
    forms: Mapping[str, Coarsening],
) -> Prediction | None:
    from tamis.evaluate.prediction import prediction
    from tamis.publication.read_back import coarsened_like

    if options["test"] is None:
        if options["positive"] is not None:
            raise InputError("--positive concerns the F-measure, which needs --test FILE")
        return None
    test = source.read_like(original, options["test"])
    return prediction(
        original,
        release,
        test,
        positive=options["positive"],
        random_state=options["seed"],
        test_as_released=coarsened_like(test, forms) if forms else None,
    )


def _print_retention(out: Console, kept: Retention, learnt: Prediction | None, top: int) -> None:
    """Print what is left of the rules: in words, in figures, and rule by rule."""
    out.print(f"\n[bold]{kept.headline()}.[/bold]")
    if kept.lost_columns:
        out.print(f"Not released: {', '.join(kept.lost_columns)}.", markup=False)
    out.print()
    _print_figures(out, kept)
    if learnt is not None:
        _print_models(out, learnt)
    if top:
        _print_rules(out, kept, top)


def _print_figures(out: Console, kept: Retention) -> None:
    table = rich_table("", "before", "after", "change", "", numbers=("before", "after", "change"))
    before, after = percent(kept.right_original), percent(kept.right_released)
    table.add_row(
        "Rule Accuracy",
        before,
        after,
        decimals(kept.rule_accuracy),
        "how often the rules are right",
    )
    before, after = percent(kept.coverage_original), percent(kept.coverage)
    change = decimals(abs(kept.coverage_original - kept.coverage))
    table.add_row("coverage", before, after, change, "rows that match some rule")
    table.add_row("RSD", "", "", decimals(kept.rsd), "mean change in a rule's share of rows")
    table.add_row(
        "  total", "", "", decimals(kept.total_variation), "half the sum of these changes"
    )
    chance = "" if kept.rld_floor is None else f"; chance alone gives {decimals(kept.rld_floor)}"
    table.add_row("RLD", "", "", decimals(kept.rld), f"mean shift in a rule's labels{chance}")
    table.add_row("RE", "", "", decimals(kept.re), "mean relative change in a rule's rows")
    for name, total in kept.own.items():
        table.add_row(escape(name), "", "", decimals(total), "your own measure")
    out.print(table)


def _print_models(out: Console, learnt: Prediction) -> None:
    table = rich_table(
        "a model trained on",
        "original",
        "release",
        numbers=("original", "release"),
    )
    pairs = (learnt.original, learnt.released)
    table.add_row("accuracy", *(percent(s.accuracy) for s in pairs))
    table.add_row("AUC", *(decimals(s.auc) for s in pairs))
    if learnt.positive is not None:
        table.add_row("F-measure", *(decimals(s.f_measure) for s in pairs))
    out.print(f"Predicting {learnt.rows:,} held-out original rows:")
    out.print(table)
    out.print(f"Always predicting the most common label is right for {percent(learnt.majority)}.\n")


def _print_rules(out: Console, kept: Retention, top: int) -> None:
    shown = kept.rules[:top]
    own = [escape(name) for name in kept.own]
    table = rich_table(
        "rule",
        "rows before",
        "after",
        "shift",
        *own,
        "prediction",
        numbers=("rows before", "after", "shift", *own),
        title=f"What happened to the rules: the worst {len(shown):,} of {len(kept.rules):,}",
    )
    for change in shown:
        table.add_row(
            escape(f"{change.id}: {change.text}"),
            f"{change.support_before:,}",
            f"{change.support_after:,}",
            decimals(change.distance),
            *(decimals(change.own[name]) for name in kept.own),
            escape(_fate(change)),
        )
    out.print(table)


def _fate(change: Any) -> str:
    if change.fate == "lost":
        return "lost: no column " + ", ".join(change.missing_columns)
    if change.fate == "emptied":
        return "no row left"
    if change.majority_before is None:
        return "no row before"
    before = change.labels_before[change.majority_before]
    share = f"{change.majority_before} {percent(before)}"
    if change.flipped:
        now = change.labels_after[change.majority_after]
        return f"{share}, now {change.majority_after} {percent(now)}"
    return f"{share}, now {percent(change.labels_after[change.majority_before])}"


@command("curve")
def curve(source: TableSource, as_json: bool, quiet: bool, **options: Any) -> None:
    """Measure what rising noise leaves of the rules of a table.

    TABLE is released several times at each level. Of the measures of these releases it says which
    rise and fall together, in this table and over those given with --compare-with.
    """
    from tamis.evaluate.curve import correlations

    further = load_measures(options["rule_measures"])
    levels = _levels(options["levels"], noise=options["command"] is None)
    others = {Path(path).name: _read_curve(path) for path in options["compare_with"]}
    table = source.read_with_roles()
    with show_progress(not (quiet or as_json)) as progress:
        found = _measured_curve(table, source, levels, further, options, progress)
    agree = correlations({THIS: found, **others})
    if options["plot"] is not None:
        found.plot("level" if options["command"] else "noise").save(options["plot"])
    if as_json:
        print_json(_curve_json(found, agree, levels, options))
    else:
        _print_curve(found, agree, several=bool(others))


def _levels(text: str, noise: bool) -> list[float]:
    try:
        levels = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--levels takes numbers separated by commas, got {text!r}") from None
    if noise and not all(0 <= level <= 1 for level in levels):
        raise InputError(f"--levels takes different numbers from 0 to 1, got {text!r}")
    if len(set(levels)) < len(levels) or not all(map(math.isfinite, levels)):
        raise InputError(f"--levels takes different numbers, got {text!r}")
    return sorted(levels)


def _read_curve(path: str) -> Curve:
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


def _measured_curve(
    table: Table,
    source: TableSource,
    levels: list[float],
    further: Sequence[RuleMeasure],
    options: dict[str, Any],
    progress: Any,
) -> Curve:
    from tamis.evaluate.curve import retention_curve
    from tamis.evaluate.prediction import prediction_measures

    if options["test"] is None and options["positive"] is not None:
        raise InputError("--positive concerns the F-measure, which needs --test FILE")
    measures: tuple[Measure, ...] = ()
    if options["test"] is not None:
        test = source.read_like(table, options["test"])
        measures = prediction_measures(test, positive=options["positive"])

    release = _by_noise(options["method"])
    if options["command"] is not None:
        release = _by_command(options["command"], source)

    def released(original: Table, level: float, seed: int) -> Table:
        progress(f"releasing at level {level:g}", levels.index(level), len(levels))
        return release(original, level, seed)

    return retention_curve(
        rules_to_check(table, options),
        table,
        released,
        levels,
        draws=options["draws"],
        measures=(*measures, *further),
        random_state=options["seed"],
        reading=options["reading"],
        default=options["default"],
        weights=options["weigh"],
    )


def _by_noise(method: str) -> Callable[[Table, float, int], Table]:
    from tamis.perturb.noise import GaussianNoise, UniformNoise

    noise = UniformNoise if method == "uniform" else GaussianNoise

    def release(original: Table, level: float, seed: int) -> Table:
        altered: Table = noise(level, random_state=seed).fit_transform(original)
        return altered

    return release


def _by_command(command: str, source: TableSource) -> Callable[[Table, float, int], Table]:
    """An external anonymiser: a program that reads the original and writes its release."""
    from tamis.table_file import write_table

    parts = shlex.split(command)
    if not all(any(place in part for part in parts) for place in ("{original}", "{released}")):
        raise InputError(
            "--command must say where {original} and {released} go, and may use {level} and {seed}"
        )

    def release(original: Table, level: float, seed: int) -> Table:
        with TemporaryDirectory() as folder:
            files = {name: str(Path(folder) / f"{name}.csv") for name in ("original", "released")}
            write_table(original.frame, Path(files["original"]))
            words = {**files, "level": f"{level:g}", "seed": str(seed % 2**31)}
            _run(_filled(parts, words), level)
            if not Path(files["released"]).exists():
                raise CannotMeet(f"the command wrote no {{released}} at level {level:g}")
            return source.read_like(original, files["released"])

    return release


def _filled(parts: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """The command with its placeholders replaced; other braces are left as they are."""
    places = re.compile("|".join(re.escape(f"{{{name}}}") for name in words))
    return [places.sub(lambda found: words[found[0][1:-1]], part) for part in parts]


def _run(command: Sequence[str], level: float) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise InputError(f"cannot run {command[0]!r} of --command: {error.strerror}") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["it printed no error"]
        raise CannotMeet(f"the command ended with {done.returncode} at level {level:g}: {last[0]}")


def _curve_json(
    found: Curve, agree: pl.DataFrame, levels: list[float], options: dict[str, Any]
) -> dict[str, Any]:
    return {
        "method": options["command"] or options["method"],
        "levels": levels,
        "draws": options["draws"],
        "means": found.means().to_dicts(),
        "correlations": agree.to_dicts(),
        "points": found.points.to_dicts(),
    }


def _print_curve(found: Curve, agree: pl.DataFrame, several: bool) -> None:
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
