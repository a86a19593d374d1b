"""A strong learner for finalists: boosting or logistic regression, whichever does better, or both.

It reads the same codes as the small boosting that searched, so that both speak of one table; it
takes some hundred times as long, so that only few sets are asked about.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tamis.evaluate.bits import Floats, surprise
from tamis.learn.boosting import shares
from tamis.learn.coded_table import CodedTable

Labels = NDArray[np.integer[Any]]
RowNumbers = NDArray[np.intp]

PENALTIES = (0.02, 0.2, 2.0)
"""Inverse strengths of the L2 penalty that logistic regression is tried with."""


def strong_probabilities(
    table: CodedTable,
    label: Labels,
    learn: RowNumbers,
    choose: RowNumbers,
    ask: RowNumbers,
    *,
    columns: Sequence[int],
    classes: int | None = None,
    random_state: int = 0,
) -> Floats:
    """The probability of each class for rows that neither learnt nor chose.

    Boosted trees, logistic regression and their mean learn on some rows; the one that is least
    surprised by the rows to choose by learns again on both and is asked.

    Parameters
    ----------
    table : CodedTable
    label : array of int
        The class of every row, from 0.
    learn, choose, ask : arrays of int
        Row numbers.
    columns : sequence of int
        The columns to learn from; none: the shares of the classes are the answer.
    classes : int, optional
        How many there are. `None`: as many as the labels show.

    Returns
    -------
    array of float, asked rows by classes

    Examples
    --------
    >>> import polars as pl
    >>> label = np.array([0, 1] * 150)
    >>> table = CodedTable.of(pl.DataFrame({"x": label, "y": np.arange(300) % 7}))
    >>> learn, choose, ask = np.split(np.arange(300), [200, 250])
    >>> p = strong_probabilities(table, label, learn, choose, ask, columns=[0, 1])
    >>> bool((p.argmax(axis=1) == label[250:]).all())
    True
    """
    classes = int(label.max()) + 1 if classes is None else classes
    both = np.concatenate([learn, choose])
    if not columns or len(np.unique(label[learn])) < 2:
        return np.tile(shares(label[both], classes), (len(ask), 1))
    part = table.slice(columns, np.arange(table.rows))
    models = {"trees": _trees(part, random_state)} | {
        f"logistic {penalty}": _logistic(part, penalty) for penalty in PENALTIES
    }
    with threadpool_limits(limits=1):  # sums then never change their order
        said = {
            name: _asked(model, part, label, learn, choose, classes)
            for name, model in models.items()
        }
        surprised = {name: surprise(p, label[choose]).mean() for name, p in said.items()}
        linear = min(list(models)[1:], key=lambda name: float(surprised[name]))
        mixed = surprise((said["trees"] + said[linear]) / 2, label[choose]).mean()
        pair = ["trees", linear]
        best = min(pair, key=lambda name: float(surprised[name]))
        names = pair if mixed < surprised[best] else [best]
        again = [_asked(models[name], part, label, both, ask, classes) for name in names]
    return np.asarray(np.mean(again, axis=0))


def _asked(
    model: Any, part: CodedTable, label: Labels, learn: RowNumbers, ask: RowNumbers, classes: int
) -> Floats:
    """Probabilities of all classes; those not among the learnt rows get their smoothed share."""
    from sklearn.exceptions import ConvergenceWarning

    codes = part.codes.T
    with warnings.catch_warnings():
        # A regression cut short is judged by what it says, as all are.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(codes[learn], label[learn])
    smoothed = shares(label[learn], classes)
    seen = np.zeros(classes, dtype=np.bool_)
    seen[model.classes_] = True
    p = np.tile(np.where(seen, 0.0, smoothed), (len(ask), 1))
    p[:, model.classes_] = model.predict_proba(codes[ask]) * smoothed[seen].sum()
    return p


def _trees(part: CodedTable, random_state: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        learning_rate=0.06,
        max_iter=120,
        max_leaf_nodes=12,
        l2_regularization=5.0,
        early_stopping=False,
        categorical_features=~part.ordered,
        random_state=random_state,
    )


def _logistic(part: CodedTable, penalty: float) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    categories = [np.arange(width, dtype=np.uint8) for width in part.widths]
    onehot = OneHotEncoder(categories=categories)
    return make_pipeline(onehot, LogisticRegression(C=penalty, max_iter=300))
