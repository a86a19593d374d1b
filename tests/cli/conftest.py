"""Running the command line inside the test process."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

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


@pytest.fixture(autouse=True)
def nothing_said_of_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test reads is the same whether kernels were compiled before or are in it."""
    monkeypatch.setattr("tamis.cli._say_compiling", lambda kept: None)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    def call(*args: object) -> Result:
        code = _run([str(arg) for arg in args])
        found = Result(code, *capsys.readouterr())
        if "--json" in args and found.out:
            check_document(args, found.out)
        return found

    return call


def check_document(args: Sequence[object], text: str) -> None:
    """Whatever a command prints as JSON in a test is as its schema says."""
    name = str(args[0])
    if name == "select":
        by_breach = "candidates" in json.loads(text)
        name = "select-breach" if by_breach else "select-containment"
    validator(name).validate(json.loads(text))


@cache
def validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    schema = json.loads(files("tamis").joinpath("schemas", f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture
def stop() -> Iterator[Callable[[int], None]]:
    """Sends this process a signal, which acts as it would on a program started at a terminal."""
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    hang_up = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield signal.raise_signal
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGHUP, hang_up)
