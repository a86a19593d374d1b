"""The parts of the weight triangle against a grid of weights."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.rank.evaluation import evaluation
from tamis.rank.sensitivity import sensitivity, weight_picture, winning_part


def area(corners):
    """Of a polygon in the plane of the first two weights; the whole triangle has 1."""
    x, y = np.array(corners).T[:2]
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_parts_cover_the_triangle_as_the_grid_says(seed, rows):
    rng = np.random.default_rng(seed)
    scores = {name: rng.permutation(rows) for name in "abc"}
    found = evaluation(scores, ["a:max", "b:max", "c:min"])
    moves = sensitivity(found)
    ranks = np.column_stack(list(found.ranks.values())).astype(float)
    parts = {who: area(winning_part(ranks, who)) for who in moves.shares}
    for who, share in moves.shares.items():
        assert abs(parts[who] - share) < 0.04


def test_every_word_is_escaped():
    scores = {"<a>": [1, 2], "b": [2, 1], "c": [1, 1]}
    found = evaluation(scores, ["<a>:max", "b:max", "c:max"])
    svg = weight_picture(found, sensitivity(found), ["<one>", "two"]).svg()
    assert "<a>" not in svg
    assert "<one>" not in svg
    assert "&lt;one&gt;" in svg


def test_other_weights_give_the_scores_of_a_new_evaluation():
    scores = {"a": [0.9, 0.8, 0.7, 0.8], "b": [5, 2, 2, 2], "size": [3, 1, 2, 1]}
    factors = {"a": "max", "b": "min", "size": "min"}
    found = evaluation(scores, factors, "a=.5,b=.25,size=.25")
    for weights in ("a=1", "b=1", "a=.2,b=.2,size=.6"):
        other, again = found.reweighted(weights), evaluation(scores, factors, weights)
        assert other.scores.tolist() == again.scores.tolist()
        assert other.weights == again.weights
        assert other.scores[other.best] == again.scores[again.best]
    words = found.plot(["one", "two", "three", "four"], ["a=1", "b=1"]).svg()
    assert "a 1, b 0, size 0: one" in words
    assert "a 0, b 1, size 0: two" in words
