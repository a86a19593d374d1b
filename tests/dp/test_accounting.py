"""Costs in epsilon and in rho: what they are worth, and that no more is spent than there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tamis.dp import budget as budget_module
from tamis.dp.budget import ConcentratedLoss, PureLoss, delta_of, gaussian, opendp, rho_of


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-5), (10.0, 1e-9)]
)
def test_a_rho_is_worth_what_opendp_says(epsilon, delta) -> None:
    rho = rho_of(epsilon, delta)
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    noise = dp.m.make_gaussian(*space, scale=1 / np.sqrt(2 * rho))
    theirs = dp.c.make_zCDP_to_approxDP(noise).map(1).epsilon(delta)
    assert theirs == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3])
def test_the_largest_rho_is_taken_and_no_more(epsilon, delta) -> None:
    rho = rho_of(epsilon, delta)
    assert delta_of(rho, epsilon) <= delta < delta_of(rho * 1.001, epsilon)


def test_a_gaussian_alone_is_below_the_delta_of_its_rho() -> None:
    """The exact delta of Gaussian noise (Balle and Wang 2018) never exceeds what rho allows."""
    from scipy.stats import norm

    for rho in (0.001, 0.02, 0.5):
        for epsilon in (0.2, 1.0, 4.0):
            m = np.sqrt(2 * rho)
            exact = norm.cdf(m / 2 - epsilon / m) - np.exp(epsilon) * norm.cdf(-m / 2 - epsilon / m)
            assert exact <= delta_of(rho, epsilon)


@pytest.mark.parametrize("kind", [PureLoss, ConcentratedLoss])
def test_noise_has_the_deviation_and_the_mean_that_are_stated(kind) -> None:
    loss = kind(1.0, moved=2)
    noise = loss.measure(np.zeros(20_000, dtype=np.int64), 0.02)
    assert np.std(noise) == pytest.approx(loss.deviation(0.02), rel=0.05)
    assert np.abs(noise).mean() == pytest.approx(loss.mean_noise(0.02), rel=0.05)
    assert loss.left == pytest.approx(0.98)


@pytest.mark.parametrize("kind", [PureLoss, ConcentratedLoss])
def test_halving_the_deviation_costs_what_is_stated(kind) -> None:
    loss = kind(1.0, moved=1)
    assert loss.deviation(0.1 * loss.halving) == pytest.approx(loss.deviation(0.1) / 2)


def test_more_than_the_total_is_refused() -> None:
    loss = PureLoss(1.0, moved=1)
    loss.measure(np.zeros(1, dtype=np.int64), 0.7)
    with pytest.raises(AssertionError, match="more than its budget"):
        loss.choose(np.zeros(2), 1.0, 0.4)


@pytest.mark.parametrize("kind", [PureLoss, ConcentratedLoss])
def test_a_choice_prefers_high_scores_by_the_exponential_mechanism(kind) -> None:
    cost = {PureLoss: 1.0, ConcentratedLoss: 1 / 8}[kind]  # epsilon = 1 in both currencies
    loss = kind(1e6, moved=1)
    picks = [loss.choose(np.array([0.0, 2.0]), 1.0, cost) for _ in range(3000)]
    share = np.exp(1) / (1 + np.exp(1))  # exp(epsilon score / 2 sensitivity)
    assert np.mean(picks) == pytest.approx(share, abs=0.04)


def test_gaussian_noise_keeps_the_form_of_counts() -> None:
    assert gaussian(np.zeros((2, 3), dtype=np.int64), 5.0).shape == (2, 3)


def test_a_choice_asks_for_no_more_epsilon_than_its_rho_is_worth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[Any, ...]] = []

    def first(scores: Any, sensitivity: int, epsilon: float, picks: int) -> list[int]:
        asked.append((scores.tolist(), sensitivity, epsilon, picks))
        return [1, 0]

    monkeypatch.setattr(budget_module, "exponential", first)
    for kind, epsilon in ((PureLoss, 0.32), (ConcentratedLoss, 1.6)):  # rho is epsilon ** 2 / 8
        assert kind(1.0, moved=1).choose(np.array([0.5, 1.0]), 1.5, 0.32) == 1
        assert asked.pop() == ([128, 256], 386, pytest.approx(epsilon), 1)
