"""One row a person: each aggregate against its definition over plain rows, and every refusal."""

from __future__ import annotations

import statistics
import warnings
from collections import Counter
from datetime import date
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import read_table
from tamis.errors import InputError, ReadingNote
from tamis.read.per_person import asked_aggregates
from tamis.table import Table

VISITS = pl.DataFrame(
    {
        "who": ["a", "b", "a", "a", "b"],
        "stay": [1, 2, 3, 4, 5],
        "day": [date(2020, 1, 5), date(2020, 2, 1), date(2020, 1, 1), None, date(2020, 3, 1)],
        "sex": ["f", "m", None, "f", "m"],
        "hba1c": [7.0, None, 6.0, 9.0, None],
        "icd": ["E11", "I10", "I10", "E11", "I10"],
        "smokes": [0, 0, 1, 0, None],
    }
)


def put_together(asked: Any, frame: pl.DataFrame = VISITS, **options: Any) -> Table:
    given: dict[str, Any] = {"identifier": ("who", "stay"), "person": ("who",), "check": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        return read_table(frame, per_person=asked, **{**given, **options})


def test_each_column_becomes_one_value_a_person() -> None:
    asked = {
        "day": "min",
        "hba1c": "last",
        "worst": "max(hba1c)",
        "icd": "most",
        "diabetes": "any(icd=E11)",
        "smokes": "any",
        "visits": "count",
        "stays": "distinct(stay)",
        "measured": "count(hba1c)",
    }
    table = put_together(asked, order="day")
    assert table.frame.columns == [
        "who", "day", "sex", "hba1c", "icd", "smokes",
        "worst", "diabetes", "visits", "stays", "measured",
    ]  # fmt: skip
    assert table.frame.rows() == [
        ("a", date(2020, 1, 1), "f", 7.0, "E11", 1, 9.0, 1, 3, 3, 3),
        ("b", date(2020, 2, 1), "m", None, "I10", 0, None, 0, 2, 2, 0),
    ]
    assert table.people.each_row
    assert table.roles.identifiers == ("who",)
    assert table.dictionary["worst"].question == "hba1c: the greatest of a person's values"


def test_what_became_of_every_column_is_said_in_one_note() -> None:
    with pytest.warns(ReadingNote) as notes:
        read_table(VISITS, person=("who",), identifier=("stay",), drop=("day",),
                   per_person={"*": "count", "hba1c": "mean"})  # fmt: skip
    said = [str(note.message) for note in notes if "became one row" in str(note.message)]
    assert len(said) == 1
    assert "5 rows became one row for each of 2 people" in said[0]
    assert "hba1c: the mean over a person's rows" in said[0]
    assert "the same in all rows of a person: 'sex'" in said[0]
    assert "left out: 'stay', 'day'" in said[0]


def test_a_column_used_for_the_order_or_for_others_is_left_out_unless_it_is_named() -> None:
    asked = {"first": "first(hba1c)", "last": "last(hba1c)", "*": "most"}
    assert put_together(asked, order="day").features == ("sex", "icd", "smokes", "first", "last")


def test_rows_of_one_place_do_not_depend_on_the_order_of_the_file() -> None:
    frame = pl.DataFrame({"who": [1, 1, 2], "day": [3, 3, 3], "x": ["b", "a", "c"]})
    for rows in (frame, frame[[1, 2, 0]]):
        found = put_together({"x": "last"}, rows, order="day", identifier=("who",))
        assert sorted(found.frame.rows()) == [(1, "a"), (2, "c")]


def test_spellings_of_one_person_are_one_row() -> None:
    frame = pl.DataFrame({"who": ["P1", "p1 ", "p2"], "x": [1, 2, 4]})
    found = put_together({"x": "sum"}, frame, identifier=("who",))
    assert found.frame["x"].to_list() == [3, 4]


def test_an_order_of_values_from_a_schema_lets_the_greatest_be_taken(tmp_path: Any) -> None:
    schema = tmp_path / "s.toml"
    schema.write_text(
        '[columns]\nill = ["no", "yes"]\n[roles]\ntarget = "ill"\nperson = ["who"]\n'
        'order = "day"\n[per_person]\nill = "max"\nx = "last"\n'
    )
    frame = pl.DataFrame(
        {"who": [1, 1, 2, 2], "day": [2, 1, 1, 2], "x": [5, 6, 7, 8],
         "ill": ["no", "yes", "no", "no"]}
    )  # fmt: skip
    table = read_table(frame, schema=schema)
    assert table.frame.rows() == [(1, 5, "yes"), (2, 8, "no")]


@pytest.mark.parametrize(
    ("asked", "options", "why"),
    [
        ({"hba1c": "mean"}, {}, "columns 'day', 'icd', 'smokes' differ between the rows"),
        ({"*": "last"}, {}, "no column says which row that is"),
        ({"*": "avg"}, {}, "none of 'first'"),
        ({"*": "most", "hba1c": "last(hba1k)"}, {}, "'hba1k', which the table does not have"),
        ({"*": "most", "hba1k": "mean"}, {}, "'hba1k', which the table does not have"),
        ({"*": "most", "icd": "mean"}, {}, "takes numbers, but the column holds texts"),
        ({"*": "most", "day": "mean"}, {}, "takes numbers, but the column holds dates"),
        ({"*": "most", "icd": "max"}, {}, "takes values with an order"),
        ({"*": "most", "icd": "any"}, {}, r"icd=any\(icd=VALUE\)"),
        ({"*": "most", "hba1c": "any"}, {}, "takes 0 and 1"),
        ({"*": "most", "d": "any(icd=e11)"}, {}, "no row of 'icd' has the value"),
        ({"*": "most", "d": "any(hba1c=high)"}, {}, "value that is not a number in a column"),
        ({"*": "most", "stay": "count"}, {}, "'stay' is an identifier and never released"),
        ({"*": "most", "n": "min(stay)"}, {}, "only count and distinct"),
        ({"*": "first"}, {"order": "days"}, "--order names 'days'"),
        ({}, {"order": "day"}, "give both"),
        ({"*": "most"}, {"person": ()}, "no column says who that is"),
        ({"*": "most"}, {"check": False, "person": None}, "differential privacy"),
        ({"hba1c": "mean"}, {"check": False}, "nobody said what becomes of them"),
        (["hba1c"], {}, "takes COLUMN=HOW"),
        (["a=first", "a=last"], {}, "names 'a' twice"),
        ({"hba1c": 3}, {}, "must be a text"),
    ],
)  # fmt: skip
def test_what_cannot_be_put_together_is_refused(asked: Any, options: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        put_together(asked, **options)


def test_rows_of_nobody_are_refused() -> None:
    frame = pl.DataFrame({"who": ["a", None, None], "x": [1, 2, 3]})
    with pytest.raises(InputError, match="2 rows have no 'who'"):
        put_together({"x": "sum"}, frame, identifier=("who",))


def test_two_columns_that_may_say_who_somebody_is_are_not_guessed_between() -> None:
    frame = pl.DataFrame(
        {"case": [f"c{i // 2}" for i in range(8)], "ward": [f"w{i % 5}" for i in range(8)],
         "x": range(8)}
    )  # fmt: skip
    with pytest.raises(InputError, match="several columns may say who"):
        put_together({"x": "sum"}, frame, identifier=("case", "ward"), person=None)


def test_a_text_of_the_command_line_is_split_at_commas() -> None:
    assert asked_aggregates("a=first, b=any(icd=E11)") == {"a": "first", "b": "any(icd=E11)"}


CELLS = st.one_of(st.none(), st.integers(0, 3))
ROWS = st.lists(st.tuples(st.integers(0, 3), CELLS, CELLS), min_size=1, max_size=14)


def by_definition(how: str, rows: list[tuple[Any, Any]]) -> Any:
    """One aggregate over the rows of a person: pairs of a place and a value."""
    values = [value for _, value in rows if value is not None]
    placed = [(place, value) for place, value in rows if None not in (place, value)]
    if how == "count":
        return len(values)
    if how == "distinct":
        return len(set(values))
    if how in ("first", "last"):
        end = min if how == "first" else max
        there = [v for p, v in placed if p == end(p for p, _ in placed)]
        return min(there, default=None)
    if not values:
        return None
    if how == "most":
        counts = Counter(values)
        return min(v for v, n in counts.items() if n == max(counts.values()))
    ways: dict[str, Any] = {"sum": sum, "mean": statistics.fmean, "median": statistics.median}
    return {**ways, "min": min, "max": max}[how](values)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_aggregates_are_those_of_their_definitions(rows: list[tuple[Any, ...]]) -> None:
    ways = ("first", "last", "count", "distinct", "sum", "mean", "median", "min", "max", "most")
    frame = pl.DataFrame(rows, schema={"who": pl.Int64, "place": pl.Int64, "x": pl.Int64},
                         orient="row")  # fmt: skip
    asked = {how: f"{how}(x)" for how in ways} | {"flag": "any(x=2)", "every": "all(x=2)"}
    if not any(x == 2 for _, _, x in rows):
        with pytest.raises(InputError, match="no row of 'x' has the value"):
            put_together(asked, frame, order="place", identifier=("who",))
        return
    table = put_together(asked, frame, order="place", identifier=("who",))
    for found in table.frame.rows(named=True):
        own = [(place, x) for who, place, x in rows if who == found["who"]]
        for how in ways:
            if how in found:
                wanted = by_definition(how, own)
                assert found[how] == (pytest.approx(wanted) if wanted is not None else None)
        said = [x == 2 for _, x in own if x is not None]
        assert found["flag"] == (int(any(said)) if said else None)
        assert found["every"] == (int(all(said)) if said else None)
