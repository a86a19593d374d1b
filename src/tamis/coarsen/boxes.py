"""Search a lattice that is too large to keep a bound for each node.

A walk from the coarsest node downwards gives a good score. Then the lattice is divided: a *box* is
all nodes between two, and what is lost at its coarsest node is lost in the whole box, which bounds
its scores. The box with the lowest bound is cut in two, again and again. When the nodes that may
be looked at are used up, the lowest bound of all boxes tells how far the best score can be from the
optimum.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from itertools import count

from tamis.coarsen.classes import CodedRows, Constraints, LatticeNode, Levels, grouped_at
from tamis.coarsen.metrics import Metric

MOST_CHECKED = 3_000
"""The most nodes that are looked at: some seconds on a table of 30,000 distinct rows."""


@dataclass(eq=False)
class _BoxSearch:
    """The best node so far, and what has been looked at."""

    rows: CodedRows
    constraints: Constraints
    metric: Metric
    most_checked: int
    best: float = math.inf
    found: LatticeNode | None = None
    seen: dict[Levels, float] = field(default_factory=dict)

    @property
    def spent(self) -> bool:
        return len(self.seen) >= self.most_checked

    def look(self, levels: Levels) -> LatticeNode | None:
        """The node; `None` if neither it nor any finer one may be chosen."""
        node = grouped_at(self.rows, levels, self.constraints)
        total = math.inf
        if node.may_leave(self.metric.most):
            total = self.metric.total(node)
        if total < self.best:
            self.best, self.found = total, node
        self.seen[levels] = total
        return None if node.closes(self.metric.most) else node

    def descend(self) -> None:
        """From the coarsest node, take the best single step down until none is possible."""
        here = self.rows.top
        while not self.spent:
            steps = [_one_finer(here, j) for j, level in enumerate(here) if level]
            for step in steps:
                if step not in self.seen and not self.spent:
                    self.look(step)
            open_steps = [step for step in steps if self.seen.get(step, math.inf) < math.inf]
            if not open_steps:
                return
            here = min(open_steps, key=self.seen.__getitem__)

    def divide(self) -> float:
        """Cut the box with the lowest bound in two until the best is proven; the last bound."""
        order = count()  # between equal bounds, the older box first
        boxes: list[tuple[float, int, LatticeNode, Levels]] = []
        bound, parts = -math.inf, [(self.look(self.rows.top), (0,) * len(self.rows.top))]
        while True:
            for node, low in parts:
                if node is not None and node.levels != low:
                    lower = max(bound, self.metric.within(node, low))
                    heapq.heappush(boxes, (lower, next(order), node, low))
            if not boxes or boxes[0][0] >= self.best:
                return math.inf
            if self.spent:
                return boxes[0][0]
            bound, _, node, low = heapq.heappop(boxes)
            parts = self._halves(node, low)

    def _halves(self, node: LatticeNode, low: Levels) -> list[tuple[LatticeNode | None, Levels]]:
        """The box cut across the column that its bound is least sure of."""
        column = int(self.metric.spread(node, low).argmax())
        middle = (low[column] + node.levels[column]) // 2
        finer = (*node.levels[:column], middle, *node.levels[column + 1 :])
        return [
            (self.look(finer), low),
            (node, (*low[:column], middle + 1, *low[column + 1 :])),
        ]


def _one_finer(levels: Levels, column: int) -> Levels:
    return (*levels[:column], levels[column] - 1, *levels[column + 1 :])


def searched_in_boxes(
    rows: CodedRows, constraints: Constraints, metric: Metric, most_checked: int = MOST_CHECKED
) -> tuple[LatticeNode | None, float, int]:
    """The best node found, a bound on the total of all nodes, and how many were looked at.

    The bound is infinite where the best node is proven to be the optimum.
    """
    search = _BoxSearch(rows, constraints, metric, most_checked)
    search.descend()
    bound = search.divide()
    return search.found, bound, len(search.seen)
