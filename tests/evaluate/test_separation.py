"""HamDist, DistCnt and CM against their definitions over pairs and groups."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tamis.errors import InputError
from tamis.evaluate.separation import classification_metric, distcnt, hamdist

TABLE_1 = np.array(
    [
        [1, 0, 1, 0, 1],
        [1, 0, 1, 0, 1],
        [1, 0, 0, 1, 1],
        [1, 0, 1, 0, 1],
        [1, 1, 1, 0, 1],
        [1, 1, 0, 1, 1],
    ]
)
LABELS = [+1, -1, +1, +1, -1, -1]


def test_the_papers_feature_sets():
    assert hamdist(TABLE_1, LABELS, [0, 1, 4]) == 6 / 9
    assert hamdist(TABLE_1, LABELS, [2, 3, 4]) == 8 / 9
    assert classification_metric(TABLE_1, LABELS, [0, 1, 4]) == 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 12), columns=st.integers(1, 6))
def test_pairs_and_groups_by_definition(form, seed, rows, columns):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (rows, columns))
    y = np.array([0, 1, *rng.integers(0, 2, rows - 2)])
    features = list(rng.permutation(columns)[: rng.integers(0, columns + 1)])
    S = X[:, features]
    pairs = list(product(S[y == 0], S[y == 1]))
    assert hamdist(form(X), y, features) == pytest.approx(
        np.mean([(a != b).sum() for a, b in pairs])
    )
    assert distcnt(form(X), y, features) == pytest.approx(
        np.mean([(a != b).any() for a, b in pairs])
    )
    groups = Counter(map(tuple, S))
    true = Counter(map(tuple, S[y == 1]))
    minority = sum(min(true[g], groups[g] - true[g]) for g in groups)
    assert classification_metric(form(X), y, features) == minority


def test_two_classes_of_a_million_rows_are_exact():
    n = 1_000_000
    X = sparse.csc_array(np.repeat(np.array([[0], [1]], dtype=np.uint8), n, axis=0))
    y = np.repeat([0, 1], n)
    y[0] = 1
    y[-1] = 0
    # One row of each class was exchanged: those two differ from their class, not from the other.
    same = 2 * (n - 1)
    assert distcnt(X, y) == 1 - same / n**2
    assert hamdist(X, y) == (n * n - same) / n**2


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0], [2]], [0, 1], "only 0 and 1"),
        ([[0.0], [np.nan]], [0, 1], "cannot have missing values"),
        ([[0], [1]], [0, 0], "got 1 class"),
        ([[0], [1], [1]], [0, 1, 2], "against the rest"),
        ([[0], [1]], [0, 1, 1], "expected 2 labels, one per row, got 3"),
        ([0, 1], [0, 1], "two dimensions"),
        ([[0], [1]], [0, np.nan], "labels are missing"),
    ],
)
def test_what_cannot_be_used_is_named(X, y, message):
    with pytest.raises(InputError, match=message):
        hamdist(X, y)


def test_a_wrong_cell_is_located_but_not_shown():
    import pandas as pd

    with pytest.raises(InputError, match="'age'") as caught:
        hamdist(pd.DataFrame({"age": [37, 41], "sick": [0, 1]}), [0, 1])
    assert "37" not in str(caught.value)
