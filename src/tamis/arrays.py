"""Types of arrays, named for what they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Codes = NDArray[np.int64]
"""One number for each value; equal numbers mean equal values, their order means nothing."""
Integers = NDArray[Any]
"""Whole numbers of any width."""
RowNumbers = NDArray[np.intp]
"""Indices of rows."""
