"""`tamis retain`: do the rules of the original still hold in the release?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.options import Names, OutputFile, model_options, seed_option, table_options
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import console, decimals, escape, print_json, rich_table
from tamis.errors import InputError, TamisWarning, plural
from tamis.publish.figures import percent

if TYPE_CHECKING:
    from rich.console import Console

    from tamis.evaluate.prediction import Prediction
    from tamis.evaluate.retention import Retention
    from tamis.release import Coarsening
    from tamis.rules.ruleset import RuleSet
    from tamis.table import Table


@click.command()
@table_options
@click.argument("released")
@click.option("--rules", "rules_file", metavar="FILE", help="Rules [mined from the original].")
@model_options
@click.option(
    "--reading",
    type=click.Choice(["pairs", "first", "default"]),
    default="pairs",
    show_default=True,
    help="All rules a row matches, the first one, or the first one with a default label.",
)
@click.option("--default", metavar="LABEL", help="The default label [the most common].")
@click.option(
    "--weigh",
    type=click.Choice(["equal", "support"]),
    default="equal",
    show_default=True,
    help="How much a rule counts in a mean.",
)
@click.option("--min-support", type=float, default=0.0, help="Only rules that match this share.")
@click.option("--min-confidence", type=float, default=0.0, help="Only rules right this often.")
@click.option("--only", type=Names(), default=(), help="Only the rules with these ids.")
@click.option(
    "--plot", type=OutputFile(), metavar="FILE.svg", help="Draw what happened to each rule."
)
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Rules to list.")
@seed_option
def retain(source: TableSource, released: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Do the rules of TABLE, the original, still hold in RELEASED?

    RELEASED is a file, or a published folder: rules are then asked of coarser columns as their
    manifest says. A rule that uses a column which was not released is reported as lost.
    """
    from tamis.evaluate.retention import retention
    from tamis.publish.read_back import published_folder, read_published, value_labels

    original = source.read()
    folder = published_folder(released)
    forms: dict[str, Coarsening] = {}
    if folder is None:
        release = read_like(original, source, released)
    else:
        release, forms = read_published(folder, original)
    rules = _rules(original, options)
    kept = retention(
        rules,
        original,
        release,
        reading=options["reading"],
        default=options["default"],
        weights=options["weigh"],
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
        _print(console(), kept, learnt, options["top"])


def read_like(original: Table, source: TableSource, path: str, check: bool = True) -> Table:
    """A table whose texts stay texts, as in the original, even where they look like numbers.

    Unchecked, it may lack the target or have columns without any value.
    """
    from tamis.read import read_table
    from tamis.read.schema import Schema

    rules = source.rules()
    reading: dict[str, Any] = {
        "encoding": source.encoding,
        "separator": source.separator,
        "drop": source.drop,
    }
    schema = Schema(missing=(*rules.missing, *source.missing))
    target = original.roles.target if check else None
    table = read_table(path, target=target, schema=schema, check=check, **reading)
    texts = [
        c
        for c in table.frame.columns
        if c in original.frame.columns
        and (original.kind(c), table.kind(c)) == ("nominal", "number")
    ]
    if texts:
        schema = replace(schema, columns=dict.fromkeys(texts, "text"))
        table = read_table(path, target=target, schema=schema, check=check, **reading)
    named = original.roles.target if original.roles.target in table.frame.columns else None
    return table if check else replace(table, roles=replace(table.roles, target=named))


def _rules(original: Table, options: dict[str, Any]) -> RuleSet:
    from tamis.rules.count import kept_rules

    rules = rules_to_check(original, options["rules_file"], options["seed"])
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


def rules_to_check(original: Table, path: str | None, seed: int) -> RuleSet:
    """The rules of a file, or mined from the original where none is given."""
    from tamis.rules.tree import mine_rules

    return mine_rules(original, random_state=seed) if path is None else _load(path, original.target)


def _load(path: str, target: str) -> RuleSet:
    from tamis.rules.ruleset import RuleSet

    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError:
        raise InputError(f"no file {path} for --rules") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8") from None
    return RuleSet.from_json(text) if path.endswith(".json") else RuleSet.parse(text, target=target)


FEW = 0.5
"""The share of rows below which a note says that given rules match few."""


def _say_few(kept: Retention) -> None:
    if kept.coverage_original < FEW:
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
    from tamis.publish.read_back import coarsened_like

    if options["test"] is None:
        if options["positive"] is not None:
            raise InputError("--positive concerns the F-measure, which needs --test FILE")
        return None
    test = read_like(original, source, options["test"])
    return prediction(
        original,
        release,
        test,
        positive=options["positive"],
        random_state=options["seed"],
        test_as_released=coarsened_like(test, forms) if forms else None,
    )


def _print(out: Console, kept: Retention, learnt: Prediction | None, top: int) -> None:
    """What happened in words, then in figures, then rule by rule."""
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
    table = rich_table(
        "rule",
        "rows before",
        "after",
        "shift",
        "prediction",
        numbers=("rows before", "after", "shift"),
        title=f"What happened to the rules: the worst {len(shown):,} of {len(kept.rules):,}",
    )
    for change in shown:
        table.add_row(
            escape(f"{change.id}: {change.text}"),
            f"{change.support_before:,}",
            f"{change.support_after:,}",
            decimals(change.distance),
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
