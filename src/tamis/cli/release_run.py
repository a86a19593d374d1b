"""What `tamis release` does once its options are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.cli.bounds import Public, read_public
from tamis.cli.options import Source
from tamis.cli.pace import paced
from tamis.cli.release_words import tell
from tamis.cli.show import console, print_understood
from tamis.cli.spending import ledger_path, spending, told, total
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.dp.ledger import Spending
    from tamis.flow import Outcome, Settings
    from tamis.table import Table

FILES = ("table", "schema", "labels")


class Limits(NamedTuple):
    """Where to add up what is spent, and the most that may be."""

    ledger: str | None = None
    most: float | None = None


def run(
    source: Source,
    settings: Settings,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    public: Public,
    limits: Limits,
) -> None:
    """Read, consider, publish, tell."""
    from tamis.publish.folder import refuse_existing

    refuse_existing(out, force)
    with _spending(source, settings, out, limits) as spent:
        table = read(source, public if settings.epsilon is not None else None)
        if not (quiet or as_json):
            print_understood(table)
        outcome = make(
            table,
            settings,
            out,
            force,
            not (quiet or as_json),
            _origin(source),
            source.rules().binary,
            before_writing=None if spent is None else spent.keep,
        )
    if spent is None:
        tell(outcome, out, as_json)
        return
    ledger = ledger_path(source, limits.ledger)
    tell(outcome, out, as_json, total(spent, ledger))
    if not (quiet or as_json):
        words = told(spent, ledger)
        console(stderr=True).print(words, markup=False, soft_wrap=True)


@contextmanager
def _spending(
    source: Source, settings: Settings, out: Path, limits: Limits
) -> Iterator[Spending | None]:
    """The entry of the ledger that a release of drawn rows needs; nothing for others."""
    if settings.epsilon is None:
        yield None
        return
    from tamis.propose.synthetic import Drawn

    with spending(
        source,
        settings.epsilon,
        out,
        ledger=limits.ledger,
        most=limits.most,
        neighbours=Drawn(**settings.proposing["dp"]).counted_for,
    ) as spent:
        yield spent


def read(source: Source, public: Public | None = None) -> Table:
    """A table, or sparse records as one; by what is public of it where rows will be drawn."""
    # The flow looks at the roles itself.
    table = source.read_wide(said=False) if public is None else read_public(source, public)
    if table.roles.target is None:
        raise InputError(
            "a release needs a target; name it with --target, --labels or --label-item"
        )
    return table


def make(
    table: Table,
    settings: Settings,
    out: Path,
    force: bool,
    watched: bool,
    origin: dict[str, Any],
    binary: Any = None,
    date: str | None = None,
    before_writing: Callable[[], None] | None = None,
) -> Outcome:
    """Consider and publish, saying what is being done."""
    from tamis.flow import consider
    from tamis.publish.bundle import publish

    with paced(watched) as say:
        outcome = consider(table, settings, binary=binary, tell=say)
        if before_writing is not None:
            before_writing()
        say("writing and verifying", 0, 1)
        publish(outcome, out, force=force, origin=origin, date=date)
    return outcome


def _origin(source: Source) -> dict[str, Any]:
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
    """A path, with the table of a DuckDB file, that holds from anywhere."""
    file, mark, rest = path.partition("::")
    return f"{Path(file).resolve()}{mark}{rest}"


def digest_of(path: str) -> str:
    """The SHA-256 of the file behind a path."""
    with open(path.partition("::")[0], "rb") as file:
        return file_digest(file, "sha256").hexdigest()
