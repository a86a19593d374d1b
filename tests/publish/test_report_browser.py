"""The page in a browser: it ranks as Python does, stays text, and can be used by anybody."""

from __future__ import annotations

import json
import random
import warnings
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from tamis.choose.evaluation import Evaluation, evaluation
from tamis.choose.sensitivity import sensitivity
from tamis.publish.report import render
from tamis.publish.summary import Summary
from tests.publish.example_summary import TABLE_6, WEIGHTS, example
from tests.publish.hard_summaries import HOSTILE, hostile, many

WIDTHS = (320, 390, 768, 1280)
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def weighed(summary: Summary, weights: list[int]) -> Evaluation:
    """The choice as Python makes it, from the positions of the sliders."""
    keys = [f["key"] for f in summary["factors"]]
    scores = {key: [c["values"][key] for c in summary["candidates"]] for key in keys}
    scores["size"] = [c["size"] for c in summary["candidates"]]
    directions = {f["key"]: f["direction"] for f in summary["factors"]}
    with warnings.catch_warnings(action="ignore"):  # that they do not sum to one
        return evaluation(scores, directions, dict(zip(keys, weights)), ties="size")


def slide(page: Page, weights: list[int]) -> dict[str, Any]:
    """Move every slider and give the state that the page comes to."""
    for at, weight in enumerate(weights):
        page.locator(f"#weight-{at}").fill(str(weight))
    return state(page)


def state(page: Page) -> dict[str, Any]:
    page.evaluate(SETTLED)
    found: dict[str, Any] = page.evaluate("tamis.state")
    return found


@pytest.mark.parametrize("audience", ["holder", "recipient"])
def test_the_page_fits_every_screen(opened, audience):
    page = opened(render(example(), audience))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        page.evaluate(SETTLED)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("column", range(3))
def test_the_page_opens_with_the_scores_of_table_6(opened, column):
    summary = example(WEIGHTS[column])
    found = state(opened(render(summary)))
    printed = [float(line.split()[column]) for line in TABLE_6.strip().splitlines()]
    assert found["scores"] == [c["score"] for c in summary["candidates"]]
    assert found["scores"] == pytest.approx(printed, abs=1e-9)
    places = [c["place"] for c in summary["candidates"]]
    assert [places[at] for at in found["order"]] == list(range(1, 15))
    assert summary["candidates"][found["best"]]["chosen"]


@pytest.mark.parametrize(
    ("weights", "best"),
    [
        ([33, 33, 33], "plasma"),
        ([50, 25, 25], "plasma + mass"),
        ([20, 60, 20], "insulin + pressure + age + plasma"),
    ],
)
def test_sliders_rank_as_python_does(opened, weights, best):
    summary = example()
    page = opened(render(summary))
    slide(page, [0, 0, 100])
    found, wanted = slide(page, weights), weighed(summary, weights)
    assert found["scores"] == wanted.scores.tolist()
    assert found["order"] == list(wanted.order)
    assert summary["candidates"][found["best"]]["name"] == best
    assert page.locator("#winner .winner-name").inner_text() == best
    first = page.locator("#ranking tbody tr").first
    assert first.locator(".pick").inner_text() == best
    assert first.get_attribute("data-score") == repr(found["scores"][found["best"]])


def random_table(draw: random.Random) -> dict[str, Any]:
    """Columns with many ties, some of them equal only but for rounding."""
    rows, factors = draw.randint(2, 40), draw.randint(1, 9)
    values = [0.1 * step for step in range(8)] + [0.1 + 0.2, 0.3 * 3 - 0.6, -0.4, 1e6, 1e-12]
    return {
        "columns": [draw.choices(values, k=rows) for _ in range(factors)],
        "directions": draw.choices(["max", "min"], k=factors),
        "weights": [draw.randint(0, 100) for _ in range(factors - 1)] + [draw.randint(1, 100)],
        "sizes": [draw.randint(1, 9) for _ in range(rows)],
    }


def test_random_tables_get_the_digits_of_python(opened):
    draw = random.Random(7)
    tables = [random_table(draw) for _ in range(300)]
    page = opened(render(example()))
    answers = page.evaluate(
        """text => JSON.stringify(JSON.parse(text).map(
            t => tamis.evaluation(t.columns, t.directions, t.weights, t.sizes)))""",
        json.dumps(tables),
    )
    for table, found in zip(tables, json.loads(answers), strict=True):
        names = [f"f{i}" for i in range(len(table["columns"]))]
        with warnings.catch_warnings(action="ignore"):
            wanted = evaluation(
                dict(zip(names, table["columns"])) | {"size": table["sizes"]},
                dict(zip(names, table["directions"])),
                dict(zip(names, table["weights"])),
                ties="size",
            )
        assert found["ranks"] == [ranks.tolist() for ranks in wanted.ranks.values()]
        assert found["shares"] == list(wanted.weights.values())
        assert found["scores"] == wanted.scores.tolist()
        assert found["order"] == list(wanted.order)


@pytest.mark.parametrize("factors", [2, 3])
def test_the_map_gives_each_release_the_weights_it_wins_for(opened, factors):
    summary = many(60, factors=factors)
    for one in summary["candidates"]:
        one["fails"] = []
    page = opened(render(summary))
    found = {p["candidate"]: p["share"] for p in page.evaluate("tamis.patches()")}
    sizes = np.array([c["size"] for c in summary["candidates"]], dtype=float)
    wanted = sensitivity(weighed(summary, [1] * factors), sizes).shares
    assert sum(found.values()) == pytest.approx(1)
    for candidate in {*found, *wanted}:
        assert found.get(candidate, 0) == pytest.approx(wanted.get(candidate, 0), abs=0.03)


def test_a_click_on_the_map_takes_its_weights(opened):
    page = opened(render(example()))
    box = page.locator("#map svg").bounding_box()
    page.locator("#map svg").click(position={"x": box["width"] / 2, "y": 36})
    assert state(page)["weights"][0] > 90
    assert page.locator("#weight-0").input_value() == str(state(page)["weights"][0])


@pytest.mark.parametrize("factors", [1, 2, 4, 6])
def test_any_number_of_factors_can_be_weighed(opened, factors):
    summary = many(40, factors=factors)
    page = opened(render(summary))
    weights = [10 + 7 * f for f in range(factors)]
    assert slide(page, weights)["order"] == list(weighed(summary, weights).order)
    assert page.locator("#map").is_visible() == (factors > 1)


def test_what_breaks_a_limit_never_wins(opened):
    summary = example()
    page = opened(render(summary))
    found = slide(page, [100, 0, 0])
    assert summary["candidates"][found["order"][0]]["fails"]
    assert found["best"] == found["order"][1]


def test_what_is_not_ranked_is_shown_last_and_counts_for_nothing(opened):
    summary = example()
    alone = {"ranked": False, "ranks": {}, "score": 0.0, "place": 0, "values": {}}
    summary["candidates"][1].update({**alone, "fails": ["too few rows"]})  # type: ignore[typeddict-item]
    page = opened(render(summary))
    others = {**summary, "candidates": [c for i, c in enumerate(summary["candidates"]) if i != 1]}
    wanted = weighed(others, [50, 25, 25])  # type: ignore[arg-type]
    found = state(page)
    assert [s for s in found["scores"] if s is not None] == wanted.scores.tolist()
    page.locator("#more").click()
    last = page.locator("#ranking tbody tr").last
    assert "too few rows" in last.inner_text()
    assert last.locator("td").first.inner_text() == "—"


def test_no_weight_at_all_keeps_the_order_and_says_so(opened):
    page = opened(render(example()))
    before = slide(page, [0, 10, 0])["order"]
    assert slide(page, [0, 0, 0])["order"] == before
    assert "some weight" in page.locator("#winner").inner_text()
    page.locator("#reset").click()
    assert "This is what was released" in page.locator("#winner").inner_text()


def test_back_to_the_weights_used_gives_their_scores_again(opened):
    summary = example(WEIGHTS[0])
    page = opened(render(summary))
    slide(page, [5, 90, 5])
    page.locator("#reset").click()
    assert state(page)["scores"] == [c["score"] for c in summary["candidates"]]


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
    page.locator("details summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("details").get_attribute("open") is not None


def test_every_control_and_picture_has_a_name(opened):
    page = opened(render(example()))
    page.evaluate(SETTLED)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, button, svg[role]")].filter(e =>
            !(e.getAttribute("aria-label") || e.innerText || (e.labels && e.labels.length)))
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


@pytest.mark.parametrize("audience", ["holder", "recipient"])
def test_words_stand_out_from_what_is_behind_them(opened, audience):
    page = opened(render(example(), audience), reduced_motion="reduce")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate(SETTLED)
        found = page.evaluate(CONTRASTS)
        assert len(found) > 40
        assert [pair for pair in found if pair[0] < 4.5] == []


def test_two_thousand_candidates_are_ranked_at_every_move(opened):
    summary = many(2_000)
    page = opened(render(summary))
    for step in range(0, 100, 9):
        weights = [step, 100 - step, 30]
        found = slide(page, weights)
    assert found["order"] == list(weighed(summary, weights).order)
    assert page.locator("#ranking tbody tr").count() == 10
    for _ in range(3):
        page.locator("#more").click()
    assert page.locator("#ranking tbody tr").count() == 130


def test_dots_on_the_same_spot_are_all_seen_and_the_best_lies_on_top(opened):
    summary = example()
    for one in summary["candidates"][2:6]:
        one.update({"performance": 0.74, "pbi": 0.001, "fails": []})
    page = opened(render(summary))
    page.evaluate(SETTLED)
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
        page.evaluate(SETTLED)
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


def test_folded_parts_are_open_on_paper_and_folded_again_after(opened):
    page = opened(render(example()))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details[open]").count() == 1
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
