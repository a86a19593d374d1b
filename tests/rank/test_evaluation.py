"""The chooser against its definitions."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError, TamisWarning
from tamis.rank.evaluation import (
    evaluation,
    levels,
    min_max,
    pareto_front,
    read_factors,
    read_weights,
    topsis,
)
from tamis.rank.sensitivity import sensitivity, stability, weight_grid

WAYS = {"a": "max", "b": "min", "c": "max"}


@st.composite
def tables(draw, most=9):
    rows = draw(st.integers(1, most))
    cells = st.lists(st.integers(-3, 3), min_size=rows, max_size=rows)
    return {name: draw(cells) for name in WAYS}


def better(way, x, y):
    return x > y if way == "max" else x < y


@given(tables())
def test_ranks_count_those_strictly_worse(table):
    found = evaluation(table, WAYS)
    for name, way in WAYS.items():
        column = table[name]
        expected = [1 + sum(better(way, x, y) for y in column) for x in column]
        assert found.ranks[name].tolist() == expected
    assert sorted(found.order) == list(range(len(table["a"])))
    ordered = found.scores[list(found.order)]
    assert (np.diff(ordered) <= 1e-9).all()


@given(tables())
def test_the_front_is_what_nothing_dominates(table):
    rows = list(zip(*table.values()))

    def beats(one, other):
        pairs = list(zip(WAYS.values(), one, other))
        return not any(better(w, y, x) for w, x, y in pairs) and any(
            better(w, x, y) for w, x, y in pairs
        )

    expected = [not any(beats(other, row) for other in rows) for row in rows]
    assert pareto_front(table, WAYS).tolist() == expected


@given(tables())
def test_the_margin_is_the_least_weight_to_move(table):
    found = evaluation(table, WAYS, "a=.5,b=.3,c=.2")
    result = sensitivity(found)
    ranks = np.column_stack(list(found.ranks.values()))
    given_weights = np.array([0.5, 0.3, 0.2])
    moved = np.abs(result.weights - given_weights).sum(axis=1) / 2
    totals = result.weights @ ranks.T
    beaten = totals.max(axis=1) > totals[:, found.best] + 1e-9
    if result.rival is None:
        assert not beaten.any()
        assert result.shares == {found.best: 1.0} or found.scores.max() == found.scores[found.best]
    else:
        # A grid point beyond the margin is never nearer, and one not much farther exists.
        nearest = moved[beaten].min(initial=np.inf)
        assert result.margin <= nearest + 1e-9
        assert nearest <= result.margin + 0.05
    assert sum(result.shares.values()) == pytest.approx(1)


def test_the_grid_covers_the_triangle_evenly():
    points = weight_grid(3)
    assert 4000 < len(points) <= 5000
    np.testing.assert_allclose(points.sum(axis=1), 1)
    np.testing.assert_allclose(points.mean(axis=0), 1 / 3)
    assert weight_grid(1).tolist() == [[1.0]]


def test_equal_sums_go_to_the_fewest_features_despite_rounding():
    scores = {"a": [1, 2, 3], "b": [3, 2, 1], "size": [4, 3, 5]}
    ways = {"a": "max", "b": "max", "size": "min"}
    found = evaluation(scores, ways, {"a": 0.1 + 0.2, "b": 0.3, "size": 0.4})
    assert found.ranks["size"].tolist() == [2, 3, 1]
    tied = evaluation(scores, {"a": "max", "b": "max"}, {"a": 0.5, "b": 0.5}, ties="size")
    assert tied.scores.tolist() == [2, 2, 2]
    assert tied.order == (1, 0, 2)


def test_numbers_that_differ_by_rounding_are_ties():
    assert levels([0.1 + 0.2, 0.3, -1.0]).tolist() == [1, 1, 0]
    assert levels([]).tolist() == []
    found = evaluation({"a": [0.1 + 0.2, 0.3]}, ["a:max"])
    assert found.ranks["a"].tolist() == [1, 1]


def test_ratios_are_normalised_and_said():
    with pytest.warns(TamisWarning, match=r"sum to 3.*performance 0\.667, privacy 0\.333, size 0"):
        weights = read_weights("performance=2, privacy=1", ["performance", "privacy", "size"])
    assert weights == {"performance": 2 / 3, "privacy": 1 / 3, "size": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_weights({"a": 0.333, "b": 0.333, "c": 0.333}, "abc")["a"] == 0.333


def test_a_weight_of_zero_drops_a_factor():
    scores = {"a": [1, 2], "b": [2, 1]}
    assert evaluation(scores, ["a:max", "b:max"], "a=1").best == 1
    assert evaluation(scores, ["a:max", "b:max"], "b=1").best == 0


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, dict])
def test_any_frame_of_scores(make):
    scores = make({"a": [1, 2], "name": ["x", "y"]})
    assert evaluation(scores, ["a:max"]).order == (1, 0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: read_factors(["a"]), "NAME:max"),
        (lambda: read_factors({"a": "up"}), "'up'"),
        (lambda: read_factors([]), "at least one"),
        (lambda: read_weights("a", ["a"]), "performance=.5"),
        (lambda: read_weights("b=1", ["a"]), "the factors are 'a'"),
        (lambda: read_weights("a=-1", ["a"]), "of at least 0"),
        (lambda: read_weights("a=0", ["a"]), "above 0"),
        (lambda: read_weights({"a": float("nan")}, ["a"]), "of at least 0"),
        (lambda: evaluation({"a": [1]}, ["b:max"]), "no scores named 'b'"),
        (lambda: evaluation({"a": ["x"]}, ["a:max"]), "not all numbers"),
        (lambda: evaluation({"a": [None, 1.0]}, ["a:max"]), "finite"),
        (lambda: evaluation({"a": []}, ["a:max"]), "at least one candidate"),
        (
            lambda: evaluation({"a": [1], "b": [1, 2]}, ["a:max", "b:max"]),
            "one score for each candidate",
        ),
        (lambda: stability([]), "one run"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call()


@given(tables())
def test_value_scores_keep_dominance_and_range(table):
    for score in (min_max(table, WAYS), topsis(table, WAYS)):
        assert ((score >= -1e-12) & (score <= 1 + 1e-12)).all()
        rows = list(zip(*table.values()))
        for i, one in enumerate(rows):
            for j, other in enumerate(rows):
                if all(not better(w, y, x) for w, x, y in zip(WAYS.values(), one, other)):
                    assert score[i] >= score[j] - 1e-12


def test_topsis_by_hand():
    # Lengths 5 and 13; weighted places (.3, .192), (.4, .462) of two factors to make large.
    found = topsis({"a": [3, 4, 0], "b": [5, 0, 12]}, ["a:max", "b:max"], {"a": 0.5, "b": 0.5})
    a, b = np.array([0.3, 0.4, 0.0]), np.array([5, 0, 12]) / 26
    far = np.hypot(a, b)
    near = np.hypot(0.4 - a, 12 / 26 - b)
    np.testing.assert_allclose(found, far / (far + near))


def test_constant_factors_do_not_decide():
    scores = {"a": [0.1 + 0.2, 0.3], "b": [1, 2]}
    assert np.diff(min_max(scores, ["a:max", "b:max"]))[0] == pytest.approx(0.5)
    assert topsis(scores, ["a:max"]).tolist() == [1.0, 1.0]
