"""Work in processes of its own: what it tells, when it ends, how it is stopped.

A `Work` is what a page watches. Its process is a command of tamis; it may stay after the work is
done, to be given more (see `tamis.cli.release.run`).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

from tamis.errors import ProgressShare

GRACE = 10.0
"""Seconds that a process has to clean up before it is killed."""
QUIET = 15.0
"""Seconds after which a page is told again, so that no connection looks dead."""
LONGEST_LINE = 1 << 24
NOTE, ERROR = "tamis: note: ", "tamis: error: "
"""How lines on stderr begin that are neither progress nor an answer."""
State = Literal["working", "done", "failed", "stopped"]
UNFORESEEN = "the work ended unexpectedly; run the command in a terminal to see more"


class Work:
    """Something that takes a while: what is being done, how much of it is done.

    `then` is the address to go to when it is done, `back` when it failed or was stopped; `command`
    is the command line that does the same, and `finished` is called with what was found.
    """

    def __init__(
        self,
        title: str,
        then: str,
        back: str,
        command: str = "",
        finished: Callable[[Any], None] | None = None,
    ) -> None:
        self.title, self.then, self.back, self.command = title, then, back, command
        self.state: State = "working"
        self.doing, self.done, self.total = "Starting", 0, 0
        self._far = ProgressShare()
        self.error = ""
        self.notes: list[str] = []
        self.began = time.monotonic()
        self._ended: float | None = None
        self._finished = finished
        self._changed = asyncio.Event()

    def to_dict(self) -> dict[str, Any]:
        """What a page shows; times in seconds."""
        return {
            "state": self.state,
            "doing": self.doing,
            "done": self.done,
            "total": self.total,
            "share": round(self._far.share, 4),
            "error": self.error,
            "seconds": round((self._ended or time.monotonic()) - self.began, 1),
            "then": self.then if self.state == "done" else self.back,
        }

    def tell(self, words: str, done: int = 0, total: int = 0) -> None:
        self.doing, self.done, self.total = words, done, total
        self._far.tell(done, total)
        self._notify()

    def end(self, state: State, error: str = "", result: Any = None) -> None:
        """Only the first end counts."""
        if self.state != "working":
            return
        if state == "done" and self._finished is not None:
            self._finished(result)
        self.state, self.error, self._ended = state, error, time.monotonic()
        self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def news(self) -> AsyncIterator[dict[str, Any]]:
        """What a page shows now, and again whenever it changes, until the end."""
        while True:
            changed = self._changed
            yield self.to_dict()
            if self.state != "working":
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), QUIET)

    async def ended(self) -> None:
        """Wait for the end."""
        async for _ in self.news():
            pass


class Worker:
    """A process, and the work that it is doing now."""

    def __init__(self, work: Work, arguments: Sequence[str], **environment: str) -> None:
        self.work = work
        self._arguments = list(arguments)
        self._environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
        self._process: asyncio.subprocess.Process | None = None
        self._following: asyncio.Task[None] | None = None
        self._stopping = False
        self._error = UNFORESEEN

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self, given: Any = None, *, stays: bool = False) -> None:
        """Start the process; `given` goes to its stdin as JSON, which stays open if it `stays`."""
        self._process = await asyncio.create_subprocess_exec(
            *self._arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
            start_new_session=True,  # Ctrl-C in the terminal is the server's to handle
            limit=LONGEST_LINE,
        )
        if given is not None:
            await self._send(given)
        if not stays:
            self._pipe.close()
        self._following = asyncio.create_task(self._follow(self._process))
        if self._stopping:  # asked for while the process was being made
            await self.stop()

    async def ask(self, work: Work, question: Any) -> None:
        """Give a process that stayed more work."""
        self.work = work
        await self._send(question)

    @property
    def _pipe(self) -> asyncio.StreamWriter:
        assert self._process is not None
        assert self._process.stdin is not None
        return self._process.stdin

    async def _send(self, content: Any) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # its end is told by following it
            self._pipe.write(json.dumps(content).encode() + b"\n")
            await self._pipe.drain()

    async def _follow(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        written, _ = await asyncio.gather(process.stdout.read(), self._hear(process.stderr))
        code = await process.wait()
        if self._stopping:
            self.work.end("stopped")
            return
        answer = _answer(written)
        if code == 0:
            self.work.end("done", result=answer)
        else:
            told = answer.get("error") if isinstance(answer, dict) else None
            self.work.end("failed", str(told or self._error))

    async def _hear(self, lines: asyncio.StreamReader) -> None:
        async for line in lines:
            text = line.decode("utf-8", "replace").rstrip("\n")
            if text.startswith("{"):
                self._take(json.loads(text))
            elif text.startswith(NOTE):
                self.work.notes.append(text.removeprefix(NOTE))
            elif text.startswith(ERROR):
                self._error = text.removeprefix(ERROR)

    def _take(self, told: dict[str, Any]) -> None:
        if self._stopping:  # an answer that crossed the stop on its way is not taken
            return
        if "made" in told:
            self.work.end("done", result=told["made"])
        elif "failed" in told:
            self.work.end("failed", told["failed"])
        else:
            self.work.tell(told["doing"], told["done"], told["total"])

    async def stop(self) -> None:
        """End the process as Ctrl-C would, and wait until it has cleaned up behind itself."""
        self._stopping = True
        if self._process is None or self._following is None:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(asyncio.shield(self._following), GRACE)
        except TimeoutError:
            self._kill(self._process)
            await self._following

    def _kill(self, process: asyncio.subprocess.Process) -> None:
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):  # its own children too
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


def _answer(written: bytes) -> Any:
    try:
        return json.loads(written)
    except ValueError:
        return None
