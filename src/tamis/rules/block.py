"""A few rules at once: the AND of the bits of their conditions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.rules.pack import Bits


class Block:
    """A few rules that follow each other, held with the longest first.

    Those that have a j-th condition are then a leading part, and one AND serves them all.
    """

    def __init__(self, rules: NDArray[np.int64], wanted: Sequence[Sequence[int]]) -> None:
        self.in_order = rules
        self._order = np.argsort([-len(wanted[i]) for i in rules], kind="stable")
        self.rules = rules[self._order]
        longest = len(wanted[self.rules[0]])
        self._columns = [
            np.array([wanted[i][j] for i in self.rules if len(wanted[i]) > j])
            for j in range(longest)
        ]

    def met(self, answers: Bits, everyone: Bits) -> Bits:
        """For each rule the AND of the bits of its conditions."""
        met = np.empty((len(self.rules), len(everyone)), dtype=np.uint64)
        met[:] = everyone
        buffer = np.empty_like(met)
        for at in self._columns:
            some = buffer[: len(at)]
            np.take(answers, at, axis=0, out=some, mode="clip")
            np.bitwise_and(met[: len(at)], some, out=met[: len(at)])
        return met

    def unsorted(self, met: Bits) -> Bits:
        """The same rows in the order of the rules."""
        in_order = np.empty_like(met)
        in_order[self._order] = met
        return in_order


def first_only(bits: Bits, seen: Bits) -> Bits:
    """The bits of each rule that neither an earlier rule nor `seen` has."""
    before = np.empty_like(bits)
    before[0] = seen
    for i in range(1, len(bits)):
        np.bitwise_or(before[i - 1], bits[i - 1], out=before[i])
    return bits & ~before
