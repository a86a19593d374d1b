"""Utilities of 0/1 columns for a label with more than two classes.

The paper counts pairs of rows of opposite classes and rows of the majority class. With more classes
these are pairs of rows of different classes and, as before, rows of the largest class. The
difference of shares is averaged over all pairs of classes, information has its usual definition,
and models are fitted to each class against the rest. With two classes all reduce to the definitions
in `greedy`.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import rel_entr

from tamis.arrays import Floats, Ints
from tamis.binary.matrix import Binary, sparse_columns
from tamis.select.containment.selection import Step, StopRule
from tamis.select.containment.source import Projection


def ones_by_class(table: Binary, label: Ints, known: NDArray[np.bool_] | None = None) -> Ints:
    """Ones of each column in each class, among the known rows; an array of classes by columns."""
    rows = np.arange(len(label)) if known is None else np.flatnonzero(known)
    members = sparse.csr_array(
        (np.ones(len(rows), np.int64), (label[rows], rows)),
        shape=(int(label.max()) + 1, table.shape[0]),
    )
    counts = members @ table
    return np.asarray(counts if isinstance(counts, np.ndarray) else counts.toarray(), np.int64)


def unlike_pairs(classes: Ints) -> int:
    """Number of pairs of rows of different classes, from the number of rows in each class."""
    # Half of all ordered pairs, less those within a class; rows paired with themselves cancel.
    rows = int(classes.sum())
    return (rows * rows - int((classes * classes).sum())) // 2


def parted_pairs(ones: Ints, classes: Ints) -> Ints:
    """For each column, the number of pairs of rows of different classes that differ in it.

    >>> parted_pairs(np.array([[2], [0], [1]]), np.array([2, 2, 2])).tolist()
    [8]
    """
    have, lack = ones.sum(axis=0), classes.sum() - ones.sum(axis=0)
    alike = (ones * (classes[:, None] - ones)).sum(axis=0)
    return np.asarray(have * lack - alike)


def information(ones: Ints, classes: Ints) -> Floats:
    """Mutual information of each column with the label, in nats."""
    rows, support = int(classes.sum()), ones.sum(axis=0)
    total = np.zeros(len(support))
    for cell, of_column in ((ones, support), (classes[:, None] - ones, rows - support)):
        expected = of_column * (classes[:, None] / rows)
        total += rel_entr(cell, expected).sum(axis=0) / rows
    # Rounded so that columns of equal information tie rather than differ in the last bit.
    return np.maximum(np.round(total, 12), 0.0)


def _ratio(ones: Ints, classes: Ints) -> Floats:
    from tamis.select.containment.greedy import ratio_to_entropy

    return ratio_to_entropy(information(ones, classes), ones.sum(axis=0), int(classes.sum()))


def _hamming(ones: Ints, classes: Ints) -> Floats:
    return parted_pairs(ones, classes) / unlike_pairs(classes)


def _difference(ones: Ints, classes: Ints) -> Floats:
    """Absolute difference between the shares of ones of two classes, averaged over all pairs."""
    there = classes > 0
    shares = ones[there] / classes[there][:, None]
    apart = [np.abs(one - other) for one, other in combinations(shares, 2)]
    return np.asarray(np.round(np.mean(apart, axis=0), 12))


SCORES = {
    "hamdist": _hamming,
    "difference": _difference,
    "information": information,
    "ratio": _ratio,
}
"""Utilities that are sums over the columns, computed from the ones of each class."""


class ClassGroups:
    """Groups of rows that are equal in the columns chosen so far, counted by class."""

    def __init__(self, table: Binary, label: Ints, known: NDArray[np.bool_]) -> None:
        self._table = sparse_columns(sparse_columns(table)[np.flatnonzero(known)])
        self._label = label[known]
        self._classes = int(label.max()) + 1
        self._group = np.zeros(len(self._label), np.int64)
        self.counts = np.bincount(self._label, minlength=self._classes)[None, :]

    @property
    def in_majority(self) -> int:
        """The number of rows in the largest class of their group."""
        return int(self.counts.max(axis=1).sum())

    def gains(self, column: int) -> tuple[int, int]:
        """Gain in rows of the largest class of their group, and pairs newly told apart."""
        # Only groups of rows with the column change; the others are left out of the count.
        rows = self._rows(column)
        groups, place = np.unique(self._group[rows], return_inverse=True)
        # Group and class packed into one number, so that one count gives both.
        parts = place * self._classes + self._label[rows]
        have = np.bincount(parts, minlength=len(groups) * self._classes)
        have = have.reshape(len(groups), self._classes)
        whole = self.counts[groups]
        lack = whole - have
        pairs = have.sum(axis=1) * lack.sum(axis=1) - (have * lack).sum(axis=1)
        gained = have.max(axis=1) + lack.max(axis=1) - whole.max(axis=1)
        return int(gained.sum()), int(pairs.sum())

    def split(self, column: int) -> None:
        """Split each group into the rows that have the column and those that lack it."""
        self._group[self._rows(column)] += len(self.counts)
        self._group = np.unique(self._group, return_inverse=True)[1]
        parts = self._group * self._classes + self._label
        size = (int(self._group.max()) + 1) * self._classes
        self.counts = np.bincount(parts, minlength=size).reshape(-1, self._classes)

    def _rows(self, column: int) -> NDArray[np.int32]:
        indptr = self._table.indptr
        rows: NDArray[np.int32] = self._table.indices[indptr[column] : indptr[column + 1]]
        return rows


def pick_pairs(
    groups: ClassGroups, fits: Projection, candidates: Ints, unit: int, rule: StopRule
) -> tuple[list[Step], bool]:
    """Pick the column that tells most pairs apart, again and again.

    Returns the steps, and whether the search ended by itself rather than at a column that does not
    fit. A gain never grows, so a column is counted again only when it comes first in the queue.
    """
    queue = [(-groups.gains(c)[1], c) for c in candidates.tolist()]
    heapify(queue)
    steps: list[Step] = []
    while queue and len(steps) < rule.most:
        minus_bound, column = queue[0]
        gain = groups.gains(column)[1]
        if gain < -minus_bound:
            heapreplace(queue, (-gain, column))
            continue
        if gain / unit <= rule.least_gain:
            break
        heappop(queue)
        if not _take(groups, fits, column, gain / unit, steps) and rule.stop:
            return steps, False
    return steps, True


def pick_majority(
    groups: ClassGroups, fits: Projection, candidates: Ints, unit: int, rule: StopRule
) -> tuple[list[Step], bool]:
    """Pick the column that adds most rows in the largest class, then most pairs, again and again.

    Returns what `pick_pairs` does. Gains may grow here, so all are counted at each step.
    """
    left, steps = candidates.tolist(), list[Step]()
    base = groups.in_majority / unit
    while left and len(steps) < rule.most:
        if not rule.stop:
            left = [c for c in left if fits.fits(c)]
        gains = {c: groups.gains(c) for c in left}
        # Without a least gain, telling pairs apart is gain enough, as in `kernels._weigh_all`.
        worth = {
            c: (rows, pairs)
            for c, (rows, pairs) in gains.items()
            if (pairs > 0 if rule.least_gain == 0 else rows / unit > rule.least_gain)
        }
        if not worth:
            break
        best = max(worth, key=lambda c: (*worth[c], -c))
        left.remove(best)
        if not _take(groups, fits, best, worth[best][0] / unit, steps, base):
            return steps, False
    return steps, True


def _take(
    groups: ClassGroups,
    fits: Projection,
    column: int,
    gain: float,
    steps: list[Step],
    base: float = 0.0,
) -> bool:
    """Add the column and record the step if it fits; return whether it did."""
    if not fits.offer(column):
        return False
    groups.split(column)
    before = steps[-1].utility if steps else base
    steps.append(Step(column, gain, before + gain, fits.anonymity))
    return True
