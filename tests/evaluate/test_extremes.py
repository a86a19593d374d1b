"""Those whom a mean hides, against plain counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.evaluate.extremes import known_correctly, largest_gains, largest_group, surest


@given(st.integers(1, 60), st.floats(0.01, 1), st.integers(0, 999))
def test_precision_and_recall_are_counts_among_the_surest(rows, part, seed):
    rng = np.random.default_rng(seed)
    likely, is_so = rng.random(rows), rng.random(rows) < 0.4
    found = surest(likely, is_so, [part])
    if not is_so.any():
        assert found == ()
        return
    first = sorted(range(rows), key=lambda i: -likely[i])[: max(1, round(part * rows))]
    hits = sum(bool(is_so[i]) for i in first)
    assert found[0].precision.value == pytest.approx(hits / len(first))
    assert found[0].recall.value == pytest.approx(hits / is_so.sum())
    assert found[0].precision.low is not None
    assert found[0].precision.low <= found[0].precision.value


def test_who_was_known_before_is_not_told():
    said = np.array([[0.99, 0.01], [0.99, 0.01], [0.01, 0.99], [0.6, 0.4]])
    before = np.array([[0.96, 0.04], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    # The first was known, the second is told, the third is told wrongly, the fourth hardly.
    assert known_correctly(said, before, np.array([0, 0, 0, 0])).value == 0.25


def test_the_largest_gain_of_a_person_counts():
    gains = np.array([0.5, 3.0, -1.0, 2.0])
    assert largest_gains(gains, most=2).tolist() == [3.0, 2.0]
    assert largest_gains(gains, np.array([9, 4, 4, 4])).tolist() == [3.0, 0.5]


@given(st.integers(2, 5), st.integers(5, 80), st.integers(0, 999))
def test_the_largest_group_is_that_of_all_large_ones(k, rows, seed):
    rng = np.random.default_rng(seed)
    gains, groups = rng.normal(size=rows), rng.integers(0, 12, rows) * 5
    people = rng.integers(0, rows, rows)
    found = largest_group(gains, groups, k, people)
    means = {
        g: gains[groups == g].mean()
        for g in np.unique(groups)
        if len(np.unique(people[groups == g])) >= k
    }
    if not means:
        assert found is None
        return
    assert found is not None
    assert found.number == max(means, key=lambda g: means[g])
    assert found.gain.value == pytest.approx(means[found.number])
    assert found.people == len(np.unique(people[groups == found.number]))


def test_the_interval_widens_with_the_number_of_groups():
    rng = np.random.default_rng(0)
    one = np.concatenate([[2.0, 2.2, 1.8, 2.1], rng.normal(0, 0.1, 400)])
    few = largest_group(one[:8], np.repeat([0, 1], 4), 4)
    many = largest_group(one, np.repeat(np.arange(101), 4), 4)
    assert few is not None
    assert many is not None
    assert few.gain.value == many.gain.value == pytest.approx(2.025)
    halves = [(np.array([g.gain.low, g.gain.high]) - 2.025) for g in (few, many)]
    assert halves[0][0] == pytest.approx(-halves[0][1])
    assert halves[1][1] > halves[0][1] > 0


def test_groups_are_of_two_or_more():
    with pytest.raises(InputError, match="two people or more"):
        largest_group(np.zeros(3), np.zeros(3, dtype=int), 1)
