"""A strong learner for finalists: boosting or logistic regression, whichever does better, or both.

It reads the same codes as the small boosting that searched, so that both speak of one table; it
takes some hundred times as long, so that only few sets are asked about.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.evaluate.bits import Floats, surprise
from tamis.learn.boosting import shares
from tamis.learn.coded_table import CodedTable
from tamis.learn.one_thread import one_thread

Labels = NDArray[np.integer[Any]]
RowNumbers = NDArray[np.intp]

PENALTIES = (0.02, 0.2, 2.0)
"""Inverse strengths of the L2 penalty that logistic regression is tried with."""
TREES = 0.0
"""Stands for boosted trees among the penalties, of which none is 0."""


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
    part = _Part.of(table, label, columns, (learn, choose, ask))
    n, m = len(learn), len(both)
    with one_thread():  # sums then never change their order
        said = {TREES: part.asked(_trees(part, random_state), slice(n), slice(n, m), classes)}
        lines = _lines(PENALTIES[0])
        for penalty in PENALTIES:  # each begins where the last one ended
            lines.set_params(C=penalty)
            said[penalty] = part.asked(lines, slice(n), slice(n, m), classes)
        models = [
            _trees(part, random_state) if name == TREES else _lines(name)
            for name in _best(said, label[choose])
        ]
        again = [part.asked(model, slice(m), slice(m, None), classes) for model in models]
    return np.asarray(np.mean(again, axis=0))


def _best(said: dict[float, Floats], truth: Labels) -> list[float]:
    """Trees, the best of the lines, or both, whichever is least surprised."""
    surprised = {name: float(surprise(p, truth).mean()) for name, p in said.items()}
    line = min(PENALTIES, key=surprised.__getitem__)
    mixed = surprise((said[TREES] + said[line]) / 2, truth).mean()
    best = min([TREES, line], key=surprised.__getitem__)
    return [TREES, line] if mixed < surprised[best] else [best]


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows that are learnt from, chosen by and asked about: their codes, and these one-hot."""

    coded: CodedTable
    label: Labels
    wide: sparse.csr_array

    @classmethod
    def of(
        cls, table: CodedTable, label: Labels, columns: Sequence[int], parts: Sequence[RowNumbers]
    ) -> _Part:
        rows = np.concatenate(parts)
        coded = table.slice(columns, rows)
        return cls(coded, label[rows], indicators(coded))

    def asked(self, model: Any, learn: slice, ask: slice, classes: int) -> Floats:
        """Probabilities of all classes; those not among the learnt get their smoothed share."""
        from sklearn.exceptions import ConvergenceWarning

        data = self.wide if hasattr(model, "C") else self.coded.codes.T
        with warnings.catch_warnings():
            # A regression cut short is judged by what it says, as all are.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(data[learn], self.label[learn])
        smoothed = shares(self.label[learn], classes)
        seen = np.zeros(classes, dtype=np.bool_)
        seen[model.classes_] = True
        said = model.predict_proba(data[ask])
        p = np.tile(np.where(seen, 0.0, smoothed), (len(said), 1))
        p[:, model.classes_] = said * smoothed[seen].sum()
        return p


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


def _trees(part: _Part, random_state: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        learning_rate=0.1,
        max_iter=72,
        max_leaf_nodes=12,
        l2_regularization=5.0,
        early_stopping=False,
        categorical_features=~part.coded.ordered,
        random_state=random_state,
    )


def _lines(penalty: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=penalty, max_iter=300, warm_start=True)
