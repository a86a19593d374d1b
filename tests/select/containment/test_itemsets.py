"""Tests of the largest maximal itemsets and the choice among them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlxtend.frequent_patterns import fpmax
from scipy import sparse

from tamis.errors import CannotMeet, InputError
from tamis.evaluate.separation import classification_metric, distcnt, hamdist
from tamis.risk.containment import containment_anonymity
from tamis.select.containment.greedy import greedy
from tamis.select.containment.itemsets import largest_itemsets, maximal

from .brute import anonymity, maximal_itemsets, utility
from .tables import Labelled, labelled_tables


@given(labelled_tables(), st.integers(1, 5), st.integers(1, 6))
def test_itemsets_are_those_of_brute_force_in_the_stated_order(
    table: Labelled, k: int, most: int
) -> None:
    X, _ = table
    k = min(k, len(X))
    values = np.arange(X.shape[1]) % 3
    expected = sorted(maximal_itemsets(X, k), key=lambda s: (-len(s), -values[list(s)].sum(), s))
    assert largest_itemsets(X, k, most, values) == expected[:most]


@pytest.mark.parametrize(
    ("rows", "columns", "density"), [(60, 90, 0.3), (300, 20, 0.4), (1500, 200, 0.02)]
)
@pytest.mark.parametrize("k", [2, 5, 20])
def test_itemsets_are_those_of_a_miner(rows: int, columns: int, density: float, k: int) -> None:
    random = np.random.default_rng(k)
    X = random.random((rows, columns)) < density * random.random(columns)
    mined = fpmax(pd.DataFrame(X), min_support=(k - 0.5) / rows)["itemsets"]
    expected = sorted((tuple(sorted(s)) for s in mined), key=lambda s: (-len(s), s))
    assert largest_itemsets(X, k, 25) == expected[:25]


def test_itemsets_beyond_one_word_and_equal_columns() -> None:
    random = np.random.default_rng(3)
    X = np.repeat(random.random((40, 30)) < 0.4, 7, axis=1)
    narrow = largest_itemsets(X[:, ::7], 4, 10)
    wide = largest_itemsets(X, 4, 10)
    assert [tuple(c // 7 for c in s[::7]) for s in wide] == narrow
    assert [len(s) for s in wide] == [7 * len(s) for s in narrow]


def test_pairs_of_rows_bound_a_wide_table() -> None:
    random = np.random.default_rng(4)
    X = random.random((30, 3000)) < 0.1
    X[:4, 100:160] = True
    (first, *_) = largest_itemsets(sparse.csr_array(X), 4, 3)
    assert set(range(100, 160)) <= set(first)


def test_no_column_is_frequent() -> None:
    X, y = np.eye(4, dtype=int), [0, 0, 1, 1]
    assert largest_itemsets(X, 2, 5) == []
    assert maximal(X, y, 2).features == ()


def test_an_empty_table_of_columns() -> None:
    assert largest_itemsets(np.zeros((3, 0)), 2, 5) == []


@given(labelled_tables(), st.integers(1, 4), st.sampled_from(["hamdist", "distcnt"]))
def test_the_best_itemset_is_chosen_and_extended(table: Labelled, k: int, name: str) -> None:
    X, y = table
    k = min(k, len(X))
    found = maximal(X, y, k, utility=name, largest=100, extend=False)
    expected = max((utility(X, y, s, name) for s in maximal_itemsets(X, k)), default=0.0)
    assert found.utility == pytest.approx(expected)
    extended = maximal(X, y, k, utility=name, largest=100)
    assert set(found.features) <= set(extended.features)
    assert anonymity(X, extended.features) == extended.anonymity >= k
    assert utility(X, y, extended.features, name) == pytest.approx(extended.utility)
    rest = set(range(X.shape[1])) - set(extended.features)
    for u in rest:
        larger = (*extended.features, u)
        gains = utility(X, y, larger, name) > extended.utility + 1e-12
        assert not gains or anonymity(X, larger) < k


def test_steps_lead_to_the_set() -> None:
    X = np.random.default_rng(1).integers(0, 2, (40, 8))
    y = np.arange(40) % 2
    found = maximal(X, y, 3, utility="distcnt")
    assert tuple(step.feature for step in found.steps) == found.features
    assert found.steps[-1].utility == found.utility == pytest.approx(distcnt(X, y, found.features))
    assert found.steps[-1].anonymity == found.anonymity


@pytest.mark.parametrize("most", [0, -1, True, 2.0])
def test_a_senseless_number_of_itemsets_is_refused(most: object) -> None:
    with pytest.raises(InputError, match="at least 1, got"):
        maximal([[1], [0]], [0, 1], 1, largest=most)  # type: ignore[arg-type]


def test_k_above_the_rows_cannot_be_met() -> None:
    with pytest.raises(CannotMeet, match="k = 3"):
        largest_itemsets([[1], [1]], 3, 1)


def test_an_unknown_utility_is_refused() -> None:
    with pytest.raises(InputError, match="'hamdist' or 'distcnt'"):
        maximal([[1], [0]], [0, 1], 1, utility="auc")


def test_the_largest_itemset_of_pu1(dataset: Callable[[str], Path]) -> None:
    with gzip.open(dataset("pu1_body_binary.txt.gz"), "rt") as lines:
        rows = [line.split() for line in lines]
    where = np.repeat(np.arange(len(rows)), [len(row) - 1 for row in rows])
    which = np.array([int(cell.partition(":")[0]) - 1 for row in rows for cell in row[1:]])
    X = sparse.csr_array((np.ones(len(where), np.int8), (where, which)))
    y = np.array([row[0] for row in rows])
    sets = largest_itemsets(X, 5, 20)
    assert len(sets[0]) == 694
    assert (X[:, list(sets[0])].sum(axis=1) == 694).sum() == 5
    found = maximal(X, y, 5)
    assert found.anonymity == containment_anonymity(X[:, list(found.features)]) == 5
    assert found.utility == pytest.approx(hamdist(X, y, found.features))
    assert found.utility > greedy(X, y, 5, utility="hamdist").utility


@given(labelled_tables(), st.integers(1, 4), st.sampled_from(["cm", "size"]))
def test_the_best_of_the_largest_by_a_measure_of_sets(table: Labelled, k: int, name: str) -> None:
    X, y = table
    k = min(k, len(X))
    found = maximal(X, y, k, utility=name, extend=False)

    def worth(columns: tuple[int, ...]) -> float:
        if name == "size":
            return len(columns)
        return 1 - classification_metric(X, y, list(columns)) / len(X)

    used = {c for c in range(X.shape[1]) if hamdist(X, y, [c]) > 0}
    sets = [tuple(c for c in s if c in used) for s in largest_itemsets(X, k, 20)]
    assert found.utility == pytest.approx(worth(found.features))
    assert found.utility == pytest.approx(max(map(worth, sets), default=worth(())))
    assert anonymity(X, found.features) == found.anonymity >= k
    more = maximal(X, y, k, utility=name)
    assert set(found.features) <= set(more.features)
    assert sum(step.gain for step in more.steps) + worth(()) == pytest.approx(more.utility)
