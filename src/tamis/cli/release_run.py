"""What `tamis release` does once its options are read."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.options import Source
from tamis.cli.pace import paced
from tamis.cli.release_words import tell
from tamis.cli.show import print_understood
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.flow import Outcome, Settings
    from tamis.table import Table

FILES = ("table", "schema", "labels")


def run(
    source: Source, settings: Settings, out: Path, force: bool, as_json: bool, quiet: bool
) -> None:
    """Read, consider, publish, tell."""
    from tamis.publishing.folder import refuse_existing

    refuse_existing(out, force)
    table = read(source)
    if not (quiet or as_json):
        print_understood(table)
    outcome = make(
        table, settings, out, force, not (quiet or as_json), _origin(source), source.rules().binary
    )
    tell(outcome, out, as_json)


def read(source: Source) -> Table:
    """A table, or sparse records as one."""
    table = source.read_wide(said=False)  # the flow looks at the roles itself
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
) -> Outcome:
    """Consider and publish, saying what is being done."""
    from tamis.flow import consider
    from tamis.publishing.bundle import publish

    with paced(watched) as say:
        outcome = consider(table, settings, binary=binary, tell=say)
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
