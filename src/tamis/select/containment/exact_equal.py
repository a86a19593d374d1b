"""The optimal set of columns under k-anonymity (k equal rows), or an upper bound in a given time.

Branch and bound. A column splits groups of equal rows and never joins any, so a column that does
not fit with a set does not fit with any larger one: few columns are left after a few steps. The
utility of any extension of a set is at most that of the set plus what each column left would add
to it alone.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.arrays import Ints
from tamis.binary.matrix import class_numbers, sparse_columns, two_classes, zero_one
from tamis.errors import InputError
from tamis.select.containment.improve import deadline
from tamis.select.containment.selection import Selection, Step, check_k, labelled_rows
from tamis.select.containment.several import unlike_pairs


@dataclass(order=True)
class _Set:
    """A node: the columns taken, and those that may be added; the largest bound comes first."""

    minus_bound: int
    number: int
    taken: tuple[int, ...] = field(compare=False)
    value: int = field(compare=False)
    group: Ints = field(compare=False)
    """For each row, the number of its group of equal rows."""
    columns: Ints = field(compare=False)
    """Columns that fit with those taken, best first."""
    gains: Ints = field(compare=False)
    """What each of `columns` alone would add."""


def exact_equal(
    X: Any,
    y: Any,
    k: int,
    *,
    utility: str = "hamdist",
    time_limit: float | None = None,
    labelled: Any = None,
) -> Selection:
    """Find the set with the largest utility among all under which each row equals k rows.

    Parameters, result and bound are as in `tamis.select.containment.exact.exact`.

    Examples
    --------
    >>> X = [[1, 1, 1]] * 2 + [[1, 0, 0]] * 2 + [[0, 1, 0]] * 3
    >>> exact_equal(X, [1] * 4 + [0] * 3, k=2).features
    (0, 1, 2)
    >>> exact_equal(X, [1] * 4 + [0] * 3, k=3).features
    (0,)
    """
    if utility not in ("hamdist", "distcnt"):
        raise InputError(f"utility must be 'hamdist' or 'distcnt' for this search, got {utility!r}")
    table = zero_one(X)
    label = class_numbers(y, table.shape[0])
    if label.max(initial=0) < 2:
        two_classes(y)
    check_k(k, table.shape[0])
    known = labelled_rows(labelled, label)
    return _EqualSearch(sparse_columns(table), label, known, int(k), utility == "hamdist").run(
        deadline(time_limit)
    )


class _EqualSearch:
    def __init__(
        self,
        table: Any,
        label: Ints,
        known: NDArray[np.bool_] | None,
        k: int,
        modular: bool,
    ) -> None:
        self.k, self.modular = k, modular
        labelled = np.ones(len(label), bool) if known is None else known
        classes = [(label == number) & labelled for number in range(int(label.max()) + 1)]
        self.weights = np.stack([np.ones(len(label)), *classes])
        self.unit = unlike_pairs(self.weights[1:].sum(axis=1).astype(np.int64))
        self.table = table.astype(np.int64)
        self.made = 0

    def run(self, end: float) -> Selection:
        rows, width = self.table.shape
        best = start = self._grown((), 0, np.zeros(rows, np.int64), np.arange(width))
        waiting, bound = [start], 0
        while waiting and -waiting[0].minus_bound > best.value:
            if time.monotonic() > end:
                bound = -waiting[0].minus_bound
                break
            node = heapq.heappop(waiting)
            for place in range(len(node.columns)):
                # The child has this column and none before it, so each set is met once, and its
                # bound is the gains from here on: once that is too low, so is every later one.
                if node.value + int(node.gains[place:].sum()) <= best.value:
                    break
                child = self._with(node, place)
                best = max(best, child, key=lambda s: s.value)
                if -child.minus_bound > best.value:
                    heapq.heappush(waiting, child)
        return self._selection(best.taken, max(bound, best.value) / self.unit)

    def _with(self, node: _Set, place: int) -> _Set:
        column = int(node.columns[place])
        has = self.table.indices[self.table.indptr[column] : self.table.indptr[column + 1]]
        group = node.group.copy()
        # Rows with the column move to numbers of their own, then numbers are made consecutive.
        group[has] += int(node.group.max()) + 1
        group = np.unique(group, return_inverse=True)[1].astype(np.int64)
        value = node.value + int(node.gains[place])
        return self._grown((*node.taken, column), value, group, node.columns[place + 1 :])

    def _grown(self, taken: tuple[int, ...], value: int, group: Ints, columns: Ints) -> _Set:
        """A set with the columns that may be added to it, and its bound."""
        # By group, and by group and column: `sizes` and `n` count all rows, `of` and `have` the
        # labelled rows of each class.
        whole = _by_group(group, self.weights)
        held = [
            np.asarray((members @ self.table[:, columns]).todense(), dtype=np.int64)
            for members in whole
        ]
        sizes, *of = (np.asarray(m.sum(axis=1), np.int64).reshape(-1, 1) for m in whole)
        n, *have = held
        splits = (n > 0) & (n < sizes)
        fits = (~splits | ((n >= self.k) & (sizes - n >= self.k))).all(axis=0)
        if self.modular:  # a sum counts pairs over the whole table, told apart already or not
            have, of = (
                [p.sum(axis=0, keepdims=True) for p in have],
                [m.sum(keepdims=True) for m in of],
            )
        # Pairs told apart: rows with the column times rows without it, less pairs of one class.
        lack = [m - p for m, p in zip(of, have)]
        alike = np.sum([p * z for p, z in zip(have, lack)], axis=0)
        gains = (np.sum(have, axis=0) * np.sum(lack, axis=0) - alike).sum(axis=0)
        worth = np.flatnonzero(fits & (gains > 0))
        order = worth[np.argsort(-gains[worth], kind="stable")]
        self.made += 1
        # A function of the set is at most all pairs; a sum over columns has no such limit, and
        # 2**62 stands for none.
        most = min(value + int(gains[order].sum()), self.unit if not self.modular else 2**62)
        return _Set(-most, self.made, taken, value, group, columns[order], gains[order])

    def _selection(self, taken: tuple[int, ...], bound: float) -> Selection:
        state = self._grown((), 0, np.zeros(self.table.shape[0], np.int64), np.array(taken, int))
        steps: list[Step] = []
        anonymity, before = self.table.shape[0], 0.0
        for column in taken:
            state = self._with(state, int(np.flatnonzero(state.columns == column)[0]))
            anonymity = int(np.bincount(state.group).min())
            utility = state.value / self.unit
            steps.append(Step(column, utility - before, utility, anonymity))
            before = utility
            left = [c for c in taken if c not in state.taken]
            state = self._grown(state.taken, state.value, state.group, np.array(left, int))
        return Selection(taken, anonymity, before, bound, tuple(steps))


def _by_group(group: Ints, weights: NDArray[np.float64]) -> list[Any]:
    """Matrices of groups by rows, one for each of the `weights` (all rows, then each class)."""
    shape = int(group.max()) + 1, len(group)
    rows = np.arange(len(group))
    return [sparse.csr_array((w.astype(np.int64), (group, rows)), shape=shape) for w in weights]
