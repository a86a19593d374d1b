"""Log-likelihoods as whole numbers, so that their sums are exact in any order.

Floating-point additions round, so the sum over a set of features would depend on the order in
which its features were added, and a near tie between two classes could go either way. Whole
numbers do not have this problem: a sum over a subset, a total less one feature and a walk that adds
and removes features all give exactly the same number as a fit on that subset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

UNITS = 2.0**28
"""Units in one nat: a contribution is kept to within 2e-9."""

LIMIT = 2.0**18
"""No value of a single feature counts for more than this many nats."""

MOST_FEATURES = 2**15
"""This many contributions, and differences of them, can be summed without overflowing int64.

Each is at most 2**18 nats of 2**28 units, or 2**46; this many are 2**61, and the difference of two
such sums is 2**62, below the 2**63 of int64.
"""


def to_units(nats: NDArray[np.float64]) -> NDArray[np.int64]:
    """Convert nats, capped at the limit, to whole units.

    >>> to_units(np.array([-0.5, -1e9])).tolist()
    [-134217728, -70368744177664]
    """
    return np.rint(np.clip(nats, -LIMIT, LIMIT) * UNITS).astype(np.int64)


def to_nats(units: NDArray[np.int64]) -> NDArray[Any]:
    """Convert whole units to nats.

    >>> to_nats(np.array([-134217728])).tolist()
    [-0.5]
    """
    return units / UNITS
