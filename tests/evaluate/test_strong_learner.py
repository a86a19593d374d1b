"""The strong learner: trees where they win, lines where they do, unseen classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from tamis.evaluate.bits import surprise
from tamis.evaluate.strong_learner import indicators, strong_probabilities
from tamis.learn.boosting import shares
from tamis.learn.coded_table import CodedTable


def table_of(codes):
    codes = np.asarray(codes, dtype=np.uint8)
    return CodedTable(codes, codes.max(axis=1) + np.int64(1), np.zeros(len(codes), dtype=bool))


def asked(codes, label, columns, classes=None):
    learn, choose, ask = np.split(np.arange(len(label)), [len(label) // 2, 3 * len(label) // 4])
    table = table_of(codes)
    p = strong_probabilities(table, label, learn, choose, ask, columns=columns, classes=classes)
    return p, label[ask]


def test_pairs_and_sums_are_both_learnt():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (8, 1600))
    noise = rng.random(1600) < 0.05
    p, truth = asked(codes, codes[0] ^ codes[1] ^ noise, range(3))
    assert surprise(p, truth).mean() < 0.5
    p, truth = asked(codes, (codes.sum(axis=0) + noise > 4).astype(int), range(8))
    assert surprise(p, truth).mean() < 0.5


def test_a_label_that_lines_part_wholly_warns_of_nothing():
    """Without an end to its weights, a regression may be cut short."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 30, (12, 600))
    p, truth = asked(codes, codes[0], range(12))
    assert surprise(p, truth).mean() < surprise(np.full((150, 30), 1 / 30), truth).mean() / 3


def test_columns_that_are_not_given_are_not_used():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (2, 800))
    p, truth = asked(codes, codes[0], [1])
    assert surprise(p, truth).mean() > 0.95


def test_without_columns_the_shares_are_the_answer():
    label = np.array([0, 0, 0, 1] * 20)
    p, _ = asked([label], label, [])
    np.testing.assert_allclose(p, np.tile(shares(label[:60], 2), (20, 1)))


def test_a_class_nobody_learnt_keeps_a_little():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (2, 400))
    p, _ = asked(codes, codes[0], [0, 1], classes=5)
    assert p.shape == (100, 5)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p[:, 3:] == pytest.approx(0.5 / 302.5, rel=0.01)
    assert surprise(p, codes[0][300:]).mean() < 0.1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_one_indicator_of_two_codes_is_as_good_as_both(seed, classes):
    """The regression on all codes one-hot, written out, says the same of every row."""
    draw = np.random.default_rng(seed)
    codes = np.array([draw.integers(0, n, 120) for n in (1, 2, 2, 3, 4)], dtype=np.uint8)
    label = draw.integers(0, classes, 120)
    label[:classes] = np.arange(classes)
    marked = indicators(table_of(codes))
    assert marked.shape == (120, 1 + 1 + 1 + 3 + 4)
    both = np.column_stack([column == code for column in codes for code in np.unique(column)])
    ours, other = (
        LogisticRegression(C=0.7, tol=1e-8, max_iter=5000).fit(rows, label).predict_proba(rows)
        for rows in (marked, both.astype(float))
    )
    np.testing.assert_allclose(ours, other, atol=1e-4)
