"""Processes: what they tell, how they end, and that stopping leaves none behind."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tamis.serve import work as module
from tamis.serve.work import Work, Worker

TELLS = """
import json, sys
say = lambda **words: print(json.dumps(words), file=sys.stderr, flush=True)
print("tamis: note: look out", file=sys.stderr)
say(doing="reading", done=0, total=0)
say(doing="measuring", done=1, total=3)
say(made="first")
for line in sys.stdin:
    asked = json.loads(line)
    say(**({"made": asked["out"]} if asked["take"] == "b" else {"failed": "no such release"}))
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def worker(code: str, finished: Callable[[Any], None] | None = None) -> Worker:
    return Worker(Work("title", "/then", "/back", finished=finished), python(code))


async def ended(work: Work) -> dict[str, Any]:
    return [news async for news in work.news()][-1]


def run(play: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(play(), 60))


def test_a_command_answers_on_stdout():
    found: list[Any] = []

    async def play() -> None:
        one = worker("import sys, json; print(json.dumps({'got': json.load(sys.stdin)}))")
        one.work = Work("title", "/then", "/back", finished=found.append)
        await one.start({"a": 1})
        told = await ended(one.work)
        assert (told["state"], told["then"]) == ("done", "/then")
        assert not one.alive

    run(play)
    assert found == [{"got": {"a": 1}}]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; print('tamis: error: no target', file=sys.stderr); sys.exit(2)", "no target"),
        ('import sys; print(\'{"error": "empty"}\'); sys.exit(1)', "empty"),
        ("import os; os.abort()", "ended unexpectedly"),
        ("raise RuntimeError('S3CRET')", "ended unexpectedly"),
    ],
)
def test_what_went_wrong_is_said_and_nothing_else(code: str, words: str):
    async def play() -> None:
        one = worker(code)
        await one.start()
        told = await ended(one.work)
        assert (told["state"], told["then"]) == ("failed", "/back")
        assert words in told["error"]
        assert "S3CRET" not in told["error"]

    run(play)


def test_a_process_that_stays_is_given_more():
    async def play() -> None:
        one = worker(TELLS)
        await one.start(stays=True)
        assert (await ended(one.work))["state"] == "done"
        assert (one.work.doing, one.work.done, one.work.total) == ("measuring", 1, 3)
        assert one.work.notes == ["look out"]
        assert one.alive
        for take, state in (("b", "done"), ("c", "failed")):
            more = Work("more", "/then", "/back")
            await one.ask(more, {"take": take, "out": "x"})
            assert (await ended(more))["state"] == state
        await one.stop()
        assert not one.alive

    run(play)


def test_stopping_waits_until_the_process_has_cleaned_up(tmp_path):
    mark = tmp_path / "clean"
    code = (
        "import signal, sys, time, json\n"
        f"def clean(*_): open({str(mark)!r}, 'w').close(); sys.exit(130)\n"
        "signal.signal(signal.SIGTERM, clean)\n"
        "print(json.dumps({'doing': 'a', 'done': 0, 'total': 1}), file=sys.stderr, flush=True)\n"
        "time.sleep(60)\n"
    )

    async def play() -> None:
        one = worker(code)
        await one.start()
        async for news in one.work.news():
            if news["doing"] == "a":
                break
        await one.stop()
        assert one.work.state == "stopped"
        assert mark.exists()
        one.work.end("done")  # too late
        assert one.work.state == "stopped"

    run(play)


def test_a_stop_that_comes_before_the_process_ends_it():
    async def play() -> None:
        one = worker("import time; time.sleep(60)")
        await one.stop()
        await one.start()
        assert one.work.state == "stopped"
        assert not one.alive

    run(play)


def test_an_answer_after_the_stop_is_not_taken():
    found: list[Any] = []
    code = (
        "import signal, sys, time, json\n"
        "say = lambda **words: print(json.dumps(words), file=sys.stderr, flush=True)\n"
        "def answer(*_): say(made='late'); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, answer)\n"
        "say(doing='a', done=0, total=1)\n"
        "time.sleep(60)\n"
    )

    async def play() -> None:
        one = worker(code, found.append)
        await one.start()
        async for news in one.work.news():
            if news["doing"] == "a":
                break
        await one.stop()
        assert one.work.state == "stopped"

    run(play)
    assert found == []


def test_a_process_that_does_not_listen_is_killed_with_its_children(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "GRACE", 0.3)
    mark = tmp_path / "pid"
    code = (
        "import signal, subprocess, sys, time, json\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "print(json.dumps({'doing': 'a', 'done': 0, 'total': 1}), file=sys.stderr, flush=True)\n"
        "time.sleep(60)\n"
    )

    async def play() -> None:
        one = worker(code)
        await one.start()
        async for news in one.work.news():
            if news["doing"] == "a":
                break
        await one.stop()
        assert one.work.state == "stopped"
        assert not one.alive
        for _ in range(100):  # whoever adopts the child collects it
            if not _runs(int(mark.read_text())):
                return
            await asyncio.sleep(0.05)
        raise AssertionError("its child still runs")

    run(play)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_every_page_that_watches_is_told():
    async def play() -> None:
        work = Work("title", "/then", "/back")
        seen: list[list[str]] = [[], []]

        async def watch(into: list[str]) -> None:
            async for news in work.news():
                into.append(news["state"] + " " + news["doing"])

        tabs = [asyncio.create_task(watch(each)) for each in seen]
        await asyncio.sleep(0)
        for words in ("a", "b"):
            work.tell(words, 1, 2)
            await asyncio.sleep(0.01)
        work.end("done")
        await asyncio.gather(*tabs)
        assert seen[0] == seen[1] == ["working Starting", "working a", "working b", "done b"]

    run(play)
