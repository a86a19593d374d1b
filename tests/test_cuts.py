"""Cut points are round numbers with enough people on either side."""

from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Roles, Table
from tamis.binary.records import Cut, binarise
from tamis.cuts import SHARE, fewest_digits, quantile_cuts, rounded_cuts
from tamis.risk.cut import cut_sensitive


def digits(number: float) -> int:
    """Significant digits of the shortest text that reads as the number."""
    shortest = Decimal(repr(float(number))).normalize()
    return len(shortest.as_tuple().digits) if shortest else 0


HUNDREDTHS = st.integers(-2000, 2000).map(lambda i: i / 100)


@given(HUNDREDTHS, st.integers(1, 700), st.integers(0, 699))
def test_no_number_in_the_range_has_fewer_digits_or_is_nearer(low, wide, at):
    grid = [(round(low * 100) + i) / 100 for i in range(wide)]
    high, near = (round(low * 100) + wide) / 100, grid[at % wide]
    found = fewest_digits(low, high, near)
    assert low <= found < high
    least = min(digits(c) for c in grid)
    assert digits(found) == least
    nearest = min(abs(c - near) for c in grid if digits(c) == least)
    assert abs(found - near) == pytest.approx(nearest, abs=1e-9)


@given(
    st.lists(HUNDREDTHS, min_size=1, max_size=120),
    st.integers(2, 6),
    st.integers(1, 9),
    st.booleans(),
    st.randoms(),
)
def test_every_interval_has_k_people_and_lies_near_its_quantile(cells, parts, k, repeat, random):
    values = np.array(cells)
    people = np.array([random.randrange(30) for _ in cells]) if repeat else None
    cuts = quantile_cuts(values, parts, k=k, people=people)
    assert cuts == sorted(set(cuts))
    assert len(cuts) < parts
    of = np.searchsorted(cuts, values)
    whose = np.arange(len(cells)) if people is None else people
    if cuts:
        assert min(len(set(whose[of == i])) for i in range(len(cuts) + 1)) >= k
    rows = len(cells)
    for cut in cuts:
        ranks = np.ceil(rows * np.arange(1, parts) / parts)
        off = np.abs((values <= cut).sum() - ranks).min()
        slack = min(max(SHARE * rows / parts, k - 1), rows / parts / 2)
        tied = max((values == v).sum() for v in values)
        assert off <= slack + tied


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_without_ties_all_cuts_are_made_within_a_quarter_of_an_interval(parts, seed):
    values = np.random.default_rng(seed).normal(5000, 900, 400)
    cuts = quantile_cuts(values, parts + 1, k=5)
    assert len(cuts) == parts
    below = [(values <= c).sum() for c in cuts]
    assert (
        np.abs(below - 400 * np.arange(1, parts + 1) / (parts + 1)).max() <= 100 / (parts + 1) + 1
    )


def test_incomes_are_cut_at_round_numbers_that_nobody_has():
    income = np.round(np.random.default_rng(1).lognormal(10, 0.5, 2000), 2)
    table = Table(pl.DataFrame({"income": income, "y": ["a", "b"] * 1000}), Roles(target="y"))
    names = binarise(table).features
    cuts = quantile_cuts(income, 4)
    assert names[0] == f"income <= {cuts[0]:g}"
    assert all(digits(c) <= 2 for c in cuts)
    assert not set(cuts) & set(income)


def test_people_count_and_not_their_rows():
    stays = pl.DataFrame(
        {"who": np.repeat(range(12), 10), "x": np.arange(120.0), "y": ["a", "b"] * 60}
    )
    table = Table(stays, Roles(target="y", identifiers=("who",)))
    few = binarise(table, {"x": Cut(quantiles=4)}, k=5).features
    rows = binarise(table.with_roles(person=()), {"x": Cut(quantiles=4)}, k=5).features
    assert (len(few), len(rows)) == (2, 4)


def test_given_cuts_stay_as_given():
    table = Table(pl.DataFrame({"x": [1.0, 2.0, 3.0]}))
    assert binarise(table, {"x": Cut(cuts=(1.2345,))}).features == ("x <= 1.2345", "x > 1.2345")
    assert cut_sensitive(pl.Series([1.0, 2.0]), np.zeros(2), [1.2345]).points == (1.2345,)


def test_points_between_whole_numbers_stay_and_others_become_round():
    whole = np.repeat(np.arange(12.0), 10)
    assert rounded_cuts(whole, [6.5]) == [6.5]
    fine = np.random.default_rng(0).normal(22886.28, 400, 500)
    (cut,) = rounded_cuts(fine, [float(np.sort(fine)[250:252].mean())])
    assert digits(cut) <= 4
    assert abs((fine <= cut).sum() - 251) < 5
    assert rounded_cuts(np.array([1.0] * 50 + [2.0] * 4), [1.5]) == []


def test_a_secret_that_few_differ_in_is_not_cut():
    values = pl.Series([0.0] * 988 + [i + 0.37 for i in range(12)])
    assert len(cut_sensitive(values, np.zeros(1000)).points) == 1
    assert cut_sensitive(values, np.zeros(1000), k=20).points == ()
    assert len(cut_sensitive(values, np.zeros(1000), k=20).values) == 13
