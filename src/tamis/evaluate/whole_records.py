"""What all columns of sparse records teach and tell, however many there are.

A table of some of the columns is searched and compared, but kept and told are shares of what the
whole records give: logistic regression on the sparse rows, on the same parts of the rows and in
the same bits as any set of columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tamis.evaluate.bits import Floats, gains, surprise
from tamis.evaluate.strong import PENALTIES
from tamis.evaluate.subset_bits import Gains, Question, SubsetBits
from tamis.learn.boosting import shares

Labels = NDArray[np.integer[Any]]
RowNumbers = NDArray[np.intp]

CHECKED = 4
"""Every fourth row to learn from is set aside to choose the penalty by."""
STEPS = 50
"""The most steps of a regression: later ones hardly change what it says of unseen rows."""


def whole_gains(matrix: sparse.csr_array, bits: SubsetBits) -> Gains:
    """The gain of each asked row about target and secret, from all columns of the records.

    Parameters
    ----------
    matrix : sparse array, rows by columns
        0 and 1; the rows are those of the table that `bits` is of.
    bits : SubsetBits
        Which rows are learnt from and asked about, and what is known without a release.

    Returns
    -------
    pair of arrays of float

    Examples
    --------
    >>> import polars as pl
    >>> x = np.random.default_rng(0).integers(0, 2, 400)
    >>> bits = SubsetBits.of(pl.DataFrame({"nothing": np.zeros(400)}), target=x)
    >>> target, secret = whole_gains(sparse.csr_array(x[:, None]), bits)
    >>> round(float(target.mean()), 1), secret
    (0.9, None)
    """
    target = _gains(matrix, bits, bits.target)
    if bits.secret is None:
        return target, None
    known = sparse.csr_array(np.eye(bits.target.classes)[bits.target.label])
    return target, _gains(matrix, bits, bits.secret, known)


def _gains(
    matrix: sparse.csr_array,
    bits: SubsetBits,
    asked: Question,
    beside: sparse.csr_array | None = None,
) -> NDArray[np.float32]:
    found = []
    for (learn, ask), known in zip(bits.parts.rounds, asked.known):
        learnt, unseen = (_part(matrix, rows, beside) for rows in (learn, ask))
        said = linear_probabilities(learnt, asked.label[learn], unseen, asked.classes)
        found.append(gains(said, known[ask], asked.label[ask]))
    return np.concatenate(found).astype(np.float32)


def _part(
    matrix: sparse.csr_array, rows: RowNumbers, beside: sparse.csr_array | None
) -> sparse.csr_array:
    """Some rows alone, so that never more than these are copied."""
    part = matrix[rows].astype(np.float64)
    return part if beside is None else sparse.hstack([part, beside[rows]], format="csr")


def linear_probabilities(
    learnt: sparse.csr_array,
    label: Labels,
    unseen: sparse.csr_array,
    classes: int,
    penalties: Sequence[float] = PENALTIES,
) -> Floats:
    """The probability of each class for unseen rows, by logistic regression on sparse ones.

    Of several penalties the one is taken that is least surprised by every fourth learnt row.
    A class that no learnt row has gets its smoothed share.

    >>> label = np.array([0, 1] * 40)
    >>> rows = sparse.csr_array(label[:, None].astype(float))
    >>> linear_probabilities(rows, label, rows[:2], 2).argmax(axis=1).tolist()
    [0, 1]
    """
    if len(np.unique(label)) < 2:
        return np.tile(shares(label, classes), (unseen.shape[0], 1))
    with threadpool_limits(limits=1):  # sums then never change their order
        penalty = penalties[0]
        if len(penalties) > 1:
            penalty = _least_surprised(learnt, label, classes, penalties)
        return _asked(learnt, label, unseen, classes, penalty)


def _least_surprised(
    learnt: sparse.csr_array, label: Labels, classes: int, penalties: Sequence[float]
) -> float:
    check = np.arange(len(label)) % CHECKED == 0
    if len(np.unique(label[~check])) < 2:
        return penalties[0]
    surprised = {}
    for penalty in penalties:
        said = _asked(learnt[~check], label[~check], learnt[check], classes, penalty)
        surprised[penalty] = float(surprise(said, label[check]).mean())
    return min(surprised, key=lambda penalty: surprised[penalty])


def _asked(
    learnt: sparse.csr_array, label: Labels, unseen: sparse.csr_array, classes: int, penalty: float
) -> Floats:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=penalty, max_iter=STEPS, tol=1e-3)
    with warnings.catch_warnings():
        # A regression cut short is judged by what it says.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(learnt, label)
    smoothed = shares(label, classes)
    seen = np.isin(np.arange(classes), model.classes_)
    p = np.tile(np.where(seen, 0.0, smoothed), (unseen.shape[0], 1))
    p[:, seen] = model.predict_proba(unseen) * smoothed[seen].sum()
    return np.asarray(p)
