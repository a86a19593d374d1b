"""`tamis release` of a table, or of sparse records, that stay behind an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.release.outcome_words import print_outcome, print_places, some_names
from tamis.cli.table_source import TableSource
from tamis.cli.terminal import console, print_json, print_large, progress
from tamis.errors import InputError, listed, plural
from tamis.publish.figures import percent

if TYPE_CHECKING:
    from tamis.coarsen.ladder import Ladder
    from tamis.engine.choice import EngineName, EngineOptions
    from tamis.flow import Settings
    from tamis.scale.search import LargeOutcome


def release_large(
    source: TableSource,
    settings: Settings,
    options: EngineOptions,
    name: EngineName,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    ladders: Mapping[str, Ladder],
) -> None:
    """Search on a sample, count all rows, publish, report."""
    from tamis.engine.choice import running
    from tamis.publish.bundle import refuse_existing
    from tamis.scale.search import consider_large
    from tamis.scale.writing import publish_large

    refuse_existing(out, force)
    watched = not (quiet or as_json)
    with running(options, name) as engine, progress(watched) as say:
        large = source.open_large(engine)
        if large.shape.roles.target is None:
            raise InputError("a release needs a target; name it with --target")
        if watched:
            print_large(large)
        found = consider_large(large, settings, options.sample, ladders=ladders, tell=say)
        say("writing and verifying", 0, 1)
        publish_large(found, out, force=force, origin=_origin(source, name, options))
    _print(found, out, as_json)


def release_pairs(
    source: TableSource,
    settings: Settings,
    options: EngineOptions,
    name: EngineName,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the columns to compare behind the engine, then release them as any records."""
    from tamis.engine.choice import running
    from tamis.flow import consider
    from tamis.publish.bundle import publish, refuse_existing
    from tamis.scale.records import compared_records

    refuse_existing(out, force)
    if settings.epsilon is not None:
        raise InputError("--epsilon draws rows in memory only; give --engine memory")
    with running(options, name) as engine:
        found = compared_records(
            source.open_pairs(engine),
            settings,
            options.sample,
            target=str(source.target),
            sensitive=source.sensitive,
            drop=source.drop,
        )
    watched, records = not (quiet or as_json), found.records
    if watched:
        console(stderr=True).print(found.words(), markup=False, soft_wrap=True)
    if source.row_is_person:
        records = replace(records, unit="people")
    with progress(watched) as say:
        outcome = replace(
            consider(records, settings, tell=say), left_out=found.left_out, engine=found.said(name)
        )
        say("writing and verifying", 0, 1)
        origin = _origin(source, name, options) | {"compared": found.to_dict()}
        publish(outcome, out, force=force, origin=origin)
    print_outcome(outcome, out, as_json)


def _origin(source: TableSource, name: str, options: EngineOptions) -> dict[str, Any]:
    """What the table was; an address with a password is not kept."""
    shown = source.table.rpartition("@")[2] if "://" in source.table else source.table
    path = Path(shown.partition("::")[0])
    return {
        "name": path.name.split(".")[0],
        "path": shown,
        "engine": name,
        "sample": options.sample,
    }


def _print(found: LargeOutcome, out: Path, as_json: bool) -> None:
    from tamis.publish.bundle import read_recipe, recipe_forms
    from tamis.publish.layout import NAME, read_json

    release = found.outcome.release
    manifest = read_json(out / NAME)
    of_groups = [*manifest.get("diversity", []), *read_recipe(out)["diversity"]]
    if as_json:
        print_json(
            {
                "out": str(out),
                "report": str(out / "private" / "report.html"),
                "release": release.name,
                "features": list(release.features),
                "forms": recipe_forms(release),
                "diversity": of_groups,
                "manifest": manifest,
                "unlabelled": found.large.shape.unlabelled,
            }
        )
        return
    _print_words(found, of_groups)
    print_places(out)


def _print_words(found: LargeOutcome, of_groups: list[dict[str, Any]]) -> None:
    """What was released, and what was counted on all rows or measured on the sample."""
    from tamis.publish.secret_groups import reached_words

    say, chosen = console(), found.outcome.decision.chosen
    release = chosen.release
    say.print(
        f"Released: {plural(found.large.rows, 'row')} of "
        f"{plural(len(release.features), 'column')} ({some_names(release.features, 5)}) and "
        f"{release.table.target}.",
        markup=False,
    )
    if found.coarse:
        say.print(f"In a coarser form: {listed(found.coarse)}.", markup=False)
    for promise, value in zip(found.promises, found.measured):
        if promise.columns:
            unit = found.large.shape.unit
            say.print(f"Counted on all rows: the smallest group has {value:,} {unit}.")
    for entry in of_groups:
        say.print(f"{entry['claim']} Measured on all rows: {reached_words(entry)}.", markup=False)
    rows = plural(found.sample.table.rows, "row")
    say.print(
        f"A model is right for {percent(chosen.value('performance') or 0.0)}, as measured on a "
        f"sample of {rows}."
    )
