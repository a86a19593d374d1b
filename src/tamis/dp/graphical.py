"""Graphical models: a distribution over many columns that fits noisy marginals of a few each.

The idea is Private-PGM (McKenna, Sheldon and Miklau 2019): of all distributions over the bins of
the columns that fit the measured marginals best, take the one of maximal entropy. It is a graphical
model, a product of one factor for each measured set of columns. Its marginals come from belief
propagation on a junction tree, which costs as many cells as the tree has, not as many as the
columns could fill together.

Nothing here looks at a table: noisy counts come in, a model and rows drawn from it go out. So all
of it is post-processing, which costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.optimize import minimize

from tamis.arrays import Floats, Ints

Clique = tuple[int, ...]
"""Columns by number, ascending."""

STEPS = 200
"""Most steps of a fit. Little noise on large models may need more; it was not tuned."""
SHRINKAGE = 0.2
"""Shrinkage towards the uniform distribution: the fraction of its noise deviation by which a count
is moved for each factor of e that it differs from uniform. It keeps the fit well-conditioned, since
negative noisy counts have no finite potential. Chosen by the errors on Adult, where scaling by the
smallest deviation beat scaling by the largest."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy counts of some columns together, and the standard deviation of their noise."""

    clique: Clique
    counts: Floats = field(repr=False)
    """One dimension for each column."""
    deviation: float


@dataclass(frozen=True)
class JunctionTree:
    """A tree of cliques in which those that contain any one column are connected.

    Parameters
    ----------
    cliques : tuple of tuple of int
        Every measured set lies within one of these.
    parents : tuple of int
        The position of each clique's parent, always an earlier one; -1 for the root.
    """

    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]

    @classmethod
    def over(cls, bins: Sequence[int], measured: Iterable[Clique]) -> JunctionTree:
        """Triangulate the graph of columns that are measured together, and span a tree.

        The column whose elimination makes the smallest clique goes first; of equals, the one with
        the lowest number. If two cliques share no column, a message between them is one number.

        >>> JunctionTree.over([2, 2, 2], [(0, 1), (1, 2)]).cliques
        ((0, 1), (1, 2))
        """
        near: dict[int, set[int]] = {column: set() for column in range(len(bins))}
        for clique in measured:
            for one, other in combinations(clique, 2):
                near[one].add(other)
                near[other].add(one)
        cliques: list[frozenset[int]] = []
        while near:
            column = min(near, key=lambda c: (clique_cells(bins, (c, *near[c])), c))
            around = near.pop(column)
            for one in around:
                near[one] |= around - {one}
                near[one].discard(column)
            clique_set = frozenset((column, *around))
            if not any(clique_set <= larger for larger in cliques):
                cliques.append(clique_set)
        return cls(*_spanned([tuple(sorted(clique_set)) for clique_set in cliques]))

    @cached_property
    def separators(self) -> tuple[Clique, ...]:
        """The columns that each clique shares with its parent."""
        return tuple(
            () if parent < 0 else tuple(c for c in clique if c in self.cliques[parent])
            for clique, parent in zip(self.cliques, self.parents)
        )

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        places = range(len(self.cliques))
        return tuple(tuple(j for j in places if self.parents[j] == i) for i in places)

    def cells(self, bins: Sequence[int]) -> int:
        """The cells of all cliques together: the size of a model over the tree."""
        return sum(clique_cells(bins, clique) for clique in self.cliques)

    def home(self, columns: Iterable[int]) -> int | None:
        """The first clique that contains all these columns; `None` if none does."""
        wanted = set(columns)
        return next((i for i, clique in enumerate(self.cliques) if wanted <= set(clique)), None)


def clique_cells(bins: Sequence[int], columns: Iterable[int]) -> int:
    """The number of cells of some columns together."""
    return math.prod(bins[c] for c in columns)


def _spanned(cliques: list[Clique]) -> tuple[tuple[Clique, ...], tuple[int, ...]]:
    """Prim's maximum spanning tree by the number of shared columns, in the order of joining.

    For the cliques of a chordal graph a maximum spanning tree is a junction tree.
    """
    left = list(range(1, len(cliques)))
    order, parents = [0], [-1]
    while left:
        pairs = [(-len({*cliques[i]} & {*cliques[j]}), j, i) for j in left for i in order]
        _, joined, parent = min(pairs)
        left.remove(joined)
        parents.append(order.index(parent))
        order.append(joined)
    return tuple(cliques[i] for i in order), tuple(parents)


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """A distribution over all columns as a product of factors over a junction tree's cliques.

    Parameters
    ----------
    bins : tuple of int
        The number of bins of each column.
    tree : JunctionTree
    potentials : list of array
        The logarithm of each clique's factor, a dimension for each column.
    total : float
        The sum of each marginal: the estimated number of rows.
    measured : tuple of tuple of int
        The measured sets.
    factors : list of array
        The potentials of the measured sets; those of the cliques are sums of them.

    Examples
    --------
    >>> both = Measurement((0, 1), np.array([[30.0, 0.0], [0.0, 10.0]]), 1.0)
    >>> model = fit((2, 2), [both])
    >>> model.marginal((0,)).round()
    array([30., 10.])
    """

    bins: tuple[int, ...]
    tree: JunctionTree
    potentials: list[Floats] = field(repr=False)
    total: float
    measured: tuple[Clique, ...] = ()
    factors: list[Floats] = field(default_factory=list, repr=False)

    @classmethod
    def uniform(
        cls, bins: Sequence[int], measured: Iterable[Clique], total: float
    ) -> GraphicalModel:
        """The uniform distribution, ready to be fitted to some measured sets."""
        every = tuple(measured)
        tree = JunctionTree.over(bins, every)
        flat = [np.zeros([bins[c] for c in clique]) for clique in tree.cliques]
        return cls(tuple(bins), tree, flat, total, every)

    def with_factors(self, factors: list[Floats], homes: Sequence[int]) -> GraphicalModel:
        """The same tree with other factors of the measured sets, each added to its home clique.

        Both have their columns in ascending order, so no dimension needs to be moved.
        """
        potentials = [np.zeros_like(potential) for potential in self.potentials]
        for factor, home, measured in zip(factors, homes, self.measured):
            potentials[home] += _aligned(factor, measured, self.tree.cliques[home])
        return replace(self, potentials=potentials, factors=factors)

    @property
    def log_sum(self) -> float:
        """The log-partition function: the logarithm of the sum of the product of all factors."""
        return self._propagated[1]

    @property
    def beliefs(self) -> list[Floats]:
        """The expected counts of each clique."""
        return self._propagated[0]

    @cached_property
    def _propagated(self) -> tuple[list[Floats], float]:
        """Belief propagation, up the tree and down again: beliefs and the log-partition function.

        All in logarithms, so that cells of very low probability do not underflow.
        """
        tree, beliefs = self.tree, list(self.potentials)
        upward: list[Floats] = [np.zeros(())] * len(beliefs)
        for i in range(len(beliefs) - 1, 0, -1):  # parents come before their children
            parent = tree.parents[i]
            upward[i] = self._summed(beliefs[i], i)
            beliefs[parent] = beliefs[parent] + self._spread(upward[i], i, parent)
        log_sum = float(_log_of_sum(beliefs[0]))
        for i in range(1, len(beliefs)):
            parent = tree.parents[i]
            whole = _project_log(beliefs[parent], tree.cliques[parent], tree.separators[i])
            # The parent's belief without the message that came from this very child.
            beliefs[i] = beliefs[i] + self._spread(whole - upward[i], i, i)
        shift = math.log(self.total) - log_sum
        return [np.exp(belief + shift) for belief in beliefs], log_sum

    def _summed(self, belief: Floats, clique: int) -> Floats:
        return _project_log(belief, self.tree.cliques[clique], self.tree.separators[clique])

    def _spread(self, message: Floats, child: int, onto: int) -> Floats:
        return _aligned(message, self.tree.separators[child], self.tree.cliques[onto])

    def at_home(self, home: int, columns: Clique) -> Floats:
        """The expected counts of some columns of a clique."""
        return _project(self.beliefs[home], self.tree.cliques[home], columns)

    def marginal(self, columns: Clique) -> Floats:
        """The expected counts of some columns together."""
        home = self.tree.home(columns)
        if home is not None:
            return self.at_home(home, columns)
        scope, joint = self._carried(0, frozenset(columns))
        return _project(joint, scope, columns)

    def _carried(self, clique: int, wanted: frozenset[int]) -> tuple[Clique, Floats]:
        """The distribution of wanted columns at and below a clique, given its separator.

        Branches without a wanted column are left out: given the rest, they sum to one.
        """
        tree = self.tree
        own, joint = tree.cliques[clique], self.beliefs[clique]
        separator = tree.separators[clique]
        if tree.parents[clique] >= 0:
            beside = _aligned(_project(joint, own, separator), separator, own)
            joint = np.divide(joint, beside, out=np.zeros_like(joint), where=beside > 0)
        scope = own
        for child in tree.children[clique]:
            if not wanted & self._below[child] - set(own):
                continue
            more, given = self._carried(child, wanted)
            # A clique's own columns stay in the scope, since later children are given by some.
            both = tuple(sorted({*scope, *more}))
            joint = _aligned(joint, scope, both) * _aligned(given, more, both)
            scope = both
        kept = tuple(c for c in scope if c in wanted or c in separator)
        return kept, _project(joint, scope, kept)

    @cached_property
    def _below(self) -> list[frozenset[int]]:
        """The columns at and below each clique."""
        below = [frozenset(clique) for clique in self.tree.cliques]
        for i in range(len(below) - 1, 0, -1):
            below[self.tree.parents[i]] |= below[i]
        return below

    def draw(self, rows: int, rng: np.random.Generator) -> list[Ints]:
        """The bins of some rows, one array for each column, in no order.

        Each clique is drawn given the values drawn for its parent. Rows are dealt to cells by
        systematic sampling instead of being drawn one by one, so that they deviate less from the
        model than independent draws would.
        """
        drawn = [np.zeros(rows, dtype=np.int64) for _ in self.bins]
        tree = self.tree
        for clique, separator, belief in zip(tree.cliques, tree.separators, self.beliefs):
            new = tuple(c for c in clique if c not in separator)
            known = clique_cells(self.bins, separator)
            table = _project(belief, clique, (*separator, *new)).reshape(known, -1)
            at = _ravelled([drawn[c] for c in separator], [self.bins[c] for c in separator], rows)
            cells = _dealt(table, at, rng)
            for column, places in zip(new, np.unravel_index(cells, [self.bins[c] for c in new])):
                drawn[column] = places
        return drawn


def _ravelled(codes: Sequence[Ints], bins: Sequence[int], rows: int) -> Ints:
    if not codes:
        return np.zeros(rows, dtype=np.int64)
    return np.asarray(np.ravel_multi_index(tuple(codes), tuple(bins)), dtype=np.int64)


def _dealt(table: Floats, at: Ints, rng: np.random.Generator) -> Ints:
    """A cell for each row, in proportion to the table's line `at` which the row is.

    Systematic sampling: a line's expected counts are added up from a random start below one, and
    each cell gets as many rows as whole numbers are passed within it. The numbers of rows are right
    in expectation, and never off by one or more.
    """
    sizes = np.bincount(at, minlength=len(table))
    sums = table.sum(axis=1, keepdims=True)
    even = np.full_like(table, 1 / table.shape[1])
    shares = np.divide(table, sums, out=even, where=sums > 0)
    upto = np.cumsum(shares * sizes[:, None], axis=1) + rng.random((len(table), 1))
    upto[:, -1] = sizes + 0.5  # the last one passes the size exactly, whatever rounding did
    whole = np.minimum(np.floor(upto), sizes[:, None]).astype(np.int64)
    counts = np.diff(whole, axis=1, prepend=0)
    cells = np.repeat(np.tile(np.arange(table.shape[1]), len(table)), counts.ravel())
    # The cells of a line are dealt to its rows in random order.
    order = np.lexsort((rng.random(len(at)), at))
    dealt = np.empty(len(at), dtype=np.int64)
    dealt[order] = cells
    return dealt


def fit(
    bins: Sequence[int],
    measured: Sequence[Measurement],
    *,
    before: GraphicalModel | None = None,
    steps: int = STEPS,
) -> GraphicalModel:
    """The model of maximal entropy among those that fit the measurements best.

    Parameters
    ----------
    bins : sequence of int
        The number of bins of each column.
    measured : sequence of Measurement
    before : GraphicalModel, optional
        A model of the first of the measurements, to start from.
    steps : int

    Notes
    -----
    With counts y and noise of deviation s, the model minimises the sum of (expected - y)^2 / 2 s^2
    plus tau n times its Kullback-Leibler divergence from the uniform distribution. The dual of that
    has no constraints: over the potentials p of the measured sets, n log Z(p) - p y +
    tau s^2 p^2 / 2, whose gradient is expected - y + tau s^2 p, from one belief propagation. It is
    convex, and L-BFGS minimises it, with each potential scaled by the curvature of its own count.
    """
    base = GraphicalModel.uniform(bins, [m.clique for m in measured], estimate_total(measured))
    homes = [base.tree.home(m.clique) or 0 for m in measured]
    tau = SHRINKAGE / min(m.deviation for m in measured)
    counts = np.concatenate([m.counts.ravel() for m in measured])
    ridge = np.concatenate([np.full(m.counts.size, tau * m.deviation**2) for m in measured])
    # About the inverse root of the dual's diagonal curvature: a cell's count has a variance of
    # about itself. Noisy counts may be 0 or less, hence the floor.
    scale = 1 / np.sqrt(np.maximum(counts, np.sqrt(ridge / tau)) + ridge)

    def model_of(scaled: Floats) -> GraphicalModel:
        return base.with_factors(_cut(scaled * scale, measured), homes)

    def dual(scaled: Floats) -> tuple[float, Floats]:
        model, potentials = model_of(scaled), scaled * scale
        cells = [model.at_home(home, m.clique) for home, m in zip(homes, measured)]
        expected = np.concatenate([c.ravel() for c in cells])
        value = model.total * model.log_sum - potentials @ counts + ridge @ potentials**2 / 2
        return float(value), (expected - counts + ridge * potentials) * scale

    start = np.zeros(len(counts))
    if before is not None:
        known = np.concatenate([factor.ravel() for factor in before.factors])
        start[: len(known)] = known / scale[: len(known)]
    found = minimize(dual, start, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return model_of(np.asarray(found.x))


def _cut(values: Floats, measured: Sequence[Measurement]) -> list[Floats]:
    """Cut a flat array into one array for each measurement, in its shape."""
    ends = np.cumsum([m.counts.size for m in measured])[:-1]
    return [part.reshape(m.counts.shape) for part, m in zip(np.split(values, ends), measured)]


def estimate_total(measured: Sequence[Measurement]) -> float:
    """The number of rows, at least 1: the mean of all sums, weighted by inverse noise variance."""
    weights = np.array([1 / (m.counts.size * m.deviation**2) for m in measured])
    sums = np.array([m.counts.sum() for m in measured])
    return max(1.0, float((weights * sums).sum() / weights.sum()))


def _project(table: Floats, scope: Clique, columns: Sequence[int]) -> Floats:
    """Marginalise a table to some columns, in the order given."""
    kept = [c for c in scope if c in columns]
    summed = table.sum(axis=tuple(i for i, c in enumerate(scope) if c not in columns))
    return np.asarray(summed).transpose([kept.index(c) for c in columns])


def _project_log(table: Floats, scope: Clique, columns: Clique) -> Floats:
    gone = tuple(i for i, c in enumerate(scope) if c not in columns)
    return _log_of_sum(table, gone) if gone else table


def _log_of_sum(table: Floats, axis: tuple[int, ...] | None = None) -> Floats:
    """Log-sum-exp; SciPy's takes ten times as long for small tables."""
    most = table.max(axis=axis, keepdims=True)
    summed = np.log(np.exp(table - most).sum(axis=axis))
    return np.asarray(summed + most.reshape(np.shape(summed)))


def _aligned(table: Floats, scope: Clique, onto: Clique) -> Floats:
    """The table with dimensions of 1 for the other columns of a wider scope, ready to broadcast."""
    sizes = iter(table.shape)
    return table.reshape([next(sizes) if c in scope else 1 for c in onto])
