"""What all columns of sparse records teach and tell, or very many of them.

A table of some of the columns is searched and compared, but kept and told are shares of what the
whole records give: logistic regression on the sparse rows, on the same parts of the rows and in
the same bits as any set of columns. Sets of very many columns are measured by it, too: trees see
few of them, and their time grows with every column, not with the ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.evaluate.bits import Floats, gains, surprise
from tamis.evaluate.parts import Parts
from tamis.evaluate.strong_learner import PENALTIES, indicators, of_all_classes, with_unseen
from tamis.evaluate.subset_bits import Gains, Question, SubsetBits
from tamis.learn.boosting import Boosting, BoostingTask, shares
from tamis.learn.coded_table import CodedTable
from tamis.learn.models import one_thread

Labels = NDArray[np.integer[Any]]
RowNumbers = NDArray[np.intp]

CHECKED = 4
"""Every fourth row to learn from is set aside to choose the penalty by."""
WIDE = 100
"""Sets of more columns of sparse records are measured by logistic regression."""
STEPS = 50
"""The most steps of a regression: later ones hardly change what it says of unseen rows."""


def whole_gains(matrix: sparse.csr_array, first: SubsetBits, *others: SubsetBits) -> list[Gains]:
    """The gain of each asked row about target and secret, from all columns of the records.

    Parameters
    ----------
    matrix : sparse array, rows by columns
        0 and 1; the rows are those of the table that the bits are of.
    first : SubsetBits
        Which rows are learnt from and asked about, and what is known without a release.
    others : SubsetBits
        The same of other parts of the rows. They are learnt from with the penalty that `first`
        chose, so they must ask about rows that it never saw.

    Returns
    -------
    list of pairs of arrays of float

    Examples
    --------
    >>> import polars as pl
    >>> x = np.random.default_rng(0).integers(0, 2, 400)
    >>> bits = SubsetBits.of(pl.DataFrame({"nothing": np.zeros(400)}), target=x)
    >>> [(target, secret)] = whole_gains(sparse.csr_array(x[:, None]), bits)
    >>> round(float(target.mean()), 1), secret
    (0.9, None)
    """
    every = (first, *others)
    targets = _gains(matrix, [(bits.parts, bits.target) for bits in every])
    secrets = [(bits.parts, bits.secret) for bits in every if bits.secret is not None]
    if not secrets:
        return [(target, None) for target in targets]
    known = sparse.csr_array(np.eye(first.target.classes)[first.target.label])
    return list(zip(targets, _gains(matrix, secrets, known)))


@dataclass(frozen=True)
class BoostingOrLines(Boosting):
    """Boosting for few columns; for more than `WIDE`, logistic regression on their indicators.

    That needs no start: whatever is known of a row is among the columns.

    Examples
    --------
    >>> import polars as pl
    >>> label = np.array([0, 1] * 150)
    >>> noise = np.random.default_rng(0).integers(0, 2, (300, WIDE))
    >>> table = CodedTable.of(pl.DataFrame(noise).with_columns(x=pl.Series(label)))
    >>> learn, ask = np.split(np.arange(300), [200])
    >>> p = BoostingOrLines().probabilities(table, label, learn, ask)
    >>> bool((p.argmax(axis=1) == label[ask]).mean() > 0.9)
    True
    """

    def answer(self, task: BoostingTask, columns: Sequence[int] | None = None) -> Floats:
        chosen = range(len(task.table)) if columns is None else columns
        if len(chosen) <= WIDE or task.classes < 2:
            return super().answer(task, chosen)
        numbers = np.asarray(chosen, dtype=np.intp)
        codes = np.array([task.codes(column) for column in chosen])
        cells = indicators(
            CodedTable(codes, task.table.widths[numbers], task.table.ordered[numbers])
        )
        learnt, unseen = cells[: len(task.label)], cells[len(task.label) :]
        penalty = least_surprised(learnt, task.label, task.classes)
        return linear_probabilities(learnt, task.label, unseen, task.classes, penalty)


def _gains(
    matrix: sparse.csr_array,
    every: Sequence[tuple[Parts, Question]],
    beside: sparse.csr_array | None = None,
) -> list[NDArray[np.float32]]:
    """Of each the gains of its rounds; all but the first take the middle penalty of its rounds."""
    found: list[NDArray[np.float32]] = []
    penalties: Sequence[float] = PENALTIES
    for parts, asked in every:
        each, taken = [], []
        for (learn, ask), known in zip(parts.rounds, asked.known):
            learnt, unseen = (_part(matrix, rows, beside) for rows in (learn, ask))
            label, classes = asked.label[learn], asked.classes
            taken.append(least_surprised(learnt, label, classes, penalties))
            said = linear_probabilities(learnt, label, unseen, classes, taken[-1])
            each.append(gains(said, known[ask], asked.label[ask]))
        found.append(np.concatenate(each).astype(np.float32))
        penalties = [sorted(taken)[len(taken) // 2]]
    return found


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
    penalty: float,
) -> Floats:
    """The probability of each class for unseen rows, by logistic regression on sparse ones.

    A class that no learnt row has gets its smoothed share.

    >>> label = np.array([0, 1] * 40)
    >>> rows = sparse.csr_array(label[:, None].astype(float))
    >>> linear_probabilities(rows, label, rows[:2], 2, penalty=2.0).argmax(axis=1).tolist()
    [0, 1]
    """
    if len(np.unique(label)) < 2:
        return np.tile(shares(label, classes), (unseen.shape[0], 1))
    used = np.flatnonzero(np.bincount(learnt.indices, minlength=learnt.shape[1]))
    model = _fitted(learnt[:, used], label, penalty)  # a column that nobody has stays at 0
    return with_unseen(of_all_classes(model, unseen[:, used], classes), label)


def _fitted(learnt: sparse.csr_array, label: Labels, penalty: float) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=penalty, max_iter=STEPS, tol=1e-3)
    with one_thread(), warnings.catch_warnings():
        # A regression cut short is judged by what it says.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(learnt, label)


def least_surprised(
    learnt: sparse.csr_array,
    label: Labels,
    classes: int,
    penalties: Sequence[float] = PENALTIES,
) -> float:
    """The penalty of those given that is least surprised by every fourth learnt row.

    >>> label = np.array([0, 1] * 40)
    >>> least_surprised(sparse.csr_array(label[:, None].astype(float)), label, 2)
    2.0
    """
    check = np.arange(len(label)) % CHECKED == 0
    if len(penalties) == 1 or len(np.unique(label[~check])) < 2:
        return penalties[0]
    surprised = {}
    for penalty in penalties:
        said = linear_probabilities(learnt[~check], label[~check], learnt[check], classes, penalty)
        surprised[penalty] = float(surprise(said, label[check]).mean())
    return min(surprised, key=lambda penalty: surprised[penalty])
