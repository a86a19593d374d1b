"""Rows that describe nobody, from the pages: bounds are public, and nothing is spent unasked."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.datasets import patients
from tamis.dp import LEDGER
from tamis.dp.ledger import Entry, Ledger
from tamis.errors import InputError
from tamis.serve.project import Project
from tamis.serve.synthetic import _said, certainty, from_table, options, proposal
from tests.long import long
from tests.serve.running import Answer, Server, serving
from tests.serve.test_serving import looked_at

COLUMNS = ("patient", "birth_year", "sex", "visits", "readmitted")
ROLES = ("identifier", "quasi", "quasi", "feature", "target")
SEXES = {"kind-1": "values", "values-1": "female\r\nmale"}
LABELS = {"kind-3": "values", "values-3": "no\r\nyes"}
VISITS = {"kind-2": "whole", "low-2": "0", "high-2": "30"}
SAID = {"epsilon": "1", "algorithm": "mst", **SEXES, **VISITS, **LABELS}
"""What is public of all columns but the year of birth, which is the first on the page."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("synthetic")
    patients(rows=600).frame.select(COLUMNS).write_csv(folder / "stays.csv")
    with serving(folder, "stays.csv") as found:
        looked_at(found)
        roles = {f"role-{at}": role for at, role in enumerate(ROLES)}
        waited(found, found.post("/tables/1/columns", **roles))
        yield found


def waited(server: Server, begun: Answer) -> str:
    """The page that a piece of work leads to."""
    assert begun.status == 303, begun.text
    for _ in range(600):
        answer = server.ask("/tables/1/work", cookie=server.enter())
        if answer.status == 303:
            return server.ask(answer.headers["location"], cookie=server.enter()).text
        assert "This cannot be done" not in answer.text, answer.text
        time.sleep(0.2)
    raise AssertionError("the work did not end")


def wrong(answer: Answer) -> str:
    """What a page asks to correct."""
    found = re.search(r'role="alert"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
    assert found, answer.text
    return found[1]


def test_what_is_proposed_comes_from_headers_alone(server: Server):
    page = server.ask("/tables/1/synthetic", cookie=server.enter()).text
    assert re.search(r'id="low-0"[^>]* value="1900"', page)
    assert re.search(r'id="low-2"[^>]* value=""', page)  # nobody knows how many visits there are
    assert "female" not in page
    assert "patient" not in re.findall(r'<span class="name">(.*?)</span>', page)


def test_what_the_table_fills_in_is_marked_and_must_be_confirmed(server: Server):
    filled = server.post("/tables/1/synthetic", **LABELS, epsilon="1", fill="yes").text
    assert filled.count("From the table, so not private.") == 3  # all but the labels
    highest = re.search(r'id="high-2"[^>]* value="(\d+)"', filled)
    assert highest
    taken = {"kind-2": "whole", "low-2": "0", "high-2": highest[1], "filled-2": "yes"}
    doubtful = server.post("/tables/1/synthetic", **{**SAID, **taken})
    assert "were taken from the table, and are not private" in wrong(doubtful)
    assert "visits" in wrong(doubtful)
    sure = server.post("/tables/1/synthetic", **{**SAID, **taken, "sure-2": "yes"})
    assert sure.status == 303
    typed_over = server.post("/tables/1/synthetic", **{**SAID, **taken, "high-2": "40"})
    assert typed_over.status == 303
    waited(server, typed_over)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"epsilon": "0"}, "epsilon must be a number above 0"),
        ({"max_epsilon": "none"}, "the most in total must be a number above 0"),
        ({"kind-3": ""}, "which values the target"),
        ({"values-1": "female"}, "give at least two values"),
        ({"high-2": "many"}, "two whole numbers"),
        ({"high-2": "0"}, "below its highest"),
        ({"kind-2": "", "kind-1": ""}, "at least one column besides the target"),
        ({"algorithm": "", "delta": "1e-9"}, "for AIM and MST"),
        ({"algorithm": "magic"}, "rows are drawn by one of"),
        ({"kind-2": "dates"}, "choose what it holds from the list"),
    ],
)
def test_what_cannot_be_asked_is_said_and_what_was_typed_stays(
    server: Server, said: dict[str, str], words: str
):
    answer = server.post("/tables/1/synthetic", **{**SAID, **said})
    assert words in wrong(answer)
    assert re.search(r'id="low-2"[^>]* value="0"', answer.text)


def test_the_cost_is_shown_with_what_was_spent_before_anything_is(server: Server):
    path = server.folder / "stays.csv"
    book = Ledger(server.folder / LEDGER)
    with book.spending(Entry(str(path.resolve()), "", 2.0)) as spent:
        spent.keep()
    page = waited(server, server.post("/tables/1/synthetic", **{**SAID, "max_epsilon": "2.5"}))
    assert "costs epsilon 1<" in page
    assert "it makes 3 for this table" in page
    assert "more than the 2.5 that you allow" in page
    assert str(server.folder / LEDGER) in page
    config = server.ask("/tables/1/tamis.toml", cookie=server.enter()).text
    assert "epsilon = 1.0" in config
    assert 'sex = ["female", "male"]' in config
    assert book.account(str(path.resolve()), "").epsilon == 2.0


def test_ordinary_limits_ask_for_no_synthetic_rows(server: Server):
    waited(server, server.post("/tables/1/synthetic", **SAID))
    page = server.ask("/tables/1/settings", cookie=server.enter()).text
    assert "--epsilon" not in page
    said = server.post("/tables/1/command/settings", k="5")
    assert "--epsilon" not in json.loads(said.text)["command"]


@long
def test_rows_are_drawn_once_for_one_agreement_and_published(server: Server):
    path = str((server.folder / "stays.csv").resolve())
    book = Ledger(server.folder / LEDGER)
    before = book.account(path, "").epsilon
    waited(server, server.post("/tables/1/synthetic", **SAID))
    page = waited(server, server.post("/tables/1/synthetic/draw"))
    assert "Which release do you want?" in page
    assert book.account(path, "").epsilon == before + 1
    again = server.post("/tables/1/synthetic/draw")  # a second click, or the page reloaded
    assert again.headers["location"] == "/tables/1/synthetic"
    assert book.account(path, "").epsilon == before + 1
    out = server.folder / "drawn"
    draft = server.ask("/tables/1/preview", cookie=server.enter()).text
    number = re.search(r'name="draft" value="(\d+)"', draft)
    assert number
    done = waited(
        server, server.post("/tables/1/publish", draft=number[1], out=str(out), force="yes")
    )
    assert "Published and verified" in done
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["budget"]["epsilon"] == 1.0
    assert {c["name"] for c in manifest["columns"]} == {"sex", "visits", "readmitted"}
    assert book.account(path, "").epsilon == before + 1


def test_certainty_grows_from_a_guess_and_never_reaches_one():
    odds = [certainty(e) / (1 - certainty(e)) for e in (0.0, 0.5, 1.0, 3.0)]
    assert odds == pytest.approx([1.0, 1.6487212707, 2.7182818285, 20.0855369232])


@pytest.mark.parametrize(
    ("name", "ends"), [("Age", ("0", "110")), ("visit_hour", ("0", "23")), ("dosage", ("", ""))]
)
def test_a_whole_word_of_a_header_says_what_numbers_are(name: str, ends: tuple[str, str]):
    assert (proposal(name)["low"], proposal(name)["high"]) == ends


def test_nothing_is_asked_of_columns_that_are_never_drawn(tmp_path: Path):
    roles = {"id": "identifier", "hiv": "sensitive", "zip": "quasi", "job": "drop", "ill": "target"}
    project = Project(tmp_path, "t", "t.csv", roles=roles)
    look = {"columns": [{"name": name} for name in roles]}
    (project.folder / "look.json").write_text(json.dumps(look))
    assert [*_said(project)["columns"]] == ["zip", "ill"]


def column(**more: Any) -> dict[str, Any]:
    return {"missing": 0, "ends": None, "whole": False, "values": [], **more}


def test_ends_and_values_of_the_table_say_where_they_are_from():
    whole = from_table(column(ends=[1.0, 250000.0], whole=True, missing=3))
    assert (whole["low"], whole["high"], whole["missing"]) == ("1", "250000", "yes")
    assert from_table(column(ends=[0.25, 1.5]))["high"] == "1.5"
    assert from_table(column(values=[("b", 9), ("a", 1)]))["values"] == "a\nb"
    assert from_table(column())["kind"] == ""
    assert {whole["from_data"], from_table(column(values=[("b", 9)]))["from_data"]} == {"yes"}


def test_bounds_are_declared_as_in_a_file(tmp_path: Path):
    project = Project(tmp_path, "t", "t.csv", roles={"bmi": "feature", "ill": "target"})
    columns = {
        "bmi": {**proposal(""), "kind": "number", "low": "10", "high": "80.5", "missing": "yes"},
        "ill": {**proposal(""), "kind": "values", "values": "no\nyes\nno\n"},
    }
    said = {"epsilon": "0.5", "max_epsilon": "", "delta": "", "algorithm": "", "columns": columns}
    assert options(project, said) == {
        "epsilon": 0.5,
        "dp": {
            "bounds": {"bmi": {"type": "number", "low": 10.0, "high": 80.5}, "ill": ["no", "yes"]},
            "missing": ["bmi"],
        },
    }
    columns["ill"]["from_data"] = "yes"
    with pytest.raises(InputError, match=r"bounds of 'ill' were taken from the table"):
        options(project, said)
