"""Bins of class sizes, and what gives people away: of nobody, or of at least k people."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.analyse.crowds import (
    class_size_bins,
    giveaway_facts,
    size_bins,
)
from tamis.errors import InputError
from tests.publication.example_summary import example
from tests.publication.records import Facts, render


def sizes_of(groups: list[int]) -> np.ndarray:
    """The class size of each person where the classes have these many members."""
    return np.repeat(groups, groups)


def inside(groups: list[int], low: int, high: int | None) -> int:
    return sum(size for size in groups if low <= size and (high is None or size <= high))


GROUPS = st.lists(st.integers(1, 40), max_size=30)


def found_of(before, after, everything, k):
    sizes = (sizes_of(groups) for groups in (before, after, everything))
    return class_size_bins(*sizes, k=k, kind="equal")


@given(before=GROUPS, after=GROUPS, everything=GROUPS, k=st.integers(1, 12))
def test_no_bin_counts_fewer_than_k_and_nobody_is_lost(before, after, everything, k):
    bins = found_of(before, after, everything, k).bins
    for counts, groups in (
        ([b.before or 0 for b in bins], before),
        ([b.after for b in bins], after),
        ([b.everything for b in bins], everything),
    ):
        assert all(n == 0 or n >= k for n in counts)
        assert counts == [inside(groups, b.low, b.high) for b in bins]
        assert sum(counts) == sum(groups) or not bins


@given(before=GROUPS, other=GROUPS, after=GROUPS, everything=GROUPS, k=st.integers(1, 12))
def test_bins_of_the_release_tell_nothing_of_the_original(before, other, after, everything, k):
    one, two = (found_of(first, after, everything, k) for first in (before, other))
    assert one.bins_released == two.bins_released
    assert all(b.before is None for b in one.bins_released)


@given(before=GROUPS, after=GROUPS, k=st.integers(1, 12))
def test_bins_follow_each_other_without_gaps(before, after, k):
    bins = found_of(before, after, after, k).bins
    for one, following in pairwise(bins):
        assert one.high == following.low - 1
    assert not bins or (bins[0].low == 1 and bins[-1].high is None)


def test_sizes_that_nobody_has_share_a_bin():
    bins = class_size_bins([1] * 9, [1000] * 1000, [1000] * 1000, k=4, kind="equal").bins
    assert [(b.low, b.high) for b in bins] == [(1, 1), (2, 3), (4, 511), (512, None)]


def test_a_release_that_falls_short_of_k_does_not_tell_its_smallest_class():
    assert class_size_bins([5] * 5, [2, 2, 8], [8] * 8, k=5, kind="equal").smallest_after is None
    assert class_size_bins([5] * 5, [7] * 7, [7] * 7, k=5, kind="equal").smallest_after == 7


def test_too_few_people_for_any_bin_give_none():
    assert class_size_bins([2, 2], [2, 2], [2, 2], k=5, kind="containment").bins == ()


FOUND: Facts = {
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
    assert sum(b.people for b in bins) == sum(by_size)
    sizes = [size for b in bins for size in range(b.low, b.high + 1)]
    assert sizes == list(range(1, len(by_size) + 1))
    if sum(by_size) >= k:
        assert all(b.people == 0 or b.people >= k for b in bins)


def test_facts_of_a_release(outcome):
    found = giveaway_facts(outcome)
    assert found is not None
    assert {c.name for c in found.columns} <= set(outcome.table.quasi)
    assert found.worst[0] == found.columns[0].name
    assert all(s.people >= outcome.settings.k for s in found.sets)
    assert sum(b.people for b in found.by_size) == found.exposed


def test_the_holders_page_says_it_and_the_recipients_does_not():
    summary: Facts = {**example(), "giveaways": FOUND}
    page = render(summary)
    assert "What gives people away" in page
    assert "<b>age</b>" not in page
    assert "giveaways" not in render(summary, "recipient")
    assert "What gives people away" not in render(example())


def test_small_counts_are_refused():
    few: Facts = {**FOUND, "sets": [{"columns": ["mass"], "people": 1}]}
    with pytest.raises(InputError, match="gives people away counts fewer"):
        render({**example(), "giveaways": few})


def test_nothing_of_it_is_published(published):
    assert json.loads((published / "private" / "summary.json").read_text())["giveaways"]
    for name in ("manifest.json", "report.html"):
        assert "giveaway" not in (published / name).read_text()
