"""`tamis verify`: does a published folder match its manifest?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tamis.cli.options import command

if TYPE_CHECKING:
    from tamis.rows import EngineOptions
    from tamis.table import Table


@command("verify")
@click.argument("folder", metavar="DIR")
def verify(
    folder: str,
    population: str | None,
    missing: tuple[str, ...],
    engine: EngineOptions,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check a published release against its manifest.

    Reads DIR again and checks the hash, the columns and every promise. A file too large for memory
    is counted by another engine than the one that wrote it.
    """
    from tamis.cli import printable
    from tamis.cli.terminal import print_json
    from tamis.verification.verify import verify as verify_folder

    known = population is not None and Path(folder).is_dir()
    register = _register(Path(folder), str(population), missing) if known else None
    silent = quiet or as_json
    found = verify_folder(folder, register, engine=engine, say=None if silent else _say)
    counted = [c.name for c in found.checks if not c.uncounted]
    if as_json:
        claimed = {name: found.manifest.get(name) for name in ("promises", "exposure")}
        claimed["not_checked"] = found.not_checked
        print_json({"verified": True, "checks": counted, "claims": found.claims, **claimed})
        return
    if quiet:
        return
    # Not by `console`: whoever only verifies need not have rich.
    lines = [f"{folder} matches its manifest."]
    # Several promises of one kind, as against several attackers, are counted but said once.
    done = dict.fromkeys(check.words for check in found.checks if not check.uncounted)
    lines += [f"  {words}" for words in done]
    lines += [*found.claims, *found.alone, *found.not_checked]
    if not found.private:
        lines.append("private/ is not here, so columns were checked only by their values.")
    for line in lines:
        click.echo(printable(line))


def _register(folder: Path, path: str, missing: tuple[str, ...]) -> Table:
    """The register, read as the holder read it where the recipe is here."""
    from tamis.read import read_table
    from tamis.read.schema import Schema
    from tamis.table import Roles
    from tamis.verification.layout import NAME, PRIVATE, RECIPE, is_folder, read_json
    from tamis.verification.presence import how_to_read

    private = folder / PRIVATE
    recipe = read_json(private / RECIPE) if is_folder(private) else {}
    how = how_to_read(read_json(folder / NAME), recipe)
    found = read_table(
        path,
        missing=missing or how.missing,
        schema=Schema(columns=how.kinds),
        **how.text,
        check=False,
    )
    person = [c for c in how.person if c in found.frame.columns]
    whole = len(person) == len(how.person)
    return replace(found, roles=Roles(identifiers=tuple(person) if whole else ()))


def _say(why: str) -> None:
    click.echo(why, err=True)
