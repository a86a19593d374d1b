"""Classes and constraints against their definitions over plain rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.coarsen import classes
from tamis.coarsen.classes import NodeCounts, coded_rows, grouped_at, numbered_rows
from tamis.coarsen.ladder import Hierarchy
from tamis.errors import InputError
from tamis.require import requirements
from tamis.risk.diversity import t_closeness
from tests.coarsen import definitions
from tests.coarsen.strategies import coded, constraints, tables


@given(tables(), constraints, st.data())
def test_a_class_is_suppressed_if_it_breaks_a_constraint(table, asked, data):
    levels = data.draw(st.sampled_from(table.nodes))
    rows = coded(table)
    node = grouped_at(rows, levels, asked)
    kept, lost = definitions.divided(table, levels, asked)
    suppressed = node.suppressed[node.class_of][rows.of_row]
    assert np.flatnonzero(suppressed).tolist() == sorted(lost)
    assert np.count_nonzero(~node.suppressed) == len(kept)
    assert node.rows_suppressed == len(lost)


@given(tables(), constraints, st.data())
def test_what_is_lost_stays_lost_at_finer_nodes(table, asked, data):
    coarse = data.draw(st.sampled_from(table.nodes))
    fine = tuple(data.draw(st.integers(0, level)) for level in coarse)
    rows = coded(table)
    node, below = grouped_at(rows, coarse, asked), grouped_at(rows, fine, asked)
    infeasible = node.infeasible[node.class_of][rows.of_row]
    suppressed = below.suppressed[below.class_of][rows.of_row]
    assert not (infeasible & ~suppressed).any()
    assert node.rows_lost <= below.rows_suppressed


def test_missing_numbers_count_from_both_ends():
    """As `t_closeness` measures it, which knows nothing of nodes."""
    frame = pl.DataFrame({"g": [0, 0, 0, 1, 1, 1, 1], "pay": [1, 2, None, 3, 3, None, 1]})
    group = Hierarchy((np.arange(2), np.zeros(2, np.int32)))
    values = np.array([0, 1, 3, 2, 2, 3, 0])
    rows = coded_rows([frame["g"].to_numpy()], [group], values=values, missing=True)
    counts = NodeCounts(np.array([3, 4]), rows=rows, class_of=rows.classes_at((0,))[0])
    far = counts.distances("ordered").max()
    assert far == pytest.approx(t_closeness(frame, "pay", ["g"]))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 1)), min_size=1),
    st.sampled_from([8, 40, 1 << 62]),
)
def test_equal_rows_get_equal_numbers_however_wide_the_codes(rows, largest):
    table = np.array(rows).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes, "CODE_LIMIT", largest)
        numbers, count = numbered_rows(table, [4, 7, 2], range(3))
    assert count == len(set(rows)) == len(set(numbers.tolist()))
    assert len(set(zip(rows, numbers.tolist()))) == count


@pytest.mark.parametrize(
    ("asked", "words"),
    [({"k": 0}, "k must be"), ({"l": 0}, "l must be"), ({"t": 1.5}, "t must be")],
)
def test_constraints_that_make_no_sense_are_refused(asked, words):
    with pytest.raises(InputError, match=words):
        requirements(**asked)
