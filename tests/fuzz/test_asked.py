"""Requests that made the server fail once, and that the harness would notice it."""

from __future__ import annotations

import errno
import zipfile
from pathlib import Path
from urllib.parse import quote

import pytest

from fuzz import asked
from tamis.errors import InputError
from tamis.serve.releasing import unpack

LONG, HOME = "a" * 300, "~nobody-of-this-name/x"


def said(folder: Path, method: str, address: str, body: str = "") -> tuple[int, str]:
    path = folder / "request"
    path.write_bytes(asked._written(method, address, body))
    status, answer = asked.answer(path)
    return status, answer.decode()


@pytest.mark.parametrize("request_", asked.REQUESTS[:20])
def test_intact_requests_are_answered(tmp_path, request_):
    assert said(tmp_path, *request_)[0] < 500


@pytest.mark.parametrize("address", ["/open", "/verify"])
@pytest.mark.parametrize("path", [LONG, "a/" * 3000, HOME, "a%00b"])
def test_paths_that_no_file_can_have_are_refused(tmp_path, address, path):
    status, words = said(tmp_path, "POST", address, f"path={path}")
    assert status == 400
    assert "path" in words


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", "/checks/" + "9" * 300, 303),
        ("GET", "/checks/%C2%B2", 303),
        ("PUT", "/verify?name=manifest.json&to=" + "9" * 400, 400),
        ("POST", "/tables/1/ladder/" + "9" * 5000, 400),
        ("POST", "/tables/1/ladder/-1", 400),
    ],
)
def test_numbers_of_nothing_lead_nowhere(tmp_path, method, address, status):
    assert said(tmp_path, method, address, asked.ROLES)[0] == status


@pytest.mark.parametrize(
    "typed", ["width = " + "9" * 5000, "width = " + "[" * 3000, f'file = "{HOME}"', "{ } }"]
)
def test_ladders_that_cannot_be_read_are_refused(tmp_path, typed):
    body = f"{asked.ROLES}&ladder-1={quote(typed)}"
    assert said(tmp_path, "POST", "/tables/1/ladder/1", body)[0] == 400


def test_a_file_that_was_sent_twice_stays_as_it_was(tmp_path):
    _, first = said(tmp_path, "PUT", "/verify?name=release.csv", "one")
    to = first.partition('"to":"')[2].partition('"')[0]
    status, words = said(tmp_path, "PUT", f"/verify?name=release.csv&to={to}", "two")
    assert (status, "arrived already" in words) == (400, True)
    checks = asked._application().app.state.shared.workspace._checks  # type: ignore[attr-defined]
    assert (checks / to / "release" / "release.csv").read_text() == "one"


def test_a_server_that_fails_is_noticed(tmp_path, monkeypatch):
    async def failing(*_: object) -> tuple[int, bytes]:
        return 500, b""

    monkeypatch.setattr(asked, "_asked", failing)
    (tmp_path / "request").write_bytes(asked.request())
    with pytest.raises(AssertionError, match="500"):
        asked.ask(tmp_path / "request")


@pytest.mark.parametrize(
    "error", [zipfile.BadZipFile(), IndexError(), OSError(errno.EINVAL, "x"), EOFError()]
)
def test_an_archive_that_cannot_be_opened_is_refused(tmp_path, monkeypatch, error):
    def fails(*_: object) -> None:
        raise error

    (tmp_path / "a.zip").write_bytes(asked.archive())
    monkeypatch.setattr(zipfile.ZipFile, "open", fails)
    with pytest.raises(InputError, match="not a zip archive"):
        unpack(tmp_path / "a.zip", tmp_path)


def test_a_full_disk_is_not_taken_for_a_damaged_archive(tmp_path, monkeypatch):
    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "x")

    (tmp_path / "a.zip").write_bytes(asked.archive())
    monkeypatch.setattr(zipfile.ZipFile, "open", fails)
    with pytest.raises(OSError, match="x"):
        unpack(tmp_path / "a.zip", tmp_path)
