"""The budget adds up and refuses to overspend."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.dp.budget import MOVED, Budget, laplace
from tamis.errors import CannotMeet, InputError


def test_parts_add_up_and_the_whole_can_be_spent_in_uneven_parts() -> None:
    budget = Budget(0.7, 1e-6)
    for i in range(7):
        budget.spend(0.1, f"part {i}")
    assert budget.epsilon_spent == pytest.approx(0.7)
    assert budget.epsilon_left == pytest.approx(0, abs=1e-12)
    with pytest.raises(CannotMeet, match=r"one more needs epsilon 0\.01"):
        budget.spend(0.01, "one more")
    assert len(budget.spent) == 7


def test_delta_is_counted_too() -> None:
    budget = Budget(1.0, 1e-6)
    budget.spend(0.5, "a", delta=1e-6)
    with pytest.raises(CannotMeet, match="delta"):
        budget.spend(0.1, "b", delta=1e-7)
    assert budget.to_dict()["delta"] == 1e-6


def test_a_refused_part_is_not_spent() -> None:
    budget = Budget(1.0)
    with pytest.raises(CannotMeet, match="too much needs epsilon 2, but 1 of 1 is left"):
        budget.spend(2.0, "too much")
    assert budget.epsilon_left == 1.0


def test_the_record_names_parts_and_neighbours() -> None:
    budget = Budget(1.0, neighbours="substitute")
    budget.spend(0.25, "choosing")
    record = budget.to_dict()
    assert record["epsilon"] == 0.25
    assert record["neighbours"] == "substitute"
    assert record["spent"] == [{"what": "choosing", "epsilon": 0.25, "delta": 0.0}]
    with pytest.raises(InputError, match="add-remove"):
        budget.check_neighbours("add-remove")


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "1", True, None])
def test_epsilon_must_be_a_number_above_zero(epsilon) -> None:
    with pytest.raises(InputError, match="epsilon must be"):
        Budget(epsilon)
    with pytest.raises(InputError, match="epsilon must be"):
        Budget(1.0).spend(epsilon, "a part")


@pytest.mark.parametrize("delta", [-0.1, 1, "0"])
def test_delta_must_lie_from_zero_to_below_one(delta) -> None:
    with pytest.raises(InputError, match="delta"):
        Budget(1.0, delta)


def test_neighbours_are_one_of_two() -> None:
    with pytest.raises(InputError, match="add-remove, substitute"):
        Budget(1.0, neighbours="twins")  # type: ignore[arg-type]


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 6, 7])
def test_noise_is_added_to_every_count_whatever_fits_a_batch(monkeypatch, cells: int) -> None:
    """At so large an epsilon there is none, so that counts come back in their places."""
    monkeypatch.setattr("tamis.dp.budget.BATCH", 3)
    counts = np.arange(2 * cells).reshape(2, cells)
    assert laplace(counts, 1, 1e4).tolist() == counts.tolist()


def test_a_row_moves_one_count_and_two_where_another_takes_its_place() -> None:
    assert MOVED == {"add-remove": 1, "substitute": 2}
