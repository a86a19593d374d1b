"""Access control of the server, and reading forms and files within limits of size.

Other pages in the same browser can send requests here, and a hostile name server can let its own
name point here. So the Host must be ours, a cookie must prove that the token was known, and what
changes anything must come from one of our own pages and bear the token of its forms. Nobody else
gets in: only this machine, at this address, with the token.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request, cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tamis.errors import InputError

FORM = "x-tamis-form"
"""The header in which a script sends the token of a page's forms; forms have a field of it."""
HARDENED = {
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": with it a browser hides the origin of its own forms too.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
CLOSED = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The content security policy of answers that set none of their own."""
MOST_BYTES = 1 << 30
"""Largest size of a dropped file."""
MOST_FORM = 1 << 20
"""Largest size of a form, with room for the columns of a wide table."""
MOST_FIELDS = 5000


class Keys:
    """The secrets of one server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.home = "/"
        self.token, self.session, self.form = (secrets.token_urlsafe(32) for _ in range(3))

    @property
    def cookie(self) -> str:
        # Browsers do not tell ports apart; another server on this machine has its own name.
        return f"tamis-{self.port}"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> tuple[str, str]:
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def holds(self, header: str) -> bool:
        """Whether a Cookie header has the session."""
        # Lenient: an odd cookie of another server on this machine must not hide ours.
        found = cookie_parser(header).get(self.cookie)
        return found is not None and same(found, self.session)


def same(given: str, secret: str) -> bool:
    """Whether two texts are equal, in a time that does not reveal where they differ."""
    return compare_digest(given.encode(), secret.encode())


class AccessMiddleware:
    """Refuses requests without access, and hardens the headers of every answer."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def harden(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HARDENED.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", CLOSED)
            await send(message)

        await (self._refusal(scope) or self.app)(scope, receive, harden)

    def _refusal(self, scope: Scope) -> Response | None:
        """The refusal of a request; `None` if it may pass."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.keys.hosts:
            return _no("This server answers only to its own address on this machine.")
        entering = scope["path"] == "/" and scope["method"] == "GET"
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token") if entering else None
        if given:
            return self._enter(given[0])
        if not self.keys.holds(headers.get("cookie", "")):
            return _no(
                "Open the address that tamis serve printed when it started. If it has been "
                "started again since, this page belongs to the one before."
            )
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _no("Another page asked for this; only pages of this server may.")
        reading = scope["method"] in ("GET", "HEAD")
        if not reading and headers.get("origin") != f"http://{host}":
            return _no("What changes something must come from a page of this server.")
        return None

    def _enter(self, token: str) -> Response:
        if not same(token, self.keys.token):
            return _no("This is not the token of this server: copy the whole address again.")
        # Not a redirect: a browser does not send a strict cookie along one that began elsewhere.
        page = "<!doctype html><title>tamis</title><a href='/'>tamis</a>"
        entered = HTMLResponse(page, headers={"Refresh": f"0; url={self.keys.home}"})
        entered.set_cookie(self.keys.cookie, self.keys.session, httponly=True, samesite="strict")
        return entered


def _no(words: str) -> Response:
    return PlainTextResponse(f"{words}\n", status_code=403)


class TooLarge(InputError):
    """More was sent than is allowed."""


class PostedForm:
    """The fields of a form, each with any number of values."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def one(self, name: str, otherwise: str = "") -> str:
        return self._fields.get(name, [otherwise])[0]

    def all(self, name: str) -> list[str]:
        return self._fields.get(name, [])


async def read_form(request: Request) -> PostedForm:
    """The fields of a form in a browser's default encoding."""
    found = b""
    async for block in request.stream():
        found += block
        if len(found) > MOST_FORM:
            raise TooLarge(f"the form is longer than {MOST_FORM >> 20} MiB")
    try:
        fields = parse_qs(
            found.decode("utf-8"),
            keep_blank_values=True,
            strict_parsing=bool(found),
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise InputError("this is not a form of these pages") from None
    return PostedForm(fields)


def file_name(given: str) -> str:
    """The last part of a path, without anything that could lead elsewhere or hide the file.

    >>> file_name("../../etc/stays 2026.csv"), file_name("..")
    ('stays 2026.csv', 'table')
    """
    last = re.split(r"[/\\]", given)[-1]
    kept = "".join(sign for sign in last if sign.isprintable()).lstrip(". ").strip()
    return kept.encode()[:150].decode(errors="ignore") or "table"


async def receive_file(request: Request, path: Path, most: int | None = None) -> None:
    """Stream the body of a request to a new file that only its owner can read.

    A body that is too large is refused by its stated length, or at the first byte beyond the limit.
    """
    most = MOST_BYTES if most is None else most
    if int(request.headers.get("content-length") or 0) > most:
        raise _too_large(most)
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(
            "a file of this name has arrived already; drop all of them again"
        ) from None
    try:
        with open(opened, "wb") as file:
            left = most
            async for block in request.stream():
                left -= len(block)
                if left < 0:
                    raise _too_large(most)
                file.write(block)
    except BaseException as error:
        with suppress(FileNotFoundError):
            path.unlink()
        raise _in_words(error) from None


def _too_large(most: int) -> TooLarge:
    size = f"{most >> 30} GiB" if most >= 1 << 30 else f"{most:,} bytes"
    return TooLarge(
        f"the file is larger than {size}, the most that can be dropped into the page; give its "
        "path on this machine instead"
    )


def _in_words(error: BaseException) -> BaseException:
    """The error in words, where there are better ones than its own."""
    if isinstance(error, ClientDisconnect):
        return InputError("the file did not arrive whole; drop it again")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InputError("there is no room for the file in the workspace; free some space")
    return error
