"""Kernels compiled with fewer passes than Numba's do what Python does."""

from __future__ import annotations

import gc
import math

import numpy as np
import pytest
from numba.core.errors import TypingError

from tamis.compiled import inner, outer


@inner
def distance(a, b):
    """Euclidean, NaN where a coordinate is missing."""
    total = 0.0
    for i in range(len(a)):
        if math.isnan(a[i]) or math.isnan(b[i]):
            return np.nan
        total += (a[i] - b[i]) ** 2
    return math.sqrt(total)


@inner
def nearest(points, point):
    """The number of the nearest point, the first of equals; -1 if none can be compared."""
    best, chosen = np.inf, -1
    for i in range(len(points)):
        d = distance(points[i], point)
        if d < best:
            best, chosen = d, i
    return chosen


@outer
def assign(points, centres, out):
    for i in range(len(points)):
        out[i] = nearest(centres, points[i])


@outer
def nearest_to_the_last(points, centres):
    return nearest(centres, points[-1])


@pytest.fixture
def places():
    rng = np.random.default_rng(0)
    points, centres = rng.random((50, 3)), rng.random((4, 3))
    points[::7, 1] = np.nan
    return points, centres


def test_outer_kernels_take_inner_ones_in(places):
    points, centres = places
    distances = np.linalg.norm(points[:, None] - centres, axis=2)
    known = ~np.isnan(distances).any(axis=1)
    expected = np.where(known, distances.argmin(axis=1), -1)
    out = np.empty(50, np.int64)
    assign(points, centres, out)
    assert out.tolist() == expected.tolist()
    assert nearest_to_the_last(points, centres) == expected[-1]


def test_python_may_not_call_an_inner_kernel(places):
    points, centres = places
    for _ in range(2):
        with pytest.raises(TypeError, match="not callable"):
            nearest(centres, points[0])


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_collection_is_as_before_even_where_a_kernel_cannot_be_compiled(collecting):
    (gc.enable if collecting else gc.disable)()
    try:
        with pytest.raises(TypingError):
            outer(lambda x: x.no_such_thing)(1.0)
        assert gc.isenabled() == collecting
    finally:
        gc.enable()
