"""Who may come in, and how much they may bring."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from starlette.requests import Request

from tamis.errors import InputError
from tamis.serve.access import TooLarge, file_name, read_form, receive_file
from tamis.serve.server import bound
from tests.serve.running import Server

PAGES = ("/", "/verify", "/tables/1/columns", "/nowhere")


@pytest.mark.parametrize("path", [*PAGES, "/?token=wrong", "/?token="])
def test_nobody_comes_in_without_the_token(server: Server, path: str):
    answer = server.ask(path)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert server.ask(path, cookie=f"tamis-{server.port}=guess").status == 403
    assert server.ask(path, cookie="tamis-1=\x80;;=").status == 403


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(server: Server):
    answer = server.ask(f"/?token={server.token}")
    assert answer.status == 200
    assert answer.headers["refresh"] == "0; url=/"
    name, *parts = (part.strip() for part in answer.headers["set-cookie"].split(";"))
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(parts)
    assert server.token not in name
    assert server.ask("/", cookie=name).status == 200
    odd = '{"a": 1}; b[c]=d e; "; =; '  # of another server on this machine
    assert server.ask("/", cookie=odd + name).status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "", "127.0.0.1:x"])
def test_a_name_that_points_here_is_not_answered(server: Server, host: str):
    cookie = server.enter()
    assert server.ask("/", cookie=cookie, host=host).status == 403
    assert server.ask(f"/?token={server.token}", host=host).status == 403
    assert server.ask("/", cookie=cookie, host=f"localhost:{server.port}").status == 200


def test_another_page_cannot_act(server: Server):
    cookie, form = server.enter(), server.form()
    body = f"form={form}".encode()
    own = server.root
    for origin in ("http://evil.example", "null", f"http://localhost:{server.port}", f"{own}0"):
        assert server.ask("/demo", "POST", body, cookie=cookie, origin=origin).status == 403
    assert server.ask("/demo", "POST", body, cookie=cookie).status == 403  # no origin at all
    for wrong in (b"", b"form=guess", b"form="):
        answer = server.ask("/demo", "POST", wrong, cookie=cookie, origin=own)
        assert answer.status == 400
        assert "form" in answer.text
    for site in ("cross-site", "same-site"):
        assert server.ask("/", cookie=cookie, sec_fetch_site=site).status == 403
    assert server.ask("/", cookie=cookie).text.count('class="go"') == 0  # nothing was begun


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_is_closed(server: Server, path: str):
    for cookie in ("", server.enter()):
        headers = server.ask(path, cookie=cookie).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../etc/passwd", "~/.ssh/id_rsa", "link/passwd", "", "a\0b"]
)
def test_no_file_outside_the_opened_folders_is_read(server: Server, path: str):
    link = server.folder / "link"
    if not link.is_symlink():
        link.symlink_to("/etc")
    for form in ("/open", "/verify"):
        answer = server.post(form, path=path)
        assert answer.status == 400
        assert "outside the folders" in answer.text or "type the path" in answer.text
    assert "root:" not in answer.text


def test_a_folder_is_not_listed_and_a_missing_file_is_named(server: Server):
    (server.folder / "inner").mkdir(exist_ok=True)
    (server.folder / "inner" / "hidden.csv").write_text("a\n1\n")
    for path in ("inner", "inner/other.csv"):
        answer = server.post("/open", path=path)
        assert answer.status == 400
        assert "there is no file" in answer.text
        assert "hidden.csv" not in answer.text
    cookie = server.enter()
    for path in ("/tables", "/tables/", "/tables/1", "/tables/../..", "/static", "/tables/9/work"):
        assert server.ask(path, cookie=cookie).status == 404


def test_two_gigabytes_are_refused_by_their_length_alone(server: Server):
    """Not one byte of them is sent: the answer comes all the same."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as plain:
        plain.sendall(
            f"PUT /upload?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Cookie: {server.enter()}\r\nOrigin: {server.root}\r\n"
            f"X-Tamis-Form: {server.form()}\r\nContent-Length: {2 << 30}\r\n\r\n".encode()
        )
        plain.settimeout(30)
        answer = ""
        while not answer.endswith("}"):
            answer += plain.recv(65536).decode()
    assert " 413 " in answer.splitlines()[0]
    assert "larger than 1 GiB" in answer
    assert "give its path on this machine" in answer


def request_of(*blocks: bytes, **headers: str) -> Request:
    """A request whose body comes in blocks."""
    left = list(blocks)

    async def receive() -> dict[str, object]:
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    given = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return Request({"type": "http", "method": "PUT", "headers": given}, receive)


def test_a_body_that_does_not_tell_its_length_is_cut_at_the_limit(tmp_path: Path):
    path = tmp_path / "a.csv"
    asyncio.run(receive_file(request_of(b"12345", b"67890"), path, most=10))
    assert path.read_bytes() == b"1234567890"
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(TooLarge, match="larger than 10 bytes"):
        asyncio.run(receive_file(request_of(b"12345", b"678901"), tmp_path / "b", most=10))
    with pytest.raises(TooLarge, match="the form is longer than 1 MiB"):
        asyncio.run(read_form(request_of(b"a=1&" * 300_000)))
    assert not (tmp_path / "b").exists()


def test_half_a_file_is_no_file(tmp_path: Path):
    request = request_of(b"12345", b"")
    request._receive = _breaking_off(request._receive)
    with pytest.raises(InputError, match="did not arrive whole"):
        asyncio.run(receive_file(request, tmp_path / "half"))
    assert list(tmp_path.iterdir()) == []


def _breaking_off(receive):
    sent = []

    async def instead():
        sent.append(1)
        found = await receive()
        return {**found, "more_body": True} if len(sent) == 1 else {"type": "http.disconnect"}

    return instead


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../.bashrc", "bashrc"),
        ("C:\\data\\stays.csv", "stays.csv"),
        ("a\0b\n.csv", "ab.csv"),
        ("...", "table"),
        ("é" * 200 + ".csv", "é" * 75),
    ],
)
def test_the_name_of_a_dropped_file_leads_nowhere(given: str, kept: str):
    assert file_name(given) == kept


def test_the_server_listens_on_this_machine_only_and_a_second_one_finds_its_own_port():
    with bound(None) as first, bound(None) as second, bound(0) as third:
        places = {s.getsockname() for s in (first, second, third)}
        assert len(places) == 3
        assert {host for host, _ in places} == {"127.0.0.1"}
        with pytest.raises(InputError, match=f"port {third.getsockname()[1]}.*--port 0"):
            bound(third.getsockname()[1])
