"""`tamis release --again`: make an earlier release once more, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.cli.options import PROGRAM
from tamis.cli.release.origin import read_again, register_again
from tamis.cli.release.run import make
from tamis.cli.terminal import console, print_json
from tamis.errors import CannotMeet, InputError
from tamis.files import scratch_folder

if TYPE_CHECKING:
    from tamis.binary.records import BinaryTable
    from tamis.coarsen.ladder import Ladder
    from tamis.flow import Settings
    from tamis.table import Table


class _Again(NamedTuple):
    """What a recipe says: settings, the table, how it becomes 0/1, ladders."""

    settings: Settings
    table: Table | BinaryTable
    binary: Any
    ladders: dict[str, Ladder]


def again_from(
    folder: str, table: str | None, out: str | None, force: bool, as_json: bool, quiet: bool
) -> None:
    """Make the release of a folder again, and compare the bytes."""
    from tamis.publish.bundle import differing, read_recipe, refuse_existing

    if out is not None:
        refuse_existing(Path(out), force)
    known = read_recipe(folder)
    again = _understood(folder, known, table)
    with scratch_folder() as aside:
        target = Path(out) if out is not None else aside / "again"
        make(
            again.table,
            again.settings,
            target,
            force,
            not (quiet or as_json),
            known["origin"],
            again.binary,
            known["date"],
            again.ladders,
            register=register_again(known["origin"], again.table, table),
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


def _understood(folder: str, known: dict[str, Any], table: str | None) -> _Again:
    from tamis.coarsen.ladder import Ladder
    from tamis.flow import Settings

    try:
        _refuse_programs(folder, known)
        settings = Settings(**known["settings"])
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
    return _Again(settings, original, binary, ladders)


def _refuse_drawn(folder: str, settings: Settings) -> None:
    if settings.epsilon is not None:
        raise CannotMeet(
            f"the rows in {folder} were drawn with noise that has no seed, and drawing again "
            f"would cost epsilon = {settings.epsilon:g} once more; share the folder as it is"
        )


def _refuse_programs(folder: str, known: dict[str, Any]) -> None:
    """A recipe may come from anybody: it never names a program to run."""
    methods = (known["settings"].get("methods") or {}).values()
    if any(PROGRAM in options for options in methods):
        raise InputError(
            f"the recipe in {folder} names a program to run ({PROGRAM}), which --again never "
            "runs; share the folder as it is"
        )
