"""Bins of class sizes tell of nobody or of at least k people, and lose no one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.publish.class_sizes import class_size_bins


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
    bins = found_of(before, after, everything, k)["bins"]
    for counts, groups in (
        ([b["before"] or 0 for b in bins], before),
        ([b["after"] for b in bins], after),
        ([b["everything"] for b in bins], everything),
    ):
        assert all(n == 0 or n >= k for n in counts)
        assert counts == [inside(groups, b["low"], b["high"]) for b in bins]
        assert sum(counts) == sum(groups) or not bins


@given(before=GROUPS, other=GROUPS, after=GROUPS, everything=GROUPS, k=st.integers(1, 12))
def test_bins_of_the_release_tell_nothing_of_the_original(before, other, after, everything, k):
    one, two = (found_of(first, after, everything, k) for first in (before, other))
    assert one["bins_released"] == two["bins_released"]
    assert all(b["before"] is None for b in one["bins_released"])


@given(before=GROUPS, after=GROUPS, k=st.integers(1, 12))
def test_bins_follow_each_other_without_gaps(before, after, k):
    bins = found_of(before, after, after, k)["bins"]
    for one, following in pairwise(bins):
        assert one["high"] == following["low"] - 1
    assert not bins or (bins[0]["low"] == 1 and bins[-1]["high"] is None)


def test_sizes_that_nobody_has_share_a_bin():
    bins = class_size_bins([1] * 9, [1000] * 1000, [1000] * 1000, k=4, kind="equal")["bins"]
    assert [(b["low"], b["high"]) for b in bins] == [(1, 1), (2, 3), (4, 511), (512, None)]


def test_a_release_that_falls_short_of_k_does_not_tell_its_smallest_class():
    assert class_size_bins([5] * 5, [2, 2, 8], [8] * 8, k=5, kind="equal")["smallest_after"] is None
    assert class_size_bins([5] * 5, [7] * 7, [7] * 7, k=5, kind="equal")["smallest_after"] == 7


def test_too_few_people_for_any_bin_give_none():
    assert class_size_bins([2, 2], [2, 2], [2, 2], k=5, kind="containment")["bins"] == []
