"""The slider along the rungs of a column: what it says, who may use it, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.long import long
from tests.publication.example_summary import kept_and_told
from tests.publication.hard_summaries import HOSTILE
from tests.publication.records import Facts, render

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = long

RUNGS: list[Any] = [
    {"finer": True, "words": "ten years", "kept": 0.031, "told": 0.058, "allowed": False},
    {"finer": False, "words": "nothing", "kept": -0.2, "told": -0.04, "allowed": True},
]


def with_ladder(words: str = "twenty years") -> Facts:
    """A summary of which the first released column is in a coarser form."""
    summary = kept_and_told()
    column = next(c for c in summary["columns"] if c["fate"] == "released")
    column["fate"] = "coarsened"
    column["ladder"] = {
        "level": 2, "levels": 3, "words": words, "labels": [], "more": 0, "rungs": RUNGS
    }  # fmt: skip
    return summary


def moved(page: Page, key: str) -> str:
    page.locator(".rung-view input").focus()
    page.keyboard.press(key)
    return page.locator(".rung-view").inner_text()


def test_it_starts_at_the_rung_taken_and_says_what_others_cost_and_gain(opened):
    summary = with_ladder()
    bits = summary["bits"]
    assert bits is not None
    assert bits["told"] is not None
    page = opened(render(summary))
    assert "taken: twenty years" in page.locator(".rung-view").inner_text()
    finer = moved(page, "ArrowLeft")
    assert "one rung finer: ten years too few would be alike" in finer
    assert f"{100 * (bits['kept']['value'] + 0.031):.0f}%" in finer
    assert "+3%" in finer
    assert "+6%" in finer
    coarser = moved(page, "End")
    assert "one rung coarser: left out" in coarser
    assert "\N{MINUS SIGN}20%" in coarser
    assert "\N{MINUS SIGN}4%" in coarser


def test_the_table_of_rungs_stays_for_paper(opened):
    page = opened(render(with_ladder()))
    table = page.locator(".rungs")
    assert not table.is_visible()
    page.emulate_media(media="print")
    assert table.is_visible()
    assert not page.locator(".rung-view").is_visible()


def test_without_scripts_the_table_is_there(opened):
    page = opened(render(with_ladder()), java_script_enabled=False)
    assert page.locator(".rungs").is_visible()
    assert not page.locator(".rung-view").is_visible()


@pytest.mark.parametrize("width", [1200, 500, 320])
def test_it_fits_every_screen(opened, width):
    page = opened(render(with_ladder()), width=width)
    view = page.locator(".rung-view").bounding_box()
    assert view is not None
    assert view["x"] >= 0
    assert view["x"] + view["width"] <= width


def test_hostile_words_stay_text(opened):
    page = opened(render(with_ladder(HOSTILE[3])))
    assert page.locator(".rung-view output *").count() == 1  # which rung it is
