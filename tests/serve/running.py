"""A real `tamis serve` in a folder of its own, and a plain client for it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Server:
    process: subprocess.Popen[str]
    address: str
    folder: Path
    """Where it was started, and where temporary files go, in `tmp`."""

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    def ask(self, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
        """One request with exactly these headers; underscores stand for hyphens."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            given = {"host": f"127.0.0.1:{self.port}", "content_length": str(len(body)), **headers}
            for name, value in given.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body or None)
            return _answer(connection.getresponse())
        finally:
            connection.close()

    def enter(self) -> str:
        """The cookie that the token gives."""
        return self.ask(f"/?token={self.token}").headers["set-cookie"].split(";")[0]

    def form(self) -> str:
        """The token of the forms of its pages."""
        found = re.search(r'data-form="([^"]+)"', self.ask("/", cookie=self.enter()).text)
        assert found
        return found[1]

    def post(self, path: str, /, **fields: str) -> Answer:
        """A form as one of its own pages would send it."""
        body = urlencode({"form": self.form(), **fields}).encode()
        return self.ask(path, "POST", body, cookie=self.enter(), origin=self.root)

    def workspaces(self) -> list[Path]:
        return list((self.folder / "tmp").glob("tamis-serve-*"))

    def end(self, by: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.process.wait(30)


def _answer(response: HTTPResponse) -> Answer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, response.read().decode("utf-8", "replace"))


@contextmanager
def serving(folder: Path, *args: str, port: int = 0) -> Iterator[Server]:
    """A server that is ended, at the latest, with the block."""
    (folder / "tmp").mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "tamis.cli", "serve", *args, "--port", str(port), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
    )
    with process:
        try:
            assert process.stdout is not None
            yield Server(process, process.stdout.readline().strip(), folder)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(30)
