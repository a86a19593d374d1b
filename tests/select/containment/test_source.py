"""Columns that are ruled out do not fit, by the definition of anonymity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tamis.select.containment.kernels import offer_column, start
from tamis.select.containment.source import knock_out
from tests.select.containment.brute import anonymity


def after_choosing(X, k, turn):
    """The patterns after offering some columns, and those that fitted."""
    table = sparse.csc_array(X)
    g, chosen = start(len(X)), []
    for u in turn:
        rows = table.indices[table.indptr[u] : table.indptr[u + 1]]
        if len(rows) and offer_column(rows, k, False, g):
            chosen.append(u)
    return g, chosen


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from([0.1, 0.3, 0.5]))
def test_what_is_ruled_out_does_not_fit(seed, k, density):
    rng = np.random.default_rng(seed)
    X = (rng.random((40, 24)) < density).astype(np.int8)
    g, chosen = after_choosing(X, k, range(8))
    support = X.sum(axis=0, dtype=np.int64)
    before = (support >= k) & (np.arange(24) >= 8)
    alive = before.copy()
    knock_out(sparse.csr_array(X), support, k, alive, g)
    assert not (alive & ~before).any()
    for u in np.flatnonzero(before & ~alive):
        assert anonymity(X, (*chosen, int(u))) < k


@pytest.mark.parametrize("chosen", [0, 1, 6])
def test_most_of_what_does_not_fit_is_ruled_out(chosen):
    rng = np.random.default_rng(0)
    X = (rng.random((300, 400)) < 0.1).astype(np.int8)
    g, found = after_choosing(X, 3, range(chosen))
    support = X.sum(axis=0, dtype=np.int64)
    alive = np.arange(400) >= chosen
    knock_out(sparse.csr_array(X), support, 3, alive, g)
    fits = [anonymity(X, (*found, u)) >= 3 for u in range(chosen, 400)]
    left = int(alive.sum()) - sum(fits)
    # So few chosen columns rule out too little to be looked at; later hardly any is missed.
    assert left == len(fits) - sum(fits) if chosen < 2 else left < 0.2 * (len(fits) - sum(fits))
