"""A server on this machine: it binds to 127.0.0.1, says where it is, and runs until it is ended.

`application` has its addresses: which step is behind each, and what is answered to errors.
"""

from __future__ import annotations

import errno
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from tamis.errors import InputError, TamisError
from tamis.serve import judging, releasing, steps, synthetic
from tamis.serve.access import FORM, AccessMiddleware, Keys, TooLarge
from tamis.serve.app_state import AppState
from tamis.serve.steps import show, state_of
from tamis.serve.workspace import opened_workspace

HOST = "127.0.0.1"
PORT = 8426
"""Tried first, so that an address can be told to others; the next server takes any free one."""
TABLE = "/tables/{number}"
CHECK = "/checks/{number}"
ROUTES = [
    ("GET", "/", steps.start),
    ("POST", "/open", steps.open_path),
    ("POST", "/demo", steps.demo),
    ("PUT", "/upload", steps.upload),
    ("POST", "/leave", steps.leave),
    ("GET", f"{TABLE}/columns", steps.columns),
    ("POST", f"{TABLE}/columns", steps.set_columns),
    ("POST", f"{TABLE}/ladder/{{at}}", steps.set_ladder),
    ("POST", f"{TABLE}/command/columns", steps.columns_command),
    ("POST", f"{TABLE}/command/settings", steps.settings_command),
    ("POST", f"{TABLE}/command/preview", releasing.preview_command),
    ("POST", f"{TABLE}/reading", steps.set_reading),
    ("GET", f"{TABLE}/exposure", steps.exposure),
    ("GET", f"{TABLE}/settings", steps.settings),
    ("POST", f"{TABLE}/settings", steps.set_settings),
    ("GET", f"{TABLE}/synthetic", synthetic.synthetic),
    ("POST", f"{TABLE}/synthetic", synthetic.set_synthetic),
    ("GET", f"{TABLE}/synthetic/cost", synthetic.cost),
    ("POST", f"{TABLE}/synthetic/draw", synthetic.draw),
    ("GET", f"{TABLE}/work", steps.work),
    ("GET", f"{TABLE}/events", steps.events),
    ("POST", f"{TABLE}/stop", steps.stop),
    ("GET", f"{TABLE}/compare", releasing.compare),
    ("POST", f"{TABLE}/take", releasing.take),
    ("GET", f"{TABLE}/drafts/{{draft}}/{{audience}}", releasing.draft_report),
    ("GET", f"{TABLE}/preview", releasing.preview),
    ("POST", f"{TABLE}/publish", releasing.publish_draft),
    ("GET", f"{TABLE}/published", releasing.published),
    ("GET", f"{TABLE}/archive", releasing.archive),
    ("GET", f"{TABLE}/tamis.toml", releasing.configuration),
    ("POST", f"{TABLE}/forget", steps.forget),
    ("GET", "/verify", releasing.verify_page),
    ("POST", "/verify", releasing.verify_folder),
    ("PUT", "/verify", releasing.verify_upload),
    ("GET", "/judge", judging.judge_page),
    ("PUT", "/judge", judging.judge_upload),
    ("POST", "/judge", judging.begin_judging),
    ("GET", "/judged/{number}", judging.judged),
    ("GET", "/judged/{number}/page", judging.judgement),
    ("GET", CHECK, releasing.result),
    ("GET", f"{CHECK}/work", releasing.check_work),
    ("GET", f"{CHECK}/events", releasing.check_events),
    ("POST", f"{CHECK}/stop", releasing.check_stop),
]


async def error_page(request: Request, error: Exception) -> Response:
    """What was wrong, in words; for a script as JSON."""
    status = 413 if isinstance(error, TooLarge) else 400
    if FORM in request.headers:
        return JSONResponse({"error": str(error)}, status)
    back = request.headers.get("referer", "/")
    return show(state_of(request), "wrong", error=str(error), back=back, status=status)


async def nowhere(request: Request, error: Exception) -> Response:
    return show(state_of(request), "missing", status=404)


async def unforeseen(request: Request, error: Exception) -> Response:
    # The text of an unexpected error may quote a cell, so only its kind is shown.
    words = f"something went wrong here ({type(error).__name__}); nothing was published"
    if FORM in request.headers:
        return JSONResponse({"error": words}, 500)
    return show(state_of(request), "wrong", error=words, back="/", status=500)


def application(state: AppState) -> ASGIApp:
    """The server's pages, behind the check of who may see them."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await state.begin()
        yield
        await state.stop_all()

    found = Starlette(
        routes=[Route(path, act, methods=[how]) for how, path, act in ROUTES],
        exception_handlers={TamisError: error_page, 404: nowhere, 405: nowhere, 500: unforeseen},
        lifespan=lifespan,
    )
    found.state.shared = state
    return AccessMiddleware(found, state.keys)


def run_server(
    table: str | None,
    *,
    port: int | None,
    workspace: str | None,
    browser: bool,
    tamis: Sequence[str],
    say: Callable[[str], None],
) -> None:
    """Serve until interrupted, or until a page ends it.

    `table` is a file to begin with. The port 0 is any free one, and `None` the usual one, or any
    if that is taken. Without a `workspace`, one is removed at the end. `tamis` is the program that
    runs a command, and `say` is told the address.
    """
    first = None if table is None else _file(table)
    with opened_workspace(workspace) as space, closing(bound(port)) as listening:
        keys = Keys(listening.getsockname()[1])
        folders = [Path.cwd(), *([] if first is None else [Path(first).parent])]
        opened = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        state = AppState(space, keys, tamis, opened, first)
        with _running(state, listening) as ended:
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
def _running(state: AppState, listening: socket.socket) -> Iterator[Event]:
    """The server in a thread of its own: signals reach the main one, which ends it."""
    config = uvicorn.Config(
        application(state),
        log_level="critical",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)

    def leave() -> None:
        server.should_exit = True

    def run() -> None:
        try:
            server.run(sockets=[listening])
        finally:
            ended.set()

    ended = Event()
    state.leave = leave
    thread = Thread(target=run)
    thread.start()
    try:
        yield ended
    finally:
        leave()
        thread.join()
