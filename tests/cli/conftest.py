"""Running the command line inside the test process."""

from __future__ import annotations

from collections.abc import Callable
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
