"""AIM and MST: what they choose and count, what they spend, and what is drawn."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from tamis.dp import synthesiser
from tamis.dp.budget import Budget, ConcentratedLoss, PrivacyLoss, PureLoss, rho_of
from tamis.dp.graphical import fit
from tamis.dp.synthesiser import DPSynthesiser, TrueCounts, workload_weights
from tamis.errors import CannotMeet, InputError

BOUNDS = {"dose": (0.0, 1.0), "job": ["cook", "judge"], "ill": ["no", "yes"]}


def people(rows: int = 500) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    dose = rng.random(rows)
    job = rng.choice(["cook", "judge"], rows)
    return pl.DataFrame({"dose": dose, "job": job, "ill": np.where(dose > 0.5, "yes", "no")})


@pytest.mark.parametrize("algorithm", ["aim", "mst"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_drawn_table_resembles_the_original(algorithm, delta) -> None:
    frame = people(3000)
    model = DPSynthesiser(
        3.0, bounds=BOUNDS, algorithm=algorithm, bins=4, delta=delta, random_state=0
    )
    drawn = model.fit_sample(frame, target="ill")
    assert drawn.schema == frame.schema
    assert abs(drawn.height - 3000) < 300
    assert ((drawn["dose"] > 0.5) == (drawn["ill"] == "yes")).mean() > 0.9
    assert model.sample().equals(drawn)
    assert (model.recipe_["epsilon"], model.recipe_["delta"]) == (3.0, delta)
    assert model.recipe_["neighbours"] == "add-remove"


def counts_of(columns: int = 4, rows: int = 400) -> TrueCounts:
    """Columns of which each follows the one before, with a little noise of their own."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 3, rows)]
    for _ in range(columns - 1):
        codes.append(np.where(rng.random(rows) < 0.9, codes[-1], rng.integers(0, 3, rows)))
    return TrueCounts(codes, [3] * columns)


@pytest.mark.parametrize("loss", [PureLoss(1.0, 1), ConcentratedLoss(rho_of(1.0, 1e-9), 1)])
@pytest.mark.parametrize("measure", [synthesiser.measure_adaptively, synthesiser.measure_tree])
def test_all_is_spent_and_no_more(loss, measure) -> None:
    loss = type(loss)(loss.total, loss.moved)
    measure(counts_of(), loss, 1 << 16)
    assert loss.spent == pytest.approx(loss.total, rel=1e-5)
    assert loss.spent <= loss.total * (1 + 1e-9)


def test_the_table_is_looked_at_through_noise_alone(monkeypatch) -> None:
    """With all noise fixed, tables with the same noisy results are drawn from alike."""
    monkeypatch.setattr(PureLoss, "_noisy", lambda self, counts, cost: np.full(counts.shape, 40))

    def first(self, scores, sensitivity, cost):
        self._spend(cost)
        return 0

    monkeypatch.setattr(PrivacyLoss, "choose", first)
    model = DPSynthesiser(1.0, bounds=BOUNDS, bins=4, random_state=0)
    drawn = [model.fit_sample(people(rows), target="ill") for rows in (50, 400)]
    assert drawn[0].equals(drawn[1])


def test_a_score_changes_no_more_than_its_sensitivity_between_neighbours(monkeypatch) -> None:
    """One person more, with several rows: every score of every choice, by the same noisy past."""
    seen: list[tuple[np.ndarray, float]] = []

    def choose(self, scores, sensitivity, cost):
        self._spend(cost)
        seen.append((scores, sensitivity))
        return 0

    monkeypatch.setattr(PrivacyLoss, "choose", choose)
    monkeypatch.setattr(PureLoss, "_noisy", lambda self, counts, cost: np.full(counts.shape, 30))
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 3, 200) for _ in range(3)]
    for measure in (synthesiser.measure_adaptively, synthesiser.measure_tree):
        found = []
        for more in (0, 2):
            seen.clear()
            grown = [np.append(column, np.full(more, 2)) for column in codes]
            measure(TrueCounts(grown, [3, 3, 3]), PureLoss(1.0, 2), 1 << 16)
            found.append(list(seen))
        assert len(found[0]) == len(found[1]) > 1
        for (one, sensitivity), (other, _) in zip(*found):
            assert np.abs(one - other).max() <= sensitivity + 1e-9
        largest = max(np.abs(a - b).max() / s for (a, s), (b, _) in zip(*found))
        assert largest > 0.3  # the bound is not far from what happens


def test_mst_counts_a_tree_of_the_columns_that_go_together() -> None:
    found = synthesiser.measure_tree(counts_of(), PureLoss(100.0, 1), 1 << 16)
    pairs = [m.clique for m in found if len(m.clique) == 2]
    assert sorted(pairs) == [(0, 1), (1, 2), (2, 3)]


def test_mst_joins_no_columns_that_make_too_many_cells() -> None:
    found = synthesiser.measure_tree(counts_of(), PureLoss(1.0, 1), 8)
    assert {len(m.clique) for m in found} == {1}


def test_aim_takes_no_set_that_makes_the_model_too_large() -> None:
    found = synthesiser.measure_adaptively(counts_of(5), PureLoss(50.0, 1), 60)
    model = fit((3,) * 5, found)
    assert model.tree.cells(model.bins) <= 60
    assert any(len(m.clique) == 2 for m in found)


def test_true_counts_are_those_of_rows() -> None:
    codes = [np.array([0, 1, 1, 0]), np.array([2, 0, 2, 2])]
    assert TrueCounts(codes, [2, 3])[0, 1].tolist() == [[0, 0, 2], [1, 0, 1]]


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 20])
def test_weights_count_what_sets_share_with_the_workload(columns) -> None:
    weights = workload_weights(columns)
    size = min(columns, 3 if columns < 20 else 2)
    workload = list(combinations(range(columns), size))
    assert max(map(len, weights)) == size
    for clique, weight in list(weights.items())[:50]:
        assert weight == sum(len(set(clique) & set(other)) for other in workload)


def test_the_budget_is_refused_before_anything_is_looked_at() -> None:
    budget = Budget(1.0)
    with pytest.raises(CannotMeet, match="is left"):
        DPSynthesiser(2.0, bounds=BOUNDS).fit(people(), target="ill", budget=budget)
    model = DPSynthesiser(1.0, delta=1e-6, bounds=BOUNDS)
    with pytest.raises(CannotMeet, match="needs delta"):
        model.fit(people(), target="ill", budget=Budget(1.0))
    assert budget.epsilon_left == 1.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "ctgan"}, "'aim' or 'mst'"),
        ({"delta": 1.0}, "delta must be"),
        ({"delta": -0.1}, "delta must be"),
        ({"bins": 0}, "bins"),
        ({"max_model_cells": 1}, "more bins than a model may have cells"),
    ],
)
def test_what_cannot_be_asked_for_is_said(options, words) -> None:
    with pytest.raises(InputError, match=words):
        DPSynthesiser(1.0, bounds=BOUNDS, **options).fit(people(), target="ill")


def test_one_column_alone_is_drawn() -> None:
    frame = pl.DataFrame({"ill": ["no"] * 60 + ["yes"] * 40})
    for algorithm in ("aim", "mst"):
        model = DPSynthesiser(50.0, bounds={"ill": ["no", "yes"]}, algorithm=algorithm)
        assert abs(int((model.fit_sample(frame)["ill"] == "no").sum()) - 60) < 5
