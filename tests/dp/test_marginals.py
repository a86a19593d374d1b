"""A product of private marginals: what is counted, what it costs and what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.binary.records import from_matrix
from tamis.dp import histogram as module
from tamis.dp.budget import MOVED
from tamis.dp.histogram import DPMarginals
from tamis.dp.selector import MOST_TOGETHER, private_records

ZERO_ONE = {name: [0, 1] for name in ("a", "b", "c", "ill")}


@pytest.fixture
def no_noise(monkeypatch):
    """Counts as they are; what they were noised for is kept."""
    seen: list[tuple[int, int, float]] = []

    def laplace(counts: Any, sensitivity: int, epsilon: float) -> Any:
        seen.append((int(counts.sum()), sensitivity, epsilon))
        return counts

    monkeypatch.setattr(module, "laplace", laplace)
    return seen


def cells(rows: Sequence[tuple[int, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["a", "b", "c", "ill"], orient="row")


def counted(rows: list[tuple[int, ...]]) -> Any:
    model = DPMarginals(1.0, bounds=ZERO_ONE, neighbours="substitute")
    return np.concatenate([c.ravel() for c in model.fit(cells(rows), target="ill").counts_])


def test_no_substitution_moves_the_counts_further_than_the_noise_hides(no_noise) -> None:
    """By brute force: every row in place of every other, beside two rows that stay."""
    every = list(product([0, 1], repeat=4))
    stay = [every[3], every[9]]
    found = {row: counted([*stay, row]) for row in every}
    worst = max(int(np.abs(found[x] - found[y]).sum()) for x in every for y in every)
    assert {s for _, s, _ in no_noise} == {worst} == {3 * MOVED["substitute"]}


@given(st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=30), st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_without_noise_every_column_varies_with_the_label_as_before(rows, seed) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "laplace", lambda counts, sensitivity, epsilon: counts)
        model = DPMarginals(1.0, bounds=ZERO_ONE, random_state=seed)
        drawn = model.fit_sample(cells(rows), target="ill")
    for name in ("a", "b", "c"):
        before = cells(rows).group_by(name, "ill").len().sort(name, "ill")
        assert drawn.group_by(name, "ill").len().sort(name, "ill").equals(before)


def test_columns_are_drawn_apart_from_each_other(no_noise) -> None:
    rows = [(bit, bit, 0, 0) for bit in (0, 1)] * 500
    drawn = DPMarginals(1.0, bounds=ZERO_ONE).fit_sample(cells(rows), target="ill")
    assert 0.4 < (drawn["a"] == drawn["b"]).mean() < 0.6


@pytest.mark.parametrize("target", [None, "ill"])
def test_a_table_without_a_label_and_a_label_without_columns(no_noise, target) -> None:
    frame = pl.DataFrame({"ill": [0, 1, 1, 1]})
    drawn = DPMarginals(1.0, bounds={"ill": [0, 1]}).fit_sample(frame, target=target)
    assert sorted(drawn["ill"]) == [0, 1, 1, 1]
    assert no_noise == [(4, 1, 1.0)]


def test_the_printed_setting_runs_at_the_same_epsilon() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 500)
    X = (rng.random((1000, 40)) < np.where(y == "yes", 0.7, 0.2)[:, None]).astype(int)
    records = from_matrix(X, [f"x{i}" for i in range(40)], y.tolist())
    drawn = private_records(records, 27, epsilon=40.0, labels=["no", "yes"])
    assert MOST_TOGETHER < 27
    assert drawn.frame.shape == (1000, 28)
    spent = {part["what"]: part["epsilon"] for part in drawn.recipe["spent"]}
    assert spent == {"choosing 27 features": 20.0, "counts of each column by label": 20.0}
    means = drawn.frame.group_by("label").mean().sort("label")
    assert means.drop("label").row(0) == pytest.approx([0.2] * 27, abs=0.1)
    assert means.drop("label").row(1) == pytest.approx([0.7] * 27, abs=0.1)
