"""Requests to `tamis serve` as bytes, answered in this process: no answer is 500 or shows a cell.

A request is written as `METHOD /address`, lines of headers, an empty line and a body. What would
start a process starts none: the door is what is tried, not the work behind it.
"""

from __future__ import annotations

import asyncio
import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from tamis.errors import InputError
from tamis.serve.access import FORM, Keys
from tamis.serve.app_state import AppState
from tamis.serve.project import Project
from tamis.serve.releasing import PUBLIC, unpack
from tamis.serve.server import application
from tamis.serve.tasks import look
from tamis.serve.work import Work, Worker
from tamis.serve.workspace import Workspace

PORT = 8765
TOKEN = "f" * 43
TABLE = "who,age,job é,ill\n" + "\n".join(f"zqcell{i},{20 + i},cook,no" for i in range(30))
ROLES = "role-0=identifier&role-1=quasi&role-2=feature&role-3=target"
PATHS = ("t.csv", "../../etc/passwd", "~root/x", "a%00b", "%2e%2e%2f", "t.duckdb::t", "/etc/passwd")
REQUESTS = (
    *(("GET", path, "") for path in ("/", "/verify", "/tables/1/columns", "/tables/1/settings")),
    *(("GET", f"/tables/1/{page}", "") for page in ("exposure", "compare", "preview?of=0", "work")),
    *(("GET", f"/tables/1/{page}", "") for page in ("archive", "published", "tamis.toml")),
    *(("GET", path, "") for path in ("/tables/1/drafts/0/holder", "/checks/1", "/checks/1/work")),
    *(("POST", "/open", f"path={path}") for path in PATHS),
    *(("POST", "/verify", f"path={path}") for path in PATHS[:3]),
    ("POST", "/tables/1/columns", ROLES),
    ("POST", "/tables/1/columns", f"{ROLES}&row_is_person=on&ladder-1=width+%3D+%5B5%2C+10%5D"),
    ("POST", "/tables/1/ladder/1", f"{ROLES}&ladder-1=%7B+width+%3D+%5B5%5D%2C+top+%3D+90+%7D"),
    ("POST", "/tables/1/ladder/2", f"{ROLES}&ladder-2=file+%3D+%22t.csv%22"),
    ("POST", "/tables/1/reading", "missing=%3F+NA&separator=tab&encoding=utf-8"),
    ("POST", "/tables/1/settings", "k=5&l=&t=10&caution=1&methods=front&methods=noise&write="),
    ("POST", "/tables/1/settings", "k=5&absences=1&max_suppressed=2&sampling=1&population=t.csv"),
    ("POST", "/tables/1/take", "name=age"),
    ("POST", "/tables/1/publish", "draft=0&out=out&force=on"),
    ("POST", "/tables/1/stop", ""),
    ("PUT", "/upload?name=t.csv", "who,age\nzqcell1,3\n"),
    ("PUT", "/upload?name=..%2F..%2Fx", "who,age\nzqcell1,3\n"),
    ("PUT", "/verify?name=manifest.json&to=&last=yes", "{}"),
    ("PUT", "/verify?name=release.csv&to=1", "who,age\nzqcell1,3\n"),
    ("PUT", "/verify?name=r.zip&last=yes", "PK\x05\x06" + "\0" * 18),
)


def _written(method: str, address: str, body: str) -> bytes:
    """A request as one of our own pages would send it."""
    head = [
        f"{method} {address}",
        f"host: 127.0.0.1:{PORT}",
        f"cookie: tamis-{PORT}={TOKEN}",
        f"origin: http://127.0.0.1:{PORT}",
        f"{FORM}: {TOKEN}",
    ]
    sent = f"form={TOKEN}&{body}" if method == "POST" else body
    return "\n".join([*head, "", sent]).encode("latin-1")


_EACH = cycle(REQUESTS)


def request() -> bytes:
    """Another intact request each time."""
    return _written(*next(_EACH))


class QuietState(AppState):
    """A server that starts nothing."""

    async def run(
        self, key: str, work: Work, arguments: Sequence[str], given: Any = None
    ) -> Worker:
        json.dumps([*map(str, arguments), given])  # what would be sent can be sent
        self.works[key] = work
        work.end("failed", "nothing is started here")
        return Worker(work, [])

    async def ladder(self, project: Project, column: str) -> dict[str, Any]:
        raise InputError("ladders are not counted here")

    async def compare(self, project: Project, take: str | None = None) -> None:
        json.dumps(project.arguments("release", project.release_options))

    async def forget(self, project: Project) -> None:
        """The table stays, for the next request."""


@cache
def _application() -> ASGIApp:
    """A server with one table that was looked at."""
    folder = Path(tempfile.mkdtemp())
    (folder / "open").mkdir()
    table = folder / "open" / "t.csv"
    table.write_text(TABLE, encoding="utf-8")
    keys = Keys(PORT)
    keys.token = keys.session = keys.form = TOKEN
    state = QuietState(Workspace(folder, False), keys, ["true"], (folder / "open",))
    project = state.add_table(str(table), table.name)
    found = look(str(table))
    project.write("look.json", json.dumps(found))
    project.believe(found)
    project.save()
    return application(state)


def answer(path: Path) -> tuple[int, bytes]:
    """What the server answers to a request in a file: its status and body."""
    head, _, body = path.read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, target = first.partition(b" ")
    address, _, query = target.partition(b"?")
    pairs = [line.partition(b":")[::2] for line in lines if b":" in line]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method.decode("latin-1"),
        "path": _unquoted(address),
        "raw_path": address,
        "query_string": query,
        "root_path": "",
        "scheme": "http",
        "server": ("127.0.0.1", PORT),
        "client": ("127.0.0.1", 1),
        "headers": [(name.strip().lower(), value.strip()) for name, value in pairs],
    }
    return asyncio.run(_asked(scope, body))


def _unquoted(address: bytes) -> str:
    from urllib.parse import unquote

    return unquote(address.decode("latin-1")) or "/"


async def _asked(scope: Scope, body: bytes) -> tuple[int, bytes]:
    found: dict[str, Any] = {"status": 0, "body": b""}
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        found["status"] = message.get("status", found["status"])
        found["body"] += message.get("body", b"")

    await _application()(scope, receive, send)
    return found["status"], found["body"]


def ask(path: Path) -> int:
    """The status of an answer; an error where the server failed or showed a cell."""
    status, body = answer(path)
    if status >= 500 or not status:
        raise AssertionError(f"status {status}")
    if status >= 400 and b"zqcell1" in body:
        raise AssertionError("an answer shows a cell")
    return status


def archive() -> bytes:
    """A release to be verified, as one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in PUBLIC[:3]:
            packed.writestr(f"out/{name}", "some zqcell1 text " * 20)
    return file.getvalue()


def opened(path: Path) -> object:
    """The files of an archive, each under one of the names that a release has."""
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder) / "release"
        inside.mkdir()
        try:
            unpack(path, inside)
        finally:
            strange = {p.name for p in Path(folder).rglob("*")} - {"release", *PUBLIC}
            if strange:
                raise AssertionError(f"{len(strange)} files of other names")
    return inside
