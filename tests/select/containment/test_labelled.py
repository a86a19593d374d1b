"""Every search may be told which labels it may use; the other rows only have to hide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.select.containment import ContainmentSelector
from tamis.select.containment.exact import exact
from tamis.select.containment.greedy import greedy
from tamis.select.containment.improve import improve
from tamis.select.containment.itemsets import maximal
from tamis.select.containment.paths import greedy_with_absences
from tamis.select.containment.selection import Selection

from .brute import Table, anonymity, subsets, utility
from .tables import Labelled, labelled_tables

SEARCHES: dict[str, Callable[..., Selection]] = {
    "greedy": greedy,
    "improve": lambda *args, **more: improve(*args, iterations=10, **more),
    "maximal": maximal,
    "exact": exact,
    "absences": lambda X, y, k, **more: greedy_with_absences(X, y, k, 1, **more),
}


def some(rows: int, seed: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """A part of the rows that has both classes: the first and the last are always in it."""
    known = np.random.default_rng(seed).random(rows) < 0.6
    known[0] = known[-1] = True
    return known


@pytest.mark.parametrize("name", ["hamdist", "distcnt"])
@pytest.mark.parametrize("search", SEARCHES)
@given(table=labelled_tables(), k=st.integers(1, 4), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_hidden_labels_change_nothing_and_hidden_rows_still_hide(
    search: str, name: str, table: Labelled, k: int, seed: int
) -> None:
    X, y = table
    k, known = min(k, len(X)), some(len(X), seed)
    other = np.where(known, y, 1 - y)
    found = SEARCHES[search](X, y, k, utility=name, labelled=known)
    assert SEARCHES[search](X, other, k, utility=name, labelled=known) == found
    assert anonymity(X, found.features) >= k
    seen = utility(X[known], y[known], found.features, name)
    assert found.utility == pytest.approx(seen)


@given(labelled_tables(), st.integers(1, 4), st.sampled_from(["hamdist", "distcnt"]))
@settings(max_examples=25, deadline=None)
def test_exact_is_the_best_by_the_known_labels(table: Labelled, k: int, name: str) -> None:
    X, y = table
    k, known = min(k, len(X)), some(len(X), 7)
    found = exact(X, y, k, utility=name, labelled=known)
    feasible = [s for s in subsets(X.shape[1]) if anonymity(X, s) >= k]
    best = max(utility(X[known], y[known], s, name) for s in feasible)
    assert found.utility == pytest.approx(best)


@pytest.mark.parametrize("search", ["greedy", "improve", "maximal", "exact"])
def test_the_selector_hands_them_to_its_search(search: str) -> None:
    X, y, known = _table()
    selector = ContainmentSelector(3, utility="hamdist", search=search)
    chosen = selector.fit(X, y, labelled=known).selection_
    assert chosen == selector.fit(X, np.where(known, y, 1 - y), labelled=known).selection_
    assert chosen != selector.fit(X, y).selection_


@pytest.mark.parametrize("search", ["improve", "maximal", "exact"])
@pytest.mark.parametrize("limit", [{"max_features": 2}, {"min_gain": 0.1}])
def test_limits_that_a_search_does_not_know_are_refused(search: str, limit: Any) -> None:
    X, y, _ = _table()
    with pytest.raises(InputError, match="search='greedy'"):
        ContainmentSelector(3, utility="hamdist", search=search, **limit).fit(X, y)


def test_people_and_known_labels_go_together() -> None:
    X, y, known = _table()
    people = np.arange(len(y)) // 2
    selector = ContainmentSelector(3, utility="hamdist", search="improve")
    chosen = selector.fit(X, y, people=people, labelled=known)
    assert chosen.anonymity_ >= 3
    other = selector.fit(X, np.where(known, y, 1 - y), people=people, labelled=known)
    assert other.selection_ == chosen.selection_


def _table() -> tuple[Table, Any, Any]:
    X = (np.random.default_rng(1).random((60, 9)) < 0.4).astype(np.int8)
    y = X[:, 0] ^ (np.arange(60) % 5 == 0)
    return X, y, np.arange(60) % 3 > 0
