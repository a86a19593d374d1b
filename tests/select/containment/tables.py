"""Small random 0/1 tables with labels of both classes, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Labelled = tuple[NDArray[np.int8], NDArray[np.int8]]


@st.composite
def labelled_tables(draw: st.DrawFn, rows: int = 12, columns: int = 6) -> Labelled:
    """Rows and columns may repeat, be empty or be full."""
    n = draw(st.integers(2, rows))
    d = draw(st.integers(1, columns))
    seed = draw(st.integers(0, 2**32 - 1))
    density = draw(st.sampled_from([0.2, 0.5, 0.8]))
    random = np.random.default_rng(seed)
    X = (random.random((n, d)) < density).astype(np.int8)
    X = X[random.integers(0, n, n)] if draw(st.booleans()) else X
    X = X[:, random.integers(0, d, d)] if draw(st.booleans()) else X
    y = (random.random(n) < 0.5).astype(np.int8)
    y[0], y[-1] = 0, 1
    return X, y
