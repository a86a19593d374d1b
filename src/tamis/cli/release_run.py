"""What `tamis release` does once its options are read, and the words it ends with."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tamis.cli.options import Source
from tamis.cli.pace import paced
from tamis.cli.show import console, percent, print_json, print_understood
from tamis.errors import CannotMeet, InputError

if TYPE_CHECKING:
    from tamis.flow import Outcome, Settings
    from tamis.table import Table

_FILES = ("table", "schema", "labels")


def run(
    source: Source, settings: Settings, out: Path, force: bool, as_json: bool, quiet: bool
) -> None:
    """Read, consider, publish, tell."""
    from tamis.publish.folder import refuse_existing
    from tamis.publish.manifest import NAME

    refuse_existing(out, force, NAME)
    table = read(source)
    if not (quiet or as_json):
        print_understood(table)
    outcome = make(
        table, settings, out, force, not (quiet or as_json), _origin(source), source.rules().binary
    )
    tell(outcome, out, as_json)


def read(source: Source) -> Table:
    """A table, or sparse records as one."""
    from tamis.read import read_table

    if not source.sparse:
        return source.read()
    records = source.read_binary()
    if records.labels is None:
        raise InputError(
            "a release needs a target; name it with --target, --labels or --label-item"
        )
    if records.rows * len(records.features) > 50_000_000:
        raise InputError(
            f"{records.rows:,} rows of {len(records.features):,} columns are too many to compare "
            "releases of; choose some columns first with tamis select --by containment -o FILE"
        )
    return read_table(records.frame(), target=records.target)


def make(
    table: Table,
    settings: Settings,
    out: Path,
    force: bool,
    watched: bool,
    origin: dict[str, Any],
    binary: Any = None,
    date: str | None = None,
) -> Outcome:
    """Consider and publish, saying what is being done; a stop leaves nothing behind."""
    from tamis.flow import consider
    from tamis.publish.bundle import publish_release

    with stoppable(), paced(watched) as say:
        outcome = consider(table, settings, binary=binary, tell=say)
        say("writing and verifying", 0, 1)
        publish_release(outcome, out, force=force, origin=origin, date=date)
    return outcome


@contextmanager
def stoppable() -> Iterator[None]:
    """Let a request to terminate clean up as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def again_from(
    folder: str, table: str | None, out: str | None, force: bool, as_json: bool, quiet: bool
) -> None:
    """Make the release of a folder again, and compare the bytes."""
    from tamis.flow import Settings
    from tamis.publish.recipe import differing, read_recipe

    known = read_recipe(folder)
    settings = Settings(**known["settings"])
    original, binary = _read_again(known["origin"], table)
    with TemporaryDirectory() as aside:
        target = Path(out) if out is not None else Path(aside) / "again"
        make(
            original,
            settings,
            target,
            force,
            not (quiet or as_json),
            known["origin"],
            binary,
            known["date"],
        )
        other = differing(folder, target)
    if other:
        raise CannotMeet(
            f"made again, {', '.join(other)} came out differently; the versions were "
            f"{known['versions']}"
        )
    if as_json:
        print_json({"same": True, "again": folder, "out": out})
    else:
        where = f" in {out}" if out is not None else ""
        console().print(f"The same bytes again{where}: {', '.join(known['sha256'])}.")


def _origin(source: Source) -> dict[str, Any]:
    """How the table was read, so that it can be read again."""
    given = asdict(source)
    for name in _FILES:
        if given[name]:
            given[name] = str(_absolute(given[name]))
    path = Path(str(source.table).partition("::")[0])
    return {
        "name": path.name.split(".")[0],
        "path": given["table"],
        "source": given,
        "sha256": {name: _digest(given[name]) for name in _FILES if given[name]},
    }


def _absolute(path: str) -> str:
    file, mark, rest = path.partition("::")
    return f"{Path(file).resolve()}{mark}{rest}"


def _digest(path: str) -> str:
    from tamis.publish.release_file import digest

    return digest(Path(path.partition("::")[0]))


def _read_again(origin: dict[str, Any], table: str | None) -> tuple[Table, Any]:
    """The table that a release was made of, and how it was made 0/1."""
    if "made" in origin:
        from tamis.datasets import patients

        return patients(**origin["made"]), None
    source = _source_again(origin, table)
    return read(source), source.rules().binary


def _source_again(origin: dict[str, Any], table: str | None) -> Source:
    if "source" not in origin:
        raise InputError("the release was not made from a file, so it cannot be made again by name")
    lists = ("quasi", "identifier", "drop", "missing", "long", "label_item")
    given: dict[str, Any] = dict(origin["source"])
    source = Source(**given | {key: tuple(given[key]) for key in lists})
    if table is not None:
        source = replace(source, table=str(_absolute(table)))
    for name in _FILES:
        path = getattr(source, name)
        if path and not Path(str(path).partition("::")[0]).is_file():
            raise InputError(f"no file {path}; name the TABLE where it is now")
        if path and _digest(path) != origin["sha256"][name]:
            raise InputError(f"{path} is not the file that the release was made from")
    return source


def tell(outcome: Outcome, out: Path, as_json: bool) -> None:
    """What was released, what holds, and where the report is."""
    if as_json:
        from tamis.publish.manifest import NAME, read_json

        summary = read_json(out / "private" / "summary.json")
        print_json(
            {
                "out": str(out),
                "report": str(out / "private" / "report.html"),
                "release": outcome.decision.chosen.release.name,
                "features": list(outcome.decision.chosen.release.features),
                "manifest": read_json(out / NAME),
                "candidates": summary["candidates"],
                "methods": summary["methods"],
            }
        )
        return
    say = console()
    for line in words(outcome):
        say.print(line, markup=False)
    say.print(f"\nHand on: {out}/ without private/", markup=False)
    say.print(f"Your report: {out / 'private' / 'report.html'}", markup=False)


def words(outcome: Outcome) -> list[str]:
    """Three lines: what leaves, what it is good for, what an attacker gains."""
    chosen, card = outcome.decision.chosen, outcome.decision.scorecard
    names = chosen.release.features
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    performance, whole, guess = (
        percent(row.value("performance") or 0.0) for row in (chosen, card.baseline, card.floor)
    )
    return [
        f"Released: {len(names)} columns ({shown}) and {outcome.table.target}; {_hiding(outcome)}.",
        f"A model learnt from them is right for {performance} of people it never saw "
        f"(with everything {whole}, by guessing {guess}).",
        _attack(outcome),
    ]


def _hiding(outcome: Outcome) -> str:
    chosen = outcome.decision.chosen
    for promise in chosen.release.promises:
        if promise.name == "containment_anonymity":
            return f"all that anybody has is had by {chosen.trial.containment:,} people or more"
        if promise.columns:
            return (
                f"everybody shares the knowable ones with {chosen.trial.k_anonymity - 1:,} others"
            )
    return "none of them is one that attackers were said to know"


def _attack(outcome: Outcome) -> str:
    court, chosen = outcome.court, outcome.decision.chosen
    from tamis.evaluate.trial import strongest

    now = chosen.trial.attacked[chosen.trial.strongest].right.mean()
    everything = court.everything[strongest(court.everything)].right.mean()
    guess = outcome.decision.scorecard.floor.trial
    floor = guess.attacked[guess.strongest].right.mean()
    return (
        f"The strongest attacker ({chosen.trial.strongest}) guesses {court.sensitive} rightly for "
        f"{percent(now)} (with everything {percent(everything)}, by guessing {percent(floor)})."
    )
