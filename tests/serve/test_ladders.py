"""Coarser forms of columns: typed, checked by the ladder itself, kept and given to commands."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.datasets import stays
from tamis.errors import InputError
from tamis.files import in_toml
from tamis.serve.fields import MOST_LABELS, as_typed, shown_levels, typed_ladder
from tamis.serve.project import arguments, toml
from tamis.serve.steps import DEMO
from tests.long import long
from tests.serve.running import Server, serving
from tests.serve.test_serving import looked_at
from tests.serve.test_way import barriers, shot

if TYPE_CHECKING:
    from playwright.sync_api import Browser

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
numbers = st.integers(-99, 99) | st.floats(-1e9, 1e9)
descriptions = st.one_of(
    st.fixed_dictionaries({"width": st.lists(numbers, min_size=1)}, optional={"top": numbers}),
    st.fixed_dictionaries({"common": st.lists(st.lists(texts), min_size=1)}),
    st.fixed_dictionaries({"groups": st.dictionaries(texts, st.lists(texts), min_size=1)}),
)


@given(descriptions)
def test_what_is_shown_can_be_typed_again(description: dict[str, Any]):
    text = as_typed(description)
    assert text.isprintable()
    assert typed_ladder("x", text, Path) == description


@given(st.dictionaries(texts, descriptions, min_size=1))
def test_ladders_become_a_table_of_the_configuration_file(ladders: dict[str, Any]):
    options = {"ladders": ladders, "k": 5, "coarsen": {"keep": list(ladders)}}
    assert tomllib.loads(toml(options)) == options
    assert arguments(options, "x.toml") == ["--config", "x.toml"]


def test_dates_and_line_breaks_may_be_typed():
    dated = typed_ladder("on", "{ cuts = [[2024-12-31,\n 2025-06-30]] }", Path)
    assert dated == {"cuts": [["2024-12-31", "2025-06-30"]]}


@pytest.mark.parametrize("text", ["{", "5, 10", "{ a = 1 }\n[x]\nb = 2", "{}, {}", "[" * 9999])
def test_what_is_no_description_is_refused(text: str):
    with pytest.raises(InputError, match=r"ladder of column 'age' cannot be read.*width = \[5, 10"):
        typed_ladder("age", text, Path)


def test_a_level_of_very_many_groups_is_shown_in_part():
    labels = [{"label": None, "people": 2}] + [{"label": str(i), "people": 1} for i in range(99)]
    each = {"words": "", "groups": 100, "smallest": 1, "labels": labels}
    found = shown_levels({"levels": [{**each, "level": number} for number in range(3)]})
    assert found[1].labels[0] == ("missing", 2)
    assert (len(found[1].labels), found[1].more) == (MOST_LABELS, 100 - MOST_LABELS)
    assert (found[2].labels, found[2].more) == ([], 0)  # all are one group


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that has read the table of hospital stays."""
    folder = tmp_path_factory.mktemp("ladders")
    stays(rows=300).frame.write_csv(folder / "stays.csv")
    with serving(folder, "stays.csv") as found:
        looked_at(found)
        yield found


def fields(**more: str) -> dict[str, str]:
    return {f"role-{at}": role for at, role in enumerate(DEMO.values())} | more


def column(name: str) -> int:
    return list(DEMO).index(name)


def configuration(server: Server) -> dict[str, Any]:
    answer = server.ask("/tables/1/tamis.toml", cookie=server.enter())
    return tomllib.loads(answer.text)


def test_a_ladder_is_counted_checked_and_kept_for_every_command(server: Server, tmp_path: Path):
    at = column("birth_year")
    address = f"/tables/1/ladder/{at}"
    made = server.post(address, **fields())
    assert "As tamis would make it" in made.text
    assert f"{stays(rows=300).everybody} people" in made.text  # the last level is everybody
    assert "ladders" not in configuration(server)
    ages = {f"ladder-{at}": "width = [20, 40], top = 2000"}
    wrong = server.post(address, **fields(**{f"ladder-{at}": "{ width = [20, 30] }"}))
    assert wrong.status == 400
    assert "birth_year" in wrong.text
    assert "multiple" in wrong.text
    outside = server.post(address, **fields(**{f"ladder-{at}": '{ file = "/etc/passwd" }'}))
    assert "outside the folders" in outside.text
    kept = server.post(address, **fields(**ages))
    assert "As you wrote it" in kept.text
    assert "[1960, 1980)" in kept.text
    assert "tamis ladder" in kept.text
    # Going on keeps it too, with the column that must never be coarser.
    zips = {f"ladder-{column('zip')}": "{ keep = [9, 10] }"}
    refused = server.post("/tables/1/columns", **fields(**ages, **zips))
    assert "Please correct this" in refused.text
    assert "{ keep = [9, 10] }" in refused.text
    left = {f"whole-{column('job')}": "yes", f"whole-{column('hiv')}": "yes"}
    assert server.post("/tables/1/columns", **fields(**ages, **left)).status == 303
    said = configuration(server)
    assert said["ladders"] == {"birth_year": {"width": [20, 40], "top": 2000}}
    assert said["coarsen"] == {"keep": ["job"]}  # what is not released has no coarser form
    assert server.post(address, **fields()).status == 200  # emptied again
    assert "ladders" not in configuration(server)


def test_what_has_no_coarser_forms_is_said(server: Server):
    held = server.post(f"/tables/1/ladder/{column('hiv')}", **fields())
    assert held.status == 400
    assert "will not be released" in held.text
    assert server.post("/tables/1/ladder/99", **fields()).status == 400
    assert server.post("/tables/1/ladder/-1", **fields()).status == 400


@long
def test_by_keyboard_a_ladder_is_opened_begun_with_and_kept(
    axe: str, browser: Browser, server: Server
):
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address)
    page.wait_for_url(re.compile("/tables/1/"))
    page.goto(f"{server.root}/tables/1/columns")
    at = column("zip")
    details = page.locator("details.coarser").nth(at)
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    details.get_by_role("button", name="Begin with this one").press("Enter", timeout=60_000)
    text = page.locator(f"#ladder-{at}")
    assert text.evaluate("e => e === document.activeElement")
    assert text.input_value() == in_toml({"keep": [4, 3, 2, 1]})
    text.fill("{ keep = [0] }")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    details.locator(".levels.wrong").wait_for(timeout=60_000)
    assert "the ladder of column 'zip'" in details.locator(".levels").inner_text()
    text.fill("{ keep = [2] }")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    details.get_by_text("As you wrote it").wait_for(timeout=60_000)
    assert configuration(server)["ladders"]["zip"] == {"keep": [2]}
    assert barriers(page, axe) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    if folder := os.environ.get("TAMIS_SCREENSHOTS"):
        page.set_viewport_size({"width": 1100, "height": 800})
        details.scroll_into_view_if_needed()
        shot(page, Path(folder) / "2-ladder.png", server.folder)
    details.get_by_role("button", name="Copy").press("Enter")
    details.get_by_text(re.compile("Copied|Press Ctrl-C")).wait_for()
    page.reload()
    assert text.input_value() == "{ keep = [2] }"
    context.close()


@long
def test_columns_are_set_together_and_back_but_for_target_and_secret(
    browser: Browser, server: Server
):
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address)
    page.wait_for_url(re.compile("/tables/1/"))
    page.goto(f"{server.root}/tables/1/columns")
    roles = page.locator("table.roles select")
    before = roles.evaluate_all("all => all.map((s) => s.value)")
    assert {"target", "sensitive"} <= set(before)
    assert page.locator("#undo-all").is_hidden()
    page.locator("#all-are").select_option("drop")
    page.locator("#set-all").press("Enter")
    after = roles.evaluate_all("all => all.map((s) => s.value)")
    one_by_one = {"target", "sensitive", "weight"}
    assert after == [role if role in one_by_one else "drop" for role in before]
    page.locator("#undo-all").press("Enter")
    assert roles.evaluate_all("all => all.map((s) => s.value)") == before
    assert page.locator("#undo-all").is_hidden()
    context.close()
