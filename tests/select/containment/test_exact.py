"""Tests of the exact search: the optimum over all feasible sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tamis.datasets import behaviour
from tamis.errors import CannotMeet, InputError
from tamis.select.containment.exact import exact
from tamis.select.containment.greedy import greedy
from tamis.select.containment.itemsets import maximal
from tests.long import daily

from .brute import anonymity, best_utility, utility
from .tables import Labelled, labelled_tables


@given(
    labelled_tables(rows=14, columns=8), st.integers(1, 5), st.sampled_from(["hamdist", "distcnt"])
)
def test_the_optimum_is_that_of_brute_force(table: Labelled, k: int, name: str) -> None:
    X, y = table
    k = min(k, len(X))
    found = exact(X, y, k, utility=name)
    assert found.utility == pytest.approx(best_utility(X, y, k, name), abs=1e-9)
    assert found.bound == pytest.approx(found.utility)
    assert anonymity(X, found.features) == found.anonymity >= k
    assert utility(X, y, found.features, name) == pytest.approx(found.utility)


def test_the_optimum_may_lie_beyond_greedy() -> None:
    # Column 0 is the best alone, but shares a single row with each of the others.
    X = np.array([[1, 1, 1]] + [[1, 0, 0]] * 3 + [[0, 1, 1]] * 2 + [[0, 0, 0]] * 4)
    y = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert greedy(X, y, 2, utility="hamdist").features == (0,)
    found = exact(X, y, 2)
    assert set(found.features) == {1, 2}
    assert found.gap == 0


def test_equal_columns_are_chosen_together() -> None:
    X = np.repeat(np.array([[1, 0], [1, 0], [0, 1], [0, 1]]), 3, axis=1)
    assert sorted(exact(X, [1, 1, 0, 0], 2).features) == [0, 1, 2, 3, 4, 5]


def test_nothing_can_be_chosen() -> None:
    found = exact(np.eye(4), [0, 0, 1, 1], 2)
    assert (found.features, found.anonymity, found.utility, found.gap) == ((), 4, 0.0, 0.0)


@pytest.mark.parametrize("name", ["hamdist", "distcnt"])
def test_a_stopped_search_gives_a_bound(name: str) -> None:
    X = np.random.default_rng(0).random((120, 18)) < 0.3
    y = np.arange(120) % 2
    stopped = exact(X, y, 8, utility=name, time_limit=0)
    proven = exact(X, y, 8, utility=name)
    assert stopped.bound is not None
    assert proven.bound == pytest.approx(proven.utility)
    assert stopped.utility <= proven.utility <= stopped.bound
    assert stopped.utility >= greedy(X, y, 8, utility=name).utility - 1e-12


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(InputError, match="time_limit"):
        exact([[1], [0]], [0, 1], 1, time_limit=-1)
    with pytest.raises(InputError, match="'hamdist' or 'distcnt'"):
        exact([[1], [0]], [0, 1], 1, utility="cm")
    with pytest.raises(CannotMeet, match="k = 3"):
        exact([[1], [0]], [0, 1], 3)


LEVELS = {
    "workclass": "Private",
    "marital-status": "Never-married",
    "occupation": "Exec-managerial",
    "race": "White",
    "sex": "Male",
}
ENDS = {
    "age": [25, 35, 45, 55],
    "education-num": [8, 9, 12],
    "hours-per-week": [20, 34, 40, 50],
}


def adult(path: Path) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Nineteen columns after section 5.1 of the paper; cuts that it does not print are ours."""
    frame = pl.read_csv(path)
    columns = [(frame[name] == level).to_numpy() for name, level in LEVELS.items()]
    for name, ends in ENDS.items():
        which = np.searchsorted(ends, frame[name].to_numpy())
        columns += [which == i for i in range(len(ends) + 1)]
    return np.column_stack(columns), (frame["class"] == ">50K").to_numpy()


@pytest.mark.parametrize("name", daily(["hamdist", "distcnt"], "hamdist"))
def test_the_optimum_of_adult_is_proven(dataset: Callable[[str], Path], name: str) -> None:
    X, y = adult(dataset("adult_train.csv.gz"))
    assert X.shape == (32561, 19)
    found = exact(X, y, 5, utility=name)
    assert found.anonymity >= 5
    assert found.bound == pytest.approx(found.utility)
    assert found.utility >= greedy(X, y, 5, utility=name).utility


def test_a_stopped_search_has_at_least_the_best_common_itemset():
    log = behaviour(rows=300, features=80)
    stopped = exact(log.matrix, log.labels, 5, time_limit=0.05)
    assert stopped.utility >= maximal(log.matrix, log.labels, 5).utility - 1e-12
