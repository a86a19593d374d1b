"""`tamis serve`: the whole flow in a browser."""

from __future__ import annotations

import sys

import click

from tamis.cli.options import command
from tamis.errors import MissingExtra


@command("serve")
@click.argument("table", required=False)
def serve(table: str | None, port: int | None, workspace: str | None, no_browser: bool) -> None:
    """Open the whole flow in a browser, on this machine only.

    The address is the first line on stdout. Ctrl-C ends it, also in the middle of work.
    """
    try:
        from tamis.serve.server import run_server
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise MissingExtra(
            f"tamis serve needs {error.name}, which is not installed; pip install 'tamis[serve]'"
        ) from None

    def say(address: str) -> None:
        click.echo(address)
        sys.stdout.flush()
        click.echo("tamis: open this address in a browser; Ctrl-C ends it", err=True)

    run_server(
        table,
        port=port,
        workspace=workspace,
        browser=not no_browser,
        tamis=[sys.executable, "-m", "tamis.cli"],
        say=say,
    )
