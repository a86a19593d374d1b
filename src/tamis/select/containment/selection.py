"""The choices of a search: as it returns them, and as arrays that greedy kernels work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.errors import plural
from tamis.notebook import in_short


@dataclass(frozen=True)
class Step:
    """One feature chosen: what it added, and where the set stood afterwards."""

    feature: int
    gain: float
    utility: float
    anonymity: int


@dataclass(frozen=True)
class Selection:
    """A feasible set of columns, by number, in the order of choice.

    `bound` is a proven upper limit of the utility over all feasible sets, if the search gives
    one; `steps` is the path, if the search had one.
    """

    features: tuple[int, ...]
    anonymity: int
    utility: float
    bound: float | None = None
    steps: tuple[Step, ...] = ()

    def __repr__(self) -> str:
        figures = f"anonymity {self.anonymity:,}, utility {self.utility:.4g}"
        return in_short(self, plural(len(self.features), "feature"), figures)

    @property
    def gap(self) -> float | None:
        """How far the utility may be below the optimum, as a share of the bound."""
        if self.bound is None:
            return None
        return 0.0 if self.bound == 0 else max(0.0, (self.bound - self.utility) / self.bound)


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
