"""PRAM: frequencies stay in expectation, values come from the column, missing stays missing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Pram, Roles, Table
from tamis.errors import InputError
from tamis.perturb.pram import invariant

SHARES = st.lists(st.integers(1, 50), min_size=1, max_size=8).map(
    lambda n: np.array(n) / np.sum(n, dtype=float)
)


@given(SHARES, st.floats(0, 1))
def test_the_chances_keep_every_frequency(shares, change) -> None:
    R = invariant(shares, change)
    assert (R >= 0).all()
    assert R.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert shares @ R == pytest.approx(shares, abs=1e-12)


@given(SHARES, st.floats(0.01, 0.99))
def test_the_chances_are_those_of_two_steps_by_bayes(shares, change) -> None:
    size = len(shares)
    if size == 1:
        return
    P = [[1 - change if i == j else change / (size - 1) for j in range(size)] for i in range(size)]
    Q = [
        [P[j][k] * shares[j] / sum(shares[i] * P[i][k] for i in range(size)) for j in range(size)]
        for k in range(size)
    ]
    assert invariant(shares, change) == pytest.approx(np.array(P) @ np.array(Q), abs=1e-12)


def test_two_values_that_are_always_exchanged_come_back() -> None:
    assert invariant(np.array([0.3, 0.7]), 1.0) == pytest.approx(np.eye(2))


def test_frequencies_stay_on_average_over_many_draws() -> None:
    jobs = pl.DataFrame({"job": ["cook"] * 300 + ["judge"] * 80 + ["smith"] * 20 + [None] * 9})
    pram = Pram(0.4, random_state=np.random.default_rng(7)).fit(jobs)
    draws = [pram.transform(jobs)["job"] for _ in range(60)]
    for value, count in (("cook", 300), ("judge", 80), ("smith", 20)):
        means = np.mean([(d == value).sum() for d in draws])
        assert abs(means - count) < 6
    assert all(d[400:].is_null().all() for d in draws)
    assert all(set(d.drop_nulls()) <= {"cook", "judge", "smith"} for d in draws)
    changed = np.mean([(d[:400] != jobs["job"][:400]).mean() for d in draws])
    assert 0.2 < changed < 0.8


def test_only_texts_and_booleans_change_and_seeds_repeat() -> None:
    frame = pl.DataFrame(
        {
            "age": range(100),
            "job": ["cook", "judge"] * 50,
            "old": [True, False, None, True] * 25,
            "fixed": ["x"] * 100,
        }
    )
    table = Table(frame.with_columns(ill=pl.Series(["no", "yes"] * 50)), Roles(target="ill"))
    pram = Pram(0.5, random_state=3)
    after = pram.fit_transform(table).frame
    assert pram.columns_ == ("job", "old")
    assert after.schema == table.frame.schema
    assert after.select("age", "fixed", "ill").equals(table.frame.select("age", "fixed", "ill"))
    assert not after["job"].equals(frame["job"])
    assert Pram(0.5, random_state=3).fit_transform(table).frame.equals(after)


def test_no_change_changes_nothing() -> None:
    frame = pl.DataFrame({"job": ["cook", "judge", "smith", None]})
    assert Pram(0.0).fit_transform(frame).equals(frame)


def test_values_it_was_not_fitted_on_are_refused_and_not_shown() -> None:
    pram = Pram(0.1).fit(pl.DataFrame({"job": ["cook", "judge"]}))
    with pytest.raises(InputError, match="1 cells with values") as error:
        pram.transform(pl.DataFrame({"job": ["cook", "spy"]}))
    assert "spy" not in str(error.value)
    with pytest.raises(InputError, match=r"is expecting 1 features .* fitted on"):
        pram.transform(pl.DataFrame({"work": ["cook"]}))


def test_too_many_values_are_refused() -> None:
    names = pl.DataFrame({"name": [f"P{i}" for i in range(1001)]})
    with pytest.raises(InputError, match="1,001 values"):
        Pram(0.1).fit(names)
