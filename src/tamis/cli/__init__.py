"""The command line: one thin module per command, imported when the command is called.

This module is the one place where errors become exit codes.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import Any

try:
    import click
except ModuleNotFoundError:  # a recipient who verifies without the dependencies
    sys.exit(
        "tamis: error: the commands need the package 'click': `pip install click`; from Python, "
        "`tamis.verify(FOLDER)` needs polars and numpy alone"
    )

from tamis import __version__
from tamis.cli.memory import cannot_start, is_short, too_little
from tamis.errors import TamisError, TamisWarning, when_compiling
from tamis.options.commands import COMMANDS


class LazyGroup(click.Group):
    """A group that imports a command only when it is needed, from its home "module:name"."""

    def __init__(self, *, homes: Mapping[str, str], **settings: Any) -> None:
        super().__init__(**settings)
        self.homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.homes:
            return None
        module, _, name = self.homes[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


def all_commands() -> Iterator[click.Command]:
    """Every command, those of groups and both forms of `tamis select` included."""
    ctx = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(ctx, name)
        if isinstance(command, click.Group):
            yield from command.commands.values()
        elif command:
            yield command


@click.group(
    cls=LazyGroup,
    homes={name: command.home for name, command in COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done; 1 the request cannot be met; 2 wrong usage or unreadable input.",
)
@click.version_option(__version__, prog_name="tamis")
def cli() -> None:
    """Publish a labelled table: keep what teaches, hold back what gives people away."""


def main(args: list[str] | None = None) -> None:
    """Run the command line; every error ends here as a message and an exit code."""
    sys.exit(_run(args))


def _run(args: list[str] | None) -> int:
    if cannot_start():
        return _say(f"error: {too_little()}", 1)
    if isinstance(sys.stdout, TextIOWrapper):  # a name in Greek is no reason to stop on cp1252
        sys.stdout.reconfigure(errors="backslashreplace")
    with _stoppable() as stopped:
        try:
            return _answer(args)
        except BaseException as error:
            # What is being interrupted may call it something else, as DuckDB does.
            if stopped or isinstance(error, click.Abort | KeyboardInterrupt):
                return _say("stopped; no file or folder was left half-written", 130)
            return _code(error)


def _answer(args: list[str] | None) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TamisWarning)
        warnings.showwarning = _note  # type: ignore[assignment]
        when_compiling[:] = [_say_compiling]
        try:
            result = cli.main(args=args, prog_name="tamis", standalone_mode=False)
        finally:
            when_compiling.clear()
        sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _say_compiling(kept: bool) -> None:
    """Say once why the first run takes longer, where progress may be said at all."""
    from tamis.serve import is_served, tell_server

    when_compiling.clear()
    asked = click.get_current_context().params
    if asked.get("quiet") or asked.get("as_json"):
        return
    often = "once per installation" if kept else "each time: it cannot be kept, see tamis doctor"
    if is_served():
        tell_server(doing=f"compiling, {often}", done=0, total=0)
    else:
        _say(f"compiling, {often}", 0)


def _code(error: BaseException) -> int:
    """Say what went wrong, and give its exit code."""
    if isinstance(error, click.ClickException):
        error.show()
        return 2
    if isinstance(error, TamisError):
        return _say(f"error: {error}", error.exit_code)
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _say("error: the disk is full or a quota is exceeded; free some space, run again", 1)
    if isinstance(error, MemoryError):
        return _say(f"error: {too_little()}", 1)
    if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] != "tamis":
        needed = f"this needs the package {error.name!r}, which is not installed"
        return _say(f"error: {needed}; `pip install tamis` brings all that tamis needs", 2)
    if isinstance(error, (Exception, _panic())):
        return _unforeseen(error)
    raise error


@contextmanager
def _stoppable() -> Iterator[list[int]]:
    """Let a request to terminate, or a closed terminal, clean up as Ctrl-C does.

    Gives a list that has the signal once there was one.
    """
    signals = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    # A signal that is ignored stays ignored: nohup relies on it.
    handled = [s for s in signals if s is not None and signal.getsignal(s) is not signal.SIG_IGN]
    stopped: list[int] = []

    def stop(number: int, *_: object) -> None:
        stopped.append(number)
        for each in handled:  # several may arrive; none but Ctrl-C may interrupt the clean-up
            if each != signal.SIGINT:
                signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        before = {each: signal.signal(each, stop) for each in handled}
    except ValueError:  # not in the main thread
        yield stopped
        return
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _unforeseen(error: BaseException) -> int:
    if os.environ.get("TAMIS_DEBUG"):
        raise error
    if is_short(error):
        return _say(f"error: {too_little()}", 1)
    # The text of an unexpected error may quote a cell, so only its kind is shown.
    return _say(
        f"error: unexpected {type(error).__name__}; run again with TAMIS_DEBUG=1 to see where, "
        "and please report it",
        2,
    )


def printable(text: str) -> str:
    r"""A text for a terminal: control characters are spelled out.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return re.sub(r"[^ -~\n]", lambda c: c[0] if c[0].isprintable() else repr(c[0])[1:-1], text)


def _panic() -> type[BaseException]:
    """What polars raises when its Rust part fails, which is not an `Exception`."""
    polars = sys.modules.get("polars")
    return Exception if polars is None else polars.exceptions.PanicException


def _note(message: Warning | str, *_: object) -> None:
    _say(f"note: {message}", 0)


def _say(message: str, code: int) -> int:
    click.echo(f"tamis: {printable(message)}", err=True)
    return code
