"""The state of a server: its projects, its workers, the folders it may use."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tamis.errors import InputError
from tamis.serve import PASSING, SERVED
from tamis.serve.access import Keys, file_name
from tamis.serve.fields import typed_ladder
from tamis.serve.project import RELEASED, Project, toml
from tamis.serve.work import Work, Worker
from tamis.serve.workspace import Workspace


@dataclass
class AppState:
    """The state that all pages share."""

    workspace: Workspace
    keys: Keys
    tamis: Sequence[str]
    """The words of a command line that run tamis."""
    opened: tuple[Path, ...]
    """The folders that the person opened: no file elsewhere is read or written."""
    first: str | None = None
    """A table to begin with."""
    leave: Callable[[], None] = lambda: None
    """Ends the server."""
    works: dict[str, Work] = field(default_factory=dict)
    """The last work begun for each table or check, by its address."""
    typed: dict[str, str] = field(default_factory=dict)
    """The configuration of a form before it is sent, by the address of its table."""
    copies: list[Path] = field(default_factory=list)
    """Dropped files that the person asked to keep: they outlive the server."""
    workers: list[Worker] = field(default_factory=list)
    releasing: tuple[str, Worker] | None = None
    """The table that is being compared, or was last, and its process."""
    counting: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a ladder is counted: one at a time, since each reads its table."""

    def place(self, text: str) -> Path:
        """A typed path, if it lies below a folder that the person opened."""
        if not text.strip() or "\0" in text:
            raise InputError("type the path of a file or folder")
        try:
            typed = Path(text.strip()).expanduser()
            path = Path(os.path.normpath(self.opened[0] / typed))
            real = path.resolve()
            path.exists()  # fails for a name that no file can have
        except (OSError, RuntimeError):  # RuntimeError: somebody's home who is not here
            raise InputError("no file or folder can have this path; type another") from None
        if not any(real.is_relative_to(folder) for folder in self.opened):
            folders = ", ".join(map(str, self.opened))
            raise InputError(
                f"{path} lies outside the folders that are open here ({folders}); drop the file "
                "into the page, or start tamis serve in its folder"
            )
        return path

    def add_table(self, path: str, name: str, folder: Path | None = None) -> Project:
        """A new project; `folder` is given where it already holds the table."""
        place = folder or self.workspace.new_folder()
        return self.workspace.add(Project(place, name, path, own=folder is not None))

    async def begin(self) -> None:
        """Look at the table to begin with, unless that was done before the server last ended."""
        if self.first is None:
            return
        known = [p for p in self.workspace.projects.values() if p.path == self.first]
        project = known[-1] if known else self.add_table(self.first, Path(self.first).name)
        self.keys.home = project.address("columns" if known else "work")
        if not known:
            await self.look(project)

    # Work

    async def run(
        self, key: str, work: Work, arguments: Sequence[str], given: Any = None
    ) -> Worker:
        """Begin a command that ends by itself."""
        return await self.start(key, work, Worker(work, arguments), given)

    async def start(self, key: str, work: Work, worker: Worker, given: Any = None) -> Worker:
        self._keep(key, work, worker)
        await worker.start(given)
        return worker

    def _keep(self, key: str, work: Work, worker: Worker) -> None:
        self.works[key] = work
        self.workers = [w for w in self.workers if w.alive] + [worker]

    def task(self, name: str) -> list[str]:
        """The command line that runs a task in a process of its own."""
        return [sys.executable, "-m", "tamis.serve.tasks", name]

    async def stop(self, key: str) -> None:
        work = self.works.get(key)
        for worker in [w for w in self.workers if w.work is work]:
            await worker.stop()

    async def stop_all(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self.workers))

    # Steps that take a while

    async def look(
        self, project: Project, known: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        """Read the table and find out what its columns hold; with `made`, of the demo table."""

        def finished(found: dict[str, Any]) -> None:
            project.write("look.json", json.dumps(found))
            project.believe(found, known)
            project.save()

        then = project.address("columns")
        work = Work("Reading the table", then, "/", finished=finished)
        given = {"source": project.path, **project.reading, **more}
        await self.run(project.key, work, self.task("look"), given)

    async def ladder(self, project: Project, column: str) -> dict[str, Any]:
        """The ladder of a column with the people in each group, or its error."""
        if project.roles[column] not in RELEASED:
            raise InputError(
                f"{column!r} will not be released; call it known or ordinary to give it coarser "
                "forms"
            )
        found: dict[str, Any] = {}
        here = project.address("columns")
        work = Work("Counting coarser forms", here, here, finished=found.update)
        config = project.folder / "ladder.toml"
        asked = ["ladder", project.path, f"--config={config}", f"--column={column}", "--json"]
        async with self.counting:
            project.write(config.name, toml(project.ladder_options))
            await self.run(f"{project.key}/ladder", work, [*self.tamis, *asked])
            await work.ended()
        if work.state != "done":
            raise InputError(work.error or "this was stopped; load the page again")
        return found

    async def checked_ladders(
        self, project: Project, typed: Mapping[str, str]
    ) -> dict[str, dict[str, Any]]:
        """The typed ladder of each column, if it fits; unchanged ones are not checked again."""
        roles, before = project.roles, project.ladders
        kept = {c: how for c, how in before.items() if roles.get(c) not in RELEASED}
        for column, text in typed.items():
            if text.strip() and roles[column] in RELEASED:
                kept[column] = typed_ladder(column, text, self.place)
                if kept[column] != before.get(column):
                    await self.ladder(replace(project, ladders={column: kept[column]}), column)
        return kept

    async def audit(self, project: Project) -> None:
        """Measure how exposed the table is."""
        options, roles = project.source_options, dict(project.roles)
        # Without what is asked for: an attacker may know what is called something else by now.
        project.write("tamis.toml", toml(options))

        def finished(found: dict[str, Any]) -> None:
            # What is a copy of the target is known now: to call it ordinary says that it belongs.
            project.keys = list(dict.fromkeys([*project.keys, *found.get("copies", ())]))
            project.audited = project.source_options if project.roles == roles else options
            project.write("audit.json", json.dumps({**found, "notes": work.notes}))
            project.save()

        shown = project.command("audit", options)
        then, back = project.address("exposure"), project.address("columns")
        work = Work("Measuring how exposed it is", then, back, shown, finished)
        arguments = project.arguments("audit", options, "--json")
        await self.run(project.key, work, [*self.tamis, *arguments])

    async def compare(self, project: Project, take: str | None = None) -> None:
        """Search for releases and compare them; a named one is drafted."""
        await self._free_for(project)
        options = dict(project.release_options)
        more = [] if take is None else [f"--choose-release={take}", f"--seed={project.seed()}"]
        project.forget_drafts()
        project.write("tamis.toml", toml(options))
        work = self._comparing(project, options, take)
        out = project.folder / "drafts" / "0"
        arguments = project.arguments("release", options, *more, "--out", str(out))
        passing = project.own and not self.workspace.kept
        worker = Worker(work, [*self.tamis, *arguments], **{SERVED: PASSING if passing else "1"})
        self._keep(project.key, work, worker)
        self.releasing = (project.id, worker)
        await worker.start(stays=True)

    def _comparing(self, project: Project, options: dict[str, Any], take: str | None) -> Work:
        def finished(made: str) -> None:
            project.compared, project.notes = options, work.notes
            name = project.add_draft(Path(made))
            project.suggested = name if take is None else project.suggested
            project.save()

        then = "compare" if take is None else "preview"
        work = Work(
            "Drawing rows that describe nobody"
            if project.is_synthetic
            else "Looking for releases and comparing them",
            project.address(then),
            project.address("synthetic" if project.is_synthetic else "settings"),
            project.command("release", options, "--out", "DIR"),
            finished,
        )
        return work

    def is_comparing(self, project: Project) -> bool:
        number, worker = self.releasing or ("", None)
        return number == project.id and worker is not None and worker.work.state == "working"

    async def _free_for(self, project: Project) -> None:
        """One comparison at a time: each uses the whole machine."""
        if self.releasing is None:
            return
        number, worker = self.releasing
        if worker.work.state == "working":
            busy = self.workspace.projects[number].name
            raise InputError(
                f"releases of {busy} are being compared; stop that first, or wait until it is done"
            )
        await worker.stop()

    async def take(self, project: Project, name: str) -> None:
        """Draft the named release: by the process that compared it, or by a new one."""
        number, worker = self.releasing or ("", None)
        if number != project.id or worker is None or not worker.alive:
            await self.compare(project, name)
            return
        then, back = project.address("preview"), project.address("compare")
        shown = project.release_command(name)
        out = project.draft(name)

        def finished(_: str) -> None:
            project.add_draft(out)
            project.save()

        work = Work("Writing what it would publish", then, back, shown, finished)
        self.works[project.key] = work
        await worker.ask(work, {"take": name, "out": str(out)})

    async def publish(self, project: Project, name: str, out: Path, force: bool) -> None:
        """Copy a draft to where the person wants it, and verify it."""

        def finished(found: dict[str, Any]) -> None:
            project.published = [
                *(p for p in project.published if p["out"] != found["out"]),
                {**found, "name": name, "command": shown},
            ]
            project.save()

        shown = project.release_command(name, str(out))
        then = project.address("published")
        back = project.address(f"preview?of={project.drafts[name]}")
        work = Work("Writing and verifying", then, back, shown, finished)
        asked = {
            "draft": str(project.draft(name)),
            "out": str(out),
            "config": toml({**project.release_options, **project.taking(name)}),
            "force": force,
        }
        await self.run(project.key, work, self.task("hand_over"), asked)

    async def forget(self, project: Project) -> None:
        if self.releasing and self.releasing[0] == project.id:
            await self.releasing[1].stop()
            self.releasing = None
        await self.stop(f"{project.key}/ladder")
        await self.stop(project.key)
        self.workspace.forget(project)


def default_out(project: Project, state: AppState) -> Path:
    """A folder beside the table, or where the server was started; one that is not there yet."""
    above = state.opened[0] if project.own else Path(project.path.partition("::")[0]).parent
    stem = file_name(project.name).split(".")[0]
    names = (f"{stem}-release" if i == 1 else f"{stem}-release-{i}" for i in range(1, 10_000))
    return next(above / name for name in names if not (above / name).exists())
