"""Tests of the local search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.select.containment.greedy import greedy
from tamis.select.containment.improve import improve

from .brute import anonymity, best_utility, utility
from .tables import Labelled, labelled_tables


@given(labelled_tables(), st.integers(1, 4), st.sampled_from(["hamdist", "distcnt"]))
@settings(max_examples=25)
def test_between_greedy_and_the_optimum(table: Labelled, k: int, name: str) -> None:
    X, y = table
    k = min(k, len(X))
    found = improve(X, y, k, utility=name, iterations=30)
    assert found.utility >= greedy(X, y, k, utility=name).utility - 1e-12
    assert found.utility <= best_utility(X, y, k, name) + 1e-12
    assert utility(X, y, found.features, name) == pytest.approx(found.utility)
    assert anonymity(X, found.features) == found.anonymity >= k


def test_it_leaves_the_trap_that_greedy_ends_in() -> None:
    X = np.array([[1, 1, 1]] + [[1, 0, 0]] * 3 + [[0, 1, 1]] * 2 + [[0, 0, 0]] * 4)
    y = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert greedy(X, y, 2, utility="hamdist").features == (0,)
    assert set(improve(X, y, 2, iterations=10).features) == {1, 2}


@pytest.mark.parametrize(("name", "k"), [("hamdist", 8), ("distcnt", 4)])
def test_the_same_draw_gives_the_same_set(name: str, k: int) -> None:
    X = np.random.default_rng(0).random((200, 25)) < 0.3
    y = np.arange(200) % 2
    first = improve(X, y, k, utility=name, iterations=100, random_state=5)
    assert improve(X, y, k, utility=name, iterations=100, random_state=5) == first
    assert first.utility > greedy(X, y, k, utility=name).utility


def test_no_round_is_greedy() -> None:
    X = np.random.default_rng(0).random((200, 25)) < 0.3
    y = np.arange(200) % 2
    plain = greedy(X, y, 8, utility="hamdist")
    assert improve(X, y, 8, iterations=0).features == plain.features
    assert improve(X, y, 8, time_limit=0).features == plain.features


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(InputError, match="iterations"):
        improve([[1], [0]], [0, 1], 1, iterations=-1)
    with pytest.raises(InputError, match="time_limit"):
        improve([[1], [0]], [0, 1], 1, time_limit=-1)
