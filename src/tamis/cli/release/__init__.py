"""`tamis release`: from a table to a published, verified release with its reports; `tamis demo`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.catalogue.methods import BY_DEFAULT, DP, METHODS
from tamis.cli.dp import Public, public_bounds
from tamis.cli.options import command, given_ladders, named_engine
from tamis.cli.population import check_register
from tamis.cli.release.run import (
    Request,
    again_from,
    run_front,
    run_release,
)
from tamis.cli.rules import load_measures, merged_limits
from tamis.cli.table_source import TableSource
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.flow import Settings
    from tamis.rows import EngineOptions

DEMO = "tamis-demo"
DEMO_METHODS: dict[str, dict[str, Any]] = {
    "front": {},
    "breach": {"most": 5},
    "containment": {"utilities": ["difference"]},
}
"""Settings with fewer releases than the default: enough to compare, in a few seconds."""


def _methods(
    chosen: tuple[str, ...] | None, settings: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    return {name: settings.get(name) or {} for name in chosen or BY_DEFAULT}


@command("release", table=False)
def release(
    source: TableSource,
    engine: EngineOptions,
    out: str | None,
    force: bool,
    reproduce: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Choose what may be released of a table, publish and verify it.

    DIR gets release.csv, manifest.json and report.html to share, and private/ to keep.
    """
    options["rule_measures"] = load_measures(options["rule_measures"])
    if reproduce is not None:
        measures = options["rule_measures"]
        again_from(reproduce, source.table, out, force, as_json, quiet, measures)
        return
    if source.table is None:
        raise InputError("name the TABLE to release, or --reproduce DIR")
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
    run_release(replace(asked, engine=replace(engine, engine=name)))


def _request(
    source: TableSource,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    options: dict[str, Any],
) -> Request:
    """The settings of all options but those of engines."""
    given = {name: options.pop(name) for name in ("earlier", "population", "ledger", "max_epsilon")}
    ladders = given_ladders(source, options.pop("ladder"), options.pop("ladders"))
    public = public_bounds(options.pop("bounds"))
    options["format"] = options.pop("output_format") or ("auto" if source.sparse else "csv")
    settings = _settings(options, public)
    if settings.epsilon is None and (given["ledger"], given["max_epsilon"]) != (None, None):
        raise InputError("--ledger and --max-epsilon add up costs; give the cost with --epsilon")
    watched = not (quiet or as_json)
    return Request(source, settings, out, force, as_json, watched, ladders, **given)


def _refuse_beyond_memory(only_front: bool, asked: Request) -> None:
    """Raise, before anything is read, for options that a table behind an engine cannot have."""
    from tamis.rows.memory_only import OF_RECORDS, RELEASING, refuse_memory_only

    given = {"only_front": only_front, "earlier": asked.earlier, "register": asked.population}
    among = OF_RECORDS if asked.source.long else RELEASING
    refuse_memory_only(vars(asked.settings) | given, among)


def _check_population(options: Mapping[str, Any], weighed: bool = False) -> None:
    """Raise, before any work is done, unless limits in the population have one source of it."""
    population = options["population"]
    if population is not None and options["sampling"] is not None:
        raise InputError("--population counts everybody and --sampling estimates; give one of them")
    check_register(options, weighed)


def _settings(options: dict[str, Any], public: Public) -> Settings:
    from tamis.flow import Settings

    tables = {name: options.pop(name) for name in METHODS}
    chosen = _methods(options.pop("methods"), tables)
    names = ("max_rows_per_person", "algorithm", "delta")
    drawing = {name: options.pop(name) for name in names}
    if options["epsilon"] is not None:
        known = {**public._asdict(), **drawing}
        chosen[DP.name] = (tables[DP.name] or {}) | {k: v for k, v in known.items() if v}
    elif public.bounds or any(drawing.values()):
        raise InputError(
            "--bounds, --max-rows-per-person, --algorithm and --delta are for synthetic rows; "
            "give their cost with --epsilon"
        )
    if options["choose"] == "front":
        if options["epsilon"] is not None:
            raise InputError("--choose front shows figures that no --epsilon covers; give one")
        options["choose"] = "value"
    options["rule_limits"] = merged_limits(options["rule_limits"])
    mappings = ("weights", "attackers", "secret_weights", "secret_limits")
    given = {name: options.pop(name) for name in mappings}
    options |= {name: value for name, value in given.items() if value}
    return Settings(methods=chosen, **options)


@command("demo")
def demo(out: str | None, rows: int, force: bool, seed: int, as_json: bool, quiet: bool) -> None:
    """Publish a simulated table of hospital stays, with its reports.

    Nothing is read: the table is generated from the seed.
    """
    from tamis.cli.release.outcome_words import print_outcome
    from tamis.cli.release.run import make
    from tamis.cli.terminal import print_noticed, print_understood
    from tamis.datasets import stays
    from tamis.flow import Settings
    from tamis.publication.bundle import refuse_existing

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
