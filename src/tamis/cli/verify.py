"""`tamis verify`: does a published folder match its manifest?"""

from __future__ import annotations

import click

from tamis.cli.options import speaking


@click.command()
@click.argument("folder", metavar="DIR")
@speaking
def verify(folder: str, as_json: bool, quiet: bool) -> None:
    """Read the release in DIR again and check its hash, its columns and every promise."""
    from tamis.cli import printable
    from tamis.cli.terminal import console, print_json
    from tamis.publish.people import uncounted
    from tamis.publish.verify import verify as check

    found = check(folder)
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
