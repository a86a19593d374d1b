"""The parts of a model: a value says the same alone and among others."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.learn.bayes.model import Intervals, Rows

CELLS = st.lists(st.sampled_from([0.0, 1.0, 2.5, 40.0, float("nan")]), min_size=2, max_size=20)


@given(CELLS, st.integers(1, 4))
def test_a_value_is_as_likely_however_often_it_occurs(cells, times):
    values = np.array(cells)
    part = Intervals.fit(values, Rows(np.arange(len(cells)) % 2, np.ones(len(cells)), 2))
    alone = np.column_stack([part.log_likelihoods(np.array([cell])) for cell in cells])
    assert (part.log_likelihoods(np.tile(values, times)) == np.tile(alone, times)).all()
