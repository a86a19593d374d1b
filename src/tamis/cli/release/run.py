"""Read, consider, publish and report, for a table in memory or behind an engine; and reproduce.

As the process in which `tamis serve` works, it writes the release that it chose, then others of the
same comparison on request, so that looking at another one does not cost a second search. Requests
come as lines of JSON on stdin, answers go as lines of JSON to stderr. When stdin ends, so does the
process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.catalogue.methods import DP
from tamis.cli.dp import Public, ledger_path, read_public, spending, spending_words, total
from tamis.cli.release.outcome_words import (
    print_front,
    print_outcome,
    print_places,
    rule_lines,
    some_names,
)
from tamis.cli.table_source import (
    TableSource,
    absolute,
    origin_of,
    register_again,
    register_origin,
    source_again,
)
from tamis.cli.terminal import console, print_json, print_large, print_understood, show_progress
from tamis.errors import CannotMeet, InputError, TamisError, listed, plural
from tamis.figures import percent
from tamis.files import scratch_folder
from tamis.serve import end_with_server, is_passing, is_served, tell_server

if TYPE_CHECKING:
    from tamis.all_rows import AllRows
    from tamis.analyse import Analysis
    from tamis.attack.earlier_releases import EarlierReleases
    from tamis.binary.records import BinaryTable
    from tamis.coarsen.ladder import Ladder
    from tamis.dp.ledger import Spending
    from tamis.evaluate.rule_measure import RuleMeasure
    from tamis.flow import Settings
    from tamis.outcome import Outcome
    from tamis.propose.containment import ComparedRecords
    from tamis.rows import EngineOptions
    from tamis.rows.engines import Engine
    from tamis.rows.large_table import LargeTable
    from tamis.table import Table

    Rows = Table | BinaryTable | LargeTable | ComparedRecords


def read(source: TableSource, public: Public | None = None) -> Table | BinaryTable:
    """A table or sparse records; a table typed by what is public where rows will be synthetic."""
    if source.sparse and public is None:
        return source.read_records()
    # The flow checks the roles itself.
    table = source.read_wide(need_roles=False) if public is None else read_public(source, public)
    if table.roles.target is None:
        raise InputError(
            "a release needs a target; name it with --target, --labels or --label-item"
        )
    return table


@dataclass(frozen=True)
class Request:
    """The request to `tamis release`."""

    source: TableSource
    settings: Settings
    out: Path
    """The folder to create; nothing is written where only the front is shown."""
    force: bool
    as_json: bool
    watched: bool
    """Whether to say on stderr what is understood and being done."""
    ladders: Mapping[str, Ladder]
    earlier: tuple[str, ...]
    """The folders of earlier releases of the same people."""
    population: str | None
    ledger: str | None
    max_epsilon: float | None
    engine: EngineOptions | None = None
    """The engine that has the rows, where they are not in memory."""

    @property
    def origin(self) -> dict[str, Any]:
        """The entries of the recipe, besides settings, by which the release can be reproduced."""
        if self.engine is not None:
            return _large_origin(self.source, self.engine)
        found = origin_of(self.source)
        if is_passing():
            found["path"] = found["source"]["table"] = Path(found["path"]).name
        found["ladders"] = {c: ladder.to_dict() for c, ladder in self.ladders.items()}
        if self.earlier:
            found["beside"] = [absolute(each) for each in self.earlier]
        if self.population:
            found["population"] = register_origin(self.population)
        return found

    def read(self) -> Table | BinaryTable:
        """The table to release, said how it was understood."""
        dp = self.settings.proposing.get(DP.name, {})
        table = read(self.source, None if self.settings.epsilon is None else Public.of(dp))
        if self.watched:
            print_understood(table)
        return table

    @contextmanager
    def opened(self) -> Iterator[Rows]:
        """The table to release, wherever its rows are while the block lasts."""
        from tamis.rows import running

        if self.engine is None:
            yield self.read()
        elif self.source.long:
            with running(self.engine, self.engine.engine) as engine:
                records = self._compared(engine, self.engine.sample)
            yield records
        else:
            with running(self.engine, self.engine.engine) as engine:
                large = self.source.open_large(engine)
                if large.shape.roles.target is None:
                    raise InputError("a release needs a target; name it with --target")
                if self.watched:
                    print_large(large)
                yield large

    def _compared(self, engine: Engine, rows: int) -> ComparedRecords:
        """The columns of a long table that are compared, found behind the engine."""
        from tamis.propose.containment import compared_records

        source, settings = self.source, self.settings
        found = compared_records(
            source.open_pairs(engine),
            rows,
            target=str(source.target),
            k=settings.k,
            holdout=settings.holdout,
            seed=settings.seed,
            sensitive=source.one_secret,
            drop=source.drop,
        )
        if self.watched:
            console(stderr=True).print(found.words(), markup=False, soft_wrap=True)
        if not source.row_is_person:
            return found
        return replace(found, records=replace(found.records, unit="people"))

    def register(self, table: Rows) -> Table | None:
        """The population that the table is a sample of."""
        from tamis.cli.population import read_register
        from tamis.rows.large_table import LargeTable
        from tamis.table import Table

        if self.population is None:
            return None
        if not isinstance(table, Table | LargeTable):
            raise InputError(
                "--population counts columns of a table; of sparse records give the share that was "
                "drawn with --sampling"
            )
        return read_register(self.source, self.population, table)


def run_release(asked: Request) -> None:
    """Read, consider, publish, report."""
    from tamis.publication.bundle import refuse_existing

    end_with_server()
    refuse_existing(asked.out, asked.force)
    with _spending(asked) as spent, asked.opened() as table:
        outcome, analysis = make(
            table,
            asked.settings,
            asked.out,
            asked.force,
            asked.watched,
            asked.origin,
            asked.source.rules().binary,
            ladders=asked.ladders,
            before_writing=None if spent is None else spent.keep,
            register=asked.register(table),
            sample=None if asked.engine is None else asked.engine.sample,
        )
    if outcome.all_rows is not None:
        _print_large(outcome, outcome.all_rows, asked.out, asked.as_json)
        return
    if spent is None:
        print_outcome(outcome, analysis, asked.out, asked.as_json)
        if is_served():
            draft_others(outcome, asked.out, asked.origin)
        return
    ledger = ledger_path(asked.source, asked.ledger)
    print_outcome(outcome, analysis, asked.out, asked.as_json, total(spent, ledger))
    if is_served():
        tell_draft(outcome, asked.out)  # and no others: each would cost again
    if asked.watched:
        words = spending_words(spent, ledger)
        console(stderr=True).print(words, markup=False, soft_wrap=True)


def run_front(asked: Request) -> None:
    """Read, consider, and show what a holder could choose; nothing is published."""
    from tamis.flow import consider

    table = asked.read()
    binary = asked.source.rules().binary
    handed, register = _handed(table, asked.earlier, binary), asked.register(table)
    with show_progress(asked.watched) as say:
        outcome = consider(
            table,
            asked.settings,
            binary=binary,
            ladders=asked.ladders,
            progress=say,
            handed=handed,
            register=register,
        )
    if asked.as_json:
        chosen = outcome.decision.chosen
        front = [row.to_dict() for row in outcome.decision.front]
        print_json({"front": front, "release": chosen.release.name, "published": False})
        return
    print_front(outcome)


@contextmanager
def _spending(asked: Request) -> Iterator[Spending | None]:
    """Enter a release of synthetic rows into the ledger; nothing for others."""
    epsilon = asked.settings.epsilon
    if epsilon is None:
        yield None
        return
    from tamis.propose.synthetic import Synthetic

    with spending(
        asked.source,
        epsilon,
        asked.out,
        ledger=asked.ledger,
        most=asked.max_epsilon,
        neighbours=Synthetic(**asked.settings.proposing[DP.name]).counted_for,
        earlier=_budgets(asked.earlier),
    ) as spent:
        yield spent


def _budgets(folders: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What earlier releases of synthetic rows cost, by their folders."""
    from tamis.verification.verify import verify

    manifests = {absolute(folder): verify(folder).manifest for folder in folders}
    return {folder: said["budget"] for folder, said in manifests.items() if said.get("budget")}


def make(
    table: Rows,
    settings: Settings,
    out: Path,
    force: bool,
    watched: bool,
    origin: dict[str, Any],
    binary: Any = None,
    date: str | None = None,
    ladders: Mapping[str, Ladder] | None = None,
    before_writing: Callable[[], None] | None = None,
    register: Table | None = None,
    sample: int | None = None,
) -> tuple[Outcome, Analysis]:
    """Consider, analyse and publish, saying what is being done."""
    from tamis.analyse import analyse
    from tamis.flow import consider
    from tamis.propose.containment import ComparedRecords
    from tamis.publication.bundle import publish

    handed = _handed(table, origin.get("beside", ()), binary)
    with show_progress(watched) as say:
        outcome = consider(
            table,
            settings,
            binary=binary,
            ladders=ladders,
            progress=say,
            handed=handed,
            register=register,
            **({} if sample is None else {"sample": sample}),
        )
        if isinstance(table, ComparedRecords):
            origin = {**origin, "compared": table.to_dict()}
        say("looking closely at the choice", 0, 1)
        outcome = outcome.closer()
        analysis = analyse(outcome)
        if before_writing is not None:
            before_writing()
        say("writing and verifying", 0, 1)
        publish(outcome, out, analysis=analysis, force=force, origin=origin, date=date)
    if handed is not None and watched:
        console(stderr=True).print(handed.words(settings.k), markup=False, soft_wrap=True)
    return outcome, analysis


def _handed(table: Rows, folders: Iterable[str], binary: Any) -> EarlierReleases | None:
    """The earlier releases in the given folders, as published."""
    from tamis.attack.earlier_releases import EarlierReleases
    from tamis.publication.read_back import read_earlier
    from tamis.table import Table

    if not (releases := [read_earlier(Path(folder)) for folder in folders]):
        return None
    if not isinstance(table, Table):
        raise InputError(
            "--earlier counts columns of a table; sparse records cannot be counted yet"
        )
    return EarlierReleases(table, releases, binary)


def draft_others(outcome: Outcome, first: Path, origin: Mapping[str, Any]) -> None:
    """Publish more releases of the same comparison, each as ``{"take": NAME, "out": DIR}`` asks."""
    from tamis.publication.bundle import publish

    tell_draft(outcome, first)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            taken = outcome.taking(asked["take"]).closer()
            publish(taken, asked["out"], origin=origin)
            tell_draft(taken, asked["out"])
        except TamisError as error:
            tell_server(failed=str(error))


def tell_draft(outcome: Outcome, out: str | Path) -> None:
    """Write what a page shows of a draft next to it, and tell the server that it is made."""
    from tamis.serve.tasks import write_shown

    write_shown(outcome, out)
    tell_server(made=str(out))


def _large_origin(source: TableSource, options: EngineOptions) -> dict[str, Any]:
    """What the table was; an address with a password is not kept."""
    shown = source.table.rpartition("@")[2] if "://" in source.table else source.table
    path = Path(shown.partition("::")[0])
    return {
        "name": path.name.split(".")[0],
        "path": shown,
        "engine": options.engine,
        "sample": options.sample,
    }


def _print_large(outcome: Outcome, counted: AllRows, out: Path, as_json: bool) -> None:
    from tamis.publication.recipe import read_recipe, recipe_forms
    from tamis.verification.layout import NAME, read_json

    release = outcome.release
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
                "unlabelled": counted.large.shape.unlabelled,
            }
        )
        return
    _print_large_words(outcome, counted, of_groups)
    print_places(out)


def _print_large_words(outcome: Outcome, found: AllRows, of_groups: list[dict[str, Any]]) -> None:
    """What was released, and what was counted on all rows or measured on the sample."""
    from tamis.release_counts import left_out_words
    from tamis.stated import measured_words

    say, chosen = console(), outcome.decision.chosen
    release = chosen.release
    say.print(
        f"Released: {plural(found.large.rows, 'row')} of "
        f"{plural(len(release.features), 'column')} ({some_names(release.features, 5)}) and "
        f"{release.table.target}.",
        markup=False,
    )
    if found.coarse:
        say.print(f"In a coarser form: {listed(found.coarse)}.", markup=False)
    for promise in found.promises:
        if promise.columns:
            group = f"the smallest group has {found.reached[promise]:,} {found.large.shape.unit}"
            say.print(promise.named(f"Counted on all rows: {group}."), markup=False)
    if found.left_out is not None:
        words = left_out_words(found.left_out, found.large.shape.unit, outcome.least_k)
        say.print(words, markup=False)
    for entry in of_groups:
        say.print(f"{entry['claim']} Measured on all rows: {measured_words(entry)}.", markup=False)
    rows = plural(found.sample.table.rows, "row")
    say.print(
        f"A model is right for {percent(chosen.value('performance') or 0.0)}, as measured on a "
        f"sample of {rows}."
    )
    for line in rule_lines(outcome):
        say.print(line, markup=False)


def again_from(
    folder: str,
    table: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    measures: Sequence[RuleMeasure] = (),
) -> None:
    """Make the release of a folder again, and compare the bytes."""
    from tamis.publication.bundle import refuse_existing
    from tamis.publication.recipe import differing, read_recipe

    if out is not None:
        refuse_existing(Path(out), force)
    known = read_recipe(folder)
    settings, original, binary, ladders = _understood(folder, known, table, measures)
    with scratch_folder() as aside:
        target = Path(out) if out is not None else aside / "again"
        make(
            original,
            settings,
            target,
            force,
            not (quiet or as_json),
            known["origin"],
            binary,
            known["date"],
            ladders,
            register=register_again(known["origin"], original, table),
        )
        other = differing(folder, target)
    if other:
        raise CannotMeet(
            f"{', '.join(other)} came out differently this time; it was made with "
            + ", ".join(f"{name} {version}" for name, version in known["versions"].items())
        )
    if as_json:
        print_json({"same": True, "again": folder, "out": out})
    else:
        where = f" in {out}" if out is not None else ""
        console().print(f"Reproduced the same bytes{where}: {', '.join(known['sha256'])}.")


def _understood(
    folder: str, known: dict[str, Any], table: str | None, measures: Sequence[RuleMeasure]
) -> tuple[Settings, Table | BinaryTable, Any, dict[str, Ladder]]:
    """What a recipe says: settings, the table, how it becomes 0/1, ladders."""
    from tamis.coarsen.ladder import Ladder
    from tamis.flow import Settings

    try:
        asked = known["settings"]
        _refuse_other_measures(asked.get("rule_measures", ()), measures)
        settings = Settings(**{**asked, "rule_measures": measures})
        _refuse_drawn(folder, settings)
        original, binary = read_again(known["origin"], table)
        ladders = {
            column: Ladder.from_dict(column, how)
            for column, how in known["origin"].get("ladders", {}).items()
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(
            f"the recipe in {folder} is damaged ({type(error).__name__}); run the release again "
            "with its own options"
        ) from None
    return settings, original, binary, ladders


def _refuse_other_measures(names: Sequence[str], given: Sequence[RuleMeasure]) -> None:
    """Raise unless the recipe's measures are named again: a recipe must not decide what is run."""
    if list(names) != [measure.name for measure in given]:
        asked = f"the measures {listed(names)}" if names else "no measure of its own"
        raise InputError(
            f"the release was made with {asked}; give the same with --measure MODULE:NAME, in "
            "that order"
        )


def read_again(origin: dict[str, Any], table: str | None) -> tuple[Table | BinaryTable, Any]:
    """The table that a release was made from, and how it was converted to 0/1."""
    if "made" in origin:
        from tamis.datasets import stays

        return stays(**origin["made"]), None
    source = source_again(origin, table)
    return read(source), source.rules().binary


def _refuse_drawn(folder: str, settings: Settings) -> None:
    if settings.epsilon is not None:
        raise CannotMeet(
            f"the rows in {folder} were drawn with noise that has no seed, and drawing again "
            f"would cost epsilon = {settings.epsilon:g} once more; share the folder as it is"
        )
