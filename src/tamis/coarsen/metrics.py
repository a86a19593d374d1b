"""Cost metrics of nodes: loss, entropy, precision, height, discernability, average class size.

Lower is better. A metric also gives lower bounds for nodes that have not been evaluated: rows that
are suppressed because their class is infeasible stay suppressed at every finer node, and classes
only merge on the way to a coarser one. These bounds let a search skip most of a lattice.

Where possible a metric is a sum over columns, so that the bounds of a whole sub-lattice are the
outer sum of a few short arrays. Totals and bounds are on the scale of these sums; `Metric.score`
turns one into the figure that people read.
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
"""A figure for each node of a lattice, or of the sub-lattice at and below a node."""


class Metric(ABC):
    """A cost of nodes, and lower bounds on it.

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
    """Whether a node also bounds the coarser ones."""

    def __init__(
        self, rows: CodedRows, asked: Requirements, factor: float = EVEN, most: int = 0
    ) -> None:
        if not 0 <= factor <= 1:
            raise InputError(f"the factor of a metric must be from 0 to 1, got {factor}")
        self.rows = rows
        # Fewest rows of a released class; capped at all rows, which matters where none can be met.
        self.least = min(asked.fewest_people, rows.rows)
        self.most = most
        # Of the two weights one is always 1, so that at EVEN both are.
        self.suppressing = 2 * factor if factor < EVEN else 1.0
        self.generalising = 1.0 if factor <= EVEN else 2 - 2 * factor

    @abstractmethod
    def anywhere(self) -> Grid:
        """A lower bound for each node of the lattice, before any has been evaluated."""

    @abstractmethod
    def total(self, node: LatticeNode) -> float:
        """The cost of a node, on the scale of the bounds."""

    @abstractmethod
    def finer(self, node: LatticeNode) -> Grid | float:
        """A lower bound for each node at or below one, or a single one for all of them."""

    def coarser(self, node: LatticeNode) -> float:
        """A lower bound for all nodes at or above one."""
        return -math.inf

    @abstractmethod
    def within(self, node: LatticeNode, low: Levels) -> float:
        """A lower bound for all nodes between `low` and a node."""

    @abstractmethod
    def spread(self, node: LatticeNode, low: Levels) -> Floats:
        """How much of the slack of `within` is due to each column; 0 for a single level."""

    def score(self, total: float) -> float:
        """The figure that people read, from a total; increasing, so that bounds carry over."""
        return total


class ColumnMetric(Metric):
    """A sum over columns of the cost of their level, given which rows are suppressed.

    One array holds the costs of all levels of all columns, column after column.
    """

    @abstractmethod
    def costs(self, node: LatticeNode | None) -> Floats:
        """Cost of each level of each column with a node's suppressed rows; `None`: with none."""

    @abstractmethod
    def least_costs(self, node: LatticeNode) -> Floats:
        """Lower bound on each cost where at least the rows that a node loses are suppressed."""

    def by_column(self, costs: Floats) -> list[Floats]:
        """Split the array of costs into columns."""
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
        # The tiny second term splits a column of equal costs too, and prefers the longer one.
        slack = [np.ptp(costs) + 1e-9 * (len(costs) - 1) for costs in self._between(node, low)]
        return np.array(slack)

    def _between(self, node: LatticeNode, low: Levels) -> list[Floats]:
        columns = zip(self.by_column(self.least_costs(node)), low, node.levels)
        return [costs[fine : coarse + 1] for costs, fine, coarse in columns]


def outer_sum(parts: Sequence[Floats]) -> Grid:
    """Sums of one entry from each part, for all combinations.

    >>> outer_sum([np.array([0.0, 1.0]), np.array([0.0, 0.5])]).tolist()
    [[0.0, 0.5], [1.0, 1.5]]
    """
    return reduce(np.add.outer, parts)


def cut_to_ten_decimals(values: Any) -> Any:
    """Truncate, not round, figures to ten decimals, as the definitions of loss and entropy ask."""
    return np.floor(values * 1e10) / 1e10


class _LeafMetric(ColumnMetric):
    """Costs that depend on the leaves of the suppressed rows."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        # The costs of the last node: a search asks for its total and then for its bound.
        self._kept: tuple[LatticeNode | None, Floats] = None, np.zeros(0)

    @abstractmethod
    def level_costs(self, lost: Floats, suppressed: int, lost_elsewhere: int = 0) -> Floats:
        """Cost of each level, from the suppressed rows by leaf and their number.

        A lower bound where `lost_elsewhere` more rows are suppressed, whichever they are.
        """

    def costs(self, node: LatticeNode | None) -> Floats:
        if node is None:
            return self.level_costs(np.zeros(int(self.rows.first_leaf[-1])), 0)
        if self._kept[0] is not node:
            lost = self._by_leaf(node, node.suppressed)
            self._kept = node, self.level_costs(lost, node.rows_suppressed)
        return self._kept[1]

    def least_costs(self, node: LatticeNode) -> Floats:
        if node.infeasible is node.suppressed:  # the same array: nothing more to count
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
    """Fraction of its column's values that a cell's label covers, beyond the value itself.

    Columns are combined by the geometric mean of one plus their mean loss, less one.
    """

    @cached_property
    def _shares(self) -> csr_array:
        """For each level of each column (lines) and each leaf: the fraction of leaves it covers.

        Block diagonal, and so sparse: a level says nothing about other columns.
        """
        blocks = [[h.shares(level) for level in range(h.top + 1)] for h in self.rows.hierarchies]
        return csr_array(block_diag([csr_array(np.array(block)) for block in blocks]))

    @cached_property
    def _largest_shares(self) -> Floats:
        return np.asarray(self._shares.max(axis=1).todense()).ravel()

    @cached_property
    def _nothing_lost(self) -> Floats:
        """For each level, the sum over its column if every cell covers its own leaf alone."""
        parts = [np.full(h.top + 1, 1 / h.leaves) for h in self.rows.hierarchies]
        return self.generalising * self.rows.rows * np.concatenate(parts)

    def level_costs(self, lost: Floats, suppressed: int, lost_elsewhere: int = 0) -> Floats:
        kept = self._shares @ (self._all_by_leaf - lost)
        # A suppressed cell costs share + s (1 - share), where s is its weight.
        gone = (1 - self.suppressing) * (self._shares @ lost) if self.suppressing < 1 else 0.0
        cells = self.generalising * kept + gone + self.suppressing * suppressed
        if lost_elsewhere:
            cells += lost_elsewhere * self._least_change
        most = self.rows.rows - self._nothing_lost  # from nothing lost to everything
        return self._weighed(cells - self._nothing_lost, np.where(most > 0, most, 1.0))

    @property
    def _least_change(self) -> Floats:
        """Least increase of a level's cost by suppressing one more cell of it.

        A kept cell costs g * share, a suppressed one s + (1 - s) * share, so the increase is
        s + (1 - s - g) * share: since 1 - s - g <= 0, it is least for the largest share.
        """
        largest = self._largest_shares
        return self.suppressing + (1 - self.suppressing - self.generalising) * largest

    def _weighed(self, above: Floats, most: Floats) -> Floats:
        column: Floats = cut_to_ten_decimals(np.maximum(0, above / most))
        return np.log1p(column) / len(self.rows.hierarchies)

    def score(self, total: float) -> float:
        return math.expm1(total)


class ArithmeticLoss(Loss):
    """`Loss` with the arithmetic mean of the columns."""

    def _weighed(self, above: Floats, most: Floats) -> Floats:
        column: Floats = cut_to_ten_decimals(np.maximum(0, above / most))
        return column / len(self.rows.hierarchies)

    def score(self, total: float) -> float:
        return total


class Entropy(_LeafMetric):
    """Bits needed to restore each cell's value from its label (non-uniform entropy).

    Suppressed rows also pay for the way from the node's level to the top, among themselves.
    """

    def level_costs(self, lost: Floats, suppressed: int, lost_elsewhere: int = 0) -> Floats:
        bits = self._generalised
        if suppressed:
            bits = bits + self.suppressing * self._bits(lost, suppressed)
        cut: Floats = cut_to_ten_decimals(bits)
        return cut

    def _bits(self, lost: Floats, suppressed: int) -> Floats:
        """At each level, the bits that say in which group each suppressed row is."""
        leaves, groups, starts = self._groups
        counts = np.bincount(groups, lost[leaves])
        # Empty groups: 0 * log(1 / suppressed) is 0, as the limit of x log x.
        return -np.add.reduceat(counts * np.log2(np.maximum(counts, 1) / suppressed), starts)

    @cached_property
    def _groups(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Leaf and group of each leaf at each level, and where the groups of each level start.

        Groups are numbered through all levels, so that one `bincount` serves all.
        """
        levels = [level for h in self.rows.hierarchies for level in h.groups]
        widths = [width for h in self.rows.hierarchies for width in h.widths]
        starts = np.cumsum([0, *widths[:-1]])
        columns = zip(self.rows.first_leaf.tolist(), self.rows.hierarchies)
        leaves = [np.arange(first, first + h.leaves) for first, h in columns for _ in h.groups]
        groups = [level + start for level, start in zip(levels, starts)]
        return np.concatenate(leaves), np.concatenate(groups), starts

    @cached_property
    def _generalised(self) -> Floats:
        """Cost of each level before suppression: the bits within its groups, over all rows."""
        columns = zip(self.rows.leaf_rows, self.rows.hierarchies)
        bits = [_bits_within(rows, level) for rows, h in columns for level in h.groups]
        return self.generalising * np.array(bits)


def _bits_within(leaf_rows: Floats, groups: NDArray[Any]) -> float:
    present = leaf_rows > 0
    own, together = leaf_rows[present], np.bincount(groups, leaf_rows)[groups][present]
    return float(-(own * np.log2(own / together)).sum())


class NormalisedEntropy(Entropy):
    """Entropy as a share of each column's bits; suppression and generalisation weigh the same."""

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
    """Mean height of the cells in their hierarchies, as a share of the height of each."""

    def costs(self, node: LatticeNode | None) -> Floats:
        if node is None:
            return np.minimum(self._if_suppressed(0), self._if_suppressed(self.most))
        return self._if_suppressed(node.rows_suppressed)

    def least_costs(self, node: LatticeNode) -> Floats:
        """The cost is linear in the suppressed rows, so its minimum is at one of the two ends.

        Where suppression is cheap, that is the end at which most is suppressed.
        """
        return np.minimum(self._if_suppressed(node.rows_lost), self._if_suppressed(self.most))

    def _if_suppressed(self, suppressed: int) -> Floats:
        rows, columns = self.rows.rows, len(self.rows.hierarchies)
        kept = self.generalising * (rows - suppressed) * self._ways
        return (kept + self.suppressing * suppressed) / rows / columns

    @cached_property
    def _ways(self) -> Floats:
        """Relative height of each level of each column, from 0 to 1."""
        ways = [np.arange(h.top + 1) / max(h.top, 1) for h in self.rows.hierarchies]
        return np.concatenate(ways)


class Height(ColumnMetric):
    """Sum of the levels; suppression costs nothing."""

    def costs(self, node: LatticeNode | None) -> Floats:
        return np.concatenate([np.arange(h.top + 1.0) for h in self.rows.hierarchies])

    def least_costs(self, node: LatticeNode) -> Floats:
        return self.costs(node)


class _ClassMetric(Metric):
    """A metric that depends on the sizes of the classes alone."""

    two_sided = True

    @abstractmethod
    def _fewest(self, classes: float) -> float:
        """A lower bound for nodes with at most so many classes."""

    def within(self, node: LatticeNode, low: Levels) -> float:
        # No node of the box has more classes than there are combinations of groups at its finest.
        widths = [h.widths[level] for h, level in zip(self.rows.hierarchies, low)]
        return max(float(self.finer(node)), self._fewest(float(math.prod(widths))))

    def spread(self, node: LatticeNode, low: Levels) -> Floats:
        columns = zip(self.rows.hierarchies, low, node.levels)
        return np.array([math.log(h.widths[fine] / h.widths[coarse]) + 1e-9 * (coarse - fine)
                         for h, fine, coarse in columns])  # fmt: skip


class Discernability(_ClassMetric):
    """For each row, the rows it cannot be told from: its class, or all if it is suppressed."""

    def anywhere(self) -> Grid:
        """A sum of squares is least for classes of equal size, and as many as there can be."""
        return self.rows.rows**2 / np.minimum(most_classes(self.rows), len(self._bottom[1]))

    def total(self, node: LatticeNode) -> float:
        kept = node.sizes[~node.suppressed]
        return float(kept @ kept + self.rows.rows * node.rows_suppressed)

    def finer(self, node: LatticeNode) -> float:
        """Lost rows pay in full; every other row pays at least for its class at the bottom.

        Of the rows lost elsewhere it is not known which they are, so each adds only the difference
        to the dearest row.
        """
        safe = float(self._alone[~node.infeasible[node.class_of]].sum())
        lost_elsewhere = node.lost_elsewhere * (self.rows.rows - self._dearest)
        return safe + self.rows.rows * node.rows_infeasible + lost_elsewhere

    def coarser(self, node: LatticeNode) -> float:
        """Classes only grow, and a class that is released has at least the least size."""
        return float(node.sizes @ np.maximum(node.sizes, self.least))

    def _fewest(self, classes: float) -> float:
        return self.rows.rows**2 / min(classes, len(self._bottom[1]))

    @cached_property
    def _bottom(self) -> tuple[Any, Any]:
        class_of, classes = self.rows.classes_at((0,) * len(self.rows.hierarchies))
        return class_of, np.bincount(class_of, self.rows.weight, classes)

    @cached_property
    def _alone(self) -> Floats:
        """Least cost of each distinct row at any node that releases it."""
        class_of, sizes = self._bottom
        costs: Floats = self.rows.weight * np.maximum(sizes[class_of], float(self.least))
        return costs

    @cached_property
    def _dearest(self) -> float:
        """The largest cost per row in `_alone`."""
        return float(max(self._bottom[1].max(), self.least))


class AverageClassSize(_ClassMetric):
    """Rows of the table per released class; suppressed rows count as one more class."""

    def anywhere(self) -> Grid:
        most = np.minimum(most_classes(self.rows), self.rows.rows // self.least)
        return np.asarray(self._of(most, self.most > 0))

    def total(self, node: LatticeNode) -> float:
        kept = int(np.count_nonzero(~node.suppressed))
        return float(self._of(kept, node.rows_suppressed > 0))

    def finer(self, node: LatticeNode) -> float:
        """However a class is split, its parts have at least the least size each."""
        room = int((node.sizes[~node.infeasible] // self.least).sum())
        return float(self._of(room, self.most > 0))

    def coarser(self, node: LatticeNode) -> float:
        """A released class there contains one released here, or consists of suppressed rows."""
        kept = int(np.count_nonzero(~node.suppressed))
        return float(self._of(kept + node.rows_suppressed // self.least, self.most > 0))

    def _fewest(self, classes: float) -> float:
        return float(self._of(min(classes, self.rows.rows // self.least), self.most > 0))

    def _of(self, kept: Any, others: bool) -> Any:
        classes = self.suppressing * kept + (self.generalising if others else 0.0)
        with np.errstate(divide="ignore"):  # no class at all: an infinite cost
            return np.float64(self.rows.rows) / classes


def most_classes(rows: CodedRows) -> Grid:
    """Upper bound on the classes of each node: the number of combinations of groups.

    Products are taken as sums of logarithms, and rounded up by a margin so that they stay a bound.
    """
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
    """Build a metric by name.

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
