"""What a node costs: loss, entropy, precision, height, discernability, average class size.

Lower is better. A metric also knows what it cannot fall below at nodes that nobody has looked at:
rows that are suppressed for want of people or of values stay suppressed at every finer node, and
classes only merge on the way to a coarser one. These bounds let a search skip most of a lattice.

Metrics add up a part for each column where they can, so bounds for a whole sub-lattice are outer
sums of a few short arrays. Totals and bounds are such sums; `Metric.score` turns a sum into the
figure that people read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array

from tamis.arrays import Bools, Floats
from tamis.coarsen.classes import CodedRows, LatticeNode, Levels
from tamis.errors import InputError
from tamis.require.base import Requirements

EVEN = 0.5
"""The factor at which a suppressed cell and a fully generalised one cost the same."""
Grid = NDArray[np.float64]
"""A figure for each node of a lattice, or of the part of it below a node."""


class Metric(ABC):
    """A score of nodes, and bounds on it.

    Parameters
    ----------
    rows : CodedRows
    asked : Requirements
    factor : float
        From 0 to 1: below one half suppressed rows cost less, above it generalisation does.
    most : int
        The most rows that may be suppressed.
    """

    two_sided = False
    """Whether there are bounds for coarser nodes, too."""

    def __init__(
        self, rows: CodedRows, asked: Requirements, factor: float = EVEN, most: int = 0
    ) -> None:
        if not 0 <= factor <= 1:
            raise InputError(f"the factor of a metric must be from 0 to 1, got {factor}")
        self.rows = rows
        # Rows of a class that is kept; no more than there are, where nothing can be kept.
        self.least = min(asked.fewest_people, rows.rows)
        self.most = most
        self.suppressing = 2 * factor if factor < EVEN else 1.0
        self.generalising = 1.0 if factor <= EVEN else 2 - 2 * factor

    @abstractmethod
    def anywhere(self) -> Grid:
        """For each node of the lattice, a cost that it cannot fall below."""

    @abstractmethod
    def total(self, node: LatticeNode) -> float:
        """The cost of a node, on the scale of the bounds."""

    @abstractmethod
    def finer(self, node: LatticeNode) -> Grid | float:
        """A bound for each node at or below one, or for all of them together."""

    def coarser(self, node: LatticeNode) -> float:
        """A bound for all nodes at or above one."""
        return -math.inf

    @abstractmethod
    def within(self, node: LatticeNode, low: Levels) -> float:
        """A bound for all nodes between `low` and a node."""

    @abstractmethod
    def spread(self, node: LatticeNode, low: Levels) -> Floats:
        """How much of that bound's slack is due to each column; 0 where there is one level."""

    def score(self, total: float) -> float:
        """The figure that people read, from a total."""
        return total


class ColumnMetric(Metric):
    """A sum over columns of what their levels cost, given the rows that are suppressed.

    The costs of all levels of all columns stand in one array, column after column.
    """

    @abstractmethod
    def costs(self, node: LatticeNode | None) -> Floats:
        """What each level of each column costs if the rows that a node suppresses are."""

    @abstractmethod
    def least_costs(self, node: LatticeNode) -> Floats:
        """What it costs at least if the rows that are lost there are suppressed, or more."""

    def by_column(self, costs: Floats) -> list[Floats]:
        """The costs of each column's levels."""
        return [costs[start:end] for start, end in pairwise(self._first_level.tolist())]

    @cached_property
    def _first_level(self) -> NDArray[Any]:
        return np.cumsum([0, *(h.top + 1 for h in self.rows.hierarchies)])

    def anywhere(self) -> Grid:
        return outer_sum(self.by_column(self.costs(None)))

    def total(self, node: LatticeNode) -> float:
        return float(self.costs(node)[self._first_level[:-1] + node.levels].sum())

    def finer(self, node: LatticeNode) -> Grid:
        return outer_sum(self._between(node, (0,) * len(node.levels)))

    def within(self, node: LatticeNode, low: Levels) -> float:
        return float(sum(each.min() for each in self._between(node, low)))

    def spread(self, node: LatticeNode, low: Levels) -> Floats:
        slack = [np.ptp(each) + 1e-9 * (len(each) - 1) for each in self._between(node, low)]
        return np.array(slack)

    def _between(self, node: LatticeNode, low: Levels) -> list[Floats]:
        columns = zip(self.by_column(self.least_costs(node)), low, node.levels)
        return [each[fine : coarse + 1] for each, fine, coarse in columns]


def outer_sum(parts: Sequence[Floats]) -> Grid:
    """The sum of one entry of each part, for all combinations.

    >>> outer_sum([np.array([0.0, 1.0]), np.array([0.0, 0.5])]).tolist()
    [[0.0, 0.5], [1.0, 1.5]]
    """
    return reduce(np.add.outer, parts)


def cut_to_ten_decimals(values: Any) -> Any:
    """Figures cut, not rounded, to ten decimals, as the definitions of loss and entropy ask."""
    return np.floor(values * 1e10) / 1e10


class _LeafMetric(ColumnMetric):
    """Costs that depend on the leaves of the suppressed rows."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._kept: tuple[LatticeNode | None, Floats] = None, np.zeros(0)

    @abstractmethod
    def level_costs(self, lost: Floats, suppressed: int, lost_elsewhere: int = 0) -> Floats:
        """The costs, from the suppressed rows by leaf and as a sum.

        `lost_elsewhere` rows more are suppressed, whichever they are.
        """

    def costs(self, node: LatticeNode | None) -> Floats:
        if node is None:
            return self.level_costs(np.zeros(int(self.rows.first_leaf[-1])), 0)
        if self._kept[0] is not node:
            lost = self._by_leaf(node, node.suppressed)
            self._kept = node, self.level_costs(lost, node.rows_suppressed)
        return self._kept[1]

    def least_costs(self, node: LatticeNode) -> Floats:
        if node.infeasible is node.suppressed:
            return self.costs(node)
        return self.level_costs(
            self._by_leaf(node, node.infeasible), node.rows_infeasible, node.lost_elsewhere
        )

    def _by_leaf(self, node: LatticeNode, classes: Bools) -> Floats:
        from tamis.coarsen.kernels import leaf_counts

        rows = self.rows
        counts = leaf_counts(rows.leaves, rows.first_leaf, classes, node.class_of, rows.weight)
        by_leaf: Floats = counts.astype(np.float64)
        return by_leaf

    @cached_property
    def _all_by_leaf(self) -> Floats:
        return np.concatenate(self.rows.leaf_rows)


class Loss(_LeafMetric):
    """The share of its column's values that a cell might have been, beyond its own.

    The columns' means are averaged geometrically, each plus one.
    """

    @cached_property
    def _shares(self) -> csr_array:
        """For each level of each column, the shares of the column's leaves."""
        blocks = [[h.shares(level) for level in range(h.top + 1)] for h in self.rows.hierarchies]
        return csr_array(block_diag([csr_array(np.array(block)) for block in blocks]))

    @cached_property
    def _largest_shares(self) -> Floats:
        return np.asarray(self._shares.max(axis=1).todense()).ravel()

    @cached_property
    def _nothing_lost(self) -> Floats:
        """The sum of the cells of each level's column if every cell is its own leaf."""
        parts = [np.full(h.top + 1, 1 / h.leaves) for h in self.rows.hierarchies]
        return self.generalising * self.rows.rows * np.concatenate(parts)

    def level_costs(self, lost: Floats, suppressed: int, lost_elsewhere: int = 0) -> Floats:
        kept = self._shares @ (self._all_by_leaf - lost)
        # A suppressed cell costs share + s (1 - share), where s is its weight.
        gone = (1 - self.suppressing) * (self._shares @ lost) if self.suppressing < 1 else 0.0
        cells = self.generalising * kept + gone + self.suppressing * suppressed
        if lost_elsewhere:
            cells += lost_elsewhere * self._least_change
        most = self.rows.rows - self._nothing_lost
        return self._weighed(cells - self._nothing_lost, np.where(most > 0, most, 1.0))

    @property
    def _least_change(self) -> Floats:
        """What suppressing one kept cell costs at least."""
        largest = self._largest_shares
        return self.suppressing + (1 - self.suppressing - self.generalising) * largest

    def _weighed(self, above: Floats, most: Floats) -> Floats:
        column: Floats = cut_to_ten_decimals(np.maximum(0, above / most))
        return np.log1p(column) / len(self.rows.hierarchies)

    def score(self, total: float) -> float:
        return math.expm1(total)


class ArithmeticLoss(Loss):
    """The same with the arithmetic mean of the columns."""

    def _weighed(self, above: Floats, most: Floats) -> Floats:
        column: Floats = cut_to_ten_decimals(np.maximum(0, above / most))
        return column / len(self.rows.hierarchies)

    def score(self, total: float) -> float:
        return total


class Entropy(_LeafMetric):
    """The bits that it would take to tell each cell's value again (non-uniform entropy).

    Suppressed rows pay for going from the node's level to the top, among themselves.
    """

    def level_costs(self, lost: Floats, suppressed: int, lost_elsewhere: int = 0) -> Floats:
        bits = self._generalised
        if suppressed:
            bits = bits + self.suppressing * self._bits(lost, suppressed)
        cut: Floats = cut_to_ten_decimals(bits)
        return cut

    def _bits(self, lost: Floats, suppressed: int) -> Floats:
        """At each level, the bits that tell which group each of the suppressed rows is in."""
        leaves, groups, starts = self._groups
        counts = np.bincount(groups, lost[leaves])
        return -np.add.reduceat(counts * np.log2(np.maximum(counts, 1) / suppressed), starts)

    @cached_property
    def _groups(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """A leaf and its group, for each level; the groups of all levels are counted on."""
        levels = [level for h in self.rows.hierarchies for level in h.groups]
        widths = [width for h in self.rows.hierarchies for width in h.widths]
        starts = np.cumsum([0, *widths[:-1]])
        columns = zip(self.rows.first_leaf.tolist(), self.rows.hierarchies)
        leaves = [np.arange(first, first + h.leaves) for first, h in columns for _ in h.groups]
        groups = [level + start for level, start in zip(levels, starts)]
        return np.concatenate(leaves), np.concatenate(groups), starts

    @cached_property
    def _generalised(self) -> Floats:
        """What each level of a column has lost: bits within groups, over all rows."""
        columns = zip(self.rows.leaf_rows, self.rows.hierarchies)
        bits = [_bits_within(rows, level) for rows, h in columns for level in h.groups]
        return self.generalising * np.array(bits)


def _bits_within(leaf_rows: Floats, groups: NDArray[Any]) -> float:
    present = leaf_rows > 0
    own, together = leaf_rows[present], np.bincount(groups, leaf_rows)[groups][present]
    return float(-(own * np.log2(own / together)).sum())


class NormalisedEntropy(Entropy):
    """Entropy as a share of the bits of each column; suppression and generalisation cost alike."""

    def __init__(self, rows: CodedRows, asked: Requirements, factor: float, most: int) -> None:
        super().__init__(rows, asked, EVEN, most)

    def level_costs(self, lost: Floats, suppressed: int, lost_elsewhere: int = 0) -> Floats:
        return super().level_costs(lost, suppressed) / self._most_bits

    @cached_property
    def _most_bits(self) -> Floats:
        bits = [_bits_within(rows, np.zeros(len(rows), int)) for rows in self.rows.leaf_rows]
        most = [float(cut_to_ten_decimals(b)) or 1.0 for b in bits]
        return np.repeat(most, [h.top + 1 for h in self.rows.hierarchies])


class Precision(ColumnMetric):
    """How far up its hierarchy each cell went, as a share of the way to the top."""

    def costs(self, node: LatticeNode | None) -> Floats:
        if node is None:
            return np.minimum(self._if_suppressed(0), self._if_suppressed(self.most))
        return self._if_suppressed(node.rows_suppressed)

    def least_costs(self, node: LatticeNode) -> Floats:
        """Where suppression is cheap, suppressing more may cost less; the cost is linear in it."""
        return np.minimum(self._if_suppressed(node.rows_lost), self._if_suppressed(self.most))

    def _if_suppressed(self, suppressed: int) -> Floats:
        rows, columns = self.rows.rows, len(self.rows.hierarchies)
        kept = self.generalising * (rows - suppressed) * self._ways
        return (kept + self.suppressing * suppressed) / rows / columns

    @cached_property
    def _ways(self) -> Floats:
        """The share of the way to the top, for each level of each column."""
        ways = [np.arange(h.top + 1) / max(h.top, 1) for h in self.rows.hierarchies]
        return np.concatenate(ways)


class Height(ColumnMetric):
    """The sum of the levels; suppression costs nothing."""

    def costs(self, node: LatticeNode | None) -> Floats:
        return np.concatenate([np.arange(h.top + 1.0) for h in self.rows.hierarchies])

    def least_costs(self, node: LatticeNode) -> Floats:
        return self.costs(node)


class _ClassMetric(Metric):
    """What depends on the sizes of classes alone."""

    two_sided = True

    @abstractmethod
    def _fewest(self, classes: float) -> float:
        """A bound for nodes of at most so many classes."""

    def within(self, node: LatticeNode, low: Levels) -> float:
        widths = [h.widths[level] for h, level in zip(self.rows.hierarchies, low)]
        return max(float(self.finer(node)), self._fewest(float(math.prod(widths))))

    def spread(self, node: LatticeNode, low: Levels) -> Floats:
        columns = zip(self.rows.hierarchies, low, node.levels)
        return np.array([math.log(h.widths[fine] / h.widths[coarse]) + 1e-9 * (coarse - fine)
                         for h, fine, coarse in columns])  # fmt: skip


class Discernability(_ClassMetric):
    """For each row the rows it cannot be told from: its class, or all if it is suppressed."""

    def anywhere(self) -> Grid:
        """Squares add up to least where all classes are equal, and there are not many of them."""
        return self.rows.rows**2 / np.minimum(most_classes(self.rows), len(self._bottom[1]))

    def total(self, node: LatticeNode) -> float:
        kept = node.sizes[~node.suppressed]
        return float(kept @ kept + self.rows.rows * node.rows_suppressed)

    def finer(self, node: LatticeNode) -> float:
        """Rows that are lost pay in full, the others for the classes that nothing splits."""
        safe = float(self._alone[~node.infeasible[node.class_of]].sum())
        lost_elsewhere = node.lost_elsewhere * (self.rows.rows - self._dearest)
        return safe + self.rows.rows * node.rows_infeasible + lost_elsewhere

    def coarser(self, node: LatticeNode) -> float:
        """Classes only grow; those that are kept one day have grown to the least size."""
        return float(node.sizes @ np.maximum(node.sizes, self.least))

    def _fewest(self, classes: float) -> float:
        return self.rows.rows**2 / min(classes, len(self._bottom[1]))

    @cached_property
    def _bottom(self) -> tuple[Any, Any]:
        class_of, classes = self.rows.classes_at((0,) * len(self.rows.hierarchies))
        return class_of, np.bincount(class_of, self.rows.weight, classes)

    @cached_property
    def _alone(self) -> Floats:
        """What a distinct row costs at least wherever it is kept."""
        class_of, sizes = self._bottom
        costs: Floats = self.rows.weight * np.maximum(sizes[class_of], float(self.least))
        return costs

    @cached_property
    def _dearest(self) -> float:
        """The most that one row counts for in `_alone`."""
        return float(max(self._bottom[1].max(), self.least))


class AverageClassSize(_ClassMetric):
    """The rows of the table for each class that is kept; suppressed rows are one class more."""

    def anywhere(self) -> Grid:
        most = np.minimum(most_classes(self.rows), self.rows.rows // self.least)
        return np.asarray(self._of(most, self.most > 0))

    def total(self, node: LatticeNode) -> float:
        kept = int(np.count_nonzero(~node.suppressed))
        return float(self._of(kept, node.rows_suppressed > 0))

    def finer(self, node: LatticeNode) -> float:
        """A class has room for so many."""
        room = int((node.sizes[~node.infeasible] // self.least).sum())
        return float(self._of(room, self.most > 0))

    def coarser(self, node: LatticeNode) -> float:
        """A class there contains one that is kept here, or is made of suppressed rows."""
        kept = int(np.count_nonzero(~node.suppressed))
        return float(self._of(kept + node.rows_suppressed // self.least, self.most > 0))

    def _fewest(self, classes: float) -> float:
        return float(self._of(min(classes, self.rows.rows // self.least), self.most > 0))

    def _of(self, kept: Any, others: bool) -> Any:
        classes = self.suppressing * kept + (self.generalising if others else 0.0)
        with np.errstate(divide="ignore"):
            return np.float64(self.rows.rows) / classes


def most_classes(rows: CodedRows) -> Grid:
    """For each node, the number of combinations of groups: there are no more classes."""
    widths = [np.log(np.array(h.widths, dtype=np.float64)) for h in rows.hierarchies]
    return np.exp(outer_sum(widths)) * (1 + 1e-9)


_METRICS: dict[str, type[Metric]] = {
    "loss": Loss,
    "loss_arith": ArithmeticLoss,
    "discernability": Discernability,
    "aecs": AverageClassSize,
    "precision": Precision,
    "height": Height,
    "entropy": Entropy,
    "normentropy": NormalisedEntropy,
}
METRICS = tuple(_METRICS)


def metric_named(
    name: str, rows: CodedRows, asked: Requirements, factor: float = EVEN, most: int = 0
) -> Metric:
    """The metric of that name for these rows.

    Examples
    --------
    >>> from tamis.coarsen.classes import coded_rows, grouped_at
    >>> from tamis.coarsen.ladder import Hierarchy
    >>> sex = Hierarchy((np.array([0, 1]), np.array([0, 0])))
    >>> from tamis.require import requirements
    >>> rows, two = coded_rows([np.array([1, 0, 1])], [sex]), requirements(k=2)
    >>> height = metric_named("height", rows, two)
    >>> height.total(grouped_at(rows, (1,), two))
    1.0
    """
    if name not in _METRICS:
        raise InputError(f"unknown metric {name!r}; choose from {', '.join(METRICS)}")
    return _METRICS[name](rows, asked, factor, most)
