"""Pages that judge foreign releases: drop the original and the releases, get the judgement."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from tamis.errors import InputError
from tamis.serve import SERVED
from tamis.serve.access import PostedForm, file_name, receive_file
from tamis.serve.app_state import AppState
from tamis.serve.pages import report_page
from tamis.serve.project import in_shell
from tamis.serve.steps import ENDINGS, check_script, checked_form, go, show, state_of
from tamis.serve.work import Work, Worker

PARTS = {"original": "ORIGINAL", "released": "RELEASED"}
"""What is dropped, and what a command line calls it where the file is gone by then."""
COLUMNS = {
    "target": ("What others shall learn to predict", "The column that the table is released for."),
    "sensitive": ("The secret", "What must stay hard to guess; several with commas."),
    "quasi": ("What others may know", "By these columns somebody may look for a person."),
    "identifier": ("Names and numbers of people", "Columns that say who somebody is."),
}
"""Roles of the original's columns that the form asks for, by the options of the command."""
PAGE, COMMAND = "judgement.html", "command.json"


async def judge_page(request: Request) -> Response:
    return _asking(state_of(request))


def _asking(state: AppState, error: str = "", form: PostedForm | None = None) -> Response:
    """The form, empty or as it was sent."""
    names = (*PARTS, *COLUMNS, "to", "propose")
    said = {name: "" if form is None else form.one(name) for name in names}
    known = {"columns": COLUMNS, "endings": ENDINGS, "opened": state.opened}
    return show(state, "judge", here="judge", said=said, error=error, **known)


async def judge_upload(request: Request) -> Response:
    """Take one dropped file; the answer has the number under which the other files are sent."""
    state = state_of(request)
    check_script(state, request)
    part = request.query_params.get("part", "")
    if part not in PARTS:
        raise InputError("these files belong to no part of the page; load it again")
    number = request.query_params.get("to", "")
    place = _known(state, number) if number else state.workspace.new_folder(check=True)
    (place / part).mkdir(mode=0o700, exist_ok=True)
    await receive_file(request, place / part / file_name(request.query_params.get("name", "")))
    return JSONResponse({"to": place.name})


def _known(state: AppState, number: str) -> Path:
    place = state.workspace.check_folder(number)
    if place is None:
        raise InputError("these files are no longer here; drop them again")
    return place


async def begin_judging(request: Request) -> Response:
    """Judge the dropped files, or those at the typed paths."""
    state = state_of(request)
    form = await checked_form(state, request)
    try:
        return go(f"/{await _begin(state, form)}/work")
    except InputError as error:
        return _asking(state, str(error), form)


async def _begin(state: AppState, form: PostedForm) -> str:
    """Begin to judge; returns the address of the work."""
    number = form.one("to")
    place = _known(state, number) if number else state.workspace.new_folder(check=True)
    original, released = (_files(state, form, place, part) for part in PARTS)
    if len(original) != 1 or not released:
        raise InputError("give one original, and at least one table that was made of it")
    options = [*_options(form)]
    page = place / PAGE
    arguments = ["judge", *map(str, [*original, *released]), *options]
    shown = ["judge", *_shown(place, original + released), *options, "-o", PAGE]

    def finished(_: Any) -> None:
        for part in PARTS:
            shutil.rmtree(place / part, ignore_errors=True)
        (place / COMMAND).write_text(json.dumps(in_shell(shown)), encoding="utf-8")

    key, then = f"checks/{place.name}", f"/judged/{place.name}"
    work = Work("Judging what was made of it", then, "/judge", in_shell(shown), finished)
    command = [*state.tamis, *arguments, "-o", str(page)]
    await state.start(key, work, Worker(work, command, **{SERVED: "1"}))
    return key


def _files(state: AppState, form: PostedForm, place: Path, part: str) -> list[Path]:
    """The files of one part: those that were dropped, and those whose paths were typed."""
    found = sorted(path for path in (place / part).glob("*"))
    typed = [state.place(line) for line in form.one(part).splitlines() if line.strip()]
    if lacking := [path for path in typed if not path.exists()]:
        raise InputError(f"there is no file {lacking[0]}")
    return found + typed


def _shown(place: Path, files: list[Path]) -> Iterator[str]:
    """Each file as the shown command names it: dropped ones without a path, as they are removed."""
    for path in files:
        yield path.name if path.is_relative_to(place) else str(path)


def _options(form: PostedForm) -> Iterator[str]:
    for name in COLUMNS:
        if said := form.one(name).strip():
            yield f"--{name}={said}"
    if form.one("propose"):
        yield "--propose"


def _written(request: Request) -> Path | None:
    """The folder of a judgement that has ended, if it is there."""
    place = state_of(request).workspace.check_folder(request.path_params["number"])
    return place if place is not None and (place / COMMAND).is_file() else None


async def judged(request: Request) -> Response:
    """The judgement inside a page, with the command that makes it again."""
    place = _written(request)
    if place is None:
        return go("/judge")
    command = json.loads((place / COMMAND).read_text(encoding="utf-8"))
    page = f"/judged/{place.name}/page"
    return show(state_of(request), "judged", here="judge", judgement=page, command=command)


async def judgement(request: Request) -> Response:
    """The judgement itself, or as a file to keep."""
    place = _written(request)
    if place is None:
        return go("/judge")
    if "keep" in request.query_params:
        return FileResponse(place / PAGE, filename=PAGE)
    return report_page((place / PAGE).read_text(encoding="utf-8"))
