"""Who is in the table: by the nearest row, and by running a mechanism again."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.attack import membership as members
from tamis.attack.membership import (
    epsilon_at_least,
    farthest,
    shadow_attack,
    threshold,
)
from tamis.attack.scene import Scene
from tamis.errors import InputError
from tamis.table import Table
from tests.long import LONG, daily

membership: Any = members.membership


def people(rows, seed):
    drawn = np.random.default_rng(seed)
    return Table(pl.DataFrame({name: drawn.random(rows) for name in "abc"}))


def test_the_original_gives_away_who_is_in_it():
    found = membership(Scene(people(200, 0), people(200, 0), people(200, 1)))
    assert found.success.value == 1.0
    assert found.details["auc"]["value"] == 1.0


def test_rows_of_others_do_not():
    found = membership(Scene(people(400, 0), people(400, 7), people(400, 1)))
    assert found.success.low < 0.5 < found.success.high + 0.05


def test_without_a_control_group_there_is_no_telling():
    assert membership(Scene(people(20, 0), people(20, 0))) is None


DISTANCES = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5]), min_size=1, max_size=8)


@given(DISTANCES, DISTANCES)
def test_no_threshold_parts_two_groups_better(near, far):
    def right(at):
        return np.mean([d <= at for d in near]) + np.mean([d > at for d in far])

    found = right(threshold(np.array(near), np.array(far)))
    assert found == pytest.approx(max(right(at) for at in (-1, 0.0, 0.1, 0.2, 0.5)))


def noisy_histogram(epsilon):
    """Counts of 0 and 1 with two-sided geometric noise, as rows: epsilon-DP by its definition."""

    def make(frame, seed):
        drawn = np.random.default_rng(seed)
        stop = 1 - math.exp(-epsilon)
        counts = [
            max(0, int((frame["x"] == value).sum()) + drawn.geometric(stop) - drawn.geometric(stop))
            for value in (0.0, 1.0)
        ]
        return pl.DataFrame({"x": np.repeat([0.0, 1.0], counts)})

    return make


FRAME = pl.DataFrame({"x": [0.0] * 20 + [1.0]})


@pytest.mark.parametrize("epsilon", daily([0.5, 2.0], 2.0))
def test_a_shadow_attack_stays_below_what_epsilon_allows(epsilon):
    found = shadow_attack(noisy_histogram(epsilon), FRAME, epsilon=epsilon, runs=300)
    assert found.within
    assert found.epsilon_at_least <= epsilon
    assert found.success.value > 0.5


def test_a_mechanism_that_breaks_its_promise_is_caught():
    found = shadow_attack(noisy_histogram(4.0), FRAME, epsilon=0.2, runs=300)
    assert not found.within
    assert found.epsilon_at_least > 0.2


def test_the_shadow_of_our_own_histogram():
    pytest.importorskip("opendp")
    from tamis.dp.histogram import DPHistogram

    bounds = {"x": ["a", "b"], "y": ["n", "p"]}
    frame = pl.DataFrame({"x": ["a"] * 60 + ["b"], "y": ["n"] * 60 + ["p"]})

    def make(rows, seed):
        model = DPHistogram(1.0, bounds=bounds, random_state=seed).fit(rows, target="y")
        return model.sample()

    found = shadow_attack(make, frame, epsilon=1.0, runs=60 if LONG else 20)
    assert found.within
    assert found.epsilon_at_least <= 1.0


@settings(max_examples=30)
@given(st.integers(1, 60), st.data())
def test_the_proven_epsilon_is_below_what_the_counts_show(of, data):
    hits, alarms = data.draw(st.integers(0, of)), data.draw(st.integers(0, of))
    found = epsilon_at_least(hits, alarms, of)
    ratios = [hits / max(alarms, 1e-9), (of - alarms) / max(of - hits, 1e-9)]
    assert 0 <= found <= max(0.0, math.log(max(*ratios, 1e-9)))
    assert epsilon_at_least(hits, alarms, of, delta=0.5) <= found


def test_the_farthest_row_and_too_few_runs():
    assert farthest(FRAME) == 20
    with pytest.raises(InputError, match="4 runs"):
        shadow_attack(lambda rows, seed: rows, FRAME, epsilon=1.0, runs=2)
