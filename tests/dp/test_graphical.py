"""The junction tree, its marginals, fits and draws, against joint distributions written out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.dp.graphical import (
    GraphicalModel,
    JunctionTree,
    Measurement,
    clique_cells,
    estimate_total,
    fit,
)


@st.composite
def measured_sets(draw):
    """The bins of a few columns, and sets of them that are measured."""
    bins = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    columns = st.integers(0, len(bins) - 1)
    one = st.sets(columns, min_size=1, max_size=3).map(lambda found: tuple(sorted(found)))
    return bins, draw(st.lists(one, min_size=1, max_size=6))


def joint_of(model: GraphicalModel) -> Any:
    """The whole distribution: the product of all factors, written out."""
    logs = np.zeros(model.bins)
    for clique, potential in zip(model.tree.cliques, model.potentials):
        logs = logs + potential.reshape([b if c in clique else 1 for c, b in enumerate(model.bins)])
    joint = np.exp(logs - logs.max())
    return joint / joint.sum() * model.total


def summed(joint: Any, columns: tuple[int, ...]) -> Any:
    return np.asarray(joint).sum(axis=tuple(c for c in range(joint.ndim) if c not in columns))


def random_model(case, seed: int) -> GraphicalModel:
    bins, sets = case
    rng = np.random.default_rng(seed)
    even = GraphicalModel.uniform(bins, sets, 100.0)
    potentials = [rng.normal(0, 2, p.shape) for p in even.potentials]
    return GraphicalModel(even.bins, even.tree, potentials, 100.0)


@given(measured_sets())
def test_a_junction_tree_holds_every_set_and_keeps_each_column_connected(case) -> None:
    bins, sets = case
    tree = JunctionTree.over(bins, sets)
    assert all(tree.home(each) is not None for each in sets)
    assert {c for clique in tree.cliques for c in clique} == set(range(len(bins)))
    assert all(parent < i for i, parent in enumerate(tree.parents))
    for column in range(len(bins)):
        holders = [i for i, clique in enumerate(tree.cliques) if column in clique]
        # One of them has its parent elsewhere: those that hold a column are one branch.
        tops = [i for i in holders if tree.parents[i] not in holders]
        assert len(tops) == 1
    assert tree.cells(bins) == sum(clique_cells(bins, clique) for clique in tree.cliques)


@given(measured_sets(), st.integers(0, 1000))
def test_marginals_are_those_of_the_whole_distribution(case, seed) -> None:
    model = random_model(case, seed)
    joint = joint_of(model)
    for size in range(1, min(3, joint.ndim) + 1):
        for columns in combinations(range(joint.ndim), size):
            np.testing.assert_allclose(model.marginal(columns), summed(joint, columns), atol=1e-9)


@given(measured_sets(), st.integers(0, 1000))
def test_draws_follow_the_model(case, seed) -> None:
    model = random_model(case, seed)
    rows = 2000
    drawn = model.draw(rows, np.random.default_rng(seed))
    assert {len(places) for places in drawn} == {rows}
    for clique, belief in zip(model.tree.cliques, model.beliefs):
        shape = belief.shape
        cells = np.ravel_multi_index([drawn[c] for c in clique], shape)
        counts = np.bincount(cells, minlength=belief.size).reshape(shape)
        # Each clique is rounded within every cell of its separator, whose own count is rounded.
        off = np.abs(counts - belief * rows / model.total)
        assert off.max() <= 1 + len(model.tree.cliques) * np.prod(shape)


def test_rows_in_proportion_are_never_off_by_one_or_more() -> None:
    counts = np.array([[30.25, 10.5], [0.0, 59.25]])
    model = fit((2, 2), [Measurement((0, 1), counts, 0.01)])
    drawn = model.draw(100, np.random.default_rng(0))
    found = np.bincount(drawn[0] * 2 + drawn[1], minlength=4)
    assert np.abs(found - model.marginal((0, 1)).ravel()).max() < 1
    again = model.draw(100, np.random.default_rng(0))
    assert all((a == b).all() for a, b in zip(drawn, again))


def best_joint(bins, measured, steps: int = 20_000) -> np.ndarray:
    """The least-squares fit over all joint distributions, by plain exponentiated gradient."""
    total = estimate_total(measured)
    logs = np.zeros(bins)
    size = 0.5 / sum(total / m.deviation**2 for m in measured)
    for _ in range(steps):
        joint = np.exp(logs - logs.max())
        joint *= total / joint.sum()
        slope = np.zeros(bins)
        for m in measured:
            off = (summed(joint, m.clique) - m.counts) / m.deviation**2
            slope = slope + off.reshape([b if c in m.clique else 1 for c, b in enumerate(bins)])
        logs = logs - size * slope
    return np.asarray(joint)


def test_a_fit_is_the_least_squares_fit_over_all_distributions() -> None:
    rng = np.random.default_rng(4)
    bins, sets = (2, 3, 2), [(0,), (0, 1), (1, 2), (0, 2)]
    truth = rng.dirichlet(np.ones(12)).reshape(bins) * 1000
    measured = [
        Measurement(c, summed(truth, c) + rng.normal(0, 5, summed(truth, c).shape), 5.0)
        for c in sets
    ]
    model, joint = fit(bins, measured), best_joint(bins, measured)
    for columns in sets:
        # Within a small part of the noise: the fit also prefers an even spread a little.
        assert np.abs(model.marginal(columns) - summed(joint, columns)).max() < 2.5


def test_what_was_not_measured_together_is_independent() -> None:
    measured = [
        Measurement((0, 1), np.array([[400.0, 100.0], [100.0, 400.0]]), 1.0),
        Measurement((1, 2), np.array([[300.0, 200.0], [100.0, 400.0]]), 1.0),
    ]
    model = fit((2, 2, 2), measured)
    given_middle = model.marginal((0, 1, 2))[:, 0, :]
    expected = np.outer(given_middle.sum(1), given_middle.sum(0)) / given_middle.sum()
    np.testing.assert_allclose(given_middle, expected, rtol=1e-6)


def test_a_fit_that_starts_from_an_earlier_one_ends_at_the_same_place() -> None:
    first = Measurement((0, 1), np.array([[40.0, 10.0], [5.0, 45.0]]), 2.0)
    second = Measurement((1, 2), np.array([[30.0, 15.0], [20.0, 35.0]]), 2.0)
    early = fit((2, 2, 2), [first])
    warm = fit((2, 2, 2), [first, second], before=early)
    cold = fit((2, 2, 2), [first, second])
    np.testing.assert_allclose(warm.marginal((0, 2)), cold.marginal((0, 2)), atol=0.05)


def test_counts_below_zero_leave_no_rows_there_and_none_is_negative() -> None:
    model = fit((3,), [Measurement((0,), np.array([-40.0, 5.0, 60.0]), 4.0)])
    found = model.marginal((0,))
    assert found[0] < 1
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(25.0)


def test_the_total_is_the_mean_of_all_sums_and_at_least_one() -> None:
    one = Measurement((0,), np.array([10.0, 10.0]), 1.0)
    other = Measurement((1,), np.array([13.0, 13.0]), 2.0)
    assert estimate_total([one, other]) == pytest.approx((4 * 20 + 26) / 5)
    assert estimate_total([Measurement((0,), np.array([-3.0]), 1.0)]) == 1
