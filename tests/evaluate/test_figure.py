"""Figures and their intervals, against scipy, scikit-learn and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import f1_score, roc_auc_score

from tamis.evaluate.figure import (
    _most_likely,
    accuracy,
    accuracy_change,
    auc,
    design_effect,
    f_measure,
    ratio_interval,
    structural_components,
    wilson_share,
)
from tamis.learn.holdout import Predictions
from tests.long import LONG


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_share_has_the_interval_of_wilson(counts):
    right, of = counts
    found = wilson_share(right, of)
    known = binomtest(right, of).proportion_ci(method="wilson")
    assert found.value == right / of
    assert found.low == pytest.approx(known.low, abs=1e-12)
    assert found.high == pytest.approx(known.high, abs=1e-12)


def test_the_change_is_that_of_the_shares_and_lies_in_its_interval():
    draw = np.random.default_rng(0)
    before = draw.random(2000) < 0.8
    now = before & (draw.random(2000) < 0.9)
    found = accuracy_change(now, before)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx(now.mean() / before.mean() - 1)
    assert found.low < found.value < found.high
    # Delta method: the ratio is a share of the rows that were right before.
    half = 1.96 * np.sqrt(0.9 * 0.1 / before.sum())
    assert found.high - found.low == pytest.approx(2 * half, rel=0.25)


def test_equal_answers_change_nothing_for_sure_and_a_hopeless_one_has_no_change():
    right = np.array([True, False, True])
    same = accuracy_change(right, right)
    assert same is not None
    assert same.low is not None
    assert same.high is not None
    assert same.low < same.value == 0.0 < same.high
    assert accuracy_change(right, np.zeros(3, dtype=bool)) is None


counts = st.tuples(*[st.integers(0, 12)] * 4).filter(lambda c: c[0] + c[2] > 0)


@given(counts)
def test_the_interval_of_a_ratio_holds_it_and_has_width(four):
    both, first, second, neither = four
    low, high = ratio_interval(both, first, second, sum(four))
    ratio = (both + first) / (both + second)
    assert 0 <= low <= ratio < high < np.inf
    assert (low == 0) == (ratio == 0)
    if ratio > 0:  # which of the two comes first is of no importance
        turned = ratio_interval(both, second, first, both + first + second + neither)
        assert (1 / turned[1], 1 / turned[0]) == pytest.approx((low, high), rel=1e-6)


@given(counts, st.floats(0.1, 10))
def test_no_chances_under_a_given_ratio_are_likelier(four, ratio):
    both, first, second, _ = four
    rows, some = sum(four), (both + first + second) / sum(four)

    def likelihood(only_first):
        only_second = ratio * only_first - (ratio - 1) * some
        chances = (some - only_first - only_second, only_first, only_second)
        logs = [c * np.log(np.maximum(p, 1e-300)) for c, p in zip(four, chances) if c]
        return np.sum(logs, axis=0)

    found, _ = _most_likely(both, first, second, rows, ratio)
    every = np.linspace(max(0, (ratio - 1) * some / ratio), ratio * some / (1 + ratio), 2001)
    assert likelihood(np.array([found]))[0] >= likelihood(every).max() - 1e-6


@given(st.integers(0, 1000), st.integers(2, 4))
@settings(max_examples=30 if LONG else 12)
def test_f_and_auc_are_those_of_scikit_learn(seed, labels):
    draw = np.random.default_rng(seed)
    classes = np.array([f"c{i}" for i in range(labels)])
    truth = np.concatenate([classes, classes[draw.integers(0, labels, 30)]])
    probabilities = draw.dirichlet(np.ones(labels), len(truth))
    predictions = Predictions(classes, classes[probabilities.argmax(axis=1)], truth, probabilities)
    f, area = f_measure(predictions), auc(predictions)
    assert f.value == pytest.approx(
        f1_score(truth, predictions.predicted, average="macro", labels=classes)
    )
    assert f.low is not None
    assert f.high is not None
    assert f.low <= f.high
    each = [roc_auc_score(truth == c, probabilities[:, i]) for i, c in enumerate(classes)]
    assert area is not None
    assert area.value == pytest.approx(np.mean(each))
    assert area.low is not None
    assert area.high is not None
    assert 0 <= area.low < area.value < area.high <= 1


def test_components_are_those_of_all_pairs():
    draw = np.random.default_rng(3)
    score, mine = draw.integers(0, 5, 40) / 4, draw.random(40) < 0.3
    found = structural_components(score, mine)
    for row in range(40):
        other = score[mine != mine[row]]
        above, below = (score[row] > other).mean(), (score[row] < other).mean()
        ties = (score[row] == other).mean()
        assert found[row] == pytest.approx((above if mine[row] else below) + ties / 2)


def test_the_interval_of_two_labels_is_that_of_delong_with_one_row_more_of_each():
    draw = np.random.default_rng(4)
    truth = np.array(["ill"] * 9 + ["well"] * 31)
    ill = np.where(truth == "ill", draw.random(40), draw.random(40) ** 2)
    found = auc(
        Predictions(np.array(["ill", "well"]), truth, truth, np.column_stack([ill, 1 - ill]))
    )
    pairs = np.sign(np.subtract.outer(ill[:9], ill[9:])) / 2 + 0.5
    area = pairs.mean()
    cases, controls = pairs.mean(axis=1), pairs.mean(axis=0)
    widest = area * (1 - area)
    # The variance of n components and one of the greatest variance, over their number n.
    variance = sum((((v - area) ** 2).sum() + widest) / len(v) ** 2 for v in (cases, controls))
    half = 1.959964 * np.sqrt(variance) / widest
    ends = 1 / (1 + np.exp(-(np.log(area / (1 - area)) + np.array([-half, half]))))
    assert found is not None
    assert found.value == pytest.approx(area)
    assert (found.low, found.high) == pytest.approx(tuple(ends), rel=1e-5)


@given(st.integers(0, 500), st.integers(2, 4))
@settings(max_examples=30)
def test_names_and_order_of_labels_are_of_no_importance(seed, labels):
    draw = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(labels), draw.integers(0, labels, 25)])
    probabilities = draw.dirichlet(np.ones(labels), len(codes))
    predictions = probabilities.argmax(axis=1)
    turned = np.arange(labels)[::-1]
    one = Predictions(np.arange(labels), predictions, codes, probabilities)
    other = Predictions(
        turned[turned], turned[predictions], turned[codes], probabilities[:, turned]
    )
    for figure in (auc, f_measure):
        found, again = figure(one), figure(other)
        assert found is not None
        assert again is not None
        values = (found.value, found.low, found.high)
        assert values == pytest.approx((again.value, again.low, again.high))


def test_where_all_are_right_a_doubt_remains():
    truth = np.array(["a"] * 30 + ["b"] * 6)
    probabilities = np.column_stack([truth == "a", truth == "b"]).astype(float)
    predictions = Predictions(np.array(["a", "b"]), truth, truth, probabilities)
    for found in (auc(predictions), f_measure(predictions)):
        assert found is not None
        assert (found.value, found.high) == (1.0, 1.0)
        assert found.low == wilson_share(6, 6).low


def test_rows_of_one_person_count_as_far_as_they_differ():
    draw = np.random.default_rng(5)
    person = draw.random(60) < 0.6
    many, who = np.repeat(person, 8), np.repeat(np.arange(60), 8)
    once, often = accuracy(person), accuracy(many, who)
    assert often.value == once.value
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=0.01)
    apart = draw.random(480) < 0.6
    assert design_effect(apart - apart.mean(), who) < 1.5
    assert accuracy(apart, np.arange(480)) == accuracy(apart)


def test_copies_of_rows_make_no_figure_surer():
    draw = np.random.default_rng(6)
    truth = np.array(["a", "b", "c"])[draw.integers(0, 3, 70)]
    probabilities = draw.dirichlet(np.ones(3), 70) + 0.6 * (
        truth[:, None] == np.array(["a", "b", "c"])
    )
    predictions = np.array(["a", "b", "c"])[probabilities.argmax(axis=1)]
    before = predictions == truth
    now = before ^ (draw.random(70) < 0.2)
    who = np.repeat(np.arange(70), 5)
    one = Predictions(np.array(["a", "b", "c"]), predictions, truth, probabilities)
    five = Predictions(one.classes, predictions[who], truth[who], probabilities[who])
    pairs = [
        (auc(one), auc(five, who), auc(five)),
        (f_measure(one), f_measure(five, who), f_measure(five)),
        (
            accuracy_change(now, before),
            accuracy_change(now[who], before[who], who),
            accuracy_change(now[who], before[who]),
        ),
    ]
    for alone, copied, naive in pairs:
        wide, same, narrow = (f.high - f.low for f in (alone, copied, naive))  # type: ignore[union-attr, operator]
        assert same == pytest.approx(wide, rel=0.1)
        assert narrow < 0.6 * wide


def test_no_area_without_probabilities_or_with_one_label():
    one = np.array(["a", "a"])
    assert auc(Predictions(one[:1], one, one, np.ones((2, 1)))) is None
    assert auc(Predictions(one, one, np.array(["a", "b"]), None)) is None
