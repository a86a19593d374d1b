"""Logistic regression: alone where columns are very many, beside boosted trees for finalists.

It reads the same codes as the small boosting that searched, or the ones of sparse records, so that
all speak of one table in the same bits. Finalists are asked of trees and regression, whichever does
better, or both: some ten times as long as the search, so only of few sets. Kept and told of sparse
records are shares of what all their columns give, which regression measures, as it does sets of
very many columns: trees see few of them, and their time grows with every column, not with the ones.
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

from tamis.arrays import Floats, RowNumbers
from tamis.evaluate.bits import gains, surprise
from tamis.evaluate.parts import Parts
from tamis.evaluate.subset_bits import Gains, Labels, Question, SubsetBits
from tamis.learn.boosting import Boosting, BoostingTask, shares
from tamis.learn.coded_table import CodedTable
from tamis.learn.models import one_thread

PENALTIES = (0.02, 0.2, 2.0)
"""Inverse strengths of the L2 penalty that logistic regression is tried with."""
TREES = 0.0
"""Stands for boosted trees among the penalties, of which none is 0."""
BOOSTING = Boosting(rounds=150, rate=0.2, bar=0.5)
"""More trees than search has time for, which need to pay less.

On 19 labels of real tables they were no worse than 72 trees of twelve leaves by scikit-learn but
for two (by .001 and .009 bits), clearly better on five, and took a fifth of the time.
"""
CHECKED = 4
"""Every fourth row to learn from is set aside to choose the penalty by."""
WIDE = 100
"""Sets of more columns of sparse records are measured by logistic regression."""
STEPS = 50
"""The most steps of a regression: later ones hardly change what it says of unseen rows."""


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
    surprised by the rows to choose by learns again on both and is asked. Without columns, the
    shares of the classes are the answer. Of very many columns trees take minutes.

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
    cells = indicators(table.slice(columns, np.concatenate([both, ask])))
    n, m = len(learn), len(both)
    said = {TREES: with_unseen(trees(learn, choose), label[learn])} if with_trees else {}
    with one_thread():  # sums then never change their order
        model = _regression(PENALTIES[0], max_iter=300, warm_start=True)
        for penalty in PENALTIES:  # each begins where the last one ended
            model.set_params(C=penalty)
            said[penalty] = _asked(model, cells[:n], label[learn], cells[n:m], classes)
        again = [
            with_unseen(trees(both, ask), label[both])
            if name == TREES
            else _asked(_regression(name, max_iter=300), cells[:m], label[both], cells[m:], classes)
            for name in _best(said, label[choose])
        ]
    return np.asarray(np.mean(again, axis=0))


def _best(said: dict[float, Floats], truth: Labels) -> list[float]:
    """Trees, the best of the regressions, or both, whichever is least surprised."""
    surprised = {name: float(surprise(p, truth).mean()) for name, p in said.items()}
    line = min(PENALTIES, key=surprised.__getitem__)
    if TREES not in said:
        return [line]
    mixed = surprise((said[TREES] + said[line]) / 2, truth).mean()
    best = min([TREES, line], key=surprised.__getitem__)
    return [TREES, line] if mixed < surprised[best] else [best]


def _regression(penalty: float, **settings: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=penalty, **settings)


def _asked(
    model: Any, learnt: sparse.csr_array, label: Labels, unseen: sparse.csr_array, classes: int
) -> Floats:
    """What a model that learnt from some rows says of others, of all classes."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # A regression cut short is judged by what it says, as all are.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(learnt, label)
    said = np.zeros((unseen.shape[0], classes))
    said[:, model.classes_] = model.predict_proba(unseen)
    return with_unseen(said, label)


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
    # A column that nobody has would stay at 0.
    used = np.flatnonzero(np.bincount(learnt.indices, minlength=learnt.shape[1]))
    model = _regression(penalty, max_iter=STEPS, tol=1e-3)
    with one_thread():
        return _asked(model, learnt[:, used], label, unseen[:, used], classes)


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


def whole_gains(matrix: sparse.csr_array, first: SubsetBits, *others: SubsetBits) -> list[Gains]:
    """The gain of each asked row about target and secret, from all columns of 0/1 records.

    The rows of the matrix are those of the table that the bits are of. `first` says which are
    learnt from and asked about, and what is known without a release; `others` the same of other
    parts of the rows. They are learnt from with the penalty that `first` chose, so they must ask
    about rows that it never saw.

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
class BoostingOrRegression(Boosting):
    """Boosting for few columns; for more than `WIDE`, logistic regression on their indicators.

    That needs no start: whatever is known of a row is among the columns.

    Examples
    --------
    >>> import polars as pl
    >>> label = np.array([0, 1] * 150)
    >>> noise = np.random.default_rng(0).integers(0, 2, (300, WIDE))
    >>> table = CodedTable.of(pl.DataFrame(noise).with_columns(x=pl.Series(label)))
    >>> learn, ask = np.split(np.arange(300), [200])
    >>> p = BoostingOrRegression().probabilities(table, label, learn, ask)
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
