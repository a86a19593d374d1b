"""Where the table of a release came from, so that it can be read again."""

from __future__ import annotations

from dataclasses import asdict, replace
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.dp import Public, read_public
from tamis.cli.table_source import TableSource
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.binary.records import BinaryTable
    from tamis.table import Table

FILES = ("table", "schema", "labels")


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


def origin_of(source: TableSource) -> dict[str, Any]:
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


def register_origin(path: str) -> dict[str, str]:
    """Where a register is, so that it can be read again."""
    where = absolute(path)
    return {"path": where, "sha256": digest_of(where)}


def register_again(
    origin: dict[str, Any], table: Table | BinaryTable, path: str | None
) -> Table | None:
    """The register that a release was compared with; `None` where there was none."""
    from tamis.cli.population import read_register
    from tamis.table import Table

    known = origin.get("population")
    if known is None or not isinstance(table, Table):
        return None
    file = known["path"]
    if not Path(file.partition("::")[0]).is_file():
        raise InputError(f"there is no file {file}, the register of the population")
    if digest_of(file) != known["sha256"]:
        raise InputError(f"{file} is not the register that the release was compared with")
    return read_register(_source_again(origin, path), file, table)


def read_again(origin: dict[str, Any], table: str | None) -> tuple[Table | BinaryTable, Any]:
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
