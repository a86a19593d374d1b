"""Rank swapping: each column is permuted, and no value goes far."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import RankSwap, Roles, Table
from tamis.errors import InputError
from tamis.perturb.microaggregation import swapped_ranks

CELLS = st.lists(st.one_of(st.none(), st.integers(-5, 20)), min_size=3, max_size=60)


@given(st.integers(0, 80), st.integers(0, 90), st.integers(0, 5))
def test_ranks_are_swapped_in_pairs_within_reach(count, reach, seed) -> None:
    new = swapped_ranks(count, reach, np.random.default_rng(seed))
    assert new[new].tolist() == list(range(count))
    assert np.abs(new - np.arange(count)).max(initial=0) <= reach
    if reach:  # only where all others in reach were taken does one stay
        stay = np.flatnonzero(new == np.arange(count))
        assert (np.diff(stay) > reach).all()


@given(CELLS, st.floats(0, 1), st.integers(0, 5))
def test_a_column_keeps_its_values_and_none_goes_farther_than_asked(cells, within, seed) -> None:
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.Int64)})
    if frame["x"].n_unique() < 3:
        return
    after = RankSwap(within, random_state=seed).fit_transform(frame)["x"]
    assert after.is_null().to_list() == frame["x"].is_null().to_list()
    assert after.sort().to_list() == frame["x"].sort().to_list()
    present = sorted(c for c in cells if c is not None)
    most = int(within * len(present))
    for old, new in zip(cells, after):
        if old is not None:  # equal values share ranks: the nearest of them count
            low, high = sorted([old, new])
            between = sum(low < c < high for c in present)
            assert low == high or between < most or (between == 0 and most >= 1)


def test_columns_are_swapped_apart_from_each_other_and_other_kinds_stay() -> None:
    n = 200
    frame = pl.DataFrame(
        {
            "a": np.arange(n),
            "b": np.arange(n),
            "day": [date(2000 + i // 100, 1 + i % 12, 1 + i % 28) for i in range(n)],
            "job": ["cook", "judge"] * (n // 2),
            "flag": [0, 1] * (n // 2),
        }
    )
    swap = RankSwap(0.1, random_state=4)
    after = swap.fit_transform(frame)
    assert swap.columns_ == ("a", "b", "day")
    assert after["a"].to_list() != after["b"].to_list()
    assert (after["a"] != frame["a"]).mean() > 0.9
    assert after.schema == frame.schema
    assert after.select("job", "flag").equals(frame.select("job", "flag"))
    assert RankSwap(0.1, random_state=4).fit_transform(frame).equals(after)
    assert not RankSwap(0.1, random_state=5).fit_transform(frame).equals(after)


def test_the_target_of_a_table_stays() -> None:
    table = Table(pl.DataFrame({"x": range(50), "y": range(50)}), Roles(target="y"))
    after = RankSwap(0.5).fit_transform(table)
    assert after.frame["y"].to_list() == list(range(50))
    assert after.frame["x"].to_list() != list(range(50))


def test_the_correlation_with_what_it_was_stays_high_where_ranks_are_near() -> None:
    x = np.random.default_rng(0).normal(size=2000)
    after = RankSwap(0.05, random_state=1).fit_transform(x[:, None])[:, 0]
    assert np.corrcoef(x, after)[0, 1] > 0.95
    far = RankSwap(1.0, random_state=1).fit_transform(x[:, None])[:, 0]
    assert np.corrcoef(x, far)[0, 1] < 0.7


@pytest.mark.parametrize("within", [-0.1, 1.5, True, "a"])
def test_a_share_that_is_none_is_refused(within) -> None:
    with pytest.raises(InputError, match="within must be a share"):
        RankSwap(within).fit_transform(np.array([[1.0], [2.0], [3.0]]))


def test_texts_have_no_ranks() -> None:
    with pytest.raises(InputError, match="neither numbers nor dates"):
        RankSwap(columns=["job"]).fit_transform(pl.DataFrame({"job": ["cook", "judge"]}))
