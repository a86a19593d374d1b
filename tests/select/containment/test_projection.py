"""The growing projection against anonymity counted row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import CannotMeet, InputError
from tamis.select.containment.projection import Projection


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
