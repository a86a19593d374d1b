"""Success, gain over guessing and leak over a control group."""

from typing import Any

import numpy as np
import pytest

from tamis.attack import scene

scored: Any = scene.scored
share: Any = scene.share


def test_the_gain_is_the_part_of_what_guessing_leaves():
    found = scored("x", "", np.array([True] * 75 + [False] * 25), guess=0.5)
    assert found.gain.value == pytest.approx(0.5)
    assert found.gain.low < 0.5 < found.gain.high
    assert found.leak is None


def test_the_leak_is_the_part_of_what_the_control_group_leaves():
    right = np.array([True] * 60 + [False] * 40)
    found = scored("x", "", right, guess=0.1, control=np.array([True] * 20 + [False] * 80))
    assert found.leak.value == pytest.approx(0.5)
    assert found.leak.low < 0.5 < found.leak.high
    assert found.control_people == 100


def test_equal_groups_leak_nothing_and_certain_ones_cannot_leak():
    half = np.array([True, False] * 50)
    found = scored("x", "", half, guess=0.5, control=half)
    assert (found.gain.value, found.leak.value) == (0.0, 0.0)
    assert found.leak.low < 0 < found.leak.high
    sure = scored("x", "", np.ones(9), guess=1.0, control=np.ones(9))
    assert (sure.gain.value, sure.leak.value) == (0.0, 0.0)


def test_rows_of_one_person_count_as_one():
    right = np.repeat([True, False], 50)
    alone, together = share(right), share(right, np.repeat([0, 1], 50))
    assert together.high - together.low > alone.high - alone.low


def test_nobody_tried_says_nothing():
    assert share(np.zeros(0)).to_dict() == {"value": 0.0, "low": 0.0, "high": 1.0}


def test_intervals_cover_the_truth():
    drawn = np.random.default_rng(0)
    inside = 0
    for _ in range(300):
        mine, theirs = drawn.random(80) < 0.6, drawn.random(80) < 0.2
        leak = scored("x", "", mine, guess=0.0, control=theirs).leak
        inside += leak.low <= 0.5 <= leak.high
    assert inside > 270
