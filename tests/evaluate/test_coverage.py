"""How often intervals at the level 0.95 hold what is true, over a grid of hard cases.

What is drawn is what hold-outs give: rows of each label in fixed numbers. An interval may hold the
truth more often than it says, for few rows leave few places for its ends; hardly less often.
"""

import numpy as np
import pytest
from scipy.stats import norm

from tamis.evaluate.figure import accuracy, auc, f_measure, ratio_interval
from tamis.learn.holdout import Predictions
from tests.long import daily, long

RUNS = 400
LEAST = 0.92
"""Beneath 0.95 by as much as 400 runs may err."""


def held(intervals, truth):
    """The share of intervals that hold the truth."""
    ends = np.array([(low, high) for low, high in intervals])
    return ((ends[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, 1])).mean()


@pytest.mark.parametrize(
    ("both", "first", "second"),
    [
        (0.70, 0.00, 0.01),
        (0.70, 0.01, 0.01),
        (0.50, 0.02, 0.05),
        (0.40, 0.20, 0.20),
        (0.95, 0.01, 0.02),
        (0.05, 0.05, 0.10),
        (0.90, 0.10, 0.00),
    ],
)
@pytest.mark.parametrize("rows", [20, 60, 400])
def test_a_change_where_few_or_many_rows_differ(both, first, second, rows):
    draw = np.random.default_rng(rows)
    chances = (both, first, second, abs(1 - both - first - second))
    drawn = draw.multinomial(rows, chances, size=RUNS)
    drawn = drawn[drawn[:, 0] + drawn[:, 2] > 0]
    kinds, times = np.unique(drawn[:, :3], axis=0, return_counts=True)
    ends = [ratio_interval(a, b, c, rows) for a, b, c in kinds.astype(float).tolist()]
    found = np.repeat(ends, times, axis=0)
    assert held(found, (both + first) / (both + second)) >= LEAST


@pytest.mark.parametrize("area", daily([0.5, 0.9, 0.98], 0.98))
@pytest.mark.parametrize(("ill", "well"), daily([(5, 60), (60, 5), (12, 200)], (5, 60), (60, 5)))
def test_an_area_with_rare_labels_of_either_name(area, ill, well):
    draw = np.random.default_rng(ill)
    truth = np.repeat(TWO, (ill, well))
    apart = np.where(truth == 0, norm.ppf(area) * np.sqrt(2), 0.0)

    def interval():
        score = norm.cdf(draw.normal(apart))
        found = auc(Predictions(TWO, truth, truth, np.column_stack([score, 1 - score])))
        assert found is not None
        return found.low, found.high

    assert held([interval() for _ in range(RUNS)], area) >= LEAST


TWO, THREE = np.arange(2), np.arange(3)


@pytest.mark.parametrize("rows", [(40, 20, 8), pytest.param((150, 100, 50), marks=long)])
def test_the_mean_area_of_three_labels(rows):
    """Scores of a label: one normal number a row and label, moved where the label is right."""
    draw = np.random.default_rng(7)
    truth = np.repeat(THREE, rows)
    moved = 1.2 * (truth[:, None] == THREE)

    def interval():
        found = auc(Predictions(THREE, truth, truth, draw.normal(moved)))
        assert found is not None
        return found.low, found.high

    true = norm.cdf(1.2 / np.sqrt(2))
    assert held([interval() for _ in range(RUNS)], true) >= LEAST


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ((10, 10), (0.95, 0.95)),
        ((25, 25), (0.7, 0.7)),
        ((45, 5), (0.9, 0.6)),
        ((190, 10), (0.99, 0.9)),
        ((30, 15, 5), (0.8, 0.7, 0.6)),
        ((120, 60, 20), (0.8, 0.7, 0.6)),
    ],
)
def test_the_mean_f_measure(rows, right):
    draw = np.random.default_rng(8)
    labels = np.arange(len(rows))
    truth = np.repeat(labels, rows)
    chances = np.array([[right[t] if t == c else _else(right, t) for c in labels] for t in labels])
    called = np.array(rows) @ chances
    true = np.mean([2 * n * r / (n + c) for n, r, c in zip(rows, right, called)])

    def interval():
        said = [draw.choice(labels, size=n, p=p) for n, p in zip(rows, chances)]
        found = f_measure(Predictions(labels, np.concatenate(said), truth, None))
        return found.low, found.high

    assert held([interval() for _ in range(RUNS)], true) >= LEAST


def _else(right, label):
    return (1 - right[label]) / (len(right) - 1)


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_the_accuracy_of_rows_of_the_same_people(alike):
    """Of each person a share of rows has one answer, which all of them have."""
    draw = np.random.default_rng(9)
    who = np.repeat(np.arange(80), draw.integers(1, 12, 80))

    def interval():
        own, shared = draw.random(len(who)) < 0.7, (draw.random(80) < 0.7)[who]
        found = accuracy(np.where(draw.random(len(who)) < alike, shared, own), who)
        return found.low, found.high

    assert held([interval() for _ in range(RUNS)], 0.7) >= LEAST
