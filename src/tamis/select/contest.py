"""The utility that suits a table: several compete on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.select.predictive import HeldOut
from tamis.select.selection import Selection, Step
from tamis.zero_one import Binary, sparse_columns

CONTENDERS = ("difference", "hamdist", "information", "cm", "auc")


def winner(
    table: Binary,
    positive: NDArray[np.bool_],
    train: NDArray[np.bool_],
    held: NDArray[np.bool_],
    k: int,
    **choices: Any,
) -> Selection:
    """The choice of the contender whose linear model ranks the held-out rows best.

    Each contender chooses by the labels of the training rows alone, so that the contest is fair.
    The winner then chooses again by all known labels. Utility and gains are the held-out AUC
    along the path.
    """
    from tamis.select.greedy import greedy

    columns = sparse_columns(table)
    best, best_auc = CONTENDERS[0], -np.inf
    for utility in CONTENDERS:
        found = greedy(table, positive, k, utility=utility, labelled=train, **choices)
        model = HeldOut(columns, positive, train, held, "auc", "linear")
        auc = model.fit(found.features)
        if auc > best_auc:
            best, best_auc = utility, auc
    again = greedy(table, positive, k, utility=best, labelled=train | held, **choices)
    return _judged(again, HeldOut(columns, positive, train, held, "auc", "linear"))


def _judged(found: Selection, model: HeldOut) -> Selection:
    """The same path, told in held-out AUC."""
    steps, value = [], model.worth()
    for step in found.steps:
        model.add(step.feature)
        worth = model.worth()
        steps.append(Step(step.feature, worth - value, worth, step.anonymity))
        value = worth
    return Selection(found.features, found.anonymity, value, steps=tuple(steps))
