"""Ladders made from a column: enough people everywhere, round ends, and nothing rare named."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.draft import draft_ladder, ladders_of
from tamis.coarsen.ladder import Ladder
from tamis.errors import InputError
from tamis.table import Roles, Table

NUMBERS = (
    st.lists(st.integers(0, 60), min_size=1, max_size=80)
    | st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=80)
    | st.lists(st.sampled_from([0, 0, 0, 0, 7, 7298, 15024]), min_size=1, max_size=80)
)
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=1, max_size=60)


def smallest(ladder: Ladder, column: pl.Series, people: np.ndarray) -> int:
    """By the definition: the fewest people who share a label at a level between the ends."""
    least = len(column)
    for level in range(1, ladder.top):
        labels = ladder.apply(column, level).to_list()
        for label in {each for each in labels if each is not None}:
            least = min(least, len({p for p, each in zip(people, labels) if each == label}))
    return least


@given(values=NUMBERS | TEXTS, k=st.integers(1, 6), each=st.integers(1, 3))
def test_every_group_that_is_made_has_k_people(values, k, each):
    column = pl.Series("x", [*values, None], strict=False)
    people = np.arange(len(column)) // each
    ladder = draft_ladder(column, k, people)
    assert ladder.top == 1 or smallest(ladder, column, people) >= k
    widths = ladder.hierarchy(column).hierarchy.widths
    assert all(coarse < fine for fine, coarse in pairwise(widths[:-1]))


def test_ages_get_intervals_that_people_use():
    ages = pl.Series("age", [age for age in range(18, 95) for _ in range(7)])
    assert draft_ladder(ages).to_dict() == {"width": [5, 10, 20], "bottom": 20, "top": 90}


def test_skewed_numbers_are_cut_where_the_people_are():
    gains = pl.Series("gain", [0.0] * 900 + [float(g) for g in range(3103, 3203)])
    cuts = draft_ladder(gains).to_dict()["cuts"]
    assert all(cut >= 1 for level in cuts for cut in level)
    assert cuts[0][0] == 3000


def test_a_cut_is_no_measured_value():
    values = np.random.default_rng(1).lognormal(5, 2, 500)
    ladder = draft_ladder(pl.Series("x", values))
    assert not {cut for level in ladder.to_dict()["cuts"] for cut in level} & set(values.tolist())


def test_numbers_beyond_exact_arithmetic_get_a_ladder_too():
    large = pl.Series("x", 2.0**53 + np.arange(-60, 60))
    ladder = draft_ladder(large)
    assert smallest(ladder, large, np.arange(120)) >= 5


def test_codes_lose_their_last_characters_first():
    assert draft_ladder(pl.Series("zip", ["01000", "75011"])).to_dict() == {"keep": [4, 3, 2, 1]}
    assert draft_ladder(pl.Series("PLZ", [10115, 80331])).to_dict() == {"keep": [4, 3, 2, 1]}
    numbers = pl.Series("ward", [f"{i:03d}" for i in range(40)])
    assert draft_ladder(numbers).to_dict() == {"keep": [2, 1]}
    assert "keep" not in draft_ladder(pl.Series("zip", ["1", "75011"])).to_dict()


def test_dates_get_the_units_that_matter():
    days = pl.Series("on", [date(2019, 1, 1) + timedelta(days=i) for i in range(500)])
    assert draft_ladder(days).to_dict() == {"dates": ["month", "quarter", "year"]}
    moments = pl.Series("at", [datetime(2021, 1, 1) + timedelta(minutes=i) for i in range(3000)])
    assert draft_ladder(moments).to_dict() == {"dates": ["hour", "day"]}
    assert draft_ladder(days.head(3)).top == 1
    assert draft_ladder(pl.Series("t", [time(1, 2), time(1, 3), time(2)])).to_dict() == {
        "dates": ["hour"]
    }


def test_rare_values_share_a_name_that_is_not_theirs():
    jobs = pl.Series("job", ["cook"] * 20 + ["judge"] * 9 + ["clerk"] * 6 + ["bard", "page"])
    made = draft_ladder(jobs, 5).to_dict()
    # Two people would be "other" alone, so the clerks join them.
    assert made == {"common": [["cook", "judge"], ["cook"]]}


@pytest.mark.parametrize("values", [["f", "m"] * 9, [True, False] * 9, [0, 1] * 9, [3] * 9, [None]])
def test_columns_with_nothing_in_between_stay_or_go(values):
    ladder = draft_ladder(pl.Series("x", values))
    assert ladder.top == 1
    assert Ladder.from_dict("x", ladder.to_dict()) == ladder


def test_given_ladders_come_first_and_must_fit_the_table():
    table = Table(pl.DataFrame({"age": range(50), "y": [0, 1] * 25}), Roles(target="y"))
    mine = Ladder.from_dict("age", {"cuts": [20]})
    assert ladders_of(table, {"age": mine}) == {"age": mine}
    assert list(ladders_of(table)) == ["age"]
    with pytest.raises(InputError, match="no column 'job'"):
        ladders_of(table, {"job": mine})
