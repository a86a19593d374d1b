"""What greedy kernels work on: the rule that ends them, the choices so far, the candidates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class StopRule(NamedTuple):
    """What ends or bars a choice."""

    k: int
    equality: bool
    stop: bool
    most: int
    least_gain: float
    """In the unit of the counts; a gain must be above it."""


class Path(NamedTuple):
    """The choices so far, by position in the queue."""

    item: NDArray[np.int32]
    gain: NDArray[np.int64]
    anonymity: NDArray[np.int64]


class Queue(NamedTuple):
    """Candidates by the last known gain; those from `FRESH` on still wait in their first order."""

    column: NDArray[np.int64]
    gain: NDArray[np.int64]
    stamp: NDArray[np.int32]
    """How many columns were chosen when the gain was counted; -1: the item is out."""
    heap: NDArray[np.int64]
    state: NDArray[np.int64]


def empty_path(most: int, items: int) -> Path:
    """Space for a path of choices."""
    room = min(most, items)
    return Path(np.zeros(room, np.int32), np.zeros(room, np.int64), np.zeros(room, np.int64))


def first_queue(column: NDArray[np.int64], bound: NDArray[np.int64]) -> Queue:
    """Candidates in the order of their first gains, which are upper bounds."""
    items = len(column)
    heap, stamp = np.zeros(items, np.int64), np.zeros(items, np.int32)
    return Queue(column, bound.copy(), stamp, heap, np.zeros(2, np.int64))
