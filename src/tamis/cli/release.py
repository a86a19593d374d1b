"""`tamis release`: from a table to a published, verified release with its reports."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from tamis.cli.dp import (
    Public,
    ledger_path,
    public_bounds,
    read_public,
    spending,
    spending_options,
    spending_words,
    total,
)
from tamis.cli.options import (
    PROGRAM,
    Names,
    TableSource,
    engine_options,
    given_ladders,
    ladder_options,
    named_engine,
    seed_option,
    table_options,
)
from tamis.cli.served import draft_others, end_with_server, is_served
from tamis.cli.terminal import console, print_json, print_understood, progress
from tamis.errors import CannotMeet, InputError, plural
from tamis.files import scratch_folder
from tamis.publish.figures import percent

if TYPE_CHECKING:
    from tamis.attack.beside import HandedOn
    from tamis.binary.records import BinaryTable
    from tamis.coarsen.ladder import Ladder
    from tamis.dp.ledger import Spending
    from tamis.engine.choice import EngineOptions
    from tamis.flow import Outcome, Settings
    from tamis.table import Table


def print_outcome(
    outcome: Outcome, out: Path, as_json: bool, more: dict[str, Any] | None = None
) -> None:
    """What was released, what is promised, and where the report is; `more` is added to the JSON."""
    if as_json:
        from tamis.publish.layout import NAME, read_json

        summary = read_json(out / "private" / "summary.json", most=1 << 30)
        print_json(
            {
                "out": str(out),
                "report": str(out / "private" / "report.html"),
                "release": outcome.decision.chosen.release.name,
                "features": list(outcome.decision.chosen.release.features),
                "forms": {
                    name: {"level": form.level, "ladder": dict(form.ladder)}
                    for name, form in outcome.decision.chosen.release.forms.items()
                },
                "manifest": read_json(out / NAME),
                "candidates": summary["candidates"],
                "methods": summary["methods"],
                **(more or {}),
            }
        )
        return
    say = console()
    for line in words(outcome):
        say.print(line, markup=False)
    say.print(f"\nShare: {out}/ without private/", markup=False)
    say.print(f"Your report: {out / 'private' / 'report.html'}", markup=False)


def words(outcome: Outcome) -> list[str]:
    """What is released, what it keeps and tells, who is unique in it, what an attacker gains.

    And which limit is missed after all: all figures come from rows that were not used to choose.
    """
    from tamis.publish.summarise import judged

    chosen, card, missed = (
        outcome.decision.chosen,
        outcome.decision.scorecard,
        outcome.decision.missed,
    )
    names = chosen.release.features
    shown = _some(names, 5)
    performance, whole, guess = (
        percent(row.value("performance") or 0.0) for row in (chosen, card.baseline, card.floor)
    )
    return [
        f"Released: {plural(len(names), 'column')} ({shown}) and {outcome.table.target}"
        f"{_drawn_words(outcome)}.",
        *kept_told_words(outcome),
        *_alone(outcome),
        *_diverse(outcome),
        f"A model trained on them is right for {performance} of {judged(outcome.table)} it never "
        f"saw (with everything {whole}, by guessing {guess}).",
        _attack(outcome),
        *(f"Warning: {failure.words}; it met the limit when chosen." for failure in missed),
    ]


def _some(names: Sequence[str], most: int = 30) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def kept_told_words(outcome: Outcome) -> list[str]:
    """What the release keeps of the target and tells of the sensitive column, in two lines."""
    chosen, table = outcome.decision.chosen, outcome.table
    kept, told = chosen.value("kept") or 0.0, chosen.value("told")
    found = [f"Keeps {round(100 * kept)}% of what can be learnt about {table.target}."]
    if told is None:
        return found
    if not outcome.decision.scorecard.compared.choosing.tells:
        return [
            *found,
            f"Nothing in the table is shown to tell more about {table.sensitive} than "
            f"{table.target} does.",
        ]
    return [
        *found,
        f"Tells {round(100 * told)}% of what the table tells about {table.sensitive} beyond "
        f"{table.target}.",
    ]


def _drawn_words(outcome: Outcome) -> str:
    chosen = outcome.decision.chosen
    if not chosen.release.is_drawn:
        return ""
    rows = chosen.release.table.rows
    return f"; {rows:,} synthetic rows at epsilon = {chosen.value('epsilon'):.4g}"


def _alone(outcome: Outcome) -> list[str]:
    from tamis.publish.exposure import exposure_facts, same_sensitive
    from tamis.publish.exposure_words import alike_words, exposure_words

    found, secret = exposure_facts(outcome), same_sensitive(outcome)
    if found is None:
        return []
    lines = exposure_words(found, outcome.table.target)
    if secret is not None:
        lines.append(alike_words(secret, str(outcome.table.sensitive), found))
    return [line for line in lines if line]


def _diverse(outcome: Outcome) -> list[str]:
    """What was reached of the l and t asked for; for the holder, as it may be of a secret."""
    from tamis.publish.secret_groups import asked_entries, entry_claim, reached_words

    chosen, table = outcome.decision.chosen, outcome.table
    reached = chosen.assessment.diversity_reached
    if reached is None:
        return []
    column = table.frame.get_column(outcome.evaluator.sensitive)
    known, numeric = chosen.release.table.quasi, column.dtype.is_numeric()
    return [
        f"{entry_claim(entry)} Measured: "
        f"{reached_words({**entry, 'measured': reached[entry['key'][0]]})}."
        for entry in asked_entries(outcome.settings, column.name, numeric, known, table.unit)
    ]


def _attack(outcome: Outcome) -> str:
    evaluator, chosen = outcome.evaluator, outcome.decision.chosen
    guess, findings = outcome.decision.scorecard.floor.assessment, chosen.assessment.reporting
    now = findings.attacked[chosen.assessment.strongest].right.mean()
    everything = findings.everything[evaluator.strongest].right.mean()
    floor = guess.reporting.attacked[guess.strongest].right.mean()
    return (
        f"The strongest attacker ({chosen.assessment.strongest}) guesses {evaluator.sensitive} "
        f"correctly for {percent(now)} (with everything {percent(everything)}, by guessing "
        f"{percent(floor)})."
    )


FILES = ("table", "schema", "labels")
SHARE = click.FloatRange(0, 1)


class Limits(NamedTuple):
    """Where to add up what is spent, and the most that may be spent."""

    ledger: str | None = None
    most: float | None = None


def run_release(
    source: TableSource,
    settings: Settings,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    public: Public,
    limits: Limits,
    ladders: Mapping[str, Ladder],
    beside: tuple[str, ...] = (),
) -> None:
    """Read, consider, publish, report."""
    from tamis.publish.folder import refuse_existing

    end_with_server()
    refuse_existing(out, force)
    with _spending(source, settings, out, limits, beside) as spent:
        table = read(source, public if settings.epsilon is not None else None)
        if not (quiet or as_json):
            print_understood(table)
        outcome = make(
            table,
            settings,
            out,
            force,
            not (quiet or as_json),
            _origin(source)
            | {"ladders": {c: ladder.to_dict() for c, ladder in ladders.items()}}
            | ({"beside": [absolute(each) for each in beside]} if beside else {}),
            source.rules().binary,
            ladders=ladders,
            before_writing=None if spent is None else spent.keep,
        )
    if spent is None:
        print_outcome(outcome, out, as_json)
        if is_served():
            draft_others(outcome, out, _origin(source))
        return
    ledger = ledger_path(source, limits.ledger)
    print_outcome(outcome, out, as_json, total(spent, ledger))
    if not (quiet or as_json):
        words = spending_words(spent, ledger)
        console(stderr=True).print(words, markup=False, soft_wrap=True)


def run_front(
    source: TableSource,
    settings: Settings,
    as_json: bool,
    quiet: bool,
    ladders: Mapping[str, Ladder],
    beside: tuple[str, ...] = (),
) -> None:
    """Read, consider, and show what a holder could choose; nothing is published."""
    from tamis.flow import consider

    table = read(source)
    watched = not (quiet or as_json)
    if watched:
        print_understood(table)
    binary = source.rules().binary
    handed = _handed(table, beside, binary)
    with progress(watched) as say:
        outcome = consider(table, settings, binary=binary, ladders=ladders, tell=say, handed=handed)
    if as_json:
        chosen = outcome.decision.chosen
        front = [row.to_dict() for row in outcome.decision.front]
        print_json({"front": front, "release": chosen.release.name, "published": False})
        return
    print_front(outcome)


def print_front(outcome: Outcome) -> None:
    """The releases that no other beats in both kept and told, as a table."""
    from rich.markup import escape
    from rich.table import Table as Lines

    lines = Lines("keeps", "tells", "columns", title="What could be released")
    for row in outcome.decision.front:
        mark = " (the choice)" if row is outcome.decision.chosen else ""
        told = row.value("told")
        lines.add_row(
            percent(row.value("kept") or 0.0),
            "" if told is None else percent(told),
            escape(_some(row.release.features) + mark),
        )
    say = console()
    say.print(lines)
    say.print("Nothing was published; choose with --caution, --min-kept or --max-told.")


@contextmanager
def _spending(
    source: TableSource,
    settings: Settings,
    out: Path,
    limits: Limits,
    beside: tuple[str, ...],
) -> Iterator[Spending | None]:
    """The ledger entry that a release of synthetic rows needs; nothing for others."""
    if settings.epsilon is None:
        yield None
        return
    from tamis.propose.synthetic import Synthetic

    with spending(
        source,
        settings.epsilon,
        out,
        ledger=limits.ledger,
        most=limits.most,
        neighbours=Synthetic(**settings.proposing["dp"]).counted_for,
        earlier=_budgets(beside),
    ) as spent:
        yield spent


def _budgets(folders: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What earlier releases of synthetic rows cost, by their folders."""
    from tamis.publish.verify import verify

    manifests = {absolute(folder): verify(folder).manifest for folder in folders}
    return {folder: said["budget"] for folder, said in manifests.items() if said.get("budget")}


def read(source: TableSource, public: Public | None = None) -> Table | BinaryTable:
    """A table or sparse records; a table typed by what is public where rows will be synthetic."""
    if source.sparse and public is None:
        return source.read_records()
    # The flow checks the roles itself.
    table = source.read_wide(said=False) if public is None else read_public(source, public)
    if table.roles.target is None:
        raise InputError(
            "a release needs a target; name it with --target, --labels or --label-item"
        )
    return table


def make(
    table: Table | BinaryTable,
    settings: Settings,
    out: Path,
    force: bool,
    watched: bool,
    origin: dict[str, Any],
    binary: Any = None,
    date: str | None = None,
    ladders: Mapping[str, Ladder] | None = None,
    before_writing: Callable[[], None] | None = None,
) -> Outcome:
    """Consider and publish, saying what is being done."""
    from tamis.flow import consider
    from tamis.publish.bundle import publish

    handed = _handed(table, origin.get("beside", ()), binary)
    with progress(watched) as say:
        outcome = consider(table, settings, binary=binary, ladders=ladders, tell=say, handed=handed)
        if before_writing is not None:
            before_writing()
        say("writing and verifying", 0, 1)
        publish(outcome, out, force=force, origin=origin, date=date)
    if handed is not None and watched:
        console(stderr=True).print(handed.words(settings.k), markup=False, soft_wrap=True)
    return outcome


def _handed(table: Table | BinaryTable, folders: Iterable[str], binary: Any) -> HandedOn | None:
    """What the releases in these folders told, each as published."""
    from tamis.attack.beside import HandedOn
    from tamis.publish.verify import verify
    from tamis.table import Table

    manifests = [verify(folder).manifest for folder in folders]
    if not manifests:
        return None
    if not isinstance(table, Table):
        raise InputError("--beside counts columns of a table; sparse records cannot be counted yet")
    return HandedOn.of(table, manifests, binary)


def _origin(source: TableSource) -> dict[str, Any]:
    """How the table was read, so that it can be read again."""
    given = asdict(source)
    for name in FILES:
        if given[name]:
            given[name] = str(absolute(given[name]))
    path = Path(str(source.table).partition("::")[0])
    return {
        "name": path.name.split(".")[0],
        "path": given["table"],
        "source": given,
        "sha256": {name: digest_of(given[name]) for name in FILES if given[name]},
    }


def absolute(path: str) -> str:
    """A path, with the table of a DuckDB file, that is valid from anywhere."""
    file, mark, rest = path.partition("::")
    return f"{Path(file).resolve()}{mark}{rest}"


def digest_of(path: str) -> str:
    """The SHA-256 of the file behind a path."""
    with open(path.partition("::")[0], "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def again_from(
    folder: str, table: str | None, out: str | None, force: bool, as_json: bool, quiet: bool
) -> None:
    """Make the release of a folder again, and compare the bytes."""
    from tamis.coarsen.ladder import Ladder
    from tamis.flow import Settings
    from tamis.publish.bundle import differing, read_recipe
    from tamis.publish.folder import refuse_existing

    if out is not None:
        refuse_existing(Path(out), force)
    known = read_recipe(folder)
    try:
        _refuse_programs(folder, known)
        settings = Settings(**known["settings"])
        if settings.epsilon is not None:
            raise CannotMeet(
                f"the rows in {folder} were drawn with noise that has no seed, and drawing again "
                f"would cost epsilon = {settings.epsilon:g} once more; share the folder as it is"
            )
        original, binary = _read_again(known["origin"], table)
        ladders = {
            column: Ladder.from_dict(column, how)
            for column, how in known["origin"].get("ladders", {}).items()
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(
            f"the recipe in {folder} is damaged ({type(error).__name__}); run the release again "
            "with its own options"
        ) from None
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
        )
        other = differing(folder, target)
    if other:
        raise CannotMeet(
            f"{', '.join(other)} came out differently this time; the versions were "
            f"{known['versions']}"
        )
    if as_json:
        print_json({"same": True, "again": folder, "out": out})
    else:
        where = f" in {out}" if out is not None else ""
        console().print(f"Reproduced the same bytes{where}: {', '.join(known['sha256'])}.")


def _refuse_programs(folder: str, known: dict[str, Any]) -> None:
    """A recipe may come from anybody: it never names a program to run."""
    methods = (known["settings"].get("methods") or {}).values()
    if any(PROGRAM in options for options in methods):
        raise InputError(
            f"the recipe in {folder} names a program to run ({PROGRAM}), which --again never "
            "runs; share the folder as it is"
        )


def _read_again(origin: dict[str, Any], table: str | None) -> tuple[Table | BinaryTable, Any]:
    """The table that a release was made from, and how it was converted to 0/1."""
    if "made" in origin:
        from tamis.datasets import patients

        return patients(**origin["made"]), None
    source = _source_again(origin, table)
    return read(source), source.rules().binary


def _source_again(origin: dict[str, Any], table: str | None) -> TableSource:
    if "source" not in origin:
        raise InputError("the release was not made from a file, so --again cannot reproduce it")
    lists = ("quasi", "identifier", "person", "drop", "feature", "missing", "long", "label_item")
    given: dict[str, Any] = dict(origin["source"])
    source = TableSource(**given | {key: tuple(given.get(key, ())) for key in lists})
    if table is not None:
        source = replace(source, table=str(absolute(table)))
    for name in FILES:
        path = getattr(source, name)
        if path and not Path(str(path).partition("::")[0]).is_file():
            raise InputError(f"there is no file {path}; give the TABLE at its new path")
        if path and digest_of(path) != origin["sha256"][name]:
            raise InputError(f"{path} is not the file that the release was made from")
    return source


class Weights(click.ParamType[dict[str, float]]):
    """Weights such as performance=.5,privacy=.5, or a table of them in a configuration file."""

    name = "name=w,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, float]:
        parts = value.items() if isinstance(value, Mapping) else _pairs(str(value))
        try:
            return {str(name): float(number) for name, number in parts}
        except (TypeError, ValueError):
            raise InputError(
                f"--weights takes the form performance=.5,privacy=.25,size=.25, got {value!r}"
            ) from None


class Options(click.ParamType[dict[str, Any]]):
    """The settings of one method: a table in a configuration file."""

    name = "TABLE"

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(
                f"the settings of {param.name} go in a table [{param.name}] of the file given with "
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


METHODS = ("front", "coarsen", "breach", "containment", "flip", "noise", "dp")


def diversity_options(command: Any) -> Any:
    """Give a command what is asked of the sensitive values of people alike."""
    for option in reversed(
        [
            click.option(
                "--l", type=click.IntRange(2), help="Sensitive values that people alike have."
            ),
            click.option(
                "--l-kind",
                type=click.Choice(["distinct", "entropy", "recursive"]),
                default="distinct",
                show_default=True,
                help="How they are counted.",
            ),
            click.option("--c", type=float, default=3.0, show_default=True, help="For recursive."),
            click.option(
                "--t", type=SHARE, help="How far sensitive values of people alike may be from all."
            ),
            click.option(
                "--t-distance",
                type=click.Choice(["equal", "ordered"]),
                help="How far apart two values are [ordered for numbers].",
            ),
        ]
    ):
        command = option(command)
    return command


def method_options(command: Any) -> Any:
    """Give a command the settings of each method, for a configuration file."""
    for name in METHODS:
        command = click.option(
            f"--{name}", type=Options(), hidden=True, help="Settings of the method."
        )(command)
    return command


@click.command()
@table_options(required=False)
@click.option("--out", metavar="DIR", help="The folder to create.")
@click.option(
    "--k",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Everybody hides among at least this many.",
)
@diversity_options
@click.option(
    "--epsilon",
    type=click.FloatRange(0, min_open=True),
    help="Release only synthetic rows, differentially private at this cost.",
)
@click.option("--bounds", metavar="FILE.toml", help="With --epsilon: public ranges and values.")
@spending_options
@click.option(
    "--choose",
    type=click.Choice(["value", "ranks", "front"]),
    default="value",
    show_default=True,
    help="By what is kept and told; by ranks, E(S); or show the front and publish nothing.",
)
@click.option(
    "--caution",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="How much what is told weighs against what is kept.",
)
@click.option("--min-kept", type=SHARE, help="The least to keep of what teaches the target.")
@click.option("--max-told", type=SHARE, help="The most to tell of the sensitive column.")
@click.option("--allow-useless", is_flag=True, help="Publish even what is no better than guessing.")
@click.option("--max-pbi", type=float, help="The most an attacker may gain over all columns.")
@click.option("--min-performance", type=float, help="The least accuracy, between 0 and 1.")
@click.option("--max-features", type=click.IntRange(1), help="The most columns to release.")
@click.option("--max-lost-rules", type=float, help="The largest share of rules to lose.")
@click.option(
    "--weights",
    type=Weights(),
    help="How much each factor counts [performance=.5,privacy=.25,size=.25].",
)
@click.option(
    "--classifier",
    default="nb",
    show_default=True,
    metavar="NAME",
    help="What a recipient would train: nb, c45, tree, forest, logistic, ...",
)
@click.option("--attackers", type=Names(), default=(), help="Models whose gain is PBI [c45, nb].")
@click.option(
    "--methods",
    type=Names(),
    default=(),
    help="How to find releases [front, coarsen, breach, containment].",
)
@click.option(
    "--holdout",
    type=float,
    default=0.25,
    show_default=True,
    help="Share of rows used to choose, and again to report.",
)
@click.option("--take", metavar="NAME", help="Publish this one of the releases, not the best.")
@click.option(
    "--search-rows",
    type=click.IntRange(100),
    default=50_000,
    show_default=True,
    help="The most rows to learn from; promises count all.",
)
@click.option(
    "--write",
    type=click.Choice(["csv", "parquet", "long", "svm"]),
    help="The format of the rows [csv; long for sparse records of which many columns are left].",
)
@ladder_options
@method_options
@click.option("--beside", multiple=True, metavar="DIR", help="Earlier releases of the same people.")
@click.option("--python", metavar="FILE", help="With --epsilon: a Python that has opendp[mbi].")
@click.option("--force", is_flag=True, help="Replace an earlier release of that name.")
@click.option("--again", metavar="DIR", help="Make an earlier release again, byte for byte.")
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
    """Choose what may be released of TABLE, publish it with its reports, and verify it.

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
    beside = options.pop("beside")
    limits = Limits(options.pop("ledger"), options.pop("max_epsilon"))
    ladders = given_ladders(source, options.pop("ladder"), options.pop("ladders"))
    public = public_bounds(options.pop("bounds"))
    options["write"] = options["write"] or ("auto" if source.sparse else "csv")
    settings = _settings(options, public)
    if settings.epsilon is None and limits != Limits(None, None):
        raise InputError("--ledger and --max-epsilon add up costs; give the cost with --epsilon")
    name = named_engine(source, engine, quiet or as_json)
    if name != "memory":
        from tamis.cli.release_large import release_large

        if only_front or out is None:
            raise InputError("--choose front needs the table in memory; give --engine memory")
        if beside:
            raise InputError("--beside needs the table in memory; give --engine memory")
        release_large(source, settings, engine, name, Path(out), force, as_json, quiet)
        return
    known = Public.of(settings.proposing.get("dp", {}))
    if only_front:
        run_front(source, settings, as_json, quiet, ladders, beside)
        return
    assert out is not None
    run_release(source, settings, Path(out), force, as_json, quiet, known, limits, ladders, beside)


def _must_stay_secret(chosen: Iterable[str]) -> bool:
    """Whether no seed was given and a method alters values: knowing the seed would undo that."""
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
            "--bounds and --max-rows-per-person are for synthetic rows; give their cost with "
            "--epsilon"
        )
    if _must_stay_secret(chosen):
        options["seed"] = secrets.randbits(32)
    if options["choose"] == "front":
        if options["epsilon"] is not None:
            raise InputError("--choose front shows figures that no --epsilon covers; give one")
        options["choose"] = "value"
    given = {name: options.pop(name) for name in ("weights", "attackers")}
    options |= {name: value for name, value in given.items() if value}
    return Settings(methods=chosen, format=options.pop("write"), **options)
