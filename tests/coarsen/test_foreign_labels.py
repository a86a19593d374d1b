"""Labels as ARX, sdcMicro, pandas and people write them."""

from itertools import pairwise
from math import inf

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.foreign_labels import group_labels, read_label


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("[40, 50)", (40, 49.9), (39, 50)),
        ("[40,50)", (40,), (50,)),
        ("(40,50]", (40.1, 50), (40, 51)),
        ("[40, 50[", (40,), (50,)),
        ("]40, 50]", (50,), (40,)),
        ("[40, 50]", (40, 50), (39, 51)),
        ("(-inf, 30)", (-5, 29), (30,)),
        ("[30, inf)", (30, 1e9), (29,)),
        ("40-49", (40, 49), (39, 50)),
        ("40 \u2013 49", (40, 49), (39, 50)),
        ("40 to 49", (40, 49), (39, 50)),
        ("40s", (40, 49.5), (39, 50)),
        ("-5--1", (-5, -1), (0, -6)),
        ("<= 30", (30, -4), (31,)),
        ("\u2264 30", (30,), (31,)),
        ("< 30", (29,), (30,)),
        ("> 30", (31,), (30,)),
        (">= 30", (30,), (29,)),
        ("90+", (90, 120), (89,)),
        ("90 or more", (90,), (89,)),
        ("under 18", (17,), (18,)),
        ("17 and younger", (17,), (18,)),
        ("20000 to under 55000", (20000, 54999.5), (55000,)),
        ("{cook, judge}", ("cook", "judge"), ("baker", "cook, judge")),
        ("75***", ("75011",), ("7501", "76011", "750111")),
        ("4*", (40, 49), (4, 50, 400)),
        ("*", ("anything", 7), ()),
        ("[2020-01-01, 2021-01-01)", ("2020-12-31",), ("2021-01-01", "2019-12-31")),
    ],
)
def test_what_a_label_stands_for(label, inside, outside):
    group = read_label(label)
    assert group is not None
    assert all(group.holds(value, str(value)) for value in inside)
    assert not any(group.holds(value, str(value)) for value in outside)


@pytest.mark.parametrize("label", ["cook", "", "a-b", "[x, y)", "40 50", "<", "inf"])
def test_other_texts_say_nothing(label):
    assert read_label(label) is None


def test_an_end_that_two_ranges_share_belongs_to_the_upper_one():
    values = pl.Series([20, 29, 30, 40])
    found = group_labels(values, ["20-30", "30-40", "40-50"])
    assert found == {"20": "20-30", "29": "20-30", "30": "30-40", "40": "40-50"}


def test_between_two_ranges_of_whole_numbers_lies_the_lower_one():
    assert group_labels(pl.Series([49.5, 50.0]), ["40-49", "50-59"]) == {
        "49.5": "40-49",
        "50": "50-59",
    }


def test_a_star_for_any_number_of_characters():
    values = pl.Series(["75011", "13001"])
    assert group_labels(values, ["75*", "13*"]) == {"75011": "75*", "13001": "13*"}


def test_values_released_as_they_are_stand_beside_groups():
    values = pl.Series(["cook", "judge", "king"])
    assert group_labels(values, ["cook", "{judge, king}"]) == {
        "cook": "cook",
        "judge": "{judge, king}",
        "king": "{judge, king}",
    }


def test_truth_is_no_number():
    group = read_label("[0, 2)")
    assert group is not None
    assert group.holds(1, "1")
    assert not group.holds(True, "true")
    assert not group.holds("1", "1")  # nor is a text


@given(
    cuts=st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True).map(sorted),
    values=st.lists(st.integers(-60, 60), min_size=1, max_size=20),
    style=st.sampled_from(["[{}, {})", "[{},{}[", "{} to under {}", "({}, {}]"]),
)
def test_intervals_by_definition(cuts, values, style):
    pairs = list(pairwise(cuts))
    labels = [style.format(*pair) for pair in pairs]
    upper = style.endswith("]")
    expected = {}
    for value in set(values):
        for (low, high), label in zip(pairs, labels):
            if (low < value <= high) if upper else (low <= value < high):
                expected[str(value)] = label
    assert (group_labels(pl.Series(values), labels) or {}) == expected


def test_open_ends():
    group = read_label("90+")
    assert group is not None
    assert (group.low, group.high) == (90, inf)
