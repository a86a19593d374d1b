"""A release that came from elsewhere: dropped in, or a folder on this machine, and verified."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tamis.errors import InputError
from tamis.serve.access import file_name, receive_file
from tamis.serve.app_state import AppState
from tamis.serve.archive import PUBLIC, unpack
from tamis.serve.project import in_shell
from tamis.serve.steps import (
    check_script,
    checked_form,
    event_stream,
    go,
    show,
    state_of,
    work_page,
)
from tamis.serve.work import Work

RESULT = "result.json"
RELEASE = "release"
"""The folder of a check in which the files of the release lie."""


async def verify_page(request: Request) -> Response:
    state = state_of(request)
    return show(state, "verify", here="verify", files=PUBLIC, opened=state.opened)


async def verify_folder(request: Request) -> Response:
    """A folder on this machine, by its path."""
    state = state_of(request)
    form = await checked_form(state, request)
    folder = state.place(form.one("path"))
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; give the folder that has manifest.json")
    number = state.workspace.new_folder(check=True).name
    await _verify(state, number, folder)
    return go(f"/checks/{number}/work")


async def verify_upload(request: Request) -> Response:
    """An archive, or the files of a release one after the other; the last begins the check."""
    state = state_of(request)
    check_script(state, request)
    name = file_name(request.query_params.get("name", ""))
    place = _place(state, request.query_params.get("to", ""))
    if name in PUBLIC:
        await receive_file(request, place / RELEASE / name)
    elif name.lower().endswith(".zip"):
        await _receive_archive(request, place)
    else:
        raise InputError(f"drop the zip archive of a release, or its files: {', '.join(PUBLIC)}")
    if request.query_params.get("last") != "yes":
        return JSONResponse({"to": place.name})
    await _verify(state, place.name, place / RELEASE)
    return JSONResponse({"go": f"/checks/{place.name}/work"})


def _place(state: AppState, number: str) -> Path:
    """The folder of a check that has begun, or a new one."""
    if number:
        known = state.workspace.check_folder(number)
        if known is None:
            raise InputError("these files belong to no check; drop them again")
        return known
    place = state.workspace.new_folder(check=True)
    (place / RELEASE).mkdir(mode=0o700)
    return place


async def _receive_archive(request: Request, place: Path) -> None:
    archive = place / "archive.zip"
    await receive_file(request, archive)
    try:
        await run_in_threadpool(unpack, archive, place / RELEASE)
    finally:
        archive.unlink()


async def _verify(state: AppState, number: str, folder: Path) -> None:
    place = state.workspace.check_folder(number)
    assert place is not None

    def finished(found: dict[str, Any]) -> None:
        shutil.rmtree(place / RELEASE, ignore_errors=True)
        (place / RESULT).write_text(json.dumps({**found, "command": shown}), encoding="utf-8")

    own = folder.is_relative_to(place)
    shown = in_shell(["verify", "DIR" if own else str(folder)])
    work = Work("Verifying the release", f"/checks/{number}", "/verify", shown, finished)
    arguments = [*state.tamis, "verify", str(folder), "--json"]
    await state.run(f"checks/{number}", work, arguments)


async def result(request: Request) -> Response:
    state = state_of(request)
    number = request.path_params["number"]
    place = state.workspace.check_folder(number)
    if place is None or not (place / RESULT).is_file():
        return go("/verify")
    found = json.loads((place / RESULT).read_text(encoding="utf-8"))
    return show(state, "verified", here="verify", found=found, command=found["command"])


async def check_work(request: Request) -> Response:
    return work_page(state_of(request), _key(request))


async def check_events(request: Request) -> Response:
    return event_stream(state_of(request), _key(request))


async def check_stop(request: Request) -> Response:
    state = state_of(request)
    await checked_form(state, request)
    await state.stop(_key(request))
    return go("/verify")


def _key(request: Request) -> str:
    return f"checks/{request.path_params['number']}"
