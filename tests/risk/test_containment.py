"""Anonymity by containment against the definition, row by row."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tamis.errors import InputError
from tamis.risk.containment import containment_anonymity, containment_group, entity_anonymity
from tests.evaluate.test_separation import TABLE_1


def by_definition(X):
    return [int((e <= X).all(axis=1).sum()) for e in X]


def test_the_papers_table():
    assert entity_anonymity(TABLE_1).tolist() == [4, 4, 2, 4, 1, 1]
    assert containment_anonymity(TABLE_1) == 1
    assert containment_anonymity(TABLE_1[:, [0, 1, 4]]) == 2
    assert containment_anonymity(TABLE_1[:, [2, 3, 4]]) == 2


def test_the_group_of_a_row_is_who_has_all_that_it_has():
    assert containment_group(TABLE_1, 1).tolist() == [0, 1, 3, 4]  # the example of Definition 5
    assert containment_group(TABLE_1, 5).tolist() == [5]
    for row, size in enumerate(entity_anonymity(TABLE_1)):
        group = containment_group(sparse.csr_array(TABLE_1), row)
        assert len(group) == size
        assert all((TABLE_1[row] <= TABLE_1[other]).all() for other in group)
    assert containment_group([[0, 0], [1, 0]], 0).tolist() == [0, 1]
    with pytest.raises(InputError, match="no row 6: the table has 6 rows, counted from 0"):
        containment_group(TABLE_1, 6)
    with pytest.raises(InputError, match="row must be"):
        containment_group(TABLE_1, -1)


PRINTED_F2 = "1 2 3 4 5 12 13 14 15 25 35 45 125 135 145"


def test_feasible_sets_of_the_papers_table_and_what_its_list_lacks():
    feasible = {
        S
        for size in range(1, 6)
        for S in combinations(range(1, 6), size)
        if containment_anonymity(TABLE_1[:, [u - 1 for u in S]]) >= 2
    }
    printed = {tuple(map(int, S)) for S in PRINTED_F2.split()}
    assert feasible - printed == {(3, 4), (1, 3, 4), (3, 4, 5), (1, 3, 4, 5)}
    assert printed < feasible


def test_equal_rows_are_not_needed():
    assert containment_anonymity([[1, 1], [1, 0], [1, 1]]) == 2


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 30),
    columns=st.integers(0, 8),
    copies=st.integers(1, 3),
    wide=st.sampled_from([0, 20, 70]),
    form=st.sampled_from([np.asarray, sparse.csr_array, sparse.csc_matrix, pd.DataFrame]),
)
def test_every_form_and_width_by_definition(seed, rows, columns, copies, wide, form):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.random((rows, columns)) < rng.random(columns), copies, axis=0).astype(int)
    X = np.hstack([X, np.zeros((len(X), wide), int)])
    expected = by_definition(X)
    assert containment_anonymity(form(X)) == min(expected)
    assert entity_anonymity(form(X)).tolist() == expected


def test_a_larger_table_by_definition():
    X = (np.random.default_rng(0).random((2000, 90)) < 0.04).astype(np.uint8)
    expected = by_definition(X)
    assert entity_anonymity(X).tolist() == expected
    assert containment_anonymity(X) == min(expected)
    narrow = X[:, :60]
    assert containment_anonymity(narrow) == min(by_definition(narrow))


@pytest.mark.parametrize("width", [21, 22, 23, 63, 64, 65])
def test_rows_may_differ_in_the_last_column_alone(width):
    """Wherever one way of packing columns ends and another begins."""
    X = np.ones((6, width), int)
    X[:4, width - 1] = 0
    assert containment_anonymity(X) == 2
    assert entity_anonymity(X).tolist() == [6, 6, 6, 6, 2, 2]


def test_no_columns_hide_everyone():
    assert containment_anonymity(np.zeros((5, 0))) == 5
    assert containment_anonymity(np.zeros((5, 100))) == 5


def test_stored_zeros_are_no_ones():
    X = sparse.csr_array(([1, 0, 1], ([0, 0, 1], [0, 1, 0])), shape=(2, 2))
    assert containment_anonymity(X) == 2


def test_truth_values_and_frames():
    assert containment_anonymity(pl.DataFrame({"a": [True, True], "b": [False, True]})) == 1
    assert containment_anonymity(pd.DataFrame({"a": [1.0, 1.0]})) == 2


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 3)), "at least one row"),
        (np.array([[-1, 0]], np.int8), "other values: '0'"),
        (sparse.csr_array([[0.5]]), "only 0 and 1"),
        (sparse.csr_array([[np.nan]]), "NaN"),
        (pl.DataFrame({"a": [1, None]}), "columns with NaN: 'a'"),
        (pd.DataFrame({"a": ["x"]}, dtype=object), "not text"),
        (np.array([[None]]), "missing values: '0'"),
    ],
)
def test_what_is_no_zero_one_table_is_refused(X, message):
    with pytest.raises(InputError, match=message):
        containment_anonymity(X)


@pytest.mark.parametrize("width", [64, 65, 66])
def test_the_last_column_counts_where_columns_no_longer_fit_a_word(width):
    X = np.zeros((3, width), np.uint8)
    X[:2, 0] = X[2, width - 1] = 1
    assert entity_anonymity(X).tolist() == [2, 2, 1]
    assert containment_anonymity(X) == 1
