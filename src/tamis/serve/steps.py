"""The steps of the way through, each with its page and its form."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple, Self

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import (
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)

from tamis.catalogue.formats import FORMATS, SPARSE
from tamis.errors import InputError
from tamis.options.release import ATTACKER
from tamis.serve.access import FORM, PostedForm, file_name, read_form, receive_file, same
from tamis.serve.app_state import AppState
from tamis.serve.fields import (
    FIELDS,
    AttackerRow,
    as_typed,
    check_together,
    rows_sent,
    shown_levels,
    typed_ladder,
)
from tamis.serve.pages import (
    attacker_bars,
    column_bars,
    dots,
    group_bars,
    page,
    singling_sets,
)
from tamis.serve.project import ROLES, Project

DEMO = {
    **dict.fromkeys(("patient", "name"), "identifier"),
    **dict.fromkeys(("zip", "birth_year", "sex", "job"), "quasi"),
    **dict.fromkeys(("ward", "stay_days", "visits", "albumin", "blood_group"), "feature"),
    **dict.fromkeys(("viral_load_test", "cd4_count"), "feature"),
    "hiv": "sensitive",
    "readmitted": "target",
}
"""What the columns of the demo table are."""
DEMO_ROWS = 3000
ENDINGS = (*(ending for ending, format in FORMATS.items() if format not in SPARSE), ".gz")
"""The files that can be dropped: all formats but sparse records."""

READING = ("separator", "decimal", "thousands", "dates", "encoding")

Handler = Callable[[Request], Awaitable[Response]]
Step = Callable[[AppState, Project, Request], Awaitable[Response]]
Change = Callable[[AppState, Project, PostedForm], Awaitable[str]]
"""What a form does; gives the address to go on with."""


def state_of(request: Request) -> AppState:
    state: AppState = request.app.state.shared
    return state


def show(state: AppState, template: str, /, **content: Any) -> Response:
    """A page, with what every page needs."""
    known: dict[str, Any] = {"project": None, "here": "", "error": "", "command": ""}
    known |= {"config": False, "form": state.keys.form}
    known |= {"kept": state.workspace.kept, "copies": state.copies}
    return page(template, **known | content)


def step(answer: Step) -> Handler:
    """An address of one table."""

    @wraps(answer)
    async def handled(request: Request) -> Response:
        state = state_of(request)
        project = state.workspace.projects.get(request.path_params["number"])
        if project is None:
            return show(state, "missing", status=404)
        return await answer(state, project, request)

    return handled


def form_step(act: Change) -> Handler:
    """A form of one table: it does something, then leads on."""

    @step
    async def handled(state: AppState, project: Project, request: Request) -> Response:
        form = await checked_form(state, request)
        return go(await act(state, project, form))

    return handled


async def checked_form(state: AppState, request: Request) -> PostedForm:
    """The fields of a form that one of our own pages holds."""
    form = await read_form(request)
    if not same(form.one("form"), state.keys.form):
        raise InputError("this form is from before the server was started again; load the page")
    return form


def check_script(state: AppState, request: Request) -> None:
    """The same for what a script of our pages sends."""
    if not same(request.headers.get(FORM, ""), state.keys.form):
        raise InputError("this page is from before the server was started again; load it again")


def go(address: str) -> Response:
    return RedirectResponse(address, status_code=303)


# 1. Choose a table


async def start(request: Request) -> Response:
    state = state_of(request)
    projects = list(state.workspace.projects.values())
    unread = state.workspace.unread
    known = {"projects": projects, "unread": unread, "opened": state.opened}
    return show(state, "start", **known, endings=ENDINGS)


def reading_of(said: Callable[[str], str]) -> dict[str, Any]:
    """How a text file is written, as far as it was said."""
    given = {name: said(name).strip() for name in READING}
    return {name: value for name, value in given.items() if value}


async def open_path(request: Request) -> Response:
    """A file on this machine, by its path."""
    state = state_of(request)
    form = await checked_form(state, request)
    file, mark, inside = form.one("path").partition("::")
    path = state.place(file)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    project = state.add_table(f"{path}{mark}{inside}", path.name)
    project.reading = reading_of(form.one)
    await state.look(project)
    return go(project.address("work"))


async def demo(request: Request) -> Response:
    """The made table of hospital stays."""
    state = state_of(request)
    await checked_form(state, request)
    folder = state.workspace.new_folder()
    path = folder / "file" / "patients.csv"
    path.parent.mkdir(mode=0o700)
    project = state.add_table(str(path), path.name, folder)
    await state.look(project, DEMO, made={"rows": DEMO_ROWS})
    return go(project.address("work"))


async def upload(request: Request) -> Response:
    """A file that was dropped into the page; a script sends it as it is."""
    state = state_of(request)
    check_script(state, request)
    name = file_name(request.query_params.get("name", ""))
    keep = request.query_params.get("keep") == "yes"
    project = await (_receive_to_keep if keep else _receive)(state, request, name)
    project.reading = reading_of(lambda name: request.query_params.get(name, ""))
    await state.look(project)
    return JSONResponse({"go": project.address("work")})


async def _receive(state: AppState, request: Request, name: str) -> Project:
    folder = state.workspace.new_folder()
    (folder / "file").mkdir(mode=0o700)
    try:
        await receive_file(request, folder / "file" / name)
    except BaseException:
        (folder / "file").rmdir()
        folder.rmdir()
        raise
    return state.add_table(str(folder / "file" / name), name, folder)


async def _receive_to_keep(state: AppState, request: Request, name: str) -> Project:
    """Write the file where the server was started, so that it outlives the server."""
    path = state.opened[0] / name
    if path.exists():
        raise InputError(
            f"there is a file {path} already; open it by its path, or rename the one that you drop"
        )
    await receive_file(request, path)
    state.copies.append(path)
    return state.add_table(str(path), name)


@form_step
async def forget(state: AppState, project: Project, form: PostedForm) -> str:
    await state.forget(project)
    return "/"


# 2. What is each column?


@step
async def columns(state: AppState, project: Project, request: Request) -> Response:
    return _columns(state, project)


def _columns(
    state: AppState, project: Project, error: str = "", said: ColumnsForm | None = None
) -> Response:
    look = project.found("look.json")
    state.typed.pop(project.key, None)
    if look is None:
        return go("/" if project.key not in state.works else project.address("work"))
    return show(
        state,
        "columns",
        here="columns",
        project=project,
        look=look,
        said=said or ColumnsForm.kept(project),
        choices=ROLES,
        error=error,
        command=project.command("audit", project.source_options),
        config=True,
    )


class ColumnsForm(NamedTuple):
    """The form of the columns as it was sent, which may be wrong, or as the project has it."""

    roles: dict[str, str]
    row_is_person: bool
    person: str
    drop_unlabelled: bool
    target_bins: str
    ladders: dict[str, str]
    """As they are typed."""
    whole: list[str]

    @property
    def ticked(self) -> dict[str, Any]:
        """What was ticked about the rows."""
        return {
            "row_is_person": self.row_is_person,
            "person": self.person,
            "drop_unlabelled": self.drop_unlabelled,
            "target_bins": self.target_bins,
        }

    def check_person(self) -> None:
        """Refuse an answer to who is a person that contradicts the rest."""
        if self.person and self.row_is_person:
            raise InputError(
                "either a column says who is a person, or every row is a different one; choose "
                "one of them"
            )
        if self.person and self.roles.get(self.person) != "identifier":
            raise InputError(
                f"{self.person!r} can only say who is a person if it is a name; call it “Name”, "
                "or choose another"
            )

    @classmethod
    def kept(cls, project: Project) -> Self:
        """As the project has it."""
        typed = {name: as_typed(project.ladders.get(name)) for name in project.roles}
        ticked = project.row_is_person, project.person, project.drop_unlabelled, project.target_bins
        return cls(project.roles, *ticked, typed, project.whole)

    @classmethod
    def sent(cls, project: Project, form: PostedForm) -> Self:
        """As it was sent."""
        look = project.found("look.json") or {"columns": []}
        names = [c["name"] for c in look["columns"]]
        return cls(
            {name: form.one(f"role-{at}") for at, name in enumerate(names)},
            bool(form.one("row_is_person")),
            form.one("person"),
            bool(form.one("drop_unlabelled")),
            form.one("target_bins").strip(),
            {name: form.one(f"ladder-{at}") for at, name in enumerate(names)},
            [name for at, name in enumerate(names) if form.one(f"whole-{at}")],
        )


@step
async def set_columns(state: AppState, project: Project, request: Request) -> Response:
    said = ColumnsForm.sent(project, await checked_form(state, request))
    tried = replace(project, **said.ticked, whole=said.whole)
    try:
        said.check_person()
        tried.set_roles(said.roles)
        project.ladders = await state.checked_ladders(tried, said.ladders)
    except InputError as error:
        return _columns(state, project, str(error), said)
    project.roles, project.whole = said.roles, said.whole
    project.row_is_person, project.person = said.row_is_person, said.person
    project.drop_unlabelled, project.target_bins = said.drop_unlabelled, said.target_bins
    project.save()
    if project.is_audited:
        return go(project.address("exposure"))
    await state.audit(project)
    return go(project.address("work"))


@step
async def set_ladder(state: AppState, project: Project, request: Request) -> Response:
    """Keep the ladder that was typed for a column, and show it; one that tamis makes for none."""
    said = ColumnsForm.sent(project, await checked_form(state, request))
    places = {str(at): pair for at, pair in enumerate(said.ladders.items())}
    at = request.path_params["at"]
    if at not in places:
        raise InputError("these are not the columns of this table; load the page again")
    column, text = places[at]
    typed = {column: typed_ladder(column, text, state.place)} if text.strip() else {}
    tried = replace(project, roles=said.roles, **said.ticked, ladders=typed)
    found = await state.ladder(tried, column)
    others = {name: how for name, how in project.ladders.items() if name != column}
    project.ladders = {**others, **typed}
    project.save()
    shown = tried.command("ladder", tried.ladder_options, f"--column={column}")
    made = "" if typed or len(found["levels"]) < 3 else as_typed(found["ladder"])
    parts = {"found": found, "levels": shown_levels(found), "made": made, "at": at}
    return show(state, "ladder", **parts, command=shown)


@step
async def columns_command(state: AppState, project: Project, request: Request) -> Response:
    """The command line of the columns as the form has them now, kept or not."""
    form = await checked_form(state, request)

    def meant() -> tuple[Project, str]:
        said = ColumnsForm.sent(project, form)
        ladders = {
            column: typed_ladder(column, text, state.place)
            for column, text in said.ladders.items()
            if text.strip()
        }
        tried = replace(project, **said.ticked, whole=said.whole, ladders=ladders)
        tried.set_roles(said.roles)
        return tried, tried.command("audit", tried.source_options)

    return _typed(state, meant)


def _typed(state: AppState, meant: Callable[[], tuple[Project, str]]) -> Response:
    """The command line of a form, and from now on the file of settings that it may refer to.

    None while the form cannot be used: who is still typing has done nothing wrong.
    """
    try:
        tried, command = meant()
    except InputError:
        return JSONResponse({"command": None})
    state.typed[tried.key] = tried.configuration
    return JSONResponse({"command": command})


@form_step
async def set_reading(state: AppState, project: Project, form: PostedForm) -> str:
    """Read the table again in another way."""
    missing = [part for part in form.one("missing").split() if part]
    project.reading = {**({"missing": missing} if missing else {}), **reading_of(form.one)}
    project.save()
    await state.look(project)
    return project.address("work")


# 3. How exposed is it?


@step
async def exposure(state: AppState, project: Project, request: Request) -> Response:
    if not project.is_audited:
        return go(project.address("columns"))
    found = project.found("audit.json")
    return show(
        state,
        "exposure",
        here="exposure",
        project=project,
        found=found,
        dots=dots(found["unique_share"]),
        groups=group_bars(found["class_sizes"], found["people"]),
        riskiest=column_bars(found["columns"], found["people"]),
        attacked=attacker_bars(found["attacker"]),
        sets=singling_sets(found["special_uniques"]),
        command=project.command("audit", project.source_options),
        config=True,
    )


# 4. What do you ask for?


@step
async def settings(state: AppState, project: Project, request: Request) -> Response:
    return _settings(state, project)


def _settings(
    state: AppState,
    project: Project,
    error: str = "",
    said: Mapping[str, Any] | None = None,
    rows: Sequence[AttackerRow] | None = None,
) -> Response:
    """The limits as they are kept, or as somebody `said` them, attackers in `rows`."""
    if not project.is_audited:
        return go(project.address("columns"))
    state.typed.pop(project.key, None)
    if rows is None:
        rows = [AttackerRow.of(line) for line in project.settings.get(ATTACKER.name) or ()]
    values = {f.name: project.settings.get(f.name, f.default) for f in FIELDS.values()}
    shown = {f.name: f.typed(values[f.name]) for f in FIELDS.values() if f.kind != "several"}
    ticked = {f.name: list(values[f.name] or ()) for f in FIELDS.values() if f.kind == "several"}
    real = replace(project, synthetic={})
    return show(
        state,
        "settings",
        here="settings",
        project=project,
        fields=FIELDS.values(),
        shown={**shown, **(said or {})},
        ticked=ticked,
        attackers=[*(row for row in rows if any(row)), AttackerRow()],
        error=error,
        command=real.command("release", real.release_options, "--out", "DIR"),
        config=True,
    )


@step
async def set_settings(state: AppState, project: Project, request: Request) -> Response:
    form = await checked_form(state, request)
    if state.is_comparing(project):  # in another tab, or by a second click
        return go(project.address("work"))
    try:
        project.settings = settings_sent(state, project, form)
        project.synthetic = {**project.synthetic, "asked": False} if project.synthetic else {}
        project.save()
        if not project.is_compared:
            await state.compare(project)
    except InputError as error:
        said = {f.name: form.one(f.name) for f in FIELDS.values() if f.kind != "several"}
        return _settings(state, project, str(error), said, rows_sent(form.all))
    done = project.is_compared
    return go(project.address("compare" if done else "work"))


@step
async def settings_command(state: AppState, project: Project, request: Request) -> Response:
    """The command line of the limits as the form has them now, kept or not."""
    form = await checked_form(state, request)

    def meant() -> tuple[Project, str]:
        tried = replace(project, settings=settings_sent(state, project, form), synthetic={})
        return tried, tried.command("release", tried.release_options, "--out", "DIR")

    return _typed(state, meant)


def settings_sent(state: AppState, project: Project, form: PostedForm) -> dict[str, Any]:
    """What is asked for; a file must lie where the person opened folders."""
    lines = [*form.all(ATTACKER.name), *(row.line for row in rows_sent(form.all))]
    asked = {
        f.name: f.read(lines if f.name == ATTACKER.name else form.all(f.name))
        for f in FIELDS.values()
    }
    check_together(asked)
    project.check_attackers(asked[ATTACKER.name] or ())
    for each in FIELDS.values():
        if each.kind == "file" and asked[each.name] is not None:
            path = state.place(asked[each.name])
            if not path.is_file():
                raise InputError(f"{each.asked.label}: no file at {path}")
            asked[each.name] = str(path)
    return asked


# 5. Progress


@step
async def work(state: AppState, project: Project, request: Request) -> Response:
    return work_page(state, project.key, project=project)


def work_page(state: AppState, key: str, project: Project | None = None) -> Response:
    found = state.works.get(key)
    if found is None:
        return go("/" if project is None else project.address("columns"))
    if found.state == "done":
        return go(found.then)
    return show(
        state,
        "work",
        here="",
        project=project,
        key=key,
        work=found,
        told=found.to_dict(),
        command=found.command,
    )


@step
async def events(state: AppState, project: Project, request: Request) -> Response:
    return event_stream(state, project.key)


def event_stream(state: AppState, key: str) -> Response:
    """What is being done, as server-sent events."""
    found = state.works.get(key)
    if found is None:
        return PlainTextResponse("nothing is being done\n", status_code=404)

    async def lines() -> AsyncIterator[str]:
        async for news in found.news():
            yield f"retry: 1000\ndata: {json.dumps(news)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


@form_step
async def stop(state: AppState, project: Project, form: PostedForm) -> str:
    await state.stop(project.key)
    project.forget_unfinished()
    return project.address("work")


# The end


async def leave(request: Request) -> Response:
    """End the server from the page."""
    state = state_of(request)
    await checked_form(state, request)
    answer = show(state, "left")
    answer.background = BackgroundTask(state.leave)
    return answer
