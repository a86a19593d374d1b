"""Optimal full-domain generalisation: one level for each column, with limited row suppression.

Branch and bound over the lattice of levels. Each node that is evaluated rules out others: every
finer node if too many of its rows are lost, and all nodes whose bound is no better than the best
score so far. A node is either evaluated or ruled out, so the result is the optimum.

The coarsest nodes come first, after a few on a straight path from top to bottom, which give an
early score to beat. A metric that bounds both finer and coarser nodes does better with an order
that halves the lattice repeatedly.

A lattice of more than `MOST_NODES` nodes is too large to keep a bound for each of them. A greedy
walk down from the coarsest node then gives a good score, and the lattice is searched in boxes: a
*box* is all nodes between two, and what is lost at its coarsest node is lost in the whole box,
which bounds its scores. The box with the lowest bound is halved, again and again. Once the budget
of nodes is spent, the lowest bound of the remaining boxes says how far the best score may be from
the optimum.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.arrays import Integers
from tamis.coarsen.classes import (
    CodedRows,
    LatticeNode,
    Levels,
    coded_rows,
    grouped_at,
)
from tamis.coarsen.ladder import Ladder
from tamis.coarsen.metrics import EVEN, Metric, metric_named, outer_sum
from tamis.errors import CannotMeet, InputError, plural
from tamis.require.base import Requirements
from tamis.require.population import DeltaPresence
from tamis.risk.presence import Presence, presence_of_counts, stacked
from tamis.risk.suppression import most_suppressed
from tamis.table import Table

MOST_NODES = 1 << 21
"""Largest lattice for which a bound is kept for each node (16 MB)."""
MOST_CHECKED = 3_000
"""Most nodes of a larger lattice that are evaluated: seconds, on 30,000 distinct rows."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best node found by a search, and a bound on all others.

    Parameters
    ----------
    node : LatticeNode
    score : float
        By the metric that was asked for; lower is better.
    bound : float
        No node has a lower score than this; equal to the score where the optimum is proven.
    nodes, checked : int
        The size of the lattice, and how many of its nodes were evaluated.
    """

    node: LatticeNode
    score: float
    bound: float
    nodes: int
    checked: int

    @property
    def proven(self) -> bool:
        """Whether no node can be better."""
        return self.bound >= self.score


def full_domain(
    rows: CodedRows,
    asked: Requirements,
    *,
    metric: str = "loss",
    max_suppressed: float = 0.0,
    factor: float = EVEN,
) -> Optimum:
    """Find the levels with the best score among those that suppress few enough rows.

    Parameters
    ----------
    rows : CodedRows
    asked : Requirements
    metric : str
        See `tamis.coarsen.metrics`.
    max_suppressed : float
        The largest share of the rows that may be suppressed; none are where every class of a
        register must have people in the table.
    factor : float
        From 0 to 1: below one half suppressed rows cost less, above it generalisation does.

    Returns
    -------
    Optimum

    Examples
    --------
    >>> from tamis.coarsen.classes import coded_rows
    >>> from tamis.coarsen.ladder import Hierarchy
    >>> from tamis.require import requirements
    >>> job = Hierarchy((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4)))
    >>> rows = coded_rows([np.array([0, 1, 2, 3, 3])], [job])
    >>> best = full_domain(rows, requirements(k=2))
    >>> best.node.levels, round(best.score, 4), best.proven
    ((1,), 0.3333, True)
    """
    if not 0 <= max_suppressed <= 1:
        raise InputError(f"max_suppressed must be a share from 0 to 1, got {max_suppressed}")
    # A lower bound on presence: a suppressed class would tell that its people are not in the table.
    needs_everybody = rows.register is not None and rows.register.asked.low > 0
    most = 0 if needs_everybody else most_suppressed(max_suppressed, rows.rows)
    measure = metric_named(metric, rows, asked, factor, most)
    top = grouped_at(rows, rows.top, asked)
    if top.closes(most):
        raise CannotMeet(_hopeless(top, rows, most))
    nodes = math.prod(level + 1 for level in rows.top)
    if nodes > MOST_NODES:
        best, bound, checked = searched_in_boxes(rows, asked, measure)
    else:
        best, checked = _searched(rows, asked, measure)
        bound = math.inf
    if best is None:
        raise CannotMeet(_hopeless(top, rows, most))
    score = measure.score(measure.total(best))
    return Optimum(best, score, min(score, measure.score(bound)), nodes, checked)


def _hopeless(top: LatticeNode, rows: CodedRows, most: int) -> str:
    if rows.register is not None and top.rows_lost <= most:
        return rows.register.hopeless_words(top.levels)
    return (
        f"even with every column at its coarsest level {plural(top.rows_suppressed, 'row')} of "
        f"{rows.rows:,} would have to be suppressed, and at most {most:,} may be; allow more with "
        "max_suppressed (--max-suppressed), or ask for less (k, l, t, ...)"
    )


def _searched(
    rows: CodedRows, asked: Requirements, metric: Metric
) -> tuple[LatticeNode | None, int]:
    """The best node, and how many were evaluated."""
    lower = np.ascontiguousarray(metric.anywhere())
    bounds = lower.ravel()  # a view: sub-lattices are slices of `lower`, visits places in `bounds`
    best, found, checked = math.inf, None, 0
    for place in _visits(rows, metric):
        if bounds[place] >= best:  # of equal scores the first node that is visited wins
            continue
        levels = tuple(int(level) for level in np.unravel_index(place, lower.shape))
        node = grouped_at(rows, levels, asked)
        checked += 1
        below = lower[tuple(slice(level + 1) for level in levels)]
        if node.closes(metric.most):  # every finer node loses at least these rows, too
            below[...] = math.inf
            continue
        if node.may_leave(metric.most) and (total := metric.total(node)) < best:
            best, found = total, node
        np.maximum(below, metric.finer(node), out=below)
        if metric.two_sided:
            above = lower[tuple(slice(level, None) for level in levels)]
            np.maximum(above, metric.coarser(node), out=above)
        bounds[place] = math.inf  # evaluated: never again
    return found, checked


def _visits(rows: CodedRows, metric: Metric) -> list[int]:
    """All nodes in the order of evaluation; later duplicates are ruled out by their bound."""
    heights = outer_sum([np.arange(level + 1.0) for level in rows.top])
    coarsest_first = np.argsort(-heights.ravel(), kind="stable")
    if metric.two_sided and metric.most:
        return [*coarsest_first[_halving(len(coarsest_first))].tolist()]
    # The straight path from bottom to top raises all columns in proportion, in two steps for each
    # level of the tallest one.
    steps = 2 * max(rows.top)
    ways = np.arange(steps + 1) / max(steps, 1)
    straight = np.rint(np.outer(rows.top, ways)).astype(int)
    first = np.ravel_multi_index(tuple(straight), heights.shape)
    return [*dict.fromkeys(first.tolist()), *coarsest_first.tolist()]


def _halving(size: int) -> NDArray[np.int64]:
    """The numbers below `size` in bit-reversed order: 0, then the middle, then the quarters.

    The middle is that of the next power of two.

    >>> _halving(5).tolist()
    [0, 4, 2, 1, 3]
    """
    bits = max(size - 1, 1).bit_length()
    places = np.arange(1 << bits)
    back = np.zeros_like(places)
    for bit in range(bits):
        back |= ((places >> bit) & 1) << (bits - 1 - bit)
    return back[back < size]


@dataclass(eq=False)
class _BoxSearch:
    """State of the search in boxes: the best node so far, and the totals of evaluated nodes."""

    rows: CodedRows
    asked: Requirements
    metric: Metric
    most_checked: int
    best: float = math.inf
    found: LatticeNode | None = None
    seen: dict[Levels, float] = field(default_factory=dict)

    @property
    def spent(self) -> bool:
        return len(self.seen) >= self.most_checked

    def look(self, levels: Levels) -> LatticeNode | None:
        """Evaluate a node and return it; `None` if neither it nor any finer one may be chosen."""
        node = grouped_at(self.rows, levels, self.asked)
        total = math.inf
        if node.may_leave(self.metric.most):
            total = self.metric.total(node)
        if total < self.best:
            self.best, self.found = total, node
        self.seen[levels] = total
        return None if node.closes(self.metric.most) else node

    def descend(self) -> None:
        """Greedy walk: from the coarsest node, take the best step down until none is allowed."""
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
        """Halve the box with the lowest bound until the best is proven, or the budget is spent.

        Returns a lower bound on the nodes that were not evaluated; infinite once proven.
        """
        order = count()  # ties between bounds: the older box first, and nodes are never compared
        boxes: list[tuple[float, int, LatticeNode, Levels]] = []
        bound, parts = -math.inf, [(self.look(self.rows.top), (0,) * len(self.rows.top))]
        while True:
            for node, low in parts:
                if node is not None and node.levels != low:
                    # A half inherits the bound of the whole box where its own is lower.
                    lower = max(bound, self.metric.within(node, low))
                    heapq.heappush(boxes, (lower, next(order), node, low))
            if not boxes or boxes[0][0] >= self.best:
                return math.inf
            if self.spent:
                return boxes[0][0]
            bound, _, node, low = heapq.heappop(boxes)
            parts = self._halves(node, low)

    def _halves(self, node: LatticeNode, low: Levels) -> list[tuple[LatticeNode | None, Levels]]:
        """Halve the box across the column to which most of its bound's slack is due.

        The upper half keeps its coarsest node, which has been evaluated; the lower half needs its
        own.
        """
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
    rows: CodedRows, asked: Requirements, metric: Metric, most_checked: int = MOST_CHECKED
) -> tuple[LatticeNode | None, float, int]:
    """The best node found, a lower bound on the other totals, and how many were evaluated.

    The bound is infinite where the best node is proven to be the optimum.
    """
    search = _BoxSearch(rows, asked, metric, most_checked)
    search.descend()
    bound = search.divide()
    return search.found, bound, len(search.seen)


OF_TABLE, OF_REGISTER = 0, 1


@dataclass(frozen=True, eq=False)
class InRegister:
    """Delta-presence at any node: which share of each class of the register is in the table.

    A coarser class is a union of finer ones, and its share of people in the table is the mean of
    theirs, weighted by their people in the register. From a node to any coarser one, the smallest
    share can therefore only rise and the largest only fall: a node out of bounds rules out all
    finer ones. This fails where people have several rows, since one person may be in two of the
    united classes; no node then says anything about others.

    Suppressed rows count as present. Otherwise suppressing a class with too large a share would
    hide it, and the missing class would itself tell a recipient that the share was too large.

    Parameters
    ----------
    both : CodedRows
        The distinct rows of table and register; their `values` say whose a row is: the table's
        (0) or the register's (1).
    asked : DeltaPresence
        The range that the share of each class must lie in.

    Examples
    --------
    >>> town = pl.DataFrame({"job": ["cook"] * 4 + ["judge", "smith"]})
    >>> ladder = {"job": Ladder.from_dict("job", {"common": []})}
    >>> table = Table(pl.DataFrame({"job": ["cook", "judge"]}))
    >>> found = in_register(table, town, ["job"], ladder, DeltaPresence(0.0, 0.5))
    >>> found.presence_at((0,)), found.presence_at((1,)).most, found.hides((1,))
    (Presence(least=0.0, most=1.0), 0.333..., True)
    """

    both: CodedRows
    asked: DeltaPresence

    @property
    def nested(self) -> bool:
        """Whether a node out of bounds rules out all finer ones: each row must be a person."""
        return self.both.people is None

    @cached_property
    def _inside(self) -> Integers:
        return np.flatnonzero(self.both.values == OF_TABLE)

    @cached_property
    def _outside(self) -> Integers:
        return np.flatnonzero(self.both.values == OF_REGISTER)

    def presence_at(self, levels: Levels) -> Presence:
        """Smallest and largest share of any class at a node, suppressed rows included."""
        class_of, classes = self.both.classes_at(levels)
        once = self.both.once_in_class(class_of)
        inside, outside = (
            np.bincount(class_of[rows], once[rows], classes)
            for rows in (self._inside, self._outside)
        )
        return presence_of_counts(inside, outside)

    def hides(self, levels: Levels) -> bool:
        """Whether every class's share at a node is in range."""
        return not self.asked.short_by(self.presence_at(levels))

    def hopeless_words(self, top: Levels) -> str:
        """Error message where no node meets delta-presence, with the figures of the coarsest."""
        found = self.presence_at(top)
        return (
            "no levels keep the chance that somebody of the register is in the table from "
            f"{self.asked.low:g} to {self.asked.high:g} together with all else that is asked; with "
            f"every column at its coarsest level it is from {found.least:.4g} to {found.most:.4g}; "
            "allow a wider range with --delta-presence, or ask for less (k, l, t, ...)"
        )


def in_register(
    table: Table,
    population: Table | pl.DataFrame,
    quasi: Sequence[str],
    ladders: Mapping[str, Ladder],
    asked: DeltaPresence,
) -> InRegister:
    """Code table and register together, with the same ladders.

    Values that only the register has, and that a ladder lacks, go up it until a level covers them,
    just as when the register is generalised to the levels of a release.

    Parameters
    ----------
    table : Table
    population : Table or frame
        Everybody, those in the table included; one row each, unless it is a `Table` with people.
    quasi : sequence of str
    ladders : mapping of column to Ladder
    asked : DeltaPresence
        The range that the share of each class must lie in.
    """
    both, people, rows = stacked(table, population, quasi)
    leaves = [ladders[c].hierarchy(both.get_column(c), lacking=True) for c in quasi]
    codes, hierarchies = zip(*leaves)
    of = np.repeat([OF_TABLE, OF_REGISTER], [rows, both.height - rows])
    register = InRegister(coded_rows(codes, hierarchies, people=people, values=of), asked)
    register.presence_at((0,) * len(quasi))  # raises if the register lacks people of the table
    return register
