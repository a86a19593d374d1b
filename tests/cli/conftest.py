"""Running the command line inside the test process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from tamis.cli import _run
from tests.quick_look import no_trees


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="module", autouse=True)
def quick_look() -> Iterator[None]:
    with no_trees():
        yield


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    def call(*args: object) -> Result:
        code = _run([str(arg) for arg in args])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture
def stop() -> Iterator[Callable[[int], None]]:
    """Sends this process a signal, which acts as it would on a program started at a terminal."""
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    hang_up = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield signal.raise_signal
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGHUP, hang_up)
