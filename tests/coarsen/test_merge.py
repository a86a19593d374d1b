"""Merges against their definition: at each step the pair that costs least."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.merging import Residuals, by_chance, merged_groups


def loss(rows, residuals):
    """What one Newton step for these rows gains, as it is defined."""
    total = 0.0
    for k in range(residuals.residual.shape[1]):
        slope = residuals.residual[rows, k].sum()
        total += slope**2 / max(residuals.curvature[rows, k].sum(), 0.25)
    return total


def by_hand(codes, leaves, evidence, size, ordered):
    groups = [{leaf} for leaf in range(leaves)]

    def cost(one, other):
        total = 0.0
        for residuals in evidence:
            rows = [np.isin(codes - 1, list(group)) for group in (one, other, one | other)]
            first, second, together = (loss(each, residuals) for each in rows)
            classes = residuals.residual.shape[1]
            beyond = max(0.0, first + second - together - by_chance(classes))
            free = (classes - 1) / classes
            total += residuals.worth * free * beyond / (2 * len(residuals.residual) * log(2))
        return total, np.isin(codes - 1, list(one | other)).sum()

    while len(groups) > size:
        pairs = list(pairwise(groups)) if ordered else list(combinations(groups, 2))
        costs = sorted((*cost(*pair), i) for i, pair in enumerate(pairs))
        one, other = pairs[costs[0][-1]]
        if len(costs) > 1 and costs[1][0] - costs[0][0] < 1e-9 and costs[1][1] == costs[0][1]:
            return None  # a tie may go either way
        groups = sorted((g for g in groups if g not in (one, other)), key=min)
        groups = sorted([*groups, one | other], key=min)
    return tuple(next(i for i, g in enumerate(groups) if leaf in g) for leaf in range(leaves))


@st.composite
def columns(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    leaves, rows = draw(st.integers(2, 7)), draw(st.integers(5, 300))
    codes = rng.integers(0, leaves + 1, rows).astype(np.uint8)
    evidence = []
    for worth in draw(st.sampled_from([(1.0,), (2.0, -1.0)])):
        classes = int(rng.integers(2, 4))
        p = rng.dirichlet(np.ones(classes), rows)
        evidence.append(Residuals.of(p, rng.integers(0, classes, rows), worth=worth))
    return codes, leaves, evidence, draw(st.booleans())


@given(columns())
def test_each_step_merges_the_pair_that_costs_least(made):
    codes, leaves, evidence, ordered = made
    found = merged_groups(codes, leaves, evidence, range(1, leaves), ordered=ordered)
    assert sorted(found) == list(range(1, leaves))
    for size, group_of in found.items():
        expected = by_hand(codes, leaves, evidence, size, ordered)
        assert expected is None or group_of == expected


@given(columns())
def test_groups_nest_and_those_of_numbers_have_no_gaps(made):
    codes, leaves, evidence, ordered = made
    found = merged_groups(codes, leaves, evidence, range(1, leaves), ordered=ordered)
    for size in range(2, leaves):
        assert len(set(zip(found[size], found[size - 1]))) == size
        if ordered:
            assert list(found[size]) == sorted(found[size])


def evidence_of(codes, p_target, p_secret):
    """Labels that these probabilities by leaf would give, exactly."""
    found = []
    for worth, p in ((1.0, p_target), (-1.0, p_secret)):
        label = np.empty(len(codes), dtype=int)
        for leaf in np.unique(codes):
            rows = np.flatnonzero(codes == leaf)
            label[rows] = np.arange(len(rows)) < p[leaf - 1] * len(rows)
        base = np.tile(np.bincount(label, minlength=2) / len(label), (len(codes), 1))
        found.append(Residuals.of(base, label, worth=worth))
    return found


def test_what_tells_is_merged_and_what_teaches_stays_apart():
    codes = np.repeat(np.arange(1, 5), 100).astype(np.uint8)
    teaches, tells = [0.2, 0.2, 0.8, 0.8], [0.1, 0.9, 0.1, 0.9]
    evidence = evidence_of(codes, teaches, tells)
    assert merged_groups(codes, 4, evidence, [2], ordered=False) == {2: (0, 0, 1, 1)}
    only_secret = [Residuals(e.residual, e.curvature, -e.worth) for e in evidence[1:]]
    assert merged_groups(codes, 4, only_secret, [2], ordered=False) == {2: (0, 1, 0, 1)}


def test_neighbours_only_where_there_is_an_order():
    codes = np.repeat(np.arange(1, 4), 100).astype(np.uint8)
    evidence = evidence_of(codes, [0.2, 0.8, 0.2], [0.5, 0.5, 0.5])
    assert merged_groups(codes, 3, evidence, [2], ordered=False) == {2: (0, 1, 0)}
    assert merged_groups(codes, 3, evidence, [2], ordered=True)[2] in {(0, 0, 1), (0, 1, 1)}


def test_missing_rows_and_empty_leaves_are_no_trouble():
    codes = np.array([0, 1, 3, 0, 1, 3] * 10, dtype=np.uint8)
    label = np.array([0, 1, 0, 1, 1, 0] * 10)
    about = Residuals.of(np.full((60, 2), 0.5), label, worth=1.0)
    found = merged_groups(codes, 3, [about], [2, 9], ordered=False)
    assert list(found) == [2]
    assert found[2][0] != found[2][2]


def test_a_bit_is_worth_the_same_however_many_rows():
    p, label = np.full((10, 2), 0.5), np.array([0, 1] * 5)
    once, twice = (Residuals.of(np.tile(p, (n, 1)), np.tile(label, n), worth=1.0) for n in (1, 2))
    assert once.scale == pytest.approx(2 * twice.scale)


def test_differences_that_chance_makes_change_no_group():
    """Rows drawn anew give the same groups, where only one difference between leaves is real."""
    codes = np.repeat(np.arange(1, 9, dtype=np.uint8), [90, 60, 75, 40, 80, 55, 70, 45])
    found = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        label = (rng.random(len(codes)) < np.where(codes <= 4, 0.2, 0.8)).astype(int)
        about = Residuals.of(np.full((len(codes), 2), 0.5), label, worth=1.0)
        found.add(merged_groups(codes, 8, [about], [2], ordered=True)[2])
    assert found == {(0, 0, 0, 0, 1, 1, 1, 1)}
    rounds = merged_groups(codes, 8, [], [4], ordered=True, roundness=[2, 2, 2, 1, 2, 2, 2])
    assert rounds[4][3] != rounds[4][4]  # the round cut stays


def test_what_nothing_tells_apart_is_merged_by_all_rows_whichever_were_drawn():
    """Where merges cost nothing the smallest groups go first: the draw must not say which."""
    every = np.array([50, 46, 54, 48, 52, 44, 56, 42])
    found, by_draw = set(), set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        codes = rng.choice(np.arange(1, 9, dtype=np.uint8), 250, p=every / every.sum())
        asked: dict[str, Any] = {"ordered": True, "roundness": [2] * 7}
        found.add(merged_groups(codes, 8, [], [3], rows=every, **asked)[3])
        by_draw.add(merged_groups(codes, 8, [], [3], **asked)[3])
    assert len(found) == 1 < len(by_draw)
