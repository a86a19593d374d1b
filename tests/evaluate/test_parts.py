"""Rows to learn from, to choose by and to report on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.evaluate.parts import CHOOSE, FOLDED, LEARN, REPORT, Parts


@given(st.integers(20, 300), st.integers(1, 5), st.integers(0, 999))
def test_every_row_is_in_one_part(rows, classes, seed):
    strata = np.random.default_rng(seed).integers(0, classes, rows)
    parts = Parts.drawn(strata, random_state=seed)
    together = np.concatenate([parts.learn, parts.choose, parts.report])
    assert sorted(together) == list(range(rows))
    assert abs(len(parts.learn) - rows / 2) <= classes + 2
    again = Parts.drawn(strata, random_state=seed)
    assert np.array_equal(again.report, parts.report)


@given(st.integers(0, 999))
def test_rare_strata_are_dealt_evenly(seed):
    strata = np.repeat([0, 1], [400, 40])
    parts = Parts.drawn(strata, random_state=seed)
    for rows, share in ((parts.learn, 0.5), (parts.choose, 0.25), (parts.report, 0.25)):
        assert abs((strata[rows] == 1).sum() - 40 * share) <= 1


@given(st.integers(8, 60), st.integers(0, 999))
def test_nobody_is_on_two_sides(people, seed):
    rng = np.random.default_rng(seed)
    whose = rng.permutation(
        np.concatenate([np.arange(people), rng.integers(0, people, 3 * people)])
    )
    strata = rng.integers(0, 2, len(whose))
    parts = Parts.drawn(strata, whose * 7, random_state=seed)
    sides = [set(whose[rows]) for rows in (parts.learn, parts.choose, parts.report)]
    assert sum(map(len, sides)) == len(set.union(*sides)) == people
    for learn, ask in parts.rounds:
        assert not set(whose[learn]) & set(whose[ask])


def test_few_rows_learn_and_choose_in_turn():
    parts = Parts.drawn(np.arange(1000) % 3)
    assert len(parts.rounds) == 5
    assert sorted(parts.asked) == list(parts.search)
    assert not set(parts.asked) & set(parts.report)
    for learn, ask in parts.rounds:
        assert sorted(np.concatenate([learn, ask])) == list(parts.search)


def test_many_rows_learn_once_and_are_sampled():
    parts = Parts.drawn(np.zeros(40_000, dtype=int))
    sizes = [len(parts.learn), len(parts.choose), len(parts.report)]
    assert sizes == pytest.approx([LEARN, CHOOSE, REPORT], abs=1)
    ((learn, ask),) = parts.rounds
    assert np.array_equal(learn, parts.learn)
    assert np.array_equal(ask, parts.choose)
    between = Parts.drawn(np.zeros(2 * FOLDED, dtype=int))
    assert len(between.rounds) == 1


def test_other_seeds_draw_other_rows():
    strata = np.zeros(100, dtype=int)
    one, other = (Parts.drawn(strata, random_state=seed).learn for seed in (0, 1))
    assert not np.array_equal(one, other)


def test_too_few_rows_or_people_are_refused():
    with pytest.raises(InputError, match="four rows or more"):
        Parts.drawn(np.zeros(3, dtype=int))
    with pytest.raises(InputError, match="belong to one person"):
        Parts.drawn(np.zeros(50, dtype=int), np.zeros(50, dtype=int))
