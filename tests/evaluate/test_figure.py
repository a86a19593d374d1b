"""Figures and their intervals, against scipy and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import f1_score, roc_auc_score

from tamis.evaluate.figure import auc, change, f_measure, share
from tamis.evaluate.holdout import Said


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=50)
def test_a_share_has_the_interval_of_wilson(counts):
    right, of = counts
    found = share(right, of)
    known = binomtest(right, of).proportion_ci(method="wilson")
    assert found.value == right / of
    assert found.low == pytest.approx(known.low, abs=1e-12)
    assert found.high == pytest.approx(known.high, abs=1e-12)


def test_the_change_is_that_of_the_shares_and_lies_in_its_interval():
    draw = np.random.default_rng(0)
    before = draw.random(2000) < 0.8
    now = before & (draw.random(2000) < 0.9)
    found = change(now, before)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx(now.mean() / before.mean() - 1)
    assert found.low < found.value < found.high
    # Delta method: the ratio is a share of the rows that were right before.
    half = 1.96 * np.sqrt(0.9 * 0.1 / before.sum())
    assert found.high - found.low == pytest.approx(2 * half, rel=0.25)


def test_equal_answers_change_nothing_and_a_hopeless_one_has_no_change():
    right = np.array([True, False, True])
    same = change(right, right)
    assert same is not None
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)
    assert change(right, np.zeros(3, dtype=bool)) is None


@given(st.integers(0, 1000), st.integers(2, 4))
@settings(max_examples=30)
def test_f_and_auc_are_those_of_scikit_learn(seed, labels):
    draw = np.random.default_rng(seed)
    classes = np.array([f"c{i}" for i in range(labels)])
    truth = np.concatenate([classes, classes[draw.integers(0, labels, 30)]])
    surely = draw.dirichlet(np.ones(labels), len(truth))
    said = Said(classes, classes[surely.argmax(axis=1)], truth, surely)
    f, area = f_measure(said), auc(said)
    assert f.value == pytest.approx(f1_score(truth, said.said, average="macro", labels=classes))
    assert f.low is not None
    assert f.high is not None
    assert f.low <= f.high
    each = [roc_auc_score(truth == c, surely[:, i]) for i, c in enumerate(classes)]
    assert area is not None
    assert area.value == pytest.approx(np.mean(each))
    assert (area.low is None) == (labels > 2)


def test_no_area_without_probabilities_or_with_one_label():
    one = np.array(["a", "a"])
    assert auc(Said(one[:1], one, one, np.ones((2, 1)))) is None
    assert auc(Said(one, one, np.array(["a", "b"]), None)) is None
