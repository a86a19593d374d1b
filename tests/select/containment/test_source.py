"""Columns that are ruled out do not fit, and the projection says so, by the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tamis.errors import CannotMeet, InputError
from tamis.select.containment.kernels import offer_column, start
from tamis.select.containment.source import ColumnSource, Projection, knock_out
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


def contained(X):
    """Anonymity by containment, straight from the definition."""
    return min(sum(all(f >= e) for f in X) for e in X)


def equal(X):
    """k-anonymity, straight from the definition."""
    return min(sum(all(f == e) for f in X) for e in X)


ANONYMITY = {"containment": contained, "equality": equal}


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 14),
    columns=st.integers(1, 7),
    density=st.floats(0, 1),
    k=st.integers(1, 5),
    privacy=st.sampled_from(["containment", "equality"]),
)
def test_offers_agree_with_the_definition(seed, rows, columns, density, k, privacy):
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, columns)) < density).astype(int)
    k = min(k, rows)
    projection = Projection(X, k, privacy=privacy)
    for u in rng.permutation(columns):
        expected = ANONYMITY[privacy](X[:, [*projection.features, u]])
        assert projection.fits(u) == (expected >= k)
        assert projection.offer(u) == (expected >= k)
        if projection.features:
            assert projection.anonymity == ANONYMITY[privacy](X[:, projection.features])


def test_weighted_rows_stand_for_copies():
    rng = np.random.default_rng(0)
    X = (rng.random((12, 6)) < 0.4).astype(int)
    weight = rng.integers(1, 4, 12)
    short, full = Projection(X, 3, weight=weight), Projection(np.repeat(X, weight, axis=0), 3)
    for u in range(6):
        assert short.offer(u) == full.offer(u)
        assert short.anonymity == full.anonymity


def test_one_row_may_stand_for_all():
    projection = Projection([[1]], 3, weight=[4])
    assert (projection.anonymity, projection.offer(0), projection.anonymity) == (4, True, 4)


def test_more_columns_than_one_word_of_bits():
    rng = np.random.default_rng(1)
    X = np.repeat((rng.random((6, 200)) < 0.3).astype(int), 3, axis=0)
    projection = Projection(X, 3)
    assert all(projection.offer(u) for u in range(200))
    assert projection.anonymity == contained(X)


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", True])
def test_k_is_a_whole_number_from_one(k):
    with pytest.raises(InputError, match="whole number of at least 1"):
        Projection([[1], [0]], k)


def test_k_beyond_the_rows_cannot_be_met():
    with pytest.raises(CannotMeet, match="k of at most 2"):
        Projection([[1], [0]], 3)


def test_unknown_privacy_is_named():
    with pytest.raises(InputError, match="'containment' or 'equality', got 'magic'"):
        Projection([[1], [0]], 1, privacy="magic")  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [64, 65])
def test_the_last_column_is_counted_where_columns_no_longer_fit_a_word(width):
    X = np.zeros((4, width), np.uint8)
    X[:3, 0] = X[2:, -1] = 1
    source = ColumnSource.of(X, np.array([True, False, True, False]))
    assert source.support.tolist() == X.sum(0).tolist()
    assert (source.distinct is None) == (width == 65)
