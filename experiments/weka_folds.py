"""The folds that Weka deals for a seed, as its users see them.

The rows are shuffled by Java's random numbers, grouped by class, and dealt out in turn. Only the
random numbers are documented; that the rest is as Weka does it is shown by folds it recorded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 48) - 1


class JavaRandom:
    """The linear congruential generator that the documentation of `java.util.Random` specifies.

    >>> [JavaRandom(42).below(10)]
    [0]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & _MASK

    def below(self, bound: int) -> int:
        """An even draw from 0 to `bound` - 1 (`nextInt(bound)`)."""
        if bound & (bound - 1) == 0:
            return (bound * self._bits()) >> 31
        while True:
            bits = self._bits()
            value = bits % bound
            # The last, incomplete round of the bound would favour small numbers.
            if bits - value + bound - 1 < 1 << 31:
                return value

    def _bits(self) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & _MASK
        return self._state >> 17


def weka_folds(labels: Sequence[object], folds: int = 10, seed: int = 1) -> NDArray[np.int64]:
    """The fold that tests each row, in one stratified cross-validation.

    Parameters
    ----------
    labels : sequence
        The class of each row, in the order of the file.
    folds, seed : int

    Examples
    --------
    >>> np.bincount(weka_folds(["a", "b", "b"] * 10, folds=5)).tolist()
    [6, 6, 6, 6, 6]
    """
    rows = _grouped(_shuffled(len(labels), seed), labels)
    dealt = [row for start in range(folds) for row in rows[start::folds]]
    sizes = [len(labels) // folds + (fold < len(labels) % folds) for fold in range(folds)]
    found = np.empty(len(labels), dtype=np.int64)
    found[dealt] = np.repeat(np.arange(folds), sizes)
    return found


def _shuffled(count: int, seed: int) -> list[int]:
    rows = list(range(count))
    random = JavaRandom(seed)
    for last in range(count - 1, 0, -1):
        other = random.below(last + 1)
        rows[last], rows[other] = rows[other], rows[last]
    return rows


def _grouped(rows: list[int], labels: Sequence[object]) -> list[int]:
    """Bring the rows of each class together by exchanges, the class of the first row first."""
    rows = list(rows)
    place = 1
    while place < len(rows):
        label = labels[rows[place - 1]]
        for other in range(place, len(rows)):
            if labels[rows[other]] == label:
                rows[place], rows[other] = rows[other], rows[place]
                place += 1
        place += 1
    return rows
