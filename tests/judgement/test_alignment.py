"""Tables from elsewhere, in the terms of their original."""

from collections import Counter
from datetime import date
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen.ladder import Ladder
from tamis.errors import InputError
from tamis.judgement.alignment import Foreign, renamed
from tamis.judgement.alignment import align as align_tables
from tamis.table import Roles, Table

PEOPLE = Table(
    pl.DataFrame(
        {
            "age": [31, 37, 42, 58, 58],
            "zip": ["75011", "75012", "13001", "13001", "75011"],
            "ill": ["no", "yes", "no", "no", "yes"],
        }
    ),
    Roles(target="ill"),
)


def align(*args: Any, **asked: Any) -> Any:
    """The mask is there where a test asks for it."""
    return align_tables(*args, **asked)


def aligned(**columns):
    return align(PEOPLE, Foreign("x.csv", Table(pl.DataFrame(columns))))


def test_rows_in_any_order_are_those_of_people():
    found = align(PEOPLE, Foreign("x", Table(PEOPLE.frame.reverse())))
    assert found.mask.tolist() == [True] * 5
    assert found.forms == {}


def test_fewer_rows_and_coarser_columns():
    found = aligned(age=["50-59", "30-39", "50-59"], zip=["*", "*", "*"], ill=["no", "no", "yes"])
    assert found.mask.tolist() == [True, False, False, True, True]
    assert found.original.frame["age"].to_list()[:3] == ["30-39", "30-39", "no group: 42"]
    assert set(found.forms) == {"age", "zip"}


def test_a_row_that_nobody_has_makes_all_rows_drawn():
    assert aligned(age=[31, 99], ill=["no", "no"]).mask is None
    assert aligned(age=[31, 31], ill=["no", "no"]).mask is None  # only one person is so


def test_rows_of_stars_alone_are_left_out_and_other_stars_are_missing():
    found = aligned(age=["30-39", "*", "*"], zip=["75***", "*", "13***"], ill=["no", "no", "yes"])
    assert found.stars == 1
    assert found.released.rows == 2
    assert found.released.frame["age"].to_list() == ["30-39", None]
    assert any("1 row of stars alone" in note for note in found.notes)


def test_whole_numbers_written_as_fractions_are_the_same():
    assert aligned(age=[31.0, 37.0], ill=["no", "yes"]).mask.sum() == 2
    assert aligned(age=[31.5, 37.0], ill=["no", "yes"]).mask is None


def test_what_cannot_be_compared_is_said():
    found = aligned(age=["30-45", "40-60"], ill=["no", "yes"], shoe=[40, 41])
    assert found.columns == ("ill",)
    assert any("'shoe'" in note for note in found.notes)
    assert any("'age'" in note and "--ladder" in note for note in found.notes)


def test_sets_stand_beside_other_ways_of_writing():
    people = Table(PEOPLE.frame.with_columns(sex=pl.Series(["f", "m", "f", "m", "f"])))
    made = people.frame.with_columns(
        age=pl.Series(["<= 40", "<= 40", "41-50", "> 50", "> 50"]),
        zip=pl.Series(["{75011, 75012}"] * 2 + ["13***"] * 2 + ["{75011, 75012}"]),
    )
    found = align(people, Foreign("x.csv", Table(made.reverse())))
    assert found.notes == ()
    assert found.mask.tolist() == [True] * 5


def test_drawn_rows_of_local_groups_are_read_though_nobody_has_some():
    made = {"age": ["[31, 37]", "[31, 42]"], "zip": ["{75011, 75012}", "99999"], "ill": ["no"] * 2}
    found = aligned(**made)
    assert found.columns == ("age", "zip", "ill")
    assert found.mask is None


@pytest.mark.parametrize(
    "labels",
    [
        ["2020", "2020", "2021"],
        [2020, 2020, 2021],
        ["2020-01", "2020-12", "2021-01"],
        ["2020-Q1", "2020-Q4", "2021-Q1"],
        ["2020s", "2020s", "2020s"],
        ["2020-01-01 to 2020-12-31"] * 2 + ["2021"],
    ],
)
def test_periods_stand_for_dates(labels):
    days = [date(2020, 1, 3), date(2020, 12, 31), date(2021, 1, 1)]
    people = pl.DataFrame({"seen": days, "ill": ["no", "yes", "no"]})
    made = people.with_columns(seen=pl.Series(labels)).reverse()
    found = align(Table(people), Foreign("x.csv", Table(made)))
    assert found.notes == ()
    assert found.mask.tolist() == [True] * 3
    assert len(set(found.original.frame["seen"])) == len(set(labels))


def test_texts_that_are_no_dates_are_said():
    people = pl.DataFrame(
        {"seen": [date(2020, 1, 3)] * 2, "flag": [True, False], "ill": ["n", "y"]}
    )
    made = people.with_columns(seen=pl.Series(["spring", "spring"]), flag=pl.Series(["on", "off"]))
    found = align(Table(people), Foreign("x.csv", Table(made)))
    assert found.columns == ("ill",)
    assert any("'seen', 'flag'" in note for note in found.notes)


def test_no_column_in_common_is_an_error_that_says_how():
    with pytest.raises(InputError, match="--rename OLD=NEW"):
        aligned(Alter=[31])
    with pytest.raises(InputError, match=r"no column of x\.csv can be compared"):
        aligned(age=["young", "old"])


def test_a_ladder_says_what_labels_do_not():
    ladder = Ladder.from_dict("zip", {"groups": {"north": ["75011", "75012"], "south": ["13001"]}})
    made = Table(pl.DataFrame({"zip": ["south", "north"], "ill": ["no", "no"]}))
    found = align(PEOPLE, Foreign("x", made), {"zip": ladder})
    assert found.original.frame["zip"].to_list()[:3] == ["north", "north", "south"]
    assert found.mask.sum() == 2
    wrong = Table(pl.DataFrame({"zip": ["east"]}))
    with pytest.raises(InputError, match="no level of the ladder"):
        align(PEOPLE, Foreign("x", wrong), {"zip": ladder})


def test_other_people_have_groups_too():
    others = Table(pl.DataFrame({"age": [33], "zip": ["75011"], "ill": ["no"]}))
    made = Table(pl.DataFrame({"age": ["30-39"], "ill": ["no"]}))
    found = align(PEOPLE, Foreign("x", made), others=others)
    assert "33" in found.forms["age"].ladder["groups"]["30-39"]


def test_names_are_changed_back():
    table = renamed(Table(pl.DataFrame({"Alter": [1], "b": [2]}), Roles(target="b")), {"b": "ill"})
    assert (table.frame.columns, table.roles.target) == (["Alter", "ill"], "ill")
    with pytest.raises(InputError, match="no column 'c' to rename"):
        renamed(table, {"c": "d"})
    with pytest.raises(InputError, match="'ill' to rename; the name in the release comes first"):
        renamed(Table(pl.DataFrame({"Krank": [1]})), {"ill": "Krank"})
    with pytest.raises(InputError, match="one name"):
        renamed(table, {"Alter": "ill"})


row = st.tuples(st.sampled_from("ab"), st.sampled_from([1, 2, None]))


@given(st.lists(row, min_size=1, max_size=8), st.lists(row, min_size=1, max_size=8))
def test_matched_rows_are_a_part_of_the_original_with_the_same_content(mine, theirs):
    schema = {"x": pl.String, "n": pl.Int64}
    one, two = (pl.DataFrame(each, schema=schema, orient="row") for each in (mine, theirs))
    try:
        found = align(Table(one), Foreign("x", Table(two)))
    except InputError:
        return
    if found.columns != ("x", "n"):
        return
    inside = not Counter(theirs) - Counter(mine)
    assert (found.mask is not None) == inside
    if inside:
        key = repr
        taken = [each for each, is_in in zip(mine, found.mask) if is_in]
        assert sorted(taken, key=key) == sorted(theirs, key=key)
