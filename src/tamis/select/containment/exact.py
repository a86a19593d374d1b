"""The optimal feasible set, or the best found in a given time with an upper bound: branch and cut.

The bound comes from a linear program in which each column is chosen to a *share* between 0 and 1,
tightened by cuts that every feasible set satisfies. A set of columns is *light* if some rows have
all of them, but fewer than k do: no feasible set contains it. A *cut* says that at most `most`
columns of a group can be chosen, since any `most + 1` of them contain a light set. It starts from a
light set and grows by columns that keep this true. The kernels look for light sets whose cuts the
current shares violate. For a utility that is not a sum over the columns, further cuts (*ceilings*)
say that a set is worth at most the utility of a base set plus what each column would add to it.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from tamis.arrays import Floats
from tamis.binary.kernels import ALL, ones
from tamis.kernel_cache import njit
from tamis.select.containment.improve import Filled, Filler, deadline, improved
from tamis.select.containment.itemsets import QUICK_K, best_itemset
from tamis.select.containment.selection import Selection

Places = NDArray[np.int64]

TOLERANCE = 1e-7
"""Tolerance of the linear programs, as a fraction of the bound."""
WARM_UP = 100
"""Rounds of local search before the first linear program."""
# Cuts hold for the whole tree, so most are made at the root, where each serves every node.
ROUNDS_AT_ROOT, ROUNDS = 200, 4
"""The most rounds of solving and cutting at the root, and at any other node."""
MANY_CUTS = 1500
"""Number of cuts above which those that are not binding are dropped."""
AT_ONCE = 200
"""The most light sets to look for at a time, but no more than there are columns."""
LONGEST_ROUND = 60
"""Room for the columns of a light set and for the group of a cut; longer ones are not found."""
ROOM = 1.2
"""Light sets may lack this much to 1: above 1 their own cut is not violated, but one grown from
it may be."""
SLACK = 1e-6
"""By how much shares must exceed a cut to violate it; less is rounding of the solver."""
NARROW = 64
"""The most columns for which every set of all columns but one is evaluated."""
# These three cap the work of finding cuts: what is missed costs tightness, never correctness.
NODES, COMBINATIONS, GROWTH = 50_000, 400, 10
"""The most sets examined for light ones, choices tried for a cut, and columns that it grows by."""


def exact(
    X: Any,
    y: Any,
    k: int,
    *,
    utility: str = "hamdist",
    time_limit: float | None = None,
    labelled: Any = None,
) -> Selection:
    """Find the set with the largest utility among all that keep the anonymity at k.

    Parameters
    ----------
    X, y, k, labelled
        As in `tamis.select.containment.greedy.GreedySearch`; `k` is the anonymity to keep.
    utility : {"hamdist", "distcnt"}
    time_limit : float, optional
        Seconds after which the best set found is returned with its bound; by default it runs
        until the optimum is proven. The result of a stopped search depends on the machine.

    Returns
    -------
    Selection
        With `bound`, which no feasible set exceeds; it equals the utility if the optimum is
        proven (up to the seventh digit, the precision of linear programs).

    Notes
    -----
    Branch and cut. A set is feasible if and only if it contains no light set, that is, no set of
    columns that some rows have, but fewer than k (Zhang et al. 2017, Lemma 2); light sets give the
    cuts of `Relaxation`. The shares of every linear program are rounded to a set by completing it
    greedily, which may improve the best set so far.

    Examples
    --------
    >>> X = [[1, 1, 1]] + [[1, 0, 0]] * 3 + [[0, 1, 1]] * 2 + [[0, 0, 0]] * 4
    >>> found = exact(X, [1] * 6 + [0] * 4, k=2)
    >>> found.features, found.gap
    ((1, 2), 0.0)
    """
    end = deadline(time_limit)
    filler = Filler(X, y, k, utility, labelled)
    best = improved(filler, WARM_UP, end)
    if not len(filler.candidates):
        return filler.selection(best, 0.0)
    if k <= QUICK_K:
        common = filler.fill(best_itemset(filler, X, k))
        best = max(best, common, key=lambda filled: filled.value)
    search = _BranchAndCut(Relaxation(filler), best, end)
    bound = search.run()
    return filler.selection(search.best.in_order(), max(bound, search.utility))


@dataclass(order=True)
class _Node:
    """Feasible sets with some columns fixed in or out; the largest bound comes first."""

    minus_bound: float
    number: int
    low: Floats = field(compare=False)
    high: Floats = field(compare=False)


class _BranchAndCut:
    def __init__(self, relaxation: Relaxation, best: Filled, end: float) -> None:
        self.relaxation, self.best, self.end = relaxation, best, end
        self.made = 0
        width = len(relaxation.worth)
        self.open = [_Node(-float(relaxation.worth.sum()), 0, np.zeros(width), np.ones(width))]

    @property
    def utility(self) -> float:
        return self.best.value / self.relaxation.filler.unit

    def run(self) -> float:
        """Search until nothing better is left or the time is up; return the bound reached."""
        while self.open:
            bound = -self.open[0].minus_bound
            if not self._promises(bound):
                break
            if time.monotonic() > self.end:
                return bound
            self._look(heapq.heappop(self.open))
        return self.utility

    def _promises(self, bound: float) -> bool:
        return bound > self.utility + TOLERANCE * max(1.0, bound)

    def _look(self, node: _Node) -> None:
        """Bound the sets of a node; branch if some may be better than the best so far."""
        bound, shares = self._bounded(node)
        # Cuts are dropped at times, so this program may be looser than that of the parent node,
        # whose bound holds here too.
        bound = min(bound, -node.minus_bound)
        if shares is None or not self._promises(bound):
            return
        if len(self.relaxation.groups) > MANY_CUTS or not self.made:
            self.relaxation.keep_tight(shares)
        open_part = np.minimum(shares, 1 - shares)
        if open_part.max() < TOLERANCE:
            # A feasible set would have been tried, and be the best so far, with its utility as the
            # bound. So this one is infeasible, or its ceiling was only just added: solve again.
            self.relaxation.forbid(shares)
            self._push(bound, node.low, node.high)
            return
        # Branch on the most undecided column, weighted by its utility: it should move the bounds
        # of both children most.
        column = int(np.argmax(open_part * self.relaxation.worth))
        for side in (0.0, 1.0):
            low, high = node.low.copy(), node.high.copy()
            low[column] = high[column] = side
            self._push(bound, low, high)

    def _bounded(self, node: _Node) -> tuple[float, Floats | None]:
        """Alternate between solving and cutting while the bound falls."""
        bounds = list[float]()
        for _ in range(ROUNDS if self.made else ROUNDS_AT_ROOT):
            bound, shares = self.relaxation.solve(node.low, node.high)
            if shares is None or not self._promises(bound):
                return bound, None
            self._try(shares)
            bounds.append(bound)
            # Stop when five rounds together lowered the bound by less than a thousandth.
            stalls = len(bounds) > 6 and bounds[-6] - bound < 1e-3 * bound
            late = time.monotonic() > self.end
            if stalls or late or not self.relaxation.tighten(shares, bound):
                break
        return bound, shares

    def _try(self, shares: Floats) -> None:
        """Complete the columns with the largest shares greedily; keep the set if it is the best."""
        # Small shares say little; greedy completion picks better among those columns.
        likely = np.argsort(-shares, kind="stable")
        likely = likely[shares[likely] > 0.2]
        filled = self.relaxation.filler.fill(self.relaxation.first[likely])
        if filled.value > self.best.value:
            self.best = filled

    def _push(self, bound: float, low: Floats, high: Floats) -> None:
        self.made += 1
        heapq.heappush(self.open, _Node(-bound, self.made, low, high))


@register_jitable
def support_of(rows: Any, columns: Any, size: int) -> Any:
    """The number of rows that have all of the first `size` columns."""
    total = np.int64(0)
    for w in range(rows.shape[1]):
        word = ALL
        for a in range(size):
            word &= rows[columns[a], w]
        total += np.int64(ones(word))
    return total


@njit(cache=True)
def is_light(rows: Any, columns: Any, size: int, k: int) -> bool:
    support = support_of(rows, columns, size)
    return bool(0 < support < k)


@njit(cache=True)
def light_sets(rows: Any, lack: Any, order: Any, k: int, room: float, light: Any) -> int:
    """Find light sets whose columns together lack less than `room`; return how many.

    `lack` is one minus the share of each column. The search is depth-first over the columns, least
    lack first. The sets are written to the rows of `light`, each ended by -1.
    """
    # At most all but one column of a light set can be chosen, so shares violate its cut if the
    # lacks of its columns sum to less than 1. Lacks ascend along `order`: if one is too large, so
    # are the rest. A set that no row has is not light, nor is any larger one, and a light set is
    # not extended: the cut of the smaller set is stronger.
    depth, words = light.shape[1] - 1, rows.shape[1]
    held = np.empty((depth + 1, words), dtype=np.uint64)
    for w in range(words):
        held[0, w] = ALL
    place = np.zeros(depth + 1, dtype=np.int64)
    used = np.zeros(depth + 1)
    chosen = np.zeros(depth + 1, dtype=np.int64)
    level, count, nodes = 0, 0, 0
    while level >= 0:
        at = place[level]
        end = at >= len(order) or level >= depth or nodes >= NODES or count >= len(light)
        if end or used[level] + lack[order[at]] >= room:
            level -= 1
            continue
        nodes += 1
        place[level] += 1
        chosen[level] = order[at]
        support = np.int64(0)
        for w in range(words):
            held[level + 1, w] = held[level, w] & rows[order[at], w]
            support += np.int64(ones(held[level + 1, w]))
        if support >= k:
            used[level + 1] = used[level] + lack[order[at]]
            place[level + 1] = at + 1
            level += 1
        elif support > 0:
            for a in range(level + 1):
                light[count, a] = chosen[a]
            light[count, level + 1] = -1
            count += 1
    return count


@njit(cache=True)
def shrink(rows: Any, columns: Any, size: int, k: int) -> int:
    """Remove columns while the set stays light; those left come first. Return their number.

    Some row has the whole set, so it has every part: a part is light as soon as its support is
    below k.
    """
    place = 0
    while place < size:
        column = columns[place]
        columns[place] = columns[size - 1]
        columns[size - 1] = column
        if size > 1 and support_of(rows, columns, size - 1) < k:
            size -= 1
        else:
            columns[size - 1] = columns[place]
            columns[place] = column
            place += 1
    return size


@njit(cache=True)
def grow_cut(rows: Any, group: Any, size: int, order: Any, k: int) -> int:
    """Extend a light set of `size` columns to a larger group of which `size - 1` can be chosen.

    Returns the size of the group. A larger group under the same limit is a stronger cut.
    """
    most = size - 1
    first = size
    for column in order:
        if size == first + GROWTH or size == len(group):
            break
        known = False
        for a in range(size):
            known |= group[a] == column
        if not known and bars(rows, group, size, most, column, k):
            group[size] = column
            size += 1
    return size


@register_jitable
def bars(rows: Any, group: Any, size: int, most: int, column: int, k: int) -> bool:
    """Whether every choice of `most` columns of the group contains a light set with `column`."""
    # A choice with a column that forms a light pair with the new one contains that pair, so only
    # choices among the others, the free ones, are tried. If these are too few, there is none.
    # After `COMBINATIONS` choices the answer is no: the cut may be weaker, but never wrong.
    pair = np.empty(2, dtype=np.int64)
    pair[0] = column
    free = np.empty(size, dtype=np.int64)
    frees = 0
    for a in range(size):
        pair[1] = group[a]
        if not is_light(rows, pair, 2, k):
            free[frees] = group[a]
            frees += 1
    if frees < most:
        return True
    members = np.empty(most + 1, dtype=np.int64)
    members[most] = column
    pick = np.arange(most)
    for _ in range(COMBINATIONS):
        for a in range(most):
            members[a] = free[pick[a]]
        if not is_light(rows, members, most + 1, k):
            return False
        # The next combination in lexicographic order, until the last one.
        a = most - 1
        while a >= 0 and pick[a] == frees - most + a:
            a -= 1
        if a < 0:
            return True
        pick[a] += 1
        for b in range(a + 1, most):
            pick[b] = pick[b - 1] + 1
    return False


class Relaxation:
    """The linear program that bounds the utility of all feasible sets, or of those of a node.

    Equal columns can always be chosen together, so they share one variable; `first` has the
    position of one of them among the candidates of the filler.
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
        """Bound and shares within the given limits; no shares if no set is left."""
        width = len(self.worth)
        # With ceilings, the utility is one more variable, below all of them; it is at most 1.
        cost, limits = -self.worth, np.column_stack([low, high]).tolist()
        if self.ceilings:
            cost, limits = np.append(np.zeros(width), -1.0), [*limits, [0.0, 1.0]]
        right = [*(most for _, most in self.groups), *(base for base, _ in self.ceilings)]
        solution: Any = linprog(cost, A_ub=self._left(len(cost)), b_ub=right, bounds=limits)
        if solution.x is None:
            return -np.inf, None
        return -float(solution.fun), np.clip(solution.x[:width], 0.0, 1.0)

    def _left(self, width: int) -> Any:
        """Constraint matrix: first the cuts, then the ceilings, with the utility as last column."""
        sizes = [len(group) for group, _ in self.groups] + [width] * len(self.ceilings)
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        empty, full = np.zeros(0, np.int64), np.arange(width)
        groups = np.concatenate([empty, *(group for group, _ in self.groups)])
        which = np.concatenate([groups, np.tile(full, len(self.ceilings))])
        values = np.concatenate([np.ones(len(groups)), *(row for _, row in self.ceilings)])
        return sparse.csr_array((values, which, starts), shape=(len(sizes), width))

    def tighten(self, shares: Floats, bound: float) -> bool:
        """Add cuts that the shares violate; return whether there were any."""
        cuts = self._broken(shares)
        self.groups += cuts
        return self._ceiling(shares, bound) or bool(cuts)

    def forbid(self, shares: Floats) -> bool:
        """Cut off shares of 0 and 1 that are not a feasible set; return whether they are not."""
        chosen = np.flatnonzero(shares > 0.5)
        # An infeasible set contains a light pattern: what some row has of the chosen columns.
        held = np.unpackbits(self.rows[chosen].view(np.uint8), axis=1, bitorder="little")
        patterns = np.unique(held.T, axis=0).astype(bool)
        order = np.argsort(-self.worth, kind="stable")
        groups = [chosen[p] for p in patterns if p.any()]
        light = [g for g in groups if is_light(self.rows, g, len(g), self.filler.k)]
        cuts = dict(self._grown(group, order) for group in light[:AT_ONCE])
        self.groups += [(np.array(group), most) for group, most in cuts.items()]
        return bool(cuts)

    def keep_tight(self, shares: Floats) -> None:
        """Drop cuts that are not binding at these shares; they are found again when needed."""
        self.groups = [(g, most) for g, most in self.groups if shares[g].sum() > most - SLACK]

    def _broken(self, shares: Floats) -> list[tuple[Places, int]]:
        order = np.argsort(-shares - 1e-9 * self.worth, kind="stable")
        written = np.full((min(AT_ONCE, len(order)), LONGEST_ROUND), -1)
        count = light_sets(self.rows, 1 - shares, order, self.filler.k, ROOM, written)
        light = [row[: int(np.argmin(row))] for row in written[:count]]
        cuts = dict(self._grown(group, order) for group in light)
        return [
            (np.array(group), most)
            for group, most in cuts.items()
            if shares[list(group)].sum() > most + SLACK
        ]

    def _grown(self, light: Places, order: Places) -> tuple[tuple[int, ...], int]:
        """A cut grown from a light set: its group, and how many of its columns can be chosen."""
        group = np.empty(max(LONGEST_ROUND, len(light)), dtype=np.int64)
        group[: len(light)] = light
        least = shrink(self.rows, group, len(light), self.filler.k)
        size = grow_cut(self.rows, group, least, order, self.filler.k)
        return tuple(sorted(group[:size].tolist())), least - 1

    def _losses(self) -> Floats:
        """For each column, a lower bound of what any set loses without it.

        By submodularity a column adds least to the set of all others.
        """
        if len(self.first) > NARROW:
            return np.zeros(len(self.first))  # 0 is always a bound
        whole, _ = self.filler.gains(self.first)
        without = [self.filler.gains(np.delete(self.first, i))[0] for i in range(len(self.first))]
        return (whole - np.array(without)) / self.filler.unit

    def _ceiling(self, shares: Floats, bound: float = np.inf) -> bool:
        """Add the ceiling over the set of columns most likely to be chosen, if it lowers the bound.

        Only for a utility that is not a sum; return whether a ceiling was added.
        """
        if self.filler.modular:
            return False
        # The utility is submodular: a column adds no more to a set than to a part of that set.
        # So, given a base T, any set S is worth at most T, plus what each column of S outside T
        # would add to T, less what each column of T outside S adds at least, which is what it adds
        # to all the others (Nemhauser and Wolsey). Below, the losses of all of T are subtracted
        # from the base, and a column of T that is chosen gives its own back.
        value, adds = self.filler.gains(self.first[shares > 0.5])
        slopes = adds[self.first] / self.filler.unit + np.where(shares > 0.5, self.losses, 0.0)
        base = value / self.filler.unit - self.losses[shares > 0.5].sum()
        if bound <= base + slopes @ shares + SLACK:
            return False
        self.ceilings.append((base, np.append(-slopes, 1.0)))
        return True


def _distinct_columns(filler: Filler) -> tuple[NDArray[np.uint64], Places, Floats]:
    """Distinct columns as bits over the rows, the first position of each, and its utility.

    The utility is that of all columns equal to it. Of more than k equal rows only k are kept,
    which is enough to tell what is light.
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
