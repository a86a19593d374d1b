"""The plane of kept and told: who wins under each caution, what follows, and who may use it."""

from __future__ import annotations

import pytest

from tests.long import long
from tests.publication.example_summary import best_for, example, kept_and_told
from tests.publication.hard_summaries import HOSTILE, hostile
from tests.publication.page_state import by_worth, settled, standing
from tests.publication.records import render

pytestmark = long


def test_the_page_opens_with_the_caution_that_was_used(opened):
    summary = kept_and_told()
    page = opened(render(summary))
    found = standing(page)
    assert found["caution"] == 0.75
    assert found["best"] == found["released"] == best_for(summary, 0.75)
    assert "This is what was released" in page.locator("#worth-winner").inner_text()
    assert page.locator("#plane svg").is_visible()
    assert not page.locator("#plot").is_visible()  # one click away
    page.locator(".way summary").nth(1).click()
    assert page.locator("#plot svg").is_visible()


def test_the_winner_is_looked_up_where_ties_made_a_smaller_one_win(opened):
    summary = kept_and_told()
    assert summary["bits"] is not None
    worst = by_worth(summary, 2.0)[-1]
    summary["bits"]["winners"] = [
        {"caution": 0.0, "candidate": best_for(summary, 0.75)},
        {"caution": 2.0, "candidate": worst},
    ]
    page = opened(render(summary))
    page.locator("#caution").fill("39")
    assert standing(page)["best"] == best_for(summary, 0.75)
    page.locator("#caution").fill("40")
    found = standing(page)
    assert found["best"] == found["order"][0] == worst


def test_what_breaks_a_limit_comes_last_and_is_never_on_the_front(opened):
    summary = kept_and_told()
    broken = [i for i, one in enumerate(summary["candidates"]) if one["fails"]]
    page = opened(render(summary))
    assert not set(broken) & set(standing(page)["order"])
    page.locator("#worth-more").click()
    rows = page.locator("#worth tbody tr")
    last = [int(rows.nth(i).get_attribute("data-candidate")) for i in range(-len(broken), 0)]
    assert sorted(last) == broken
    assert page.locator("#plane .forbidden").count() == len(broken)


def test_the_plane_can_be_used_from_the_keyboard(opened):
    page = opened(render(kept_and_told()))
    page.locator("#caution").focus()
    page.keyboard.press("ArrowRight")
    assert standing(page)["caution"] == 0.8
    assert page.locator("#caution").get_attribute("aria-valuetext") == "0.8"
    page.locator("#plane svg").focus()
    order = standing(page)["order"]
    for press, place in (("ArrowDown", 1), ("ArrowRight", 2), ("ArrowUp", 1), ("Home", 0)):
        page.keyboard.press(press)
        assert standing(page)["picked"] == order[place]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert "Against what was released: keeps" in page.locator("#plane-detail").inner_text()


@pytest.mark.parametrize("why", ["same column", "not shown"])
def test_where_nothing_is_told_there_is_nothing_to_be_cautious_about(opened, why):
    summary = example() if why == "same column" else kept_and_told()
    assert summary["bits"] is not None
    summary["bits"] = {
        **summary["bits"],
        "by": "value",
        "caution": 1.0,
        "tells": False,
        "cautions": [1.0],
        "winners": [{"caution": 1.0, "candidate": 6}],
    }
    page = opened(render(summary))
    assert not page.locator("#caution").is_visible()
    assert "columns released" in page.locator("#plane").text_content()
    assert standing(page)["best"] == 6


def test_everything_of_very_wide_records_leaves_room_for_the_rest(opened):
    summary = example()
    assert summary["bits"] is not None
    bits = summary["bits"] = summary["bits"].copy()
    bits.update({"by": "value", "caution": 1.0, "tells": False, "cautions": [1.0]})
    bits["winners"] = [{"caution": 1.0, "candidate": 6}]
    next(one for one in summary["candidates"] if one["baseline"])["size"] = 50_000
    page = opened(render(summary))
    ticks = page.locator("#plane .tick").all_text_contents()
    assert {"0", "1", "10", "10,000"} <= set(ticks)
    places = page.evaluate(
        """() => [...document.querySelectorAll("#plane .dot")].map((dot) => {
          const box = dot.getBoundingClientRect();
          return box.left + box.width / 2;
        })"""
    )
    left, right = min(places), max(places)
    assert sorted(places)[-2] > left + (right - left) / 10  # not all in the corner


def test_what_one_more_column_costs_is_drawn_and_said(opened):
    page = opened(render(kept_and_told()))
    assert page.locator("#plane .next-name").text_content() == "+ pregnancies"
    words = page.locator(".next-words").inner_text()
    assert "with pregnancies the release would keep 96% (+3.0%) and tell 31% (+13.0%)" in words


def test_hostile_names_stay_text_in_the_plane(opened):
    summary = hostile()
    assert summary["bits"] is not None
    summary["bits"]["by"] = "value"
    page = opened(render(summary), width=390)
    page.locator("#worth-more").click()
    for at in range(14):
        page.locator("#worth .pick").nth(at).click()
    assert HOSTILE[0] in page.locator("#plane-detail").inner_text()
    assert page.locator("#plane-parts img, #plane-parts script, #plane-parts b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


CUT = """() => [...document.querySelectorAll("#plane svg text")].filter(word => {
  const box = word.getBoundingClientRect();
  const frame = word.closest("svg").getBoundingClientRect();
  return box.left < frame.left - 1 || box.right > frame.right + 1;
}).map(word => word.textContent)"""


def test_the_plane_fits_every_screen(opened):
    page = opened(render(kept_and_told()))
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CUT) == []
