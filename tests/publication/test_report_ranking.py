"""The page ranks as Python does, to the last digit, however the weights are moved."""

from __future__ import annotations

import json
import random
import warnings
from typing import Any

import numpy as np
import pytest

from tamis.rank.evaluation import evaluation
from tamis.rank.sensitivity import sensitivity
from tests.long import daily, long
from tests.publication.example_summary import TABLE_6, WEIGHTS, best_for, example, kept_and_told
from tests.publication.hard_summaries import many
from tests.publication.page_state import by_worth, settled, slide, standing, state, weighed
from tests.publication.records import render


@long
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
    daily(
        [
            ([33, 33, 33], "plasma"),
            ([50, 25, 25], "plasma + mass"),
            ([20, 60, 20], "insulin + pressure + age + plasma"),
        ],
        ([20, 60, 20], "insulin + pressure + age + plasma"),
    ),
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


def test_the_slider_ranks_again_as_python_does(opened):
    summary = kept_and_told()
    page = opened(render(summary))
    assert summary["bits"] is not None
    winners = set()
    for at in (0, 7, 15, 20, 33, 60):
        caution = summary["bits"]["cautions"][at]
        page.locator("#caution").fill(str(at))
        found = standing(page)
        assert found["caution"] == caution
        assert found["order"] == by_worth(summary, caution)
        assert found["best"] == best_for(summary, caution)
        first = page.locator("#worth tbody tr").first
        assert first.get_attribute("data-candidate") == str(found["best"])
        winners.add(found["best"])
    assert len(winners) > 2
    page.locator("#caution-reset").click()
    assert standing(page)["caution"] == 0.75


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


@long
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


@long
def test_a_click_on_the_map_takes_its_weights(opened):
    page = opened(render(example()))
    box = page.locator("#map svg").bounding_box()
    page.locator("#map svg").click(position={"x": box["width"] / 2, "y": 36})
    assert state(page)["weights"][0] > 90
    assert page.locator("#weight-0").input_value() == str(state(page)["weights"][0])


@long
@pytest.mark.parametrize("factors", [1, 2, 4, 6])
def test_any_number_of_factors_can_be_weighed(opened, factors):
    summary = many(40, factors=factors)
    page = opened(render(summary))
    weights = [10 + 7 * f for f in range(factors)]
    assert slide(page, weights)["order"] == list(weighed(summary, weights).order)
    assert page.locator("#map").is_visible() == (factors > 1)


@long
def test_what_breaks_a_limit_never_wins(opened):
    summary = example()
    page = opened(render(summary))
    found = slide(page, [100, 0, 0])
    assert summary["candidates"][found["order"][0]]["fails"]
    assert found["best"] == found["order"][1]


@long
def test_what_is_not_ranked_is_shown_last_and_counts_for_nothing(opened):
    summary = example()
    alone = {"ranked": False, "ranks": {}, "score": 0.0, "place": 0, "values": {}}
    summary["candidates"][1].update({**alone, "fails": ["too few rows"]})
    page = opened(render(summary))
    others = {**summary, "candidates": [c for i, c in enumerate(summary["candidates"]) if i != 1]}
    wanted = weighed(others, [50, 25, 25])
    found = state(page)
    assert [s for s in found["scores"] if s is not None] == wanted.scores.tolist()
    page.locator("#more").click()
    last = page.locator("#ranking tbody tr").last
    assert "too few rows" in last.inner_text()
    assert last.locator("td").first.inner_text() == "—"


@long
def test_no_weight_at_all_keeps_the_order_and_says_so(opened):
    page = opened(render(example()))
    before = slide(page, [0, 10, 0])["order"]
    assert slide(page, [0, 0, 0])["order"] == before
    assert "some weight" in page.locator("#winner").inner_text()
    page.locator("#reset").click()
    settled(page)
    assert "This is what was released" in page.locator("#winner").inner_text()


@long
def test_back_to_the_weights_used_gives_their_scores_again(opened):
    summary = example(WEIGHTS[0])
    page = opened(render(summary))
    slide(page, [5, 90, 5])
    page.locator("#reset").click()
    assert state(page)["scores"] == [c["score"] for c in summary["candidates"]]


@long
def test_two_thousand_candidates_are_ranked_at_every_move(opened):
    summary = many(2_000)
    page = opened(render(summary))
    for step in (0, 45, 90):
        weights = [step, 100 - step, 30]
        found = slide(page, weights)
        assert found["order"] == list(weighed(summary, weights).order)
    assert page.locator("#ranking tbody tr").count() == 10
    for _ in range(3):
        page.locator("#more").click()
    assert page.locator("#ranking tbody tr").count() == 130
