"""`tamis verify`: does a published folder match its manifest?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tamis.cli.options import common_options, recount_options

if TYPE_CHECKING:
    from tamis.engine.choice import Asked, EngineOptions
    from tamis.publish.verify import Verified


@click.command()
@click.argument("folder", metavar="DIR")
@recount_options
@common_options
def verify(folder: str, engine: EngineOptions, as_json: bool, quiet: bool) -> None:
    """Read the release in DIR again and check its hash, its columns and every promise.

    A file too large for memory is counted by another engine than the one that wrote it.
    """
    from tamis.cli import printable
    from tamis.cli.terminal import console, print_json
    from tamis.publish.people import uncounted

    found = _verified(Path(folder), engine, quiet or as_json)
    if as_json:
        checks = [c.name for c in found.checks]
        claimed = {name: found.manifest.get(name) for name in ("promises", "exposure")}
        print_json({"verified": True, "checks": checks, "claims": found.claims, **claimed})
        return
    if quiet:
        return
    out = console()
    checked = ", ".join(c.name for c in found.checks)
    out.print(printable(f"{folder} matches its manifest: {checked}."), markup=False)
    for words in (*found.claims, *found.alone):
        out.print(printable(words), markup=False)
    if uncounted(found.manifest, found.private):
        out.print("Rows were counted again; people cannot be counted from the file alone.")
    if not found.private:
        out.print("private/ is not here, so columns were checked only by their values.")


def _verified(folder: Path, options: EngineOptions, silent: bool) -> Verified:
    from tamis.publish.verify import verify as check

    name, why = _engine_for(folder, options)
    if name == "memory":
        return check(folder)
    if why and not silent:
        click.echo(why, err=True)
    from tamis.engine.choice import running
    from tamis.scale.verifying import verify_large

    with running(options, name) as engine:
        return verify_large(folder, engine)


def _engine_for(folder: Path, options: EngineOptions) -> tuple[Asked, str]:
    """What counts the rows, and a line that says why where it was not asked for."""
    from tamis.engine.choice import chosen_engine
    from tamis.publish.layout import NAME, RELEASE, read_json

    file = next((f for n in ("csv", "parquet") if (f := folder / RELEASE[n]).is_file()), None)
    if options.engine != "auto" or file is None:
        return ("memory" if options.engine == "auto" else options.engine), ""
    name, why = chosen_engine(str(file))
    if name == "memory":
        return name, why
    from tamis.scale.verifying import other_engine

    other = other_engine(read_json(folder / NAME))
    return other, why.replace(name, other).replace("the table", file.name)
