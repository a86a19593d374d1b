"""Conditions that one person meets."""

import math
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tamis.attack import singling_out as module
from tamis.attack.scene import Scene
from tamis.attack.singling_out import Condition, meeting
from tamis.table import Table

singling_out: Any = module.singling_out
CELL = st.sampled_from([0.0, 0.5, 1.0, math.nan])
HOW = st.sampled_from(["equal", "at least", "at most"])


def meets(cell, how, value):
    if how == "equal":
        return cell == value or (math.isnan(cell) and math.isnan(value))
    return cell >= value if how == "at least" else cell <= value


@given(
    st.lists(st.tuples(CELL, CELL), min_size=1),
    st.lists(st.tuples(st.integers(0, 1), HOW, CELL), min_size=1, max_size=3),
)
def test_how_many_meet_conditions(rows, conditions):
    expected = sum(all(meets(row[c], how, value) for c, how, value in conditions) for row in rows)
    assert meeting(tuple(Condition(*each) for each in conditions), np.array(rows)) == expected


def people(rows, seed):
    drawn = np.random.default_rng(seed)
    return Table(pl.DataFrame({"x": drawn.random(rows), "y": drawn.integers(0, 3, rows)}))


def test_the_original_singles_everybody_out_and_control_people_hardly():
    table = people(80, 0)
    for found in singling_out(Scene(table, table, people(80, 1))):
        assert found.success.value == 1.0
        assert found.control.value < 0.4


def test_a_constant_release_is_no_better_than_guessing():
    table = people(80, 0)
    constant = Table(table.frame.with_columns(pl.all().first()))
    for found in singling_out(Scene(table, constant)):
        assert found.gain.value == 0.0


def test_nobody_is_singled_out_where_all_have_a_double():
    table = Table(pl.DataFrame({"x": [1, 1, 2, 2], "y": ["a", "a", None, None]}))
    assert [found.success.value for found in singling_out(Scene(table, table))] == [0.0, 0.0]


def test_the_only_missing_value_singles_out():
    table = Table(pl.DataFrame({"y": ["a", "a", None]}))
    assert singling_out(Scene(table, table))[0].success.value == 1.0
