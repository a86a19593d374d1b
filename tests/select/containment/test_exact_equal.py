"""The best set under k equals against every subset, and what a stopped search promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import CannotMeet, InputError
from tamis.select.containment.exact_equal import exact_equal

from .brute import subsets, utility
from .tables import Labelled, labelled_tables


def equals(X: np.ndarray, features: tuple[int, ...]) -> int:
    """The fewest rows that equal a row in some columns."""
    part = X[:, list(features)]
    return int((part[:, None, :] == part[None, :, :]).all(axis=2).sum(axis=1).min())


@given(
    labelled_tables(rows=12, columns=6), st.integers(1, 5), st.sampled_from(["hamdist", "distcnt"])
)
def test_the_optimum_is_that_of_brute_force(table: Labelled, k: int, name: str) -> None:
    X, y = table
    k = min(k, len(X))
    found = exact_equal(X, y, k, utility=name)
    best = max(utility(X, y, s, name) for s in subsets(X.shape[1]) if equals(X, s) >= k)
    assert found.utility == pytest.approx(best, abs=1e-9)
    assert found.bound == pytest.approx(found.utility)
    assert equals(X, found.features) == found.anonymity >= k
    assert utility(X, y, found.features, name) == pytest.approx(found.utility)
    assert found.steps[-1].utility == found.utility if found.steps else found.utility == 0
    for i, step in enumerate(found.steps):
        assert step.anonymity == equals(X, found.features[: i + 1])


@pytest.mark.parametrize("name", ["hamdist", "distcnt"])
def test_a_stopped_search_has_a_bound_that_holds(name: str) -> None:
    rng = np.random.default_rng(3)
    X = (rng.random((60, 9)) < 0.4).astype(np.int8)
    y = (rng.random(60) < 0.5).astype(np.int8)
    whole = exact_equal(X, y, 3, utility=name)
    stopped = exact_equal(X, y, 3, utility=name, time_limit=1e-9)
    assert stopped.bound is not None
    assert stopped.utility <= whole.utility <= stopped.bound


def test_labels_of_some_rows_only() -> None:
    X = np.array([[1, 0]] * 4 + [[0, 1]] * 4)
    y = np.array([1, 1, 0, 1, 0, 0, 1, 0])
    known = np.array([1, 1, 0, 1, 1, 1, 0, 1], bool)
    found = exact_equal(X, y, 4, utility="distcnt", labelled=known)
    assert (found.features, found.utility, found.anonymity) == ((0,), 1.0, 4)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="'hamdist' or 'distcnt'"):
        exact_equal([[1], [0]], [1, 0], 1, utility="cm")
    with pytest.raises(CannotMeet, match="k = 3 cannot be met"):
        exact_equal([[1], [0]], [1, 0], 3)
