"""What arrays hold, in the words of signatures."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Codes = NDArray[np.int64]
"""A number for each value, which says what is equal and nothing else."""
Integers = NDArray[Any]
"""Whole numbers of any width."""
RowNumbers = NDArray[np.intp]
"""Which rows, by their places."""
