"""The last steps: compare releases, see what one would publish, publish it, hand it on."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from tamis.errors import InputError
from tamis.publish.figures import change, percent
from tamis.publish.layout import PRIVATE, RELEASE, REPORT
from tamis.serve.access import PostedForm
from tamis.serve.app_state import AppState, default_out
from tamis.serve.archive import PUBLIC, pack
from tamis.serve.pages import report_page
from tamis.serve.project import Project
from tamis.serve.steps import checked_form, form_step, go, show, step

SHOWN_ROWS = 8


# 6. The comparison


class Choice(NamedTuple):
    """A release that can be taken."""

    name: str
    features: list[str]
    figures: list[tuple[str, str]]
    """What each figure is called, and the figure."""


def choices(candidates: Sequence[Mapping[str, Any]], best: str, caution: float) -> list[Choice]:
    """The releases that keep the limits: the suggested one first, then by what they are worth."""

    def order(found: Mapping[str, Any]) -> tuple[bool, float]:
        if "worth" not in found:
            return found["name"] != best, found["place"]
        kept, told = found["worth"]
        return found["name"] != best, caution * told - kept

    free = sorted((c for c in candidates if not c["fails"]), key=order)
    return [Choice(c["name"], c["features"], _figures(c)) for c in free]


def _figures(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    if "kept" not in found:
        right, gain = percent(found["performance"]), change(found["pbi"])
        return [("A model is right", right), ("Gain of an attacker", gain)]
    told = found["told"]
    told_words = "nothing to tell" if told is None else percent(told)
    return [("Kept of the target", percent(found["kept"])), ("Told of the secret", told_words)]


@step
async def compare(state: AppState, project: Project, request: Request) -> Response:
    if not project.is_compared:
        return go(project.address("settings"))
    candidates = project.summary()["candidates"]
    return show(
        state,
        "compare",
        here="compare",
        project=project,
        free=choices(candidates, project.suggested, project.settings.get("caution") or 1.0),
        barred=[c for c in candidates if c["fails"]],
        suggested=project.suggested,
        report=project.address(f"drafts/{next(iter(project.drafts.values()))}/holder"),
        command=project.release_command(project.suggested),
        config=True,
    )


@form_step
async def take(state: AppState, project: Project, form: PostedForm) -> str:
    name = form.one("name")
    if not project.is_compared:
        return project.address("settings")
    allowed = [c["name"] for c in project.summary()["candidates"] if not c["fails"]]
    if name not in allowed:
        raise InputError("choose one of the releases that keep the limits")
    if name in project.drafts:
        return project.address(f"preview?of={quote(project.drafts[name])}")
    await state.take(project, name)
    return project.address("work")


@step
async def draft_report(state: AppState, project: Project, request: Request) -> Response:
    """A report of a draft: the holder's, or the one that is handed on."""
    number, audience = request.path_params["draft"], request.path_params["audience"]
    if number not in project.drafts.values():
        return PlainTextResponse("there is no such draft\n", status_code=404)
    folder = project.folder / "drafts" / number
    path = folder / PRIVATE / REPORT if audience == "holder" else folder / REPORT
    return report_page(path.read_text(encoding="utf-8"))


def _draft(project: Project, request: Request) -> str:
    """The name of the draft that an address is about; by default the last."""
    number = request.query_params.get("of")
    names = {folder: name for name, folder in project.drafts.items()}
    return names.get(number or "") or list(project.drafts)[-1]


@step
async def preview(state: AppState, project: Project, request: Request) -> Response:
    """What would be published, before it is."""
    if not project.is_compared:
        return go(project.address("settings"))
    return _preview(state, project, _draft(project, request))


def _preview(
    state: AppState, project: Project, name: str, error: str = "", out: str | None = None
) -> Response:
    folder = project.draft(name)
    place = str(default_out(project, state)) if out is None else out
    return show(
        state,
        "preview",
        here="preview",
        project=project,
        name=name,
        draft=folder.name,
        files=[(f, (folder / f).stat().st_size) for f in PUBLIC if (folder / f).is_file()],
        rows=first_rows(folder),
        manifest=json.loads((folder / "manifest.json").read_text(encoding="utf-8")),
        out=place,
        report=project.address(f"drafts/{folder.name}/recipient"),
        error=error,
        command=project.release_command(name, place),
        config=True,
    )


def first_rows(folder: Path) -> list[list[str]]:
    """The header and some rows as they would be published; nothing for a file that is no text."""
    path = folder / RELEASE["csv"]
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(islice(csv.reader(file), 1 + SHOWN_ROWS))


# 7. Publish


@step
async def publish_draft(state: AppState, project: Project, request: Request) -> Response:
    form = await checked_form(state, request)
    names = {folder: name for name, folder in project.drafts.items()}
    name = names.get(form.one("draft"))
    if name is None or not project.is_compared:
        return go(project.address("settings"))
    try:
        out = state.place(form.one("out"))
    except InputError as error:
        return _preview(state, project, name, str(error), form.one("out"))
    await state.publish(project, name, out, force=bool(form.one("force")))
    return go(project.address("work"))


@step
async def published(state: AppState, project: Project, request: Request) -> Response:
    if not project.published:
        return go(project.address("preview"))
    last = project.published[-1]
    return show(
        state,
        "published",
        here="preview",
        project=project,
        last=last,
        archive=project.address("archive"),
        command=last["command"],
        config=True,
    )


@step
async def archive(state: AppState, project: Project, request: Request) -> Response:
    """What is to be handed on, as one file."""
    if not project.published:
        return show(state, "missing", status=404)
    folder = Path(project.published[-1]["out"])
    if not folder.is_dir():
        raise InputError(f"{folder} is no longer there; publish again")
    packed = project.folder / f"{folder.name}.zip"
    packed.unlink(missing_ok=True)
    await run_in_threadpool(pack, folder, packed, folder.name)
    gone = BackgroundTask(packed.unlink, missing_ok=True)
    return FileResponse(packed, filename=packed.name, background=gone)


@step
async def configuration(state: AppState, project: Project, request: Request) -> Response:
    """The settings as a file."""
    headers = {"Content-Disposition": 'attachment; filename="tamis.toml"'}
    return PlainTextResponse(project.configuration, headers=headers)
