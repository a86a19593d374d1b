"""`DPSynthesiser`: AIM and MST, which also choose with noise the columns to count together.

A histogram of all columns has more cells than rows can fill, and counts of single columns say
nothing about associations between columns. Both algorithms measure a few small sets of columns that
matter: they choose sets, count them with noise, and draw rows from the distribution that fits all
the counts (`tamis.dp.graphical`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np

from tamis.arrays import Ints
from tamis.dp.budget import Budget, ConcentratedLoss, Neighbours, PrivacyLoss, PureLoss, rho_of
from tamis.dp.domain import Axis
from tamis.dp.graphical import (
    Clique,
    GraphicalModel,
    JunctionTree,
    Measurement,
    clique_cells,
    fit,
)
from tamis.dp.histogram import row_shuffler
from tamis.dp.private_table import PrivateTable
from tamis.errors import InputError, check_whole
from tamis.table import Table

ROUNDS = 16
"""Planned rounds of AIM for each column, as its authors have it; halving noise makes them fewer."""
CHOOSING = 0.1
"""Share of a round's budget that AIM spends on choosing; the rest is for counting."""
MOST_CANDIDATES = 500
"""AIM considers triples of columns if there are at most so many sets, otherwise only pairs."""
FEW_STEPS = 30
"""Steps of a fit between rounds, which starts from the model of the round before."""
MOST_CELLS = 1 << 16
"""Most cells of a model: a fit then takes seconds."""


@dataclass(eq=False, repr=False, kw_only=True)
class DPSynthesiser(PrivateTable):
    """Draw a table from noisy counts of pairs and triples of columns that are chosen privately.

    For tables with more columns than a histogram or a partition can handle.

    Parameters
    ----------
    epsilon : float
        The privacy budget in total.
    delta : float, default 0
        With a delta above 0, such as 1e-9, noise is Gaussian, and far less of it is needed: the
        guarantee of epsilon may then fail with that probability. It must be far below 1 / n for n
        people. With 0 the noise is Laplace, and the guarantee always holds.
    algorithm : {"aim", "mst"}
        `aim` chooses one set of columns after another, each time one for which the model is
        farthest from the table; `mst` counts the pairs of one tree over all columns, which is
        quicker.
    bins : int
        Intervals of a column of numbers.
    max_model_cells : int
        Most cells of the model.
    bounds, missing, bounds_from_data, max_rows_per_person, random_state
        As for `DPHistogram`; the seed is for drawing rows, noise has none.

    Attributes
    ----------
    measured_ : list of Measurement
        The noisy counts, by the numbers of their columns in `axes_`. They may be published.
    model_ : GraphicalModel
    axes_ : list of Axis
    budget_ : Budget
    recipe_ : dict
        What was spent, for neighbours ``"add-remove"``, within which bounds.

    Notes
    -----
    AIM is McKenna, Mullins, Sheldon and Miklau (2022), Algorithm 2, with all triples of columns as
    the workload (pairs, where there are more than 500 sets); MST is McKenna, Miklau and Sheldon
    (2021) without the merging of rare values: bins are public here.

    Why it is private. The names of columns, their bins and the workload are public. The table is
    looked at in two ways only. (1) Counts of a set of columns: a person adds at most m rows
    (`max_rows_per_person`), so between neighbours counts change by m in total, and by no more in
    Euclidean length; noise of that sensitivity is added (`PrivacyLoss.measure`). (2) A choice among
    sets: the score of a set is a public weight times the sum of absolute differences between its
    counts and those of a model of what was drawn before, less a public penalty, so it changes by at
    most m times the largest weight (`PrivacyLoss.choose`). Costs of steps that depend on the noisy
    results of earlier ones add up, in epsilon as in rho; `PrivacyLoss` adds them and refuses to
    exceed the total. The model, when to stop and the rows are computed from noisy results alone.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({f"x{i}": [0, 1] * 500 for i in range(4)} | {"ill": [0, 1] * 500})
    >>> bounds = {name: [0, 1] for name in frame.columns}
    >>> model = DPSynthesiser(8.0, bounds=bounds, algorithm="mst").fit(frame, target="ill")
    >>> drawn = model.sample()
    >>> bool((drawn["x0"] == drawn["ill"]).mean() > 0.9)
    True
    """

    delta: float = 0.0
    algorithm: Literal["aim", "mst"] = "aim"
    bins: int = 10
    max_model_cells: int = MOST_CELLS
    neighbours: Neighbours = field(init=False, default="add-remove")

    def _measure(self, table: Table, budget: Budget) -> None:
        check_whole("bins", self.bins)
        check_whole("max_model_cells", self.max_model_cells)
        if self.algorithm not in _ALGORITHMS:
            raise InputError(f"algorithm must be 'aim' or 'mst', got {self.algorithm!r}")
        self.axes_ = self._axes(table, self.bins)
        counts = TrueCounts(
            [axis.codes(table.frame.get_column(axis.name)) for axis in self.axes_],
            [axis.bins for axis in self.axes_],
        )
        what = f"choices and counts of {self.algorithm.upper()}"
        budget.spend(self.epsilon, what, self.delta)
        loss = self._loss()
        self.measured_ = _ALGORITHMS[self.algorithm](counts, loss, self.max_model_cells)
        self.model_ = fit(counts.bins, self.measured_)
        self._total = self._rows_to_draw(table, round(self.model_.total))

    def _loss(self) -> PrivacyLoss:
        if self.delta == 0:
            return PureLoss(self.epsilon, self._moved)
        return ConcentratedLoss(rho_of(self.epsilon, self.delta), self._moved)

    def _axes(self, table: Table, bins: int) -> list[Axis]:
        """The axes; an error if a single column has more bins than a model may have cells."""
        declared = super()._axes(table, bins)
        if wide := [axis.name for axis in declared if axis.bins > self.max_model_cells]:
            raise InputError(
                f"column {wide[0]!r} has more bins than a model may have cells, "
                f"{self.max_model_cells:,}; declare fewer values, or raise max_model_cells"
            )
        return declared

    def _boxes(self) -> list[tuple[Ints, Ints]]:
        drawn = self.model_.draw(self._total, row_shuffler(self.random_state))
        return [(places, places + 1) for places in drawn]


class TrueCounts:
    """The counts of any set of columns, without noise: only for use through a `PrivacyLoss`."""

    def __init__(self, codes: Sequence[Ints], bins: Sequence[int]) -> None:
        self._codes, self.bins = list(codes), tuple(bins)
        self._known: dict[Clique, Ints] = {}

    def __getitem__(self, clique: Clique) -> Ints:
        if clique not in self._known:
            shape = [self.bins[c] for c in clique]
            cells = np.ravel_multi_index([self._codes[c] for c in clique], shape)
            counts = np.bincount(cells, minlength=math.prod(shape)).astype(np.int64)
            self._known[clique] = counts.reshape(shape)
        return self._known[clique]

    def measure(self, clique: Clique, loss: PrivacyLoss, cost: float) -> Measurement:
        """Noisy counts of a set of columns."""
        noisy = loss.measure(self[clique], cost).astype(np.float64)
        return Measurement(clique, noisy, loss.deviation(cost))

    def distance(self, clique: Clique, model: GraphicalModel) -> float:
        """L1 distance from the model's marginal; one more row changes it by at most 1."""
        return float(np.abs(self[clique] - model.marginal(clique)).sum())


def measure_tree(counts: TrueCounts, loss: PrivacyLoss, most: int) -> list[Measurement]:
    """MST: measure each column, then the pairs of a maximum spanning tree chosen with noise.

    A third of the total each is spent on the columns, on choosing the pairs one after another (each
    joins two parts of the tree), and on measuring the pairs. If columns have too many bins to be
    joined, the rest of the share for choosing is not spent.
    """
    columns = range(len(counts.bins))
    if len(columns) == 1:
        return [counts.measure((0,), loss, loss.total)]
    third = loss.total / 3
    found = [counts.measure((c,), loss, third / len(columns)) for c in columns]
    model = fit(counts.bins, found)
    pairs = [p for p in combinations(columns, 2) if clique_cells(counts.bins, p) <= most]
    scores = np.array([counts.distance(pair, model) for pair in pairs])
    part = list(columns)  # Kruskal's algorithm: the part of the forest that each column is in
    chosen: list[Clique] = []
    for _ in range(len(columns) - 1):
        open_pairs = [i for i, (a, b) in enumerate(pairs) if part[a] != part[b]]
        if not open_pairs:
            break
        place = loss.choose(scores[open_pairs], loss.moved, third / (len(columns) - 1))
        one, other = pairs[open_pairs[place]]
        part = [part[one] if p == part[other] else p for p in part]
        chosen.append((one, other))
    return found + [counts.measure(pair, loss, third / len(chosen)) for pair in chosen]


def measure_adaptively(counts: TrueCounts, loss: PrivacyLoss, most: int) -> list[Measurement]:
    """AIM: measure each column, then one set after another for which the model is farthest off.

    Noise is halved whenever a round changed the model by less than its noise; the last round spends
    what is left. The size allowed for the model grows with the budget spent, so that early rounds
    do not use up all its cells.
    """
    weights = workload_weights(len(counts.bins))
    rounds = ROUNDS * len(counts.bins)
    counting, choosing = ((1 - CHOOSING) * loss.total / rounds, CHOOSING * loss.total / rounds)
    found = [counts.measure((c,), loss, counting) for c in range(len(counts.bins))]
    model = fit(counts.bins, found)
    while loss.left > loss.total * 1e-6:
        if loss.left < 2 * (counting + choosing):  # too little for another round: the last one
            counting, choosing = (1 - CHOOSING) * loss.left, CHOOSING * loss.left
        noise = loss.mean_noise(counting)
        clique = _chosen(counts, model, weights, noise, choosing, loss, found, most)
        found.append(counts.measure(clique, loss, counting))
        before, model = model, fit(counts.bins, found, before=model, steps=FEW_STEPS)
        change = np.abs(model.marginal(clique) - before.marginal(clique)).sum()
        if change <= noise * clique_cells(counts.bins, clique):
            counting, choosing = counting * loss.halving, choosing * loss.halving
    return found


def _chosen(
    counts: TrueCounts,
    model: GraphicalModel,
    weights: dict[Clique, int],
    noise: float,
    cost: float,
    loss: PrivacyLoss,
    found: Sequence[Measurement],
    most: int,
) -> Clique:
    """Choose with noise the set to count next: far from the model, net of the noise of counting."""
    room = most * loss.spent / loss.total
    cliques = [m.clique for m in found]
    open_sets = [c for c in weights if _fits(counts.bins, model.tree, cliques, c, room)]
    scores = [
        weights[c] * (counts.distance(c, model) - noise * clique_cells(counts.bins, c))
        for c in open_sets
    ]
    largest = max(weights[c] for c in open_sets)  # bounds the sensitivity of all scores
    return open_sets[loss.choose(np.array(scores), largest * loss.moved, cost)]


def _fits(
    bins: Sequence[int], tree: JunctionTree, cliques: list[Clique], more: Clique, room: float
) -> bool:
    """Whether a model with one more set has few enough cells; a set within a clique adds none."""
    if tree.home(more) is not None:
        return True
    if clique_cells(bins, more) > room:
        return False
    return JunctionTree.over(bins, [*cliques, more]).cells(bins) <= room


def workload_weights(columns: int) -> dict[Clique, int]:
    """All sets of up to three (or two) columns, weighted by the columns shared with the workload.

    >>> workload_weights(2)
    {(0,): 1, (1,): 1, (0, 1): 2}
    """
    sizes = 3 if math.comb(columns, 3) + math.comb(columns, 2) <= MOST_CANDIDATES else 2
    sizes = min(sizes, columns)
    workload = list(combinations(range(columns), sizes))
    every = _closure(columns, sizes)
    return {c: sum(len({*c} & {*other}) for other in workload) for c in every}


def _closure(columns: int, sizes: int) -> Iterable[Clique]:
    return (c for size in range(1, sizes + 1) for c in combinations(range(columns), size))


_ALGORITHMS = {"aim": measure_adaptively, "mst": measure_tree}
