"""Laplace-DP and Exponential-DP of Zhang et al. (2017): choose under noise, count under noise.

Half of the budget chooses the features, half counts them; a model learns from the noisy table and
is tested on rows that were never in it.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from experiments.zhang.auc import Rows, Truths, parts, ranked, topic_auc
from experiments.zhang.tasks import Task
from tamis.dp.histogram import DPHistogram, DPMarginals
from tamis.dp.selector import Mechanism, PrivateSelector

MECHANISMS: tuple[Mechanism, ...] = ("laplace", "exponential")
MOST_FEATURES = 12
"""Up to so many are counted together, in 2 ** features cells of each class; more one by one."""


def private_aucs(
    task: Task, mechanism: Mechanism, epsilon: float, features: int, draws: int
) -> list[float]:
    """AUC on held-out rows of a linear SVM on the release of the other rows.

    Each draw chooses, counts and learns on the training rows of another fold.
    """
    folds = parts(task.y)
    found = []
    for draw in range(draws):
        train, test = folds[draw % len(folds)]
        columns, X, y = release(task, train, mechanism, epsilon, features, draw)
        if y.all() or not y.any():
            found.append(0.5)  # nothing can be learnt from a table of one class
            continue
        found.append(ranked(X, y, task.X[test][:, columns], task.y[test], seed=draw, costs=(0.1,)))
    return found


def private_topic_aucs(
    task: Task, mechanism: Mechanism, epsilon: float, features: int, draws: int, topics: int
) -> list[float]:
    """AUC of the topic entropy on the released rows and their released labels."""
    every = np.arange(len(task.y))
    found = []
    for draw in range(draws):
        _, X, y = release(task, every, mechanism, epsilon, features, draw)
        both = y.any() and not y.all()
        found.append(topic_auc(X, y, topics=topics, seed=draw) if both else 0.5)
    return found


def release(
    task: Task, rows: Rows, mechanism: Mechanism, epsilon: float, features: int, seed: int
) -> tuple[NDArray[np.intp], sparse.csr_array, Truths]:
    """The chosen columns, and a table of them that was drawn from noisy counts."""
    selector = PrivateSelector(features, epsilon=epsilon / 2, mechanism=mechanism)
    selector.fit(task.X[rows], task.y[rows])
    columns = np.flatnonzero(selector.get_support())
    cells = task.X[rows][:, columns].toarray().astype(bool)
    frame = pl.DataFrame({str(c): cells[:, i] for i, c in enumerate(columns)})
    frame = frame.with_columns(label=pl.Series(task.y[rows]))
    public = {name: {"type": "boolean"} for name in frame.columns}
    kind = DPHistogram if features <= MOST_FEATURES else DPMarginals
    counter = kind(epsilon / 2, bounds=public, neighbours="substitute", random_state=seed)
    drawn = counter.fit_sample(frame, target="label")
    X = sparse.csr_array(drawn.drop("label").to_numpy().astype(np.uint8))
    return columns, X, drawn["label"].to_numpy()
