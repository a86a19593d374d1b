"""`tamis release --again`: make a release once more and compare the bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tamis.cli.options import PROGRAM, Source
from tamis.cli.release_run import FILES, absolute, digest_of, make, read
from tamis.cli.show import console, print_json
from tamis.errors import CannotMeet, InputError

if TYPE_CHECKING:
    from tamis.table import Table


def again_from(
    folder: str, table: str | None, out: str | None, force: bool, as_json: bool, quiet: bool
) -> None:
    """Make the release of a folder again, and compare the bytes."""
    from tamis.flow import Settings
    from tamis.publish.bundle import differing, read_recipe
    from tamis.publish.folder import refuse_existing

    if out is not None:
        refuse_existing(Path(out), force)
    known = read_recipe(folder)
    _refuse_programs(folder, known)
    settings = Settings(**known["settings"])
    if settings.epsilon is not None:
        raise CannotMeet(
            f"the rows in {folder} were drawn with noise that has no seed, and drawing again would "
            f"cost epsilon = {settings.epsilon:g} once more; hand on the folder as it is"
        )
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


def _refuse_programs(folder: str, known: dict[str, Any]) -> None:
    """A recipe may come from anybody: it never names a program to run."""
    methods = (known["settings"].get("methods") or {}).values()
    if any(PROGRAM in options for options in methods):
        raise InputError(
            f"the recipe in {folder} names a program to run ({PROGRAM}), which --again never "
            "does; hand on the folder as it is"
        )


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
    lists = ("quasi", "identifier", "person", "drop", "feature", "missing", "long", "label_item")
    given: dict[str, Any] = dict(origin["source"])
    source = Source(**given | {key: tuple(given.get(key, ())) for key in lists})
    if table is not None:
        source = replace(source, table=str(absolute(table)))
    for name in FILES:
        path = getattr(source, name)
        if path and not Path(str(path).partition("::")[0]).is_file():
            raise InputError(f"no file {path}; name the TABLE where it is now")
        if path and digest_of(path) != origin["sha256"][name]:
            raise InputError(f"{path} is not the file that the release was made from")
    return source
