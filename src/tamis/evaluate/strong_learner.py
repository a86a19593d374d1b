"""A strong learner for finalists: boosting or logistic regression, whichever does better, or both.

It reads the same codes as the small boosting that searched, so that both speak of one table; it
takes some ten times as long, so that only few sets are asked about.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.evaluate.bits import Floats, surprise
from tamis.learn.boosting import Boosting, shares
from tamis.learn.coded_table import CodedTable
from tamis.learn.models import one_thread

Labels = NDArray[np.integer[Any]]
RowNumbers = NDArray[np.intp]

PENALTIES = (0.02, 0.2, 2.0)
"""Inverse strengths of the L2 penalty that logistic regression is tried with."""
TREES = 0.0
"""Stands for boosted trees among the penalties, of which none is 0."""
BOOSTING = Boosting(rounds=150, rate=0.2, bar=0.5)
"""More trees than search has time for, which need to pay less.

On 19 labels of real tables they were no worse than 72 trees of twelve leaves by scikit-learn but
for two (by .001 and .009 bits), clearly better on five, and took a fifth of the time.
"""


def strong_probabilities(
    table: CodedTable,
    label: Labels,
    learn: RowNumbers,
    choose: RowNumbers,
    ask: RowNumbers,
    *,
    columns: Sequence[int],
    classes: int | None = None,
    with_trees: bool = True,
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
    with_trees : bool
        Whether boosted trees are tried: of very many columns they take minutes.

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
    trees = partial(BOOSTING.probabilities, table, label, columns=columns, classes=classes)
    part = _OneHot.of(table, label, columns, (learn, choose, ask))
    n, m = len(learn), len(both)
    said = {TREES: with_unseen(trees(learn, choose), label[learn])} if with_trees else {}
    with one_thread():  # sums then never change their order
        lines = _lines(PENALTIES[0])
        for penalty in PENALTIES:  # each begins where the last one ended
            lines.set_params(C=penalty)
            said[penalty] = part.asked(lines, slice(n), slice(n, m), classes)
        again = [
            with_unseen(trees(both, ask), label[both])
            if name == TREES
            else part.asked(_lines(name), slice(m), slice(m, None), classes)
            for name in _best(said, label[choose])
        ]
    return np.asarray(np.mean(again, axis=0))


def _best(said: dict[float, Floats], truth: Labels) -> list[float]:
    """Trees, the best of the lines, or both, whichever is least surprised."""
    surprised = {name: float(surprise(p, truth).mean()) for name, p in said.items()}
    line = min(PENALTIES, key=surprised.__getitem__)
    if TREES not in said:
        return [line]
    mixed = surprise((said[TREES] + said[line]) / 2, truth).mean()
    best = min([TREES, line], key=surprised.__getitem__)
    return [TREES, line] if mixed < surprised[best] else [best]


def with_unseen(said: Floats, learnt: Labels) -> Floats:
    """Probabilities of all classes; those not among the learnt labels get their smoothed share.

    >>> with_unseen(np.array([[1.0, 0.0]]), np.array([0, 0])).round(2).tolist()
    [[0.83, 0.17]]
    """
    smoothed = shares(learnt, said.shape[1])
    seen = np.bincount(learnt, minlength=said.shape[1]) > 0
    p = np.tile(smoothed, (len(said), 1))
    among = said[:, seen]
    p[:, seen] = among / among.sum(axis=1, keepdims=True) * smoothed[seen].sum()
    return p


@dataclass(frozen=True, eq=False)
class _OneHot:
    """The codes of the rows that are learnt from, chosen by and asked about, each a 0/1 column."""

    cells: sparse.csr_array
    label: Labels

    @classmethod
    def of(
        cls, table: CodedTable, label: Labels, columns: Sequence[int], parts: Sequence[RowNumbers]
    ) -> _OneHot:
        rows = np.concatenate(parts)
        return cls(indicators(table.slice(columns, rows)), label[rows])

    def asked(self, model: Any, learn: slice, ask: slice, classes: int) -> Floats:
        """What a model that learnt from some rows says of others."""
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            # A regression cut short is judged by what it says, as all are.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.cells[learn], self.label[learn])
        return with_unseen(of_all_classes(model, self.cells[ask], classes), self.label[learn])


def of_all_classes(model: Any, cells: sparse.csr_array, classes: int) -> Floats:
    """What a model says of some rows; 0 for classes that it knows nothing of."""
    said = np.zeros((cells.shape[0], classes))
    said[:, model.classes_] = model.predict_proba(cells)
    return said


def indicators(coded: CodedTable) -> sparse.csr_array:
    """The codes of each row one-hot; of columns with two codes the rarer one alone.

    Coefficients a and -a of both codes differ by 2a and cost a ridge 2a², as one of 2a / sqrt(2)
    for the square root of 2 does. So the regression is the same, and sparse records stay sparse.

    >>> codes = np.array([[1, 2, 1, 1], [0, 1, 2, 2]], dtype=np.uint8)
    >>> coded = CodedTable(codes, np.array([3, 3]), np.array([False, False]))
    >>> indicators(coded).toarray().round(2).tolist()
    [[0.0, 1.0, 0.0, 0.0], [1.41, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    """
    marks = [_marked(codes) for codes in coded.codes]
    begins = np.cumsum([0, *(width for *_, width in marks)])
    rows = np.concatenate([at for at, *_ in marks])
    places = np.concatenate([begin + place for begin, (_, place, *_) in zip(begins, marks)])
    values = np.concatenate([np.full(len(at), value) for at, _, value, _ in marks])
    shape = coded.codes.shape[1], int(begins[-1])
    return sparse.csr_array(sparse.coo_array((values, (rows, places)), shape=shape))


def _marked(codes: NDArray[np.uint8]) -> tuple[RowNumbers, RowNumbers, float, int]:
    """The rows of one column that are marked, in which of how many columns, and by what."""
    counts = np.bincount(codes)
    used = np.flatnonzero(counts)
    if len(used) > 2:
        return np.arange(len(codes)), np.searchsorted(used, codes), 1.0, len(used)
    rarer = used[np.argmin(counts[used])]
    rows = np.flatnonzero((codes == rarer) & (len(used) == 2))
    return rows, np.zeros_like(rows), 2**0.5, 1


def _lines(penalty: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=penalty, max_iter=300, warm_start=True)
