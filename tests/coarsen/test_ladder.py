"""Ladders: labels, levels that nest, values that nobody foresaw, and what is refused."""

from __future__ import annotations

import itertools
import math
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.coarsen.ladder import Hierarchy, Ladder
from tamis.errors import InputError
from tamis.publication.manifest import stated, stated_coarsening
from tamis.release import Coarsening
from tamis.verification.labels import wrong_labels
from tests.long import LONG

DAYS = pl.Series("when", [date(2021, 5, 3), date(1999, 12, 31), None])
DESCRIPTIONS: dict[str, dict[str, Any]] = {
    "cuts": {"cuts": [[20, 30, 40, 60], [30, 60]]},
    "width": {"width": [5, 10, 20], "top": 90},
    "fraction": {"width": [0.1, 0.5], "bottom": -1, "top": 2.25},
    "ends": {"ends": [{"top": 90}, {"bottom": 10, "top": 60}]},
    "step": {"step": [0.5, 10]},
    "keep": {"keep": [3, 1]},
    "common": {"common": [["1", "7", "x"], ["7"]]},
    "groups": {"groups": [{"low": ["1", "2"], "high": ["9"]}], "unlisted": "other"},
    "values": {"values": ["1", "7"], "unlisted": "other"},
}
# Zero has no sign in a table (`one_form`): -0.0 + 0 is 0.
NUMBERS = st.lists(
    st.none() | st.integers(-5, 120) | st.floats(-5, 120).map(lambda x: x + 0), min_size=1
)


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_description_makes_the_same_ladder_again(name):
    ladder = Ladder.from_dict("c", DESCRIPTIONS[name])
    assert Ladder.from_dict("c", ladder.to_dict()) == ladder


@pytest.mark.parametrize("name", DESCRIPTIONS)
@given(values=NUMBERS)
@settings(max_examples=20 if LONG else 8)
def test_each_level_groups_as_its_labels_do_and_nests(name, values):
    """The definition: two rows are in one group where their labels are equal."""
    ladder = Ladder.from_dict("c", DESCRIPTIONS[name])
    column = pl.Series("c", values, dtype=pl.Float64)
    codes, hierarchy = ladder.hierarchy(column)
    assert hierarchy.top == ladder.top
    for level in range(ladder.top + 1):
        labels = ladder.apply(column, level).to_list()
        groups = hierarchy.groups[level][codes].tolist()
        for one, other in itertools.combinations(range(len(values)), 2):
            assert (groups[one] == groups[other]) == (labels[one] == labels[other])


@given(
    value=st.integers(-300, 300).map(lambda n: n / 20) | st.floats(-40, 40),
    width=st.sampled_from([0.1, 0.25, 0.3, 1, 5]),
)
def test_a_width_holds_the_value_exactly(value, width):
    ladder = Ladder.from_dict("c", {"width": [width]})
    label = ladder.apply(pl.Series([float(value)]), 1)
    lower, upper = ladder.bounds(label, 1).row(0)
    assert lower <= value < upper
    count = round(lower / width)
    assert (lower, upper) == (
        float(count * Fraction(str(width))),
        float((count + 1) * Fraction(str(width))),
    )


def test_intervals_read_as_people_write_them():
    age = Ladder.from_dict("age", {"width": 5, "bottom": 20, "top": 90})
    ages = pl.Series("age", [17, 20, 43, 89, 90, 120, None])
    assert age.apply(ages, 1).to_list() == [
        "< 20", "[20, 25)", "[40, 45)", "[85, 90)", ">= 90", ">= 90", None,
    ]  # fmt: skip
    assert age.apply(ages, 0) is ages
    assert age.apply(ages, 2).to_list() == ["*"] * 7
    assert age.apply(ages, 1).name == "age"


@given(st.dates(min_value=date(1, 1, 1), max_value=date(9999, 12, 31)))
def test_calendar_bounds_hold_the_day(day):
    units = ["day", "month", "quarter", "year", "decade"]
    ladder = Ladder.from_dict("when", {"dates": units})
    for level, unit in enumerate(units, start=1):
        label = ladder.apply(pl.Series([day]), level)
        lower, upper = ladder.bounds(label, level).row(0)
        assert lower is None or lower <= day
        assert upper is None or day < upper
        last = date.max if upper is None else upper - timedelta(days=1)
        assert ladder.apply(pl.Series([last]), level).to_list() == label.to_list(), unit


def test_dates_by_the_calendar_weeks_and_cuts():
    calendar = Ladder.from_dict("when", {"dates": ["month", "quarter", "year", "decade"]})
    told = [calendar.apply(DAYS, level)[0] for level in range(1, 6)]
    assert told == ["2021-05", "2021-Q2", "2021", "2020s", "*"]
    assert calendar.apply(DAYS, 2).to_list() == ["2021-Q2", "1999-Q4", None]
    weeks = Ladder.from_dict("when", {"width": 7})
    assert weeks.apply(DAYS, 1).to_list()[0] == "[2021-05-03, 2021-05-10)"  # a Monday
    cuts = Ladder.from_dict("when", {"cuts": [date(2000, 1, 1), "2010-01-01"]})
    assert cuts.apply(DAYS, 1).to_list() == [">= 2010-01-01", "< 2000-01-01", None]
    assert cuts.bounds(cuts.apply(DAYS, 1), 1).rows() == [
        (date(2010, 1, 1), None), (None, date(2000, 1, 1)), (None, None),
    ]  # fmt: skip
    assert Ladder.from_dict("when", cuts.to_dict()) == cuts


def test_a_moment_belongs_to_its_day():
    moment = pl.Series([date(2021, 5, 3)]).cast(pl.Datetime) + timedelta(days=1, microseconds=-1)
    cuts = Ladder.from_dict("when", {"cuts": ["2021-05-04"]})
    assert cuts.apply(moment, 1).to_list() == ["< 2021-05-04"]
    hours = Ladder.from_dict("when", {"dates": ["hour", "day"]})
    assert [hours.apply(moment, level)[0] for level in (1, 2)] == ["2021-05-03 23:00", "2021-05-03"]


def test_codes_keep_their_first_characters():
    zips = Ladder.from_dict("zip", {"keep": [5, 3, 2]})
    codes = pl.Series(["01000", "75011-42", "9", "é\nab", None])
    assert zips.apply(codes, 3).to_list() == ["01***", "75******", "9", "é\n**", None]
    assert zips.apply(pl.Series([10115]), 2).to_list() == ["101**"]


def test_rare_values_are_not_named():
    jobs = Ladder.from_dict("job", {"common": [["cook", "judge"], ["cook"]]})
    column = pl.Series(["cook", "judge", "falconer", None])
    assert jobs.apply(column, 1).to_list() == ["cook", "judge", "other", None]
    assert jobs.apply(column, 2).to_list() == ["cook", "other", "other", None]
    assert "falconer" not in str(jobs.to_dict())


def test_values_never_seen_go_up_until_a_level_covers_them():
    width = Ladder.from_dict("x", {"width": 5, "top": 90})
    assert width.apply(pl.Series([1e300]), 1).to_list() == [">= 90"]
    far = Ladder.from_dict("x", {"width": 5})
    assert far.apply(pl.Series([1e300, 3.0]), 1).to_list() == ["*", "[0, 5)"]
    groups = Ladder.from_dict("x", {"groups": {"a": ["1"]}})
    assert groups.apply(pl.Series(["1", "2", None]), 1).to_list() == ["a", "*", None]
    other = Ladder.from_dict("x", {"groups": {"a": ["1"]}, "unlisted": "rest"})
    assert other.apply(pl.Series(["1", "2", None]), 1).to_list() == ["a", "rest", None]


def test_values_that_the_ladder_lacks_are_counted_and_not_shown():
    groups = Ladder.from_dict("job", {"groups": {"manual": ["cook"]}})
    column = pl.Series("job", ["cook", "falconer", "falconer", "bard"])
    with pytest.raises(InputError, match=r"'job' has 2 values in 3 rows .*unlisted") as refused:
        groups.hierarchy(column)
    assert "falconer" not in str(refused.value)
    codes, hierarchy = Ladder.from_dict(
        "job", {"groups": {"manual": ["cook"]}, "unlisted": "other"}
    ).hierarchy(column)
    assert hierarchy.widths == (3, 2, 1)
    assert hierarchy.groups[1][codes].tolist() == [0, 1, 1, 1]


def test_listed_values_are_leaves_though_no_row_has_them():
    groups = Ladder.from_dict("age", {"groups": {"low": [17, 18.0], "high": ["90", "?"]}})
    codes, hierarchy = groups.hierarchy(pl.Series("age", [18, 90, None]))
    assert codes.tolist() == [1, 2, 4]
    assert hierarchy.groups[1].tolist() == [0, 0, 1, 1, 2]
    assert hierarchy.shares(1)[0] == 2 / 5


def test_moments_are_listed_as_they_are_written():
    column = pl.Series([datetime(2021, 5, 3, 10, 30), None])
    groups = Ladder.from_dict("at", {"groups": {"early": ["2021-05-03 10:30:00"]}})
    assert groups.apply(column, 1).to_list() == ["early", None]


def test_categories_are_texts():
    groups = Ladder.from_dict("job", {"groups": {"manual": ["cook"], "office": ["judge"]}})
    column = pl.Series("job", ["judge", "cook"], dtype=pl.Enum(["judge", "cook"]))
    assert groups.apply(column, 1).to_list() == ["office", "manual"]
    assert groups.hierarchy(column).codes.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({}, "exactly one of cuts, width"),
        ({"cuts": [1], "keep": [2]}, "got cuts, keep"),
        ({"cuts": []}, "must be a list"),
        ({"cuts": [[1, 2], 3]}, "must be a list"),
        ({"cuts": [2, 1]}, "must rise"),
        ({"cuts": [1, 1]}, "must rise"),
        ({"cuts": ["soon"]}, "all numbers, or all dates"),
        ({"cuts": [1, "2020-01-01"]}, "all numbers, or all dates"),
        ({"cuts": [1, math.inf]}, "all numbers, or all dates"),
        ({"cuts": [True, 2]}, "all numbers, or all dates"),
        ({"cuts": [10**400]}, "all numbers, or all dates"),
        ({"cuts": [[1, 2], [3]]}, "level 2 does not nest .* 1 cut of it is not"),
        ({"cuts": [[1], [1, 2, 3]]}, "level 2 is finer .* 2 cuts"),
        ({"width": 0}, "above 0"),
        ({"width": [5, 7]}, "level 2 does not nest"),
        ({"width": [10, 5]}, "level 2 is finer"),
        ({"width": 5, "bottom": 9, "top": 3}, "bottom must be below top"),
        ({"width": 5, "tops": 3}, "unknown entry 'tops'"),
        ({"keep": [2, 3]}, "level 2 is finer"),
        ({"keep": [0]}, "at least 1"),
        ({"keep": ["2"]}, "whole numbers"),
        ({"dates": ["week"]}, "one or more of hour, day"),
        ({"dates": ["year", "month"]}, "from fine to coarse"),
        ({"common": [["a"], ["b"]]}, "level 2 does not nest .* 1 value of it has"),
        ({"common": [["a"], ["a", "b"]]}, "level 2 is finer"),
        ({"groups": {}}, "tables of lists"),
        ({"groups": []}, "tables of lists"),
        ({"values": []}, "no value in it"),
        ({"values": "x"}, "must be a list"),
        ({"values": [["x"]]}, "must be a text"),
        ({"groups": {"a": []}}, "a name and a list"),
        ({"groups": {"a": ["x"], "b": ["x", "y"]}}, "1 value has more than one line"),
        ({"groups": [{"a": ["x"]}, {"c": ["a"], "d": ["a"]}]}, "level 2 does not nest"),
        ({"groups": [{"a": ["x"], "b": ["y"]}, {"c": ["a"]}]}, "does not place 1 group"),
        (
            {"groups": [{"other": ["x"]}, {"c": ["other"]}], "unlisted": "other"},
            "level 2 .* split 1 time",
        ),
    ],
)
def test_what_is_no_ladder_is_refused_by_name(description, words):
    with pytest.raises(InputError, match=words) as refused:
        Ladder.from_dict("age", description)
    assert "'age'" in str(refused.value)


@pytest.mark.parametrize(
    ("description", "values"),
    [
        ({"cuts": [1]}, ["a"]),
        ({"cuts": ["2020-01-01"]}, [1]),
        ({"cuts": [1]}, [date(2020, 1, 1)]),
        ({"dates": ["year"]}, ["a"]),
    ],
)
def test_a_ladder_for_another_kind_of_column_is_refused(description, values):
    with pytest.raises(InputError, match=r"'age'.* column of"):
        Ladder.from_dict("age", description).hierarchy(pl.Series(values))


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_every_level_can_be_said_in_words(name):
    ladder = Ladder.from_dict("c", DESCRIPTIONS[name])
    said = [ladder.words(level) for level in range(ladder.top + 1)]
    assert (said[0], said[-1]) == ("the values as they are", "nothing")
    assert all(said)


def test_levels_outside_the_ladder_are_refused():
    ladder = Ladder.from_dict("age", {"width": 5})
    with pytest.raises(InputError, match="levels 0 to 2, got 3"):
        ladder.apply(pl.Series([1]), 3)


def test_labels_of_another_making_have_no_bounds():
    ladder = Ladder.from_dict("age", {"width": 5})
    strange = pl.Series(["[a, b)", "< soon", "old", None])
    assert ladder.bounds(strange, 1).rows() == [(None, None)] * 4


def test_all_missing_and_empty_columns_climb():
    ladder = Ladder.from_dict("age", {"width": 5})
    nothing = pl.Series([None, None], dtype=pl.Int64)
    assert ladder.apply(nothing, 1).to_list() == [None, None]
    assert ladder.hierarchy(nothing).codes.tolist() == [0, 0]
    assert ladder.apply(nothing.head(0), 1).to_list() == []
    assert np.array_equal(ladder.hierarchy(nothing).hierarchy.groups[1], [0])


@pytest.mark.parametrize(
    "description",
    [{"top": 90}, {"bottom": 18, "top": 90}, {"ends": [{"top": 90}, {"bottom": 20, "top": 80}]}],
)
def test_only_the_ends_are_coded_and_all_between_stay(description) -> None:
    ladder = Ladder.from_dict("age", description)
    ages = pl.Series("age", [3, 17, 18, 43, 79, 80, 89, 90, 104, None])
    for level in range(1, ladder.top):
        ends = ladder.to_dict()["ends"][level - 1]
        bottom, top = ends.get("bottom", float("-inf")), ends.get("top", float("inf"))
        expected = [a and (f"< {bottom}" if a < bottom else str(min(a, top))) for a in ages]
        expected = [f">= {top}" if label == str(top) else label for label in expected]
        labels = ladder.apply(ages, level)
        assert labels.to_list() == expected
        said = stated(Coarsening(description, level), ages, k=2)
        assert not wrong_labels(labels, said)
        assert wrong_labels(pl.Series(["95"]), said)
        assert wrong_labels(pl.Series([">= 70"]), said)
        again = stated_coarsening(said)
        assert Ladder.from_dict("age", again.ladder).apply(ages, 1).to_list() == expected
    assert Ladder.from_dict("age", ladder.to_dict()) == ladder
    assert ladder.hierarchy(ages).hierarchy.widths[-1] == 1


def test_days_have_ends_too() -> None:
    ladder = Ladder.from_dict("born", {"bottom": "1940-01-01"})
    days = pl.Series("born", ["1931-05-05", "1950-06-07"]).str.to_date()
    assert ladder.apply(days, 1).to_list() == ["< 1940-01-01", "1950-06-07"]


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({"bottom": 9, "top": 3}, "bottom must be below top"),
        ({"ends": [{}]}, "needs bottom, top or both"),
        ({"ends": [{"top": 70}, {"top": 80}]}, "level 2 is finer"),
        ({"ends": [{"top": 70}, {"bottom": 3}]}, "level 2 is finer"),
        ({"ends": {"top": 70}}, "a list of tables"),
        ({"top": 70, "middle": 3}, "unknown entry 'middle'"),
        ({"top": "high"}, "all numbers, or all dates"),
    ],
)
def test_ends_that_do_not_close_in_are_refused(description, words) -> None:
    with pytest.raises(InputError, match=words):
        Ladder.from_dict("age", description)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ((), "needs a level"),
        (([],), "needs a level"),
        (([1, 0],), "each leaf"),
        (([0, 1], [0]), "1 leaves, not 2"),
        (([0, 1, 2], [0, 0, 1], [0, 1, 1]), "level 2 .* split 1 times"),
    ],
)
def test_what_is_no_hierarchy_is_refused(groups, words):
    with pytest.raises(InputError, match=words):
        Hierarchy(tuple(np.array(level, dtype=np.int32) for level in groups))


def test_shares_count_leaves_that_a_table_may_lack():
    levels = ([0, 1, 2, 3], [0, 0, 0, 1], [0, 0, 0, 0])
    hierarchy = Hierarchy(tuple(np.array(level, dtype=np.int32) for level in levels))
    assert hierarchy.shares(1).tolist() == [0.75, 0.75, 0.75, 0.25]
    assert hierarchy.widths == (4, 2, 1)


@given(
    st.lists(st.none() | st.integers(-3000, 3000) | st.floats(-300, 300), min_size=1, max_size=20),
    st.sampled_from([(10, 100), (0.1, 0.5), (0.25, 1), (7, 49)]),
)
def test_a_step_cuts_digits_and_nests(values, steps):
    cells = pl.Series("x", values, dtype=pl.Float64, strict=False)
    ladder = Ladder.from_dict("x", {"step": list(steps)})
    for level, step in enumerate(steps, start=1):
        cut = ladder.apply(cells, level)
        exact = Fraction(str(step))
        for value, number in zip(cells, cut):
            wanted = None if value is None else float(Fraction(value) // exact * exact)
            near = None if value is None else float(Fraction(str(value)) // exact * exact)
            assert number in (wanted, near)
            assert number is None or math.copysign(1, number) == 1 or number < 0
    assert ladder.hierarchy(cells).hierarchy.top == 3  # levels that do not nest would be refused


def test_cut_whole_numbers_stay_whole_and_have_no_ends_beside_them():
    ladder = Ladder.from_dict("x", {"step": [10, 100]})
    cells = ladder.apply(pl.Series("x", [149, 95, -3, None]), 1)
    assert cells.dtype == pl.Int64
    assert cells.to_list() == [140, 90, -10, None]
    assert ladder.bounds(cells, 1).null_count().row(0) == (4, 4)
    assert ladder.to_dict() == Ladder.from_dict("x", ladder.to_dict()).to_dict()
    assert ladder.words(2) == "numbers cut down to a multiple of 100"


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({"step": []}, "a step must be a number above 0"),
        ({"step": [0]}, "a step must be a number above 0"),
        ({"step": [100, 10]}, "steps must grow"),
        ({"step": [10, 25]}, "its step must be a multiple"),
        ({"step": ["2024-01-01"]}, "a step is a number"),
        ({"step": [10], "top": 90}, "unknown entry 'top'"),
        ({"step": ["ten"]}, "must be all numbers"),
    ],
)
def test_what_is_no_step_is_refused(description, words):
    with pytest.raises(InputError, match=words):
        Ladder.from_dict("x", description)


@pytest.mark.parametrize("values", [["dear"], [date(2024, 1, 1)], [1e18], [math.inf]])
def test_what_a_step_cannot_cut_is_refused_and_not_shown(values):
    with pytest.raises(InputError, match="the ladder of column 'x'") as told:
        Ladder.from_dict("x", {"step": [10]}).apply(pl.Series("x", values), 1)
    assert str(values[0]) not in str(told.value)
