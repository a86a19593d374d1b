"""`tamis verify`: does a published folder hold what it says?"""

from __future__ import annotations

import click

from tamis.cli.options import speaking


@click.command()
@click.argument("folder", metavar="DIR")
@speaking
def verify(folder: str, as_json: bool, quiet: bool) -> None:
    """Read the release in DIR again and check its hash, its columns and every promise."""
    from tamis.cli.show import console, print_json
    from tamis.publishing.verify import verify as check

    found = check(folder)
    if as_json:
        checks = [c.name for c in found.checks]
        told = {name: found.manifest.get(name) for name in ("promises", "exposure")}
        print_json({"verified": True, "checks": checks, **told})
        return
    if quiet:
        return
    out = console()
    out.print(f"{folder} holds what it says: {', '.join(c.name for c in found.checks)}.")
    for promise in found.manifest["promises"]:
        measured = f" Measured: {promise['measured']:,}." if promise["columns"] else ""
        line = f"{promise['claim']}{measured}"
        out.print(line, markup=False)
    for line in found.alone:
        out.print(line, markup=False)
    if not found.private:
        out.print("The private part is not here; columns were checked by their values only.")
