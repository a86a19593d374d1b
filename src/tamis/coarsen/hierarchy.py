"""`Hierarchy`: the groups of a column's values at each level, as numbers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError

Groups = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The group of each leaf at each level; each level is coarser than the one before.

    Parameters
    ----------
    groups : tuple of arrays of int
        One array a level: the group number of each leaf, from 0 without a gap. At level 0 each
        leaf is a group of its own.

    Examples
    --------
    >>> jobs = Hierarchy((np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0])))
    >>> jobs.leaves, jobs.top, jobs.widths
    (3, 2, (3, 2, 1))
    >>> jobs.shares(1).tolist()
    [0.666..., 0.666..., 0.333...]
    """

    groups: tuple[Groups, ...]

    def __post_init__(self) -> None:
        if not self.groups or len(self.groups[0]) == 0:
            raise InputError("a hierarchy needs a level and a leaf")
        whole = tuple(np.ascontiguousarray(level, dtype=np.int32) for level in self.groups)
        object.__setattr__(self, "groups", whole)
        if not np.array_equal(whole[0], np.arange(self.leaves)):
            raise InputError("at level 0 of a hierarchy each leaf is a group of its own")
        for number, (finer, coarser) in enumerate(itertools.pairwise(whole), start=1):
            self._check_level(number, finer, coarser)

    def _check_level(self, number: int, finer: Groups, coarser: Groups) -> None:
        if len(coarser) != self.leaves:
            raise InputError(
                f"level {number} of a hierarchy has {len(coarser)} leaves, not {self.leaves}"
            )
        pairs = np.unique(finer.astype(np.int64) << 32 | coarser)
        if split := len(pairs) - len(np.unique(finer)):
            raise InputError(
                f"level {number} of a hierarchy does not nest: groups of the level before are "
                f"split {split} times"
            )

    @property
    def leaves(self) -> int:
        """How many values the hierarchy speaks of, whether a table has them or not."""
        return len(self.groups[0])

    @property
    def top(self) -> int:
        """The number of the coarsest level."""
        return len(self.groups) - 1

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The number of groups at each level."""
        return tuple(int(level.max()) + 1 for level in self.groups)

    def shares(self, level: int) -> NDArray[np.float64]:
        """For each leaf, the share of all leaves that are in its group."""
        counts: NDArray[Any] = np.bincount(self.groups[level])
        return counts[self.groups[level]] / self.leaves
