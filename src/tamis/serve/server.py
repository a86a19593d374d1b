"""A server on this machine: it binds to 127.0.0.1, says where it is, and runs until it is ended."""

from __future__ import annotations

import errno
import socket
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import uvicorn

from tamis.errors import InputError
from tamis.serve.app import application
from tamis.serve.desk import Desk
from tamis.serve.doors import Keys
from tamis.serve.fields import Field
from tamis.serve.workspace import opened_workspace

HOST = "127.0.0.1"
PORT = 8426
"""Tried first, so that an address can be told to others; the next server takes any free one."""


def run_server(
    table: str | None,
    *,
    port: int | None,
    workspace: str | None,
    browser: bool,
    tamis: Sequence[str],
    fields: Sequence[Field],
    say: Callable[[str], None],
) -> None:
    """Serve until interrupted, or until a page ends it.

    Parameters
    ----------
    table : str, optional
        A file to begin with.
    port : int, optional
        0: any free one; `None`: the usual one, or any if that is taken.
    workspace : str, optional
        A folder to keep everything in; `None`: one that is removed at the end.
    browser : bool
        Whether to open one.
    tamis : sequence of str
        The program that runs a command of tamis.
    fields : sequence of Field
        What can be asked for.
    say : callable
        Told the address.
    """
    first = None if table is None else _file(table)
    with opened_workspace(workspace) as space, closing(bound(port)) as listening:
        keys = Keys(listening.getsockname()[1])
        folders = [Path.cwd(), *([] if first is None else [Path(first).parent])]
        opened = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        desk = Desk(space, keys, tamis, fields, opened, first)
        with _running(desk, listening) as ended:
            say(keys.address)
            if browser:
                Thread(target=webbrowser.open, args=(keys.address,), daemon=True).start()
            with suppress(KeyboardInterrupt):
                ended.wait()  # not for the thread: a join that is interrupted takes it for ended


def _file(table: str) -> str:
    file, mark, inside = table.partition("::")
    path = Path(file).resolve()
    if not path.is_file():
        raise InputError(f"there is no file {file}")
    return f"{path}{mark}{inside}"


def bound(port: int | None) -> socket.socket:
    """A socket of this machine's own address, listening."""
    wanted = PORT if port is None else port
    try:
        return _listening(wanted)
    except OSError as error:
        if port is None and error.errno == errno.EADDRINUSE:
            return _listening(0)
        raise InputError(
            f"cannot listen on port {wanted}: {error.strerror}; choose another with --port, or "
            "--port 0 for any free one"
        ) from None


def _listening(port: int) -> socket.socket:
    found = socket.socket()
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
        found.listen()
    except BaseException:
        found.close()
        raise
    return found


@contextmanager
def _running(desk: Desk, listening: socket.socket) -> Iterator[Event]:
    """The server in a thread of its own: signals reach the main one, which ends it."""
    config = uvicorn.Config(
        application(desk),
        log_level="critical",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)

    def leave() -> None:
        server.should_exit = True

    ended = Event()

    def run() -> None:
        try:
            server.run(sockets=[listening])
        finally:
            ended.set()

    desk.leave = leave
    thread = Thread(target=run)
    thread.start()
    try:
        yield ended
    finally:
        leave()
        thread.join()
