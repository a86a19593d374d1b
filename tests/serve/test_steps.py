"""What pages offer: every format, dropped files that are kept, a command that is current."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from tamis.cli.release.run import Request
from tamis.cli.table_source import TableSource
from tamis.datasets import stays
from tamis.serve import PASSING, SERVED, pages
from tamis.serve.pages import singling_sets
from tamis.serve.releasing import learnt_groups
from tamis.serve.steps import DEMO
from tamis.settings import Settings
from tamis.verification.claims import unique_words
from tamis.verification.layout import CHECK_WORDS
from tamis.verification.verify import verify
from tests.publication.conftest import analysis, copy, outcome, published, quick_look
from tests.serve.running import Server, serving
from tests.serve.test_serving import looked_at

__all__ = ["analysis", "copy", "outcome", "published", "quick_look"]  # fixtures
ROLES = {f"role-{at}": role for at, role in enumerate(DEMO.values())}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("steps")
    stays(rows=300).frame.write_csv(folder / "stays.csv")
    with serving(folder, "stays.csv") as found:
        looked_at(found)
        yield found


def test_the_command_follows_the_form_before_it_is_sent(server: Server):
    before = server.ask("/tables/1/tamis.toml", cookie=server.enter()).text
    said = server.post(
        "/tables/1/command/columns", **ROLES | {f"role-{list(DEMO).index('zip')}": "drop"}
    )
    assert "--drop=zip" in json.loads(said.text)["command"]
    typed = server.ask("/tables/1/tamis.toml", cookie=server.enter()).text
    assert tomllib.loads(typed)["drop"] == ["zip"]
    server.ask("/tables/1/columns", cookie=server.enter())  # a page that is loaded anew is as kept
    assert server.ask("/tables/1/tamis.toml", cookie=server.enter()).text == before
    none = server.post("/tables/1/command/columns", **dict.fromkeys(ROLES, "drop"))
    assert (none.status, json.loads(none.text)) == (200, {"command": None})


def test_the_command_follows_the_limits_and_there_is_none_of_what_cannot_be_asked(server: Server):
    said = server.post("/tables/1/command/settings", k="7", l="3")
    assert {"--k=7", "--l=3"} <= set(json.loads(said.text)["command"].split())
    wrong = server.post("/tables/1/command/settings", k="0")
    assert (wrong.status, json.loads(wrong.text)) == (200, {"command": None})


def test_the_command_follows_who_might_try(server: Server):
    both = "neighbour: knows zip, sex; k=9\r\nboss: knows job"
    said = server.post("/tables/1/command/settings", k="5", attacker=both)
    flags = shlex.split(json.loads(said.text)["command"])
    assert {"--attacker=neighbour: knows zip, sex; k=9", "--attacker=boss: knows job"} <= {*flags}
    typed = server.ask("/tables/1/tamis.toml", cookie=server.enter()).text
    assert tomllib.loads(typed)["attacker"] == both.split("\r\n")
    wrong = server.post("/tables/1/command/settings", k="5", attacker="boss: knows nothing")
    assert json.loads(wrong.text) == {"command": None}


def test_attackers_are_rows_of_a_form(server: Server):
    asked = {
        "k": "5",
        "who-0-name": "neighbour",
        "who-0-knows": "zip",
        "who-0-k": "9",
        "who-0-told": "12.5",
        "who-1-name": "",
        "who-2-name": "boss",
        "who-2-knows": "job",
        "who-2-more": "t=0.3",
    }
    said = server.post("/tables/1/command/settings", **asked)
    flags = shlex.split(json.loads(said.text)["command"])
    wanted = ["neighbour: knows zip; k=9; max_told=0.125", "boss: knows job; t=0.3"]
    assert [f.removeprefix("--attacker=") for f in flags if f.startswith("--attacker")] == wanted


def dropped(server: Server, name: str, keep: str) -> str:
    body = pl.DataFrame({"a": range(40), "b": ["x", "y"] * 20}).write_csv().encode()
    headers = {"cookie": server.enter(), "origin": server.root, "x_tamis_form": server.form()}
    return server.ask(f"/upload?name={name}&keep={keep}", "PUT", body, **headers).text


def test_a_dropped_file_is_kept_where_that_is_asked_and_replaces_nothing(server: Server):
    assert "go" in json.loads(dropped(server, "mine.csv", "no"))
    assert not (server.folder / "mine.csv").exists()
    assert "go" in json.loads(dropped(server, "mine.csv", "yes"))
    kept = server.folder / "mine.csv"
    assert kept.stat().st_mode & 0o777 == 0o600
    before = kept.read_bytes()
    assert "already" in json.loads(dropped(server, "mine.csv", "yes"))["error"]
    assert kept.read_bytes() == before


def test_the_footer_says_which_copies_stay(server: Server):
    dropped(server, "kept.csv", "yes")
    footer = server.ask("/", cookie=server.enter()).text.partition("<footer>")[2]
    assert "tables that you dropped in are removed" in footer
    assert f"<code>{server.folder / 'kept.csv'}</code>" in footer


def test_formats_that_the_pages_do_not_take_are_named_with_what_to_do(server: Server):
    page = server.ask("/", cookie=server.enter()).text
    for named in ("CSV", "Parquet", "Feather", "SPSS", ".svm", ".basket", "--long"):
        assert named in page


@pytest.mark.parametrize(("unique", "words"), [(549, "549 of 600 people are like nobody"), (0, "")])
def test_who_is_like_nobody_else_is_in_the_headline(unique: int, words: str):
    exposure: Any = {"unit": "people", "asked": 5, "total": 600, "everything": {"k": 1}}
    exposure["everything"]["unique"] = unique
    said = unique_words(exposure)
    assert said.startswith(words)
    assert bool(said) == bool(words)
    last: dict[str, Any] = {"name": "a", "out": "b", "config": "c", "unique": said}
    last |= dict.fromkeys(("alone", "checks", "claims", "not_checked"), ())
    project = SimpleNamespace(address=str, name="t", is_audited=True, is_compared=True)
    given: dict[str, Any] = dict.fromkeys(
        ("here", "error", "command", "form", "archive", "dossier"), ""
    )
    page = pages.page("published", project=project, last=last, **given, kept=True, config=False)
    heading = bytes(page.body).decode().partition("<h1>")[2].partition("</h1>")[0]
    assert heading.startswith("Published and verified")
    assert words in heading


@pytest.mark.parametrize(("served", "named"), [("1", True), (PASSING, False)])
def test_a_table_that_will_be_removed_is_named_without_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: str, named: bool
):
    path = tmp_path / "stays.csv"
    stays(rows=30).frame.write_csv(path)
    given: Any = dict.fromkeys((f.name for f in fields(TableSource) if f.default is MISSING), ())
    source = TableSource(**{**given, "table": str(path), "schema": None, "labels": None})
    asked = Request(source, Settings(), tmp_path, False, False, False, {}, (), None, None, None)
    monkeypatch.setenv(SERVED, served)
    assert (str(tmp_path) in json.dumps(asked.origin)) == named
    assert Path(asked.origin["path"]).name == "stays.csv"


def test_every_check_has_words(published: Path):
    assert {check.name for check in verify(published).checks} <= set(CHECK_WORDS)


def test_groups_that_nobody_wrote_are_to_be_reviewed():
    groups = {"cancer and others": ["breast cancer", "diabetes"], "flu": ["flu"]}
    columns = [
        {"name": "icd", "coarser": {"level": 1, "groups": groups}},
        {"name": "job", "coarser": {"level": 1, "groups": groups}},
        {"name": "age", "coarser": {"level": 1, "width": 10}},
        {"name": "sex"},
    ]
    found = learnt_groups({"columns": columns}, ["job"])
    assert found == {"icd": [("cancer and others", ["breast cancer", "diabetes"])]}


def test_the_sets_that_single_people_out_are_few():
    sets = [{"columns": [str(i)], "people": i} for i in range(99)]
    assert singling_sets({"sets": sets}) == sets[:6]
    assert singling_sets(None) == []
