"""The page in a browser: it fits, stays text, can be read and used by anybody, and printed."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from tests.long import long
from tests.publication.example_summary import example, kept_and_told
from tests.publication.hard_summaries import HOSTILE, hostile
from tests.publication.page_state import settled, slide, state
from tests.publication.records import render

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = long

WIDTHS = (320, 390, 768, 1280)


@pytest.mark.parametrize("audience", ["holder", "recipient"])
def test_the_page_fits_every_screen(opened, audience):
    page = opened(render(example(), audience))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("audience", ["holder", "recipient"])
def test_hostile_names_stay_text(opened, audience):
    page = opened(render(hostile(), audience), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    text = page.locator("body").inner_text()
    for name in HOSTILE[:7]:
        assert name in text
    assert page.locator("img, iframe, b").count() == 0
    assert page.locator("script").count() == (2 if audience == "holder" else 0)


def test_hostile_names_stay_text_where_the_script_writes_them(opened):
    page = opened(render(hostile()))
    slide(page, [10, 80, 10])
    page.locator("#more").click()
    for at in range(14):
        page.locator("#ranking .pick").nth(at).click()
    assert HOSTILE[0] in page.locator("#detail").inner_text()
    assert page.locator("#explorer img, #explorer script, #explorer b").count() == 0


def focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.id || document.activeElement.className")
    return found


def test_everything_can_be_done_from_the_keyboard(opened):
    page = opened(render(example()))
    page.keyboard.press("Tab")
    assert focused(page) == "skip"
    for _ in range(3):  # past the heads of both ways to choose
        page.keyboard.press("Tab")
    assert focused(page) == "weight-0"
    before = state(page)["scores"]
    page.keyboard.press("End")
    assert state(page)["weights"] == [100, 25, 25]
    assert state(page)["scores"] != before
    for _ in range(3):
        page.keyboard.press("Tab")
    assert focused(page) == "reset"
    page.keyboard.press("Enter")
    assert state(page)["scores"] == before
    page.keyboard.press("Tab")
    order = state(page)["order"]
    for press, place in (("ArrowDown", 1), ("ArrowRight", 2), ("ArrowUp", 1), ("Home", 0)):
        page.keyboard.press(press)
        assert state(page)["picked"] == order[place]
    page.keyboard.press("Escape")
    assert state(page)["picked"] is None
    page.keyboard.press("Tab")
    assert focused(page) == "pick"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert state(page)["picked"] == order[1]
    page.locator("#more").focus()
    page.keyboard.press("Enter")
    assert page.locator("#ranking tbody tr").count() == 14
    page.locator(".methods summary").focus()
    page.keyboard.press("Enter")
    assert page.locator(".methods").get_attribute("open") is not None


def test_every_control_and_picture_has_a_name(opened):
    page = opened(render(example()))
    settled(page)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, button, svg[role]")].filter(e =>
            !(e.getAttribute("aria-label") || e.textContent || (e.labels && e.labels.length)))
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    assert page.locator("#weight-0").get_attribute("aria-valuetext") == "50%"


CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const bytes = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = bytes(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *:not(script):not(style)")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const ink = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    if (element.matches(".letter")) continue;
    const [a, b] = [light(bytes(ink)), light(behind(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.className.baseVal ?? element.className]);
  }
  return found;
}"""


@pytest.mark.parametrize(
    "made",
    [
        lambda: render(example()),
        lambda: render(kept_and_told()),
        lambda: render(example(), "recipient"),
    ],
    ids=["ranks", "kept-and-told", "recipient"],
)
def test_words_stand_out_from_what_is_behind_them(opened, made):
    page = opened(made(), reduced_motion="reduce")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        settled(page)
        found = page.evaluate(CONTRASTS)
        assert len(found) > 40
        assert [pair for pair in found if pair[0] < 4.5] == []


def test_dots_on_the_same_spot_are_all_seen_and_the_best_lies_on_top(opened):
    summary = example()
    for one in summary["candidates"][2:6]:
        one.update({"performance": 0.74, "pbi": 0.001, "fails": []})
    page = opened(render(summary))
    settled(page)
    spots = page.evaluate(
        """() => [...document.querySelectorAll("#plot circle.front, #plot circle.dot")]
            .map(c => c.getAttribute("cx") + " " + c.getAttribute("cy"))"""
    )
    assert len(set(spots)) == len(spots)
    page.locator("#plot").scroll_into_view_if_needed()
    on_top = page.evaluate(
        """() => { const box = document.querySelector("#plot .ring").getBoundingClientRect();
            const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
            return at.closest("g") === document.querySelector("#plot svg > g:last-of-type"); }"""
    )
    assert on_top


CUT_WORDS = """() => [...document.querySelectorAll(".drawing svg text")].filter(word => {
  const box = word.getBoundingClientRect();
  const frame = word.closest("svg").getBoundingClientRect();
  return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1
    || box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
}).map(word => word.textContent)"""


def test_no_word_of_the_pictures_is_cut(opened):
    page = opened(render(example()))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        settled(page)
        assert page.evaluate(CUT_WORDS) == []


def test_no_figure_wraps(opened):
    page = opened(render(example()), width=390)
    lines = page.evaluate(
        "() => [...document.querySelectorAll('.figure')].map(e => e.getClientRects().length)"
    )
    assert max(lines) == 1  # hidden ones have none


def test_paper_gets_the_pictures_but_not_the_sliders(opened):
    page = opened(render(example()), width=720, color_scheme="dark")
    assert page.locator("#weight-0").is_visible()
    page.emulate_media(media="print")
    for gone in ("#weight-0", "#reset", "#more"):
        assert not page.locator(gone).is_visible()
    for kept in ("#plot svg", "#map svg", "#ranking", "#share-0"):
        assert page.locator(kept).is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_paper_has_a_summary_first_and_what_is_folded_stays_folded(opened):
    page = opened(render(example()))
    page.emulate_media(media="print")
    assert page.locator("details[open]").count() == 1  # the way that was chosen by
    top = "element => element.getBoundingClientRect().top"
    promises, appendix = (page.locator(at).evaluate(top) for at in ("#promises", ".appendix"))
    assert page.locator("#choice").evaluate(top) < promises < appendix
    assert page.locator(".appendix").evaluate("e => getComputedStyle(e).breakBefore") == "page"
    assert page.locator(".on-paper").is_visible()
    page.emulate_media(media="screen")
    assert not page.locator(".on-paper").is_visible()


@pytest.mark.parametrize(
    ("width", "media", "scheme"),
    [(390, "screen", "light"), (390, "screen", "dark"), (720, "print", "dark")],
)
def test_the_layouts_as_they_look(opened, width, media, scheme):
    """A screenshot of phone and paper: drawn to the end, nothing cut off at either side."""
    page = opened(render(example()), width=width, color_scheme=scheme)
    page.emulate_media(media=media, color_scheme=scheme)
    settled(page)
    shot = np.asarray(Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB"))
    paper = shot[2, 2]
    assert paper.mean() > 230 if media == "print" or scheme == "light" else paper.mean() < 60
    if media == "screen":  # on paper the margins are the printer's
        for edge in (shot[:, :4], shot[:, -4:]):
            assert (edge == paper).all()
    drawn = (shot != paper).any(axis=(1, 2))
    gaps = np.diff(np.flatnonzero(drawn), prepend=0, append=len(drawn))
    assert gaps.max() < 400  # no part of the page is blank


COVERED = """() => {
  const box = (e) => e.getBoundingClientRect();
  const meet = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const names = [...document.querySelectorAll(".point-name, .next-name, .corner-name")];
  const dots = [...document.querySelectorAll("circle.front, circle.dot, path.released")];
  const shown = (e) => box(e).width > 0;
  return names.filter(shown).flatMap((name, i) => [
    ...dots.filter((dot) => shown(dot) && meet(box(name), box(dot))),
    ...names.slice(i + 1).filter((other) => shown(other) && meet(box(name), box(other))),
  ].map((other) => `${name.textContent} covers ${other.outerHTML}`));
}"""


@pytest.mark.parametrize("width", [390, 500, 1280])
@pytest.mark.parametrize("summary", [example, kept_and_told])
def test_names_in_pictures_cover_no_dot_and_no_other_name(opened, summary, width):
    page = opened(render(summary()), width=width)
    settled(page)
    assert page.locator(".point-name:visible").count() > 0
    assert page.evaluate(COVERED) == []


def test_the_bar_of_the_largest_class_fills_its_track(opened):
    page = opened(render(example()), width=500)
    filled = page.evaluate(
        """() => {
            const wide = (e) => e.getBoundingClientRect().width;
            const tracks = [...document.querySelectorAll(".classes .bar svg")];
            return Math.max(...tracks.map((track) => wide(track.firstChild) / wide(track)));
        }"""
    )
    assert filled == pytest.approx(1.0, abs=0.01)


def many_columns():
    """The example with more columns than anybody would look through, two of them hostile."""
    summary = example()
    for i, name in enumerate([*(f"word {i}" for i in range(300)), HOSTILE[0], HOSTILE[3]]):
        shares = {"teaches": i / 400, "teaches_beyond": 0.02, "tells": None, "tells_beyond": None}
        column = {"name": name, "fate": "held back", "why": f"Reason {i % 2}.", "shares": shares}
        summary["columns"].append(column)
    return summary


def test_a_column_is_found_by_a_part_of_its_name(opened):
    page = opened(render(many_columns()), width=390)
    finder = page.locator(".finder")
    finder.get_by_label("Find a column").fill("WORD 29")
    assert finder.locator("p").first.inner_text() == "11 columns"
    names = finder.locator("li .name").all_inner_texts()
    assert names == ["word 29", *(f"word 29{i}" for i in range(10))]
    first = finder.locator("li").first.inner_text().split("\n")
    assert first[0] == "word 29 stays"
    assert "Reason 1." in first
    assert {"7%", "+2%"} <= set(first)
    finder.locator("input").fill("word")
    assert finder.locator("p").first.inner_text() == "The first 12 of 300 columns"
    finder.locator("input").fill("nothing like it")
    assert finder.locator("p").first.inner_text().startswith("No column")
    finder.locator("input").fill("")
    assert finder.locator("li").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_hostile_names_that_are_found_stay_text(opened):
    page = opened(render(many_columns()))
    for name in (HOSTILE[0], HOSTILE[3]):
        page.locator(".finder input").fill(name[:8])
        assert name in page.locator(".finder li .name").all_inner_texts()
    assert page.locator(".finder img, .finder script").count() == 0


def test_few_columns_need_no_search(opened):
    assert opened(render(example())).locator(".finder").count() == 0
