"""`tamis release` as the process in which `tamis serve` works.

It writes the release that it chose, then others of the same comparison on request, so that looking
at another one does not cost a second search. Requests come as lines of JSON on stdin, answers go as
lines of JSON to stderr. When stdin ends, so does the process.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from tamis.errors import TamisError
from tamis.serve import SERVED

if TYPE_CHECKING:
    from tamis.flow import Outcome


def is_served() -> bool:
    """Whether `tamis serve` started this process."""
    return bool(os.environ.get(SERVED))


def draft_others(outcome: Outcome, first: Path, origin: Mapping[str, Any]) -> None:
    """Publish more releases of the same comparison, each as ``{"take": NAME, "out": DIR}`` asks."""
    from tamis.publish.bundle import publish

    _answer(made=str(first))
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            publish(outcome.taking(asked["take"]), asked["out"], origin=origin)
        except TamisError as error:
            _answer(failed=str(error))
        else:
            _answer(made=asked["out"])


def _answer(**words: str) -> None:
    click.echo(json.dumps(words), err=True)


def end_with_server() -> None:
    """Stop this process, as a request to terminate would, when the server at the other end of
    stdin is gone, however it ended."""
    if is_served() and hasattr(select, "poll"):
        Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    gone = select.poll()
    gone.register(sys.stdin.fileno(), 0)  # no event but the hang-up: lines stay to be read
    gone.poll()
    os.kill(os.getpid(), signal.SIGTERM)
