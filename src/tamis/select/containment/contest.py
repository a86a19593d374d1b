"""Which way to choose suits a table: several compete on rows that they have not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.matrix import Binary, sparse_columns
from tamis.select.containment.selection import Selection, Step
from tamis.select.containment.utilities import RIDGE, HeldOutModel, split_rows

Truths = NDArray[np.bool_]
Chooser = Callable[[Truths], Selection]
"""Chooses by the labels of some rows, those that are true."""

GREEDY = ("difference", "hamdist", "information", "cm", "auc")
ITEMSETS = "itemsets"
FEW = 20
"""Up to this k the largest itemsets are found quickly."""
ITERATIONS = 1000
DRAWS = 3
"""How often rows are held out: one draw leaves contenders that are alike to chance."""


@dataclass(frozen=True)
class Contest:
    """Contenders that choose by the labels of one part of the rows and are tested on the rest.

    Each chooses by the training labels alone, so that the contest is fair, and a linear model
    fitted to convergence on the same rows ranks the held-out ones. The winner, by mean AUC over
    the draws, then chooses again by all known labels.

    Parameters
    ----------
    table : 0/1 array or sparse array
    positive : array of bool
    known : array of bool
        Which rows have a label that may be used.
    contenders : mapping of name to chooser
    share : float
        The share of the known rows to hold out.
    seed : int
        Draws them, and with the next numbers the further draws.
    groups : array of int, optional
        The person of each row: all rows of a person are held out, or none.
    """

    table: Binary
    positive: Truths
    known: Truths
    contenders: dict[str, Chooser]
    share: float
    seed: int = 0
    groups: NDArray[np.int64] | None = None

    def winner(self) -> Selection:
        """What the winner chooses; its utility and gains are the AUC of the first draw."""
        results = self.results()
        best = max(results, key=results.__getitem__)
        return self._in_auc(self.contenders[best](self.known))

    def results(self) -> dict[str, float]:
        """The mean AUC of each contender over the draws."""
        return {
            name: float(np.mean([self._auc(choose(draw[0]), *draw) for draw in self.draws]))
            for name, choose in self.contenders.items()
        }

    @cached_property
    def draws(self) -> list[tuple[Truths, Truths]]:
        """Training and held-out rows, several times."""
        rest = (self.positive, self.known, self.share)
        return [split_rows(*rest, self.seed + i, self.groups) for i in range(DRAWS)]

    @cached_property
    def columns(self) -> sparse.csc_array:
        return sparse_columns(self.table)

    def _auc(self, found: Selection, train: Truths, held: Truths) -> float:
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        if not found.features:
            return 0.5
        rows = self.columns[:, list(found.features)].tocsr().astype(float)
        model = LogisticRegression(C=1 / RIDGE, max_iter=ITERATIONS)
        with threadpool_limits(1):  # threads cost more than they save on vectors this short
            model.fit(rows[np.flatnonzero(train)], self.positive[train])
        score = model.decision_function(rows[np.flatnonzero(held)])
        return float(roc_auc_score(self.positive[held], score))

    def _in_auc(self, found: Selection) -> Selection:
        """The same path, expressed in held-out AUC; the last is that of a model fitted anew."""
        draw = self.draws[0]
        model = HeldOutModel(self.columns, self.positive, *draw, "auc", "linear")
        steps, value, last, due = [], model.worth(), self._auc(found, *draw), 1
        for i, step in enumerate(found.steps, start=1):
            model.add(step.feature, refit=i >= due)
            due = i + max(1, i // 10) if i >= due else due
            worth = model.worth() if i < len(found.steps) else last
            steps.append(Step(step.feature, worth - value, worth, step.anonymity))
            value = worth
        return Selection(found.features, found.anonymity, value, steps=tuple(steps))


def contenders(
    table: Binary, positive: Truths, k: int, *, itemsets: bool, **choices: Any
) -> dict[str, Chooser]:
    """Greedy by several utilities, and the best of the largest itemsets, filled up.

    Parameters
    ----------
    table, positive, k
    itemsets : bool
        Whether sets that are not found by greedy may compete.
    **choices
        Of `tamis.select.containment.greedy.greedy`.
    """
    from tamis.select.containment.greedy import greedy
    from tamis.select.containment.maximal import maximal

    def by(utility: str) -> Chooser:
        return lambda rows: greedy(table, positive, k, utility=utility, labelled=rows, **choices)

    found = {utility: by(utility) for utility in GREEDY}
    if itemsets and k <= FEW:
        found[ITEMSETS] = lambda rows: maximal(table, positive, k, labelled=rows)
    return found
