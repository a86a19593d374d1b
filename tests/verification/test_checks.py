"""The checks of `verify` against the definitions and against the measures that select."""

import struct

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import k_anonymity
from tamis.errors import CannotMeet
from tamis.risk.containment import containment_anonymity
from tamis.verification.checks import (
    containment_by_bitmaps,
    equals_by_grouping,
    holders_of,
    measure,
    write_counted,
)

zero_one = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=1, max_size=20
    )
)


def by_definition(rows: list[list[int]]) -> int:
    return min(sum(all(b >= a for a, b in zip(row, other)) for other in rows) for row in rows)


@given(zero_one)
def test_containment_is_that_of_the_definition_and_of_the_selection(rows):
    frame = pl.DataFrame(rows, schema=[f"x{i}" for i in range(len(rows[0]))], orient="row")
    found = containment_by_bitmaps(frame.cast(pl.String))
    assert found == containment_by_bitmaps(frame) == by_definition(rows)
    assert found == containment_anonymity(rows)


@pytest.mark.parametrize("kinds", [8, 9, 40, 64])
def test_containment_of_many_kinds_of_rows(kinds):
    rows = [[kind >> bit & 1 for bit in range(6)] for kind in range(kinds)]
    rows += [row for row in rows[:-1] if sum(row) > 2]
    frame = pl.DataFrame(rows, schema=[f"x{i}" for i in range(6)], orient="row")
    assert containment_by_bitmaps(frame) == by_definition(rows)
    found = [f.tolist() for f in holders_of(np.array(rows[:kinds], dtype=bool))]
    assert found == [
        [i for i, other in enumerate(rows[:kinds]) if all(b >= a for a, b in zip(row, other))]
        for row in rows[:kinds]
    ]


def test_a_promise_that_names_no_absences_counts_none():
    frame = pl.DataFrame({"a": [1, 1, 1, 1, 1, 0]})
    entry = {"key": "containment_anonymity", "columns": ["a"]}
    assert [measure(entry | absences, frame) for absences in ({}, {"absences": 1})] == [5, 1]


cells = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", "y", None])),
    min_size=1,
    max_size=15,
)


@given(cells)
def test_equals_are_those_of_the_risk_measure(rows):
    frame = pl.DataFrame(rows, schema={"^a$": pl.String, "rows": pl.String}, orient="row")
    assert equals_by_grouping(frame) == min(rows.count(row) for row in rows)
    assert equals_by_grouping(frame) == k_anonymity(frame.rename({"^a$": "a"}))


floats = st.lists(
    st.sampled_from([0.0, -0.0, 1.5, None, float("nan"), -float("nan")]), min_size=1, max_size=12
)


@given(floats, st.sampled_from([pl.Float32, pl.Float64]))
def test_numbers_are_equal_where_their_bits_are(values, kind):
    bits = [None if v is None else struct.pack("d", v) for v in values]
    frame = pl.DataFrame({"*": pl.Series(values, dtype=kind)})
    assert equals_by_grouping(frame) == min(bits.count(b) for b in bits)


def test_what_is_not_zero_or_one_keeps_no_promise_of_containment():
    for odd in ("2", "", None, "yes"):
        with pytest.raises(CannotMeet, match="other than 0 and 1"):
            containment_by_bitmaps(pl.DataFrame({"a": ["1", odd]}))
    for number in (2, -1, None):
        with pytest.raises(CannotMeet, match="other than 0 and 1"):
            containment_by_bitmaps(pl.DataFrame({"a": [1, number]}))


def test_a_promise_about_a_column_that_is_gone_fails():
    with pytest.raises(CannotMeet, match="'b', which is not in the file"):
        measure({"key": "k_anonymity", "columns": ["b"]}, pl.DataFrame({"a": ["1"]}))
    nothing = {"key": "k_anonymity", "columns": ()}
    assert measure(nothing, pl.DataFrame({"a": ["1", "2", "3"]})) == 3


def test_a_table_gets_its_name_only_where_enough_are_alike_in_it(tmp_path):
    frame, path = pl.DataFrame({"job": ["cook", "cook", "judge"]}), tmp_path / "jobs.csv"
    with pytest.raises(CannotMeet, match="k-anonymity 1, below k = 2"):
        write_counted(frame, path, equals_by_grouping, 2)
    assert not list(tmp_path.iterdir())
    write_counted(frame[:2], path, equals_by_grouping, 2)
    assert pl.read_csv(path).equals(frame[:2])
