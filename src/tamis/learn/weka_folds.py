"""Cross-validation folds exactly as Weka deals them, to reproduce papers whose figures it made.

The third decimal of a printed accuracy depends on the folds. They are determined by Java's random
number generator, which the documentation of `java.util.Random` defines to the last bit, by the
shuffle, and by the order in which the rows of a class are gathered. Tests compare all three with
recorded output of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.arrays import RowNumbers
from tamis.errors import InputError
from tamis.learn.cv import check_counts

WEKA_SEED = 1
"""The default seed of Weka's cross-validation."""


class WekaFolds:
    """Stratified folds as Weka deals them, as a splitter for `cv`.

    Parameters
    ----------
    n_splits : int, default 10
    repeats : int, default 1
        How often all rows are dealt, each time with the next seed.
    random_state : int, default 1
        Weka's seed (`-s`), which is 1 where it is not given.

    Notes
    -----
    Rows are shuffled, gathered by class, and dealt to the folds in turn. The labels of the classes
    and the order in which they are declared make no difference.

    Examples
    --------
    >>> splitter = WekaFolds(3)
    >>> [test.tolist() for _, test in splitter.split(None, ["a", "a", "b"] * 3)]
    [[1, 5, 7], [0, 4, 8], [2, 3, 6]]
    """

    def __init__(
        self, n_splits: int = 10, *, repeats: int = 1, random_state: int = WEKA_SEED
    ) -> None:
        self.n_splits = n_splits
        self.repeats = repeats
        self.random_state = random_state

    def __repr__(self) -> str:
        return (
            f"WekaFolds({self.n_splits}, repeats={self.repeats}, random_state={self.random_state})"
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds over all repeats."""
        return self.n_splits * self.repeats

    def split(
        self, X: Any, y: ArrayLike, groups: Any = None
    ) -> Iterator[tuple[RowNumbers, RowNumbers]]:
        """The training and test rows of each fold."""
        if groups is not None:
            raise InputError(
                "Weka deals rows, not people, so that folds would share people; give a number of "
                "folds"
            )
        codes = np.unique(np.asarray(y), return_inverse=True)[1]
        check_counts(codes, self.n_splits, self.repeats)
        for seed in range(self.random_state, self.random_state + self.repeats):
            dealt = _deal(codes.tolist(), self.n_splits, seed)
            for fold in range(self.n_splits):
                yield np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)


def _deal(classes: list[int], folds: int, seed: int) -> NDArray[np.intp]:
    """The fold that tests each row."""
    order = _shuffled(len(classes), _JavaRandom(seed))
    _gather(order, classes)
    dealt = np.empty(len(classes), dtype=np.intp)
    dealt[order] = np.arange(len(classes)) % folds
    return dealt


def _shuffled(rows: int, random: _JavaRandom) -> list[int]:
    """Row numbers after a Fisher-Yates shuffle from the last place down."""
    order = list(range(rows))
    for place in range(rows - 1, 0, -1):
        other = random.below(place + 1)
        order[place], order[other] = order[other], order[place]
    return order


def _gather(order: list[int], classes: list[int]) -> None:
    """Bring the rows of each class together, in place, in order of first appearance.

    By swaps, as Weka does, which leaves the rows of later classes in another order than a sort.
    """
    done = 0
    while done < len(order):
        current = classes[order[done]]
        for place in range(done, len(order)):
            if classes[order[place]] == current:
                order[done], order[place] = order[place], order[done]
                done += 1


class _JavaRandom:
    """`java.util.Random`, as its documentation defines it."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & _48_BITS

    def below(self, bound: int) -> int:
        """A uniform whole number from 0 to `bound` - 1, as `nextInt(bound)` draws it."""
        if bound & (bound - 1) == 0:  # a power of two takes the high bits, which are more random
            return bound * self._next() >> 31
        while True:
            drawn = self._next()
            # Reject draws from the last, incomplete run of `bound` numbers below 2**31.
            if drawn - drawn % bound + bound <= 1 << 31:
                return drawn % bound

    def _next(self) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & _48_BITS
        return self._state >> 17  # the upper 31 of 48 bits


_48_BITS = (1 << 48) - 1
