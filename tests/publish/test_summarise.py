"""What gives people away: on the holder's page alone, and no figure from 1 to k - 1."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.publish.attack_facts import GiveawayFacts
from tamis.publish.report import render
from tamis.publish.summarise import giveaway_facts, size_bins
from tamis.publish.summary import Summary
from tests.publish.example_summary import example

FOUND: GiveawayFacts = {
    "exposed": 40,
    "most": 3,
    "by_size": [{"low": 1, "high": 2, "people": 30}, {"low": 3, "high": 3, "people": 10}],
    "columns": [{"name": "<b>age</b>", "share": 0.8}, {"name": "mass", "share": 0.3}],
    "sets": [{"columns": ["<b>age</b>", "mass"], "people": 12}],
    "worst": ["<b>age</b>"],
}


@given(st.lists(st.integers(0, 9), max_size=7), st.integers(2, 6))
def test_bins_cover_all_sizes_and_hide_small_counts(by_size, k):
    bins = size_bins(by_size, k)
    assert sum(b["people"] for b in bins) == sum(by_size)
    sizes = [size for b in bins for size in range(b["low"], b["high"] + 1)]
    assert sizes == list(range(1, len(by_size) + 1))
    if sum(by_size) >= k:
        assert all(b["people"] == 0 or b["people"] >= k for b in bins)


def test_facts_of_a_release(outcome):
    found = giveaway_facts(outcome)
    assert found is not None
    assert {c["name"] for c in found["columns"]} <= set(outcome.table.quasi)
    assert found["worst"][0] == found["columns"][0]["name"]
    assert all(s["people"] >= outcome.settings.k for s in found["sets"])
    assert sum(b["people"] for b in found["by_size"]) == found["exposed"]


def test_the_holders_page_says_it_and_the_recipients_does_not():
    summary: Summary = {**example(), "giveaways": FOUND}
    page = render(summary)
    assert "What gives people away" in page
    assert "<b>age</b>" not in page
    assert "giveaways" not in render(summary, "recipient")
    assert "What gives people away" not in render(example())


def test_small_counts_are_refused():
    few: GiveawayFacts = {**FOUND, "sets": [{"columns": ["mass"], "people": 1}]}
    with pytest.raises(InputError, match="gives people away counts fewer"):
        render({**example(), "giveaways": few})


def test_nothing_of_it_is_published(published):
    assert json.loads((published / "private" / "summary.json").read_text())["giveaways"]
    for name in ("manifest.json", "report.html"):
        assert "giveaway" not in (published / name).read_text()
