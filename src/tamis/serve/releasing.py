"""The last steps: compare releases, see what one would publish, publish it, hand it on, verify it.

What is handed on as one archive has nothing private in it; a release that came from elsewhere, as
such an archive or as files or a folder, is verified.
"""

from __future__ import annotations

import csv
import errno
import json
import shutil
import struct
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response

from tamis.catalogue.formats import DESCRIPTIONS
from tamis.errors import InputError
from tamis.figures import change, percent
from tamis.serve.access import PostedForm, file_name, receive_file
from tamis.serve.app_state import AppState, default_out
from tamis.serve.pages import report_page
from tamis.serve.project import Project, in_shell
from tamis.serve.steps import (
    check_script,
    checked_form,
    event_stream,
    form_step,
    go,
    show,
    state_of,
    step,
    work_page,
)
from tamis.serve.work import Work
from tamis.verification.layout import DOSSIER, NAME, PRIVATE, RELEASE, REPORT

SHOWN_ROWS = 8
PUBLIC = (NAME, REPORT, *RELEASE.values(), *DESCRIPTIONS.values())
"""The files of a release that are handed on; nothing else ever is."""
MOST_OPENED = 1 << 32
"""Bytes that an archive may become."""
BLOCK = 1 << 20
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError, LookupError),
)
"""What zipfile raises for bytes that are no archive, or one that it cannot open."""
RESULT = "result.json"
CHECKED = "release"
"""The folder of a check in which the files of the release lie."""


# 6. The comparison


class Choice(NamedTuple):
    """A release that can be taken."""

    name: str
    features: list[str]
    figures: list[tuple[str, str]]
    """What each figure is called, and the figure."""
    differs: str = ""
    """What not all releases have alike."""


def choices(candidates: Sequence[Mapping[str, Any]], best: str, caution: float) -> list[Choice]:
    """The releases that keep the limits: the suggested one first, then by what they are worth."""

    def order(found: Mapping[str, Any]) -> tuple[bool, float]:
        if "worth" not in found:
            return found["name"] != best, found["place"]
        kept, told = found["worth"]
        return found["name"] != best, caution * told - kept

    free = sorted((c for c in candidates if not c["fails"]), key=order)
    return [Choice(c["name"], c["features"], _figures(c), c.get("differs", "")) for c in free]


def _figures(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    if "kept" not in found:
        right, gain = percent(found["performance"]), change(found["pbi"])
        return [("A model is right", right), ("Gain of an attacker", gain)]
    told = found["told"]
    told_words = "nothing to tell" if told is None else percent(told) if told > 0 else "none found"
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
        forbidden=[c for c in candidates if c["fails"]],
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
    """A report of a draft: the holder's, the one that is handed on, or the dossier to sign."""
    number, audience = request.path_params["draft"], request.path_params["audience"]
    if number not in project.drafts.values():
        return PlainTextResponse("there is no such draft\n", status_code=404)
    folder = project.folder / "drafts" / number
    pages = {"holder": folder / PRIVATE / REPORT, "dossier": folder / PRIVATE / DOSSIER}
    return report_page(pages.get(audience, folder / REPORT).read_text(encoding="utf-8"))


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
    folder, manifest = project.draft(name), project.manifest(name)
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
        shown=project.shown(name),
        review=learnt_groups(manifest, project.ladders),
        manifest=manifest,
        out=place,
        report=project.address(f"drafts/{folder.name}/recipient"),
        dossier=project.address(f"drafts/{folder.name}/dossier"),
        error=error,
        command=project.release_command(name, place),
        config=True,
    )


def learnt_groups(
    manifest: Mapping[str, Any], own: Collection[str]
) -> dict[str, list[tuple[str, list[str]]]]:
    """The groups of values that tamis put together, by column: a person should look at them.

    Which values teach the same says nothing of what they mean: two diagnoses in one group may have
    nothing in common but their outcome. Those that the person wrote (`own`) need no second look.
    """
    coarser = {c["name"]: c["coarser"] for c in manifest["columns"] if "coarser" in c}
    return {
        name: [(label, values) for label, values in how["groups"].items() if len(values) > 1]
        for name, how in coarser.items()
        if how.get("groups") and name not in own
    }


@step
async def preview_command(state: AppState, project: Project, request: Request) -> Response:
    """The command line that publishes the draft where the form says now."""
    form = await checked_form(state, request)
    name = _named(project, form)
    if name is None:
        raise InputError("this draft is no longer there; load the page again")
    return JSONResponse({"command": project.release_command(name, form.one("out") or "DIR")})


def _named(project: Project, form: PostedForm) -> str | None:
    """The name of the draft that a form is about."""
    names = {folder: name for name, folder in project.drafts.items()}
    return names.get(form.one("draft"))


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
    name = _named(project, form)
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
        dossier=project.address(f"drafts/{project.drafts[last['name']]}/dossier")
        if last["name"] in project.drafts
        else "",
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
    text = state.typed.get(project.key) or project.configuration
    return PlainTextResponse(text, headers=headers)


# A release as one file, and back


def pack(folder: Path, archive: Path, name: str) -> None:
    """Put what is to be handed on into an archive, in a folder of the given name."""
    with zipfile.ZipFile(archive, "x", zipfile.ZIP_DEFLATED) as packed:
        for each in PUBLIC:
            if (folder / each).is_file():
                # A date of its own: when the files were written is nobody's business.
                entry = zipfile.ZipInfo(f"{name}/{each}", (1980, 1, 1, 0, 0, 0))
                entry.external_attr = 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                with (folder / each).open("rb") as file, packed.open(entry, "w") as into:
                    while block := file.read(BLOCK):
                        into.write(block)


def unpack(archive: Path, folder: Path) -> None:
    """Take the files of a release out of an archive; an error where it has anything else.

    Names lead nowhere: each file is written under one of the few names that a release has.
    """
    try:
        with zipfile.ZipFile(archive) as packed:
            entries = [e for e in packed.infolist() if not e.is_dir()]
            names = [_public(e.filename) for e in entries]
            if len(set(names)) < len(names):
                raise InputError("the archive has a file of the same name twice")
            left = MOST_OPENED
            for name, entry in zip(names, entries):
                left -= _extract(packed, entry, folder / name, left)
    except InputError:
        raise
    except OSError as error:
        if error.errno != errno.EINVAL:  # of reading before the start, where an entry says so
            raise
        raise _unopened() from None
    except DAMAGED:
        raise _unopened() from None


def _unopened() -> InputError:
    return InputError("this is not a zip archive that can be opened")


def _public(name: str) -> str:
    parts = PurePosixPath(name).parts
    if not parts or len(parts) > 2 or parts[-1] not in PUBLIC:
        raise InputError(
            f"the archive has a file that no release has; expected are only {', '.join(PUBLIC)}, "
            "in one folder"
        )
    return parts[-1]


def _extract(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, most: int) -> int:
    size = 0
    with packed.open(entry) as file, path.open("xb") as into:
        while block := file.read(BLOCK):
            size += len(block)
            if size > most:
                raise InputError("the archive is too large once it is opened")
            into.write(block)
    return size


# Verify a release that came from elsewhere


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
        await receive_file(request, place / CHECKED / name)
    elif name.lower().endswith(".zip"):
        await _receive_archive(request, place)
    else:
        raise InputError(f"drop the zip archive of a release, or its files: {', '.join(PUBLIC)}")
    if request.query_params.get("last") != "yes":
        return JSONResponse({"to": place.name})
    await _verify(state, place.name, place / CHECKED)
    return JSONResponse({"go": f"/checks/{place.name}/work"})


def _place(state: AppState, number: str) -> Path:
    """The folder of a check that has begun, or a new one."""
    if number:
        known = state.workspace.check_folder(number)
        if known is None:
            raise InputError("these files belong to no check; drop them again")
        return known
    place = state.workspace.new_folder(check=True)
    (place / CHECKED).mkdir(mode=0o700)
    return place


async def _receive_archive(request: Request, place: Path) -> None:
    archive = place / "archive.zip"
    await receive_file(request, archive)
    try:
        await run_in_threadpool(unpack, archive, place / CHECKED)
    finally:
        archive.unlink()


async def _verify(state: AppState, number: str, folder: Path) -> None:
    place = state.workspace.check_folder(number)
    assert place is not None

    def finished(found: dict[str, Any]) -> None:
        shutil.rmtree(place / CHECKED, ignore_errors=True)
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
    state, key = state_of(request), _key(request)
    await checked_form(state, request)
    await state.stop(key)
    return go(state.works[key].back if key in state.works else "/verify")


def _key(request: Request) -> str:
    return f"checks/{request.path_params['number']}"
