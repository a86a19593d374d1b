"""The addresses of the server: which step is behind each, and what is answered to errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from tamis.errors import TamisError
from tamis.serve import checking, releasing, steps
from tamis.serve.body import TooLarge
from tamis.serve.desk import Desk
from tamis.serve.doors import FORM, Doors
from tamis.serve.steps import desk_of, show

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
    ("POST", f"{TABLE}/reading", steps.set_reading),
    ("GET", f"{TABLE}/exposure", steps.exposure),
    ("GET", f"{TABLE}/settings", steps.settings),
    ("POST", f"{TABLE}/settings", steps.set_settings),
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
    ("GET", "/verify", checking.verify_page),
    ("POST", "/verify", checking.verify_folder),
    ("PUT", "/verify", checking.verify_upload),
    ("GET", CHECK, checking.result),
    ("GET", f"{CHECK}/work", checking.check_work),
    ("GET", f"{CHECK}/events", checking.check_events),
    ("POST", f"{CHECK}/stop", checking.check_stop),
]


async def said(request: Request, error: Exception) -> Response:
    """What was wrong, in words; for a script as JSON."""
    status = 413 if isinstance(error, TooLarge) else 400
    if FORM in request.headers:
        return JSONResponse({"error": str(error)}, status)
    back = request.headers.get("referer", "/")
    return show(desk_of(request), "wrong", error=str(error), back=back, status=status)


async def nowhere(request: Request, error: Exception) -> Response:
    return show(desk_of(request), "missing", status=404)


async def unforeseen(request: Request, error: Exception) -> Response:
    # The text of an unexpected error may quote a cell, so only its kind is shown.
    words = f"something went wrong here ({type(error).__name__}); nothing was published"
    if FORM in request.headers:
        return JSONResponse({"error": words}, 500)
    return show(desk_of(request), "wrong", error=words, back="/", status=500)


def application(desk: Desk) -> ASGIApp:
    """The server's pages behind its doors."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await desk.begin()
        yield
        await desk.stop_all()

    found = Starlette(
        routes=[Route(path, act, methods=[how]) for how, path, act in ROUTES],
        exception_handlers={TamisError: said, 404: nowhere, 405: nowhere, 500: unforeseen},
        lifespan=lifespan,
    )
    found.state.desk = desk
    return Doors(found, desk.keys)
