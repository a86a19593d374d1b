"""Logistic regression: alone for very many columns, beside boosted trees for finalists.

It reads the same codes as the small boosting of the search, or the ones of sparse records, so that
all results are in the same bits. Finalists are predicted by trees, regression or their mean,
whichever does best; that takes some ten times as long as in the search, so only few sets get it.
For sparse records, kept and told are shares of what all their columns give, which regression
measures, as it does sets of very many columns: trees use few of these, and their time grows with
the number of columns instead of the number of ones.
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
"""Inverse strengths of the L2 penalty to choose from (scikit-learn's C)."""
TREES = 0.0
"""Stands for boosted trees among the penalties, of which none is 0."""
BOOSTING = Boosting(rounds=150, rate=0.2, bar=0.5)
"""More trees than a search has time for, with a lower bar for each split.

On 19 labels of real tables they were no worse than 72 trees of twelve leaves by scikit-learn except
on two (by .001 and .009 bits), clearly better on five, and took a fifth of the time.
"""
CHECKED = 4
"""Every fourth training row is set aside to choose the penalty by."""
WIDE = 100
"""Sets of more columns of sparse records are measured by logistic regression."""
STEPS = 50
"""Most iterations of a regression; later ones hardly change its predictions of unseen rows."""


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
    """Class probabilities of the rows `ask`, by the best of several slow learners.

    Boosted trees, logistic regression and their mean are trained on `learn`; the one with the
    lowest cross-entropy on `choose` is trained again on both. Without columns, the result is the
    class shares. `with_trees=False` leaves trees out, which take minutes on very many columns.

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
    proba = {TREES: with_unseen(trees(learn, choose), label[learn])} if with_trees else {}
    with one_thread():  # sums then never change their order
        model = _regression(PENALTIES[0], max_iter=300, warm_start=True)
        for penalty in PENALTIES:  # each begins where the last one ended
            model.set_params(C=penalty)
            proba[penalty] = _asked(model, cells[:n], label[learn], cells[n:m], classes)
        again = [
            with_unseen(trees(both, ask), label[both])
            if name == TREES
            else _asked(_regression(name, max_iter=300), cells[:m], label[both], cells[m:], classes)
            for name in _best(proba, label[choose])
        ]
    return np.asarray(np.mean(again, axis=0))


def _best(proba: dict[float, Floats], truth: Labels) -> list[float]:
    """The learners to average: trees, the best regression, or both, by cross-entropy."""
    surprised = {name: float(surprise(p, truth).mean()) for name, p in proba.items()}
    line = min(PENALTIES, key=surprised.__getitem__)
    if TREES not in proba:
        return [line]
    mixed = surprise((proba[TREES] + proba[line]) / 2, truth).mean()
    best = min([TREES, line], key=surprised.__getitem__)
    return [TREES, line] if mixed < surprised[best] else [best]


def _regression(penalty: float, **settings: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=penalty, **settings)


def _asked(
    model: Any, learnt: sparse.csr_array, label: Labels, unseen: sparse.csr_array, classes: int
) -> Floats:
    """Fit a model and predict the probabilities of all classes for unseen rows."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # A regression that stops early is judged by its predictions, like all others.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(learnt, label)
    proba = np.zeros((unseen.shape[0], classes))
    proba[:, model.classes_] = model.predict_proba(unseen)
    return with_unseen(proba, label)


def with_unseen(said: Floats, learnt: Labels) -> Floats:
    """Probabilities rescaled to give classes without training rows their smoothed share.

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
    """One-hot codes of the rows; a column of two codes has one indicator, of the rarer code.

    With both indicators the coefficients would be a and -a: a difference of 2a at a ridge penalty
    of 2a². One indicator of value sqrt(2) with coefficient sqrt(2) a has the same difference and
    the same penalty, so the regression is the same and sparse records stay sparse.

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
    """Indicators of one column: the rows, their places, the value and the number of places."""
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
    """Class probabilities of unseen sparse rows, by logistic regression.

    A class without training rows gets its smoothed share.

    >>> label = np.array([0, 1] * 40)
    >>> rows = sparse.csr_array(label[:, None].astype(float))
    >>> linear_probabilities(rows, label, rows[:2], 2, penalty=2.0).argmax(axis=1).tolist()
    [0, 1]
    """
    if len(np.unique(label)) < 2:
        return np.tile(shares(label, classes), (unseen.shape[0], 1))
    # A column without ones would keep a coefficient of 0, so leaving it out changes nothing.
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
    """The penalty with the lowest cross-entropy on every fourth training row.

    >>> label = np.array([0, 1] * 40)
    >>> least_surprised(sparse.csr_array(label[:, None].astype(float)), label, 2)
    2.0
    """
    check = np.arange(len(label)) % CHECKED == 0
    if len(penalties) == 1 or len(np.unique(label[~check])) < 2:
        return penalties[0]
    surprised = {}
    for penalty in penalties:
        proba = linear_probabilities(learnt[~check], label[~check], learnt[check], classes, penalty)
        surprised[penalty] = float(surprise(proba, label[check]).mean())
    return min(surprised, key=lambda penalty: surprised[penalty])


def whole_gains(matrix: sparse.csr_array, first: SubsetBits, *others: SubsetBits) -> list[Gains]:
    """Gains of the test rows about target and secret, from all columns of 0/1 records.

    The matrix has the rows of the table that the bits are of. `first` gives the training and test
    rows and the baseline; `others` do so for other parts of the rows. Those use the penalty that
    was chosen on `first`, so their test rows must be rows that it never saw.

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

    The regression does not start from the baseline: what that is based on is among the columns.

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
    """Gains of each question, over its rounds; later questions use the first's median penalty."""
    by_question: list[NDArray[np.float32]] = []
    penalties: Sequence[float] = PENALTIES
    for parts, asked in every:
        by_round, taken = [], []
        for (learn, ask), known in zip(parts.rounds, asked.known):
            learnt, unseen = (_part(matrix, rows, beside) for rows in (learn, ask))
            label, classes = asked.label[learn], asked.classes
            taken.append(least_surprised(learnt, label, classes, penalties))
            proba = linear_probabilities(learnt, label, unseen, classes, taken[-1])
            by_round.append(gains(proba, known[ask], asked.label[ask]))
        by_question.append(np.concatenate(by_round).astype(np.float32))
        penalties = [sorted(taken)[len(taken) // 2]]
    return by_question


def _part(
    matrix: sparse.csr_array, rows: RowNumbers, beside: sparse.csr_array | None
) -> sparse.csr_array:
    """Some rows as floats, beside further columns: copied by part to bound the memory."""
    part = matrix[rows].astype(np.float64)
    return part if beside is None else sparse.hstack([part, beside[rows]], format="csr")
