"""Two files are dropped into a page, and the judgement of one beside the other is shown."""

from __future__ import annotations

import json
import time
from pathlib import Path
from urllib.parse import urlencode

import polars as pl
import pytest

from tamis.datasets import patients
from tests.serve.running import Answer, Server

SAID = {"target": "readmitted", "sensitive": "hiv", "quasi": "zip,sex", "identifier": "patient"}


@pytest.fixture(scope="module")
def pair(server: Server) -> tuple[Path, Path]:
    """A table, and coarser rows of it that a colleague made, in the folder that is open."""
    frame = patients(rows=300).frame
    original, released = (server.folder / name for name in ("stays.csv", "coarse.csv"))
    frame.write_csv(original)
    coarse = frame.select(
        (pl.col("zip").cast(pl.String).str.slice(0, 3) + "**").alias("zip"), "sex", "readmitted"
    )
    coarse.reverse().write_csv(released)
    return original, released


def put(server: Server, part: str, path: Path, to: str = "", **headers: str) -> Answer:
    address = f"/judge?{urlencode({'part': part, 'name': path.name, 'to': to})}"
    sent = {"cookie": server.enter(), "origin": server.root, "x_tamis_form": server.form()}
    return server.ask(address, "PUT", path.read_bytes(), **(sent | headers))


def judged(server: Server, begun: Answer) -> str:
    """The address of the judgement, once it is there."""
    assert begun.status == 303, begun.text
    key = begun.headers["location"].removesuffix("/work")
    for _ in range(300):
        answer = server.ask(f"{key}/work", cookie=server.enter())
        if answer.status == 303:
            return answer.headers["location"]
        assert "This cannot be done" not in answer.text, answer.text
        time.sleep(0.2)
    raise AssertionError("the judgement did not end")


def test_two_dropped_files_are_judged_and_then_removed(server: Server, pair):
    number = json.loads(put(server, "original", pair[0]).text)["to"]
    assert json.loads(put(server, "released", pair[1], number).text)["to"] == number
    place = judged(server, server.post("/judge", to=number, **SAID))
    shown = server.ask(place, cookie=server.enter()).text
    assert f'<iframe src="{place}/page"' in shown
    assert "--quasi=zip,sex" in shown.replace('<span class="flag">', "").replace("</span>", "")
    page = server.ask(f"{place}/page", cookie=server.enter())
    assert page.headers["content-security-policy"].startswith("sandbox")
    assert "coarse.csv" in page.text
    assert "Each row is one of the original" in page.text
    kept = server.ask(f"{place}/page?keep", cookie=server.enter())
    assert "attachment" in kept.headers["content-disposition"]
    (folder,) = server.workspaces()
    left = {path.name for path in (folder / "checks" / number).iterdir()}
    assert left == {"judgement.html", "command.json"}


def test_paths_of_this_machine_are_judged_where_they_are(server: Server, pair):
    begun = server.post("/judge", original="stays.csv", released="coarse.csv\r\n", **SAID)
    place = judged(server, begun)
    assert str(pair[1]) in server.ask(place, cookie=server.enter()).text
    assert pair[0].is_file()
    assert pair[1].is_file()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "give one original, and at least one table that was made of it"),
        ({"original": "stays.csv"}, "give one original, and at least one table"),
        ({"original": "gone.csv", "released": "coarse.csv"}, "there is no file"),
        ({"original": "/etc/passwd", "released": "coarse.csv"}, "outside the folders"),
        ({"to": "99", "released": "coarse.csv"}, "no longer here; drop them again"),
        ({"to": "../1", "released": "coarse.csv"}, "no longer here; drop them again"),
    ],
)
def test_what_cannot_be_judged_is_said(server: Server, pair, fields, words):
    answer = server.post("/judge", **fields, quasi="zip,sex")
    assert 'role="alert"' in answer.text
    assert words in answer.text
    assert 'value="zip,sex"' in answer.text


def test_a_column_that_is_not_there_is_said_by_the_command(server: Server, pair):
    begun = server.post("/judge", original="stays.csv", released="coarse.csv", target="readmited")
    key = begun.headers["location"]
    for _ in range(300):
        answer = server.ask(key, cookie=server.enter())
        if "This cannot be done" in answer.text:
            break
        time.sleep(0.2)
    assert "readmitted" in answer.text
    assert 'href="/judge"' in answer.text


@pytest.mark.parametrize(
    ("part", "headers", "status", "words"),
    [
        ("letters", {}, 400, "belong to no part of the page"),
        ("original", {"x_tamis_form": "guess"}, 400, "before the server was started again"),
        ("original", {"cookie": ""}, 403, "Open the address"),
    ],
)
def test_files_from_elsewhere_are_refused(server: Server, pair, part, headers, status, words):
    answer = put(server, part, pair[0], **headers)
    assert answer.status == status
    assert words in answer.text


def test_no_judgement_before_it_is_there(server: Server):
    for address in ("/judged/99", "/judged/99/page", "/judged/..%2f1"):
        assert server.ask(address, cookie=server.enter()).status in (303, 404)
