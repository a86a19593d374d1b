"""`tamis serve`: the whole flow in a browser, on the person's own machine.

::

    server      binds to 127.0.0.1, runs until it is told to end; addresses, answers to errors
    access      who may come in: host, token, cookie, origin; what they may send, bounded
    steps       from choosing a table to progress, each with its page and its form
    releasing   the comparison, what would be published, publishing; releases from elsewhere
    judging     tables that were made elsewhere, beside their original
    synthetic   rows that describe nobody: what is public, what it costs, the draw
    app_state   what is open and under way; starts what takes a while
    project     one table on its way: columns, settings, drafts, as a command line
    workspace   the folder that holds all of them, which one server alone uses
    fields      what can be asked for, each in a sentence; ladders as they are typed and shown
    work        processes: their progress, how they are stopped
    tasks       what runs in such a process: what columns hold, how a draft becomes a folder
    pages       templates, style and script, with the policy that allows only these; drawings

The server computes nothing and imports nothing heavy: a table is read, audited, released and
verified by the commands that a terminal would run, so a page answers at once while they work.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from threading import Thread
from typing import Any

import click

SERVED = "TAMIS_SERVED"
"""Set in the environment of `tamis release` by the server: it then tells its progress as lines of
JSON and stays for more, see `tamis.cli.release.run`."""
PASSING = "passing"
"""Its value where the table was dropped into a page and is not kept."""


def is_served() -> bool:
    """Whether `tamis serve` started this process."""
    return bool(os.environ.get(SERVED))


def is_passing() -> bool:
    """Whether the table is removed when the server ends, so that nothing may name its path."""
    return os.environ.get(SERVED) == PASSING


def tell_server(**words: Any) -> None:
    """Send one line of JSON to the server that started this process."""
    click.echo(json.dumps(words), err=True)


def end_with_server() -> None:
    """Stop this process, as SIGTERM would, once the server at the other end of stdin is gone."""
    if is_served() and hasattr(select, "poll"):
        Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    gone = select.poll()
    gone.register(sys.stdin.fileno(), 0)  # no event but the hang-up: lines stay to be read
    gone.poll()
    os.kill(os.getpid(), signal.SIGTERM)
