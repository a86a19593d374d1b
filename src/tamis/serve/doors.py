"""Who may come in: this machine, this address, whoever has the token, and no page of others.

Other pages in the same browser can send requests here, and a hostile name server can let its own
name point here. So the Host must be ours, a cookie must prove that the token was known, and what
changes anything must come from one of our own pages and bear the token of its forms.
"""

from __future__ import annotations

import secrets
from hmac import compare_digest
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
"""The policy of whatever says nothing of its own."""


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
    """Whether two texts are equal, without telling by the time it takes how far they are."""
    return compare_digest(given.encode(), secret.encode())


class Doors:
    """Lets through what may come in, and gives every answer the headers of a closed house."""

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
        """What to answer instead; nothing for those who may come in."""
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
            return _no("Another page asked for this, which it may not.")
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
