"""A linear program that bounds the utility of feasible sets, tightened where it is too loose.

Each column has a share from 0 to 1 of being chosen. Cuts are true of every feasible set: of some
group of columns only so many can be chosen (`anonymity_cuts`). For a utility that is not a sum over
the columns, further cuts say that a set is worth no more than another set plus what each of its
columns alone would add to that one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from tamis.select.containment.fill import Filler

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

AT_ONCE = 200
"""The most light sets to look for at a time, but no more than there are columns."""
LONGEST = 60
ROOM = 1.2
"""The cut of a light set that lacks more than 1 is not violated, but one grown from it may be."""
SLACK = 1e-6
NARROW = 64
"""The most columns for which all sets of all columns but one are evaluated."""


class Relaxation:
    """The bound over all feasible sets, or over those with some columns and without others.

    Equal columns can always be chosen together; they share one variable. `first` gives the place
    of one of them among the filler's candidates.
    """

    def __init__(self, filler: Filler) -> None:
        self.filler = filler
        self.rows, self.first, self.worth = _distinct_columns(filler)
        self.groups: list[tuple[Places, int]] = []
        self.ceilings: list[tuple[float, Floats]] = []  # a base, and a row of the program
        if not filler.modular:
            self.losses = self._losses()
            self._ceiling(np.zeros(len(self.first)))
            self._ceiling(np.ones(len(self.first)))

    def solve(self, low: Floats, high: Floats) -> tuple[float, Floats | None]:
        """The bound within limits of the shares, and the shares; none if no set is left."""
        width = len(self.worth)
        cost, limits = -self.worth, np.column_stack([low, high]).tolist()
        if self.ceilings:
            cost, limits = np.append(np.zeros(width), -1.0), [*limits, [0.0, 1.0]]
        right = [*(most for _, most in self.groups), *(base for base, _ in self.ceilings)]
        found: Any = linprog(cost, A_ub=self._left(len(cost)), b_ub=right, bounds=limits)
        if found.x is None:
            return -np.inf, None
        return -float(found.fun), np.clip(found.x[:width], 0.0, 1.0)

    def _left(self, width: int) -> Any:
        """The cuts as rows: first the groups, then the ceilings with the utility as last column."""
        sizes = [len(group) for group, _ in self.groups] + [width] * len(self.ceilings)
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        empty, full = np.zeros(0, np.int64), np.arange(width)
        groups = np.concatenate([empty, *(group for group, _ in self.groups)])
        which = np.concatenate([groups, np.tile(full, len(self.ceilings))])
        values = np.concatenate([np.ones(len(groups)), *(row for _, row in self.ceilings)])
        return sparse.csr_array((values, which, starts), shape=(len(sizes), width))

    def tighten(self, shares: Floats, bound: float) -> bool:
        """Add cuts that the shares violate; returns whether there were any."""
        cuts = self._broken(shares)
        self.groups += cuts
        return self._ceiling(shares, bound) or bool(cuts)

    def forbid(self, shares: Floats) -> bool:
        """Cut off shares of 0 and 1 that are not a feasible set; returns whether they are not."""
        chosen = np.flatnonzero(shares > 0.5)
        held = np.unpackbits(self.rows[chosen].view(np.uint8), axis=1, bitorder="little")
        patterns = np.unique(held.T, axis=0).astype(bool)
        order = np.argsort(-self.worth, kind="stable")
        light = [chosen[p] for p in patterns if p.any() and self._is_light(chosen[p])]
        cuts = dict(self._grown(group, order) for group in light[:AT_ONCE])
        self.groups += [(np.array(group), most) for group, most in cuts.items()]
        return bool(cuts)

    def keep_tight(self, shares: Floats) -> None:
        """Drop cuts that these shares leave loose; they come back when needed."""
        self.groups = [(g, most) for g, most in self.groups if shares[g].sum() > most - SLACK]

    def _broken(self, shares: Floats) -> list[tuple[Places, int]]:
        from tamis.select.containment.cuts import light_sets

        order = np.argsort(-shares - 1e-9 * self.worth, kind="stable")
        found = np.full((min(AT_ONCE, len(order)), LONGEST), -1)
        count = light_sets(self.rows, 1 - shares, order, self.filler.k, ROOM, found)
        light = [row[: int(np.argmin(row))] for row in found[:count]]
        cuts = dict(self._grown(group, order) for group in light)
        return [
            (np.array(group), most)
            for group, most in cuts.items()
            if shares[list(group)].sum() > most + SLACK
        ]

    def _is_light(self, group: Places) -> bool:
        from tamis.select.containment.cuts import is_light

        return bool(is_light(self.rows, group, len(group), self.filler.k))

    def _grown(self, light: Places, order: Places) -> tuple[tuple[int, ...], int]:
        """A cut from a light set: the group, and how many of it can be chosen."""
        from tamis.select.containment.cuts import grow_cut, shrink

        group = np.empty(max(LONGEST, len(light)), dtype=np.int64)
        group[: len(light)] = light
        least = shrink(self.rows, group, len(light), self.filler.k)
        size = grow_cut(self.rows, group, least, order, self.filler.k)
        return tuple(sorted(group[:size].tolist())), least - 1

    def _losses(self) -> Floats:
        """The least that any set loses without a column: what all columns together lose."""
        if len(self.first) > NARROW:
            return np.zeros(len(self.first))
        whole, _ = self.filler.gains(self.first)
        without = [self.filler.gains(np.delete(self.first, i))[0] for i in range(len(self.first))]
        return (whole - np.array(without)) / self.filler.unit

    def _ceiling(self, shares: Floats, bound: float = np.inf) -> bool:
        """Bound a utility that is not a sum from the set of columns most likely to be chosen."""
        if self.filler.modular:
            return False
        # The utility is submodular: a column adds no more to a set than to a part of that set.
        # So from a base T any set S is worth at most T, plus what each column of S outside T would
        # add to T, less what each column of T outside S adds at least, which is what it adds to
        # all the others (Nemhauser and Wolsey). Below, the losses are taken from the base for all
        # of T, and a column of T that is chosen gives its own back.
        value, adds = self.filler.gains(self.first[shares > 0.5])
        each = adds[self.first] / self.filler.unit + np.where(shares > 0.5, self.losses, 0.0)
        base = value / self.filler.unit - self.losses[shares > 0.5].sum()
        if bound <= base + each @ shares + SLACK:
            return False
        self.ceilings.append((base, np.append(-each, 1.0)))
        return True


def _distinct_columns(filler: Filler) -> tuple[NDArray[np.uint64], Places, Floats]:
    """The distinct columns as bits over the rows, the first position of each, and its worth.

    Of more than k equal rows, k are enough to decide what is light.
    """
    row = np.repeat(np.arange(len(filler.weight)), np.minimum(filler.weight, filler.k))
    words = -(-len(row) // 64)
    place: dict[bytes, int] = {}
    first, worth = list[int](), list[float]()
    whole = filler.columns
    for j, pairs in enumerate(filler.pairs):
        held = np.zeros(len(filler.weight), dtype=bool)
        held[whole.rows[whole.begin[j] : whole.end[j]]] = True
        bits = np.packbits(held[row], bitorder="little").tobytes().ljust(8 * words, b"\0")
        if bits not in place:
            place[bits] = len(first)
            first.append(j)
            worth.append(0.0)
        worth[place[bits]] += pairs / filler.unit
    rows = np.frombuffer(b"".join(place), dtype=np.uint64).reshape(-1, words)
    return rows, np.array(first, dtype=np.int64), np.array(worth)
