"""Running the command line inside the test process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from tamis.cli import _run


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    def call(*args: object) -> Result:
        code = _run([str(arg) for arg in args])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture
def stop() -> Iterator[Callable[[int], None]]:
    """Sends this process a signal, which acts as it would on a program started at a terminal."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {how: signal.signal(how, handler) for how, handler in usual.items()}
    yield signal.raise_signal
    for how, handler in before.items():
        signal.signal(how, handler)
