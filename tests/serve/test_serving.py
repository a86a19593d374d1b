"""The server as a process: where it is, how it ends, what it leaves, what it finds again."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.datasets import patients
from tamis.serve.steps import DEMO
from tests.long import long
from tests.serve.running import Answer, Server, serving


def wait_for(ask: Callable[[], Answer], done: Callable[[Answer], bool]) -> Answer:
    for _ in range(600):
        answer = ask()
        if done(answer):
            return answer
        time.sleep(0.1)
    raise AssertionError(f"still {answer.status}: {answer.text[-2000:]}")


def looked_at(server: Server, number: int = 1) -> Answer:
    """The page of the columns, once the table has been read."""
    cookie = server.enter()
    path = f"/tables/{number}/columns"
    return wait_for(lambda: server.ask(path, cookie=cookie), lambda a: a.status == 200)


def children(pid: int) -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(words[1]) == pid and words[0] != "Z":
            found.add(int(stat.parent.name))
    return found


def test_ended_in_the_middle_of_work_it_leaves_nothing(tmp_path: Path):
    with serving(tmp_path) as server:
        server.post("/demo")
        assert "What is each column?" in looked_at(server).text
        roles = {f"role-{i}": role for i, role in enumerate(DEMO.values())}
        assert server.post("/tables/1/columns", **roles).headers["location"] == "/tables/1/work"
        at_work = children(server.process.pid)
        assert len(at_work) == 1
        assert len(server.workspaces()) == 1
        assert server.workspaces()[0].stat().st_mode & 0o777 == 0o700
        assert server.end() == 0
        assert server.workspaces() == []
        assert not any(Path(f"/proc/{pid}").exists() for pid in at_work)
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()


def test_a_page_can_end_it(tmp_path: Path):
    with serving(tmp_path) as server:
        assert "tamis has ended" in server.post("/leave").text
        assert server.process.wait(20) == 0
        assert server.workspaces() == []


@long
def test_a_server_that_is_started_again_goes_on_where_it_was(tmp_path: Path):
    patients(rows=60).frame.write_csv(tmp_path / "stays.csv")
    with serving(tmp_path, "stays.csv", "--workspace", "space") as server:
        old = server.enter()
        assert server.ask(f"/?token={server.token}").headers["refresh"] == "0; url=/tables/1/work"
        looked_at(server)
        port = server.port
    with serving(tmp_path, "stays.csv", "--workspace", "space", port=port) as again:
        refused = again.ask("/", cookie=old)
        assert refused.status == 403
        assert "started again" in refused.text
        home = again.ask(f"/?token={again.token}").headers["refresh"]
        assert home == "0; url=/tables/1/columns"
        assert "viral_load_test" in again.ask("/tables/1/columns", cookie=again.enter()).text
        assert again.ask("/tables/1/work", cookie=again.enter()).status == 303
        assert again.post("/tables/1/forget").headers["location"] == "/"
        assert again.ask("/tables/1/columns", cookie=again.enter()).status == 404
        assert (tmp_path / "stays.csv").exists()  # only what was dropped in is removed


def test_what_a_workspace_holds_that_cannot_be_read_is_named_on_the_page(tmp_path: Path):
    notes = tmp_path / "space" / "tables" / "my <notes>" / "thesis.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("years of work")
    (tmp_path / "space" / "tamis-workspace").touch()
    with serving(tmp_path, "--workspace", "space") as server:
        page = server.ask("/", cookie=server.enter()).text
        assert "<code>tables/my &lt;notes&gt;</code>" in page
    assert notes.read_text() == "years of work"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["missing.csv"], "there is no file missing.csv"),
        (["--workspace", "none/space"], "cannot use none/space as a workspace"),
        (["--port", "70000"], "--port"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(tmp_path: Path, args: list[str], words: str):
    done = subprocess.run(
        [sys.executable, "-m", "tamis.cli", "serve", "--no-browser", *args],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_days_in_doubt_are_asked_for_on_the_page_and_reading_options_are_on_the_first(server):
    start = server.ask("/", cookie=server.enter()).text
    for name in ("separator", "decimal", "thousands", "dates", "encoding"):
        assert f'name="{name}"' in start
    (server.folder / "days.csv").write_text("on;y\n03/04/2021;a\n05/06/2021;b\n")
    work = server.post("/open", path="days.csv").headers["location"]
    page = page_after(server, work, "Reading the table")
    assert "can be read in two ways" in page
    assert "“Dates begin with”" in page
    assert 'name="dates"' in page
    again = server.post(work.replace("/work", "/reading"), dates="dmy").headers["location"]
    assert "read with ;" in page_after(server, again, "Reading the table")
    work = server.post("/open", path="days.csv", dates="mdy").headers["location"]
    assert "read with ;" in page_after(server, work, "Reading the table")


def page_after(server: Server, path: str, title: str) -> str:
    """The page that comes after the work of this title."""
    for _ in range(300):
        answer = server.ask(path, cookie=server.enter())
        if answer.status == 303:
            path = answer.headers["location"]
        elif f"<h1>{title}</h1>" not in answer.text:
            return answer.text
        else:
            time.sleep(0.1)
    raise AssertionError(title)
