"""What columns promise to add, against what adding them does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tamis.learn.boosting import shares
from tamis.learn.coded_table import CodedTable
from tamis.learn.score_test import expected_bits, expected_by_ones


def table_of(codes):
    codes = np.asarray(codes, dtype=np.uint8)
    return CodedTable(codes, codes.max(axis=1) + np.int64(1), np.zeros(len(codes), dtype=bool))


@pytest.mark.parametrize("classes", [2, 4])
def test_small_effects_are_promised_as_they_are(classes):
    rng = np.random.default_rng(0)
    rows = 200_000
    x = rng.integers(0, 3, rows)
    tilt = 1 + 0.15 * np.outer([-1, 0, 1], np.linspace(-1, 1, classes))
    tilt /= tilt.sum(axis=1, keepdims=True)
    label = (rng.random(rows)[:, None] > np.cumsum(tilt, axis=1)[x]).sum(axis=1)
    base = np.tile(shares(label, classes), (rows, 1))
    promised = expected_bits(table_of([x]), np.arange(rows), base, label)[0]
    real = np.mean(np.log2(tilt[x, label] / base[np.arange(rows), label]))
    assert promised == pytest.approx(real, rel=0.2)


@pytest.mark.parametrize("classes", [2, 5])
def test_noise_promises_nothing_on_average(classes):
    rng = np.random.default_rng(1)
    codes, label = rng.integers(0, 20, (300, 500)), rng.integers(0, classes, 500)
    base = np.tile(shares(label, classes), (500, 1))
    promised = expected_bits(table_of(codes), np.arange(500), base, label)
    assert abs(promised.mean()) < 5 * promised.std() / np.sqrt(300)
    assert promised.std() > 0


def test_rows_not_asked_about_do_not_count():
    label = np.array([0, 1] * 20)
    table = table_of([np.concatenate([label, 1 - label])])
    half = np.full((40, 2), 0.5)
    first = expected_bits(table, np.arange(40), half, label)
    second = expected_bits(table, np.arange(40, 80), half, label)
    assert first[0] == pytest.approx(second[0])
    assert first[0] > 0.5


def test_what_the_model_knows_is_promised_no_more():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 2, 5000)
    label = (rng.random(5000) < np.where(x, 0.8, 0.3)).astype(int)
    p = np.where(x, 0.8, 0.3)
    said = np.column_stack([1 - p, p])
    assert abs(expected_bits(table_of([x]), np.arange(5000), said, label)[0]) < 0.002


@given(
    st.integers(2, 4),
    st.integers(0, 2**32 - 1),
    st.floats(0.0, 1.0),
)
def test_sparse_columns_promise_what_their_codes_promise(classes, seed, density):
    rng = np.random.default_rng(seed)
    ones = (rng.random((60, 7)) < density * rng.random(7)).astype(np.uint8)
    label = rng.integers(0, classes, 60)
    said = rng.dirichlet(np.ones(classes), 60)
    dense = expected_bits(table_of(ones.T + 1), np.arange(60), said, label)
    assert expected_by_ones(sparse.csr_array(ones), said, label) == pytest.approx(dense, abs=1e-9)
