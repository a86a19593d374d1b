"""A small gradient boosting on codes: how well a few columns predict a label, in milliseconds.

Trees of depth three are grown on histograms of gradients, one tree a class and round. A split is a
set of codes, so numbers and nominal values are treated alike: a column's codes are sorted, by
their own order or by their mean gradient, and cut where the gain is largest. Each split must gain
more log-likelihood than chance would (`bar`), which keeps the probabilities calibrated on small
tables without a validation set for early stopping.

Rows with the same codes and the same starting probabilities are boosted as one weighted row. A few
coarse columns have few distinct rows, and the time depends on those alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Floats, RowNumbers
from tamis.errors import InputError
from tamis.learn.boosting_kernels import CODES, DEPTH, LEAVES, boost
from tamis.learn.coded_table import CodedTable, labels_counted, rows_alike
from tamis.notebook import by_fields

MOST_ROWS = 1 << 17
"""Most training rows: with more, the rounding of one row's gradient in half a word gets coarse."""


@dataclass(frozen=True)
class Boosting:
    """The hyperparameters of the boosting.

    Parameters
    ----------
    rounds : int, default 20
        Most trees of each class.
    rate : float, default 0.3
        Learning rate: the fraction of a leaf's Newton step that is taken.
    ridge : float, default 2
        Added to the curvature of a leaf (L2 shrinkage).
    smooth : float, default 5
        Shrinks the mean gradient of a nominal code towards that of its node before codes are
        sorted, as if the node's mean had this much curvature: a rare code's gradient is mostly
        chance.
    bar : float, default 1.5
        Log-likelihood (nats) that a split must gain, together with the splits below it, to be kept.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"colour": ["red", "blue"] * 50})
    >>> label = np.array([0, 1] * 50)
    >>> p = Boosting().probabilities(CodedTable.of(frame), label, np.arange(80), np.array([98, 99]))
    >>> p.round(2).tolist()
    [[0.94, 0.06], [0.06, 0.94]]
    """

    rounds: int = 20
    rate: float = 0.3
    ridge: float = 2.0
    smooth: float = 5.0
    bar: float = 1.5

    def probabilities(
        self,
        table: CodedTable,
        label: NDArray[np.integer[Any]],
        learn: RowNumbers,
        ask: RowNumbers,
        *,
        columns: Sequence[int] | None = None,
        start: Floats | None = None,
        classes: int | None = None,
    ) -> Floats:
        """Learn from some rows and predict class probabilities for others, rows by classes.

        Parameters
        ----------
        label : array of int
            The class of every row of the table, from 0.
        learn, ask : arrays of int
            Row numbers.
        columns : sequence of int, optional
            The columns to learn from. `None`: all.
        start : array of float, rows by classes, optional
            Starting probabilities for every row of the table, all above 0. `None`: the class
            frequencies of the training rows, see `shares`.
        classes : int, optional
            The number of classes. `None`: one more than the largest label.
        """
        task = BoostingTask.of(table, label, learn, ask, start=start, classes=classes)
        return self.answer(task, columns)

    def answer(self, task: BoostingTask, columns: Sequence[int] | None = None) -> Floats:
        """Like `probabilities`, for a task laid out before and some of its columns (all)."""
        chosen = range(len(task.table)) if columns is None else columns
        learnt = len(task.label)
        if len(chosen) == 0 or task.classes < 2:
            return np.ascontiguousarray(task.known[:, learnt:].T)
        codes = np.array([task.codes(column) for column in chosen])
        first, place = rows_alike(codes, task.number)
        hits = labels_counted(place, task.label, task.classes)
        margins = _margins(task.known[:, first])
        numbers = np.asarray(chosen, dtype=np.intp)
        # The number of bits of the row count: it decides how finely gradients can be rounded so
        # that those of all rows together still fit into half a word (see `_packed`).
        bits = max(1, (learnt - 1).bit_length())
        boost(
            np.ascontiguousarray(codes[:, first]),
            task.table.widths[numbers],
            task.table.ordered[numbers],
            hits,
            margins,
            self.rounds,
            self.rate,
            self.ridge,
            self.smooth,
            self.bar,
            bits,
            _BoostingRoom.empty(len(codes), len(first), *hits.shape),
        )
        return np.asarray(_probabilities(margins)[place[learnt:]])


@dataclass(frozen=True, eq=False)
class BoostingTask:
    """A label, its training rows and the rows to predict, laid out once for any set of columns.

    Build it with `of`.
    """

    table: CodedTable
    places: RowNumbers
    """Positions of the rows in `table.codes`: first the training rows, then those to predict."""
    label: NDArray[np.int64]
    """The classes of the training rows."""
    classes: int
    known: Floats
    """Starting probabilities, classes by rows."""
    number: NDArray[np.uint64]
    """One line that numbers the distinct starting probabilities; no line if all rows share them."""
    _lines: dict[int, NDArray[np.uint8]] = field(default_factory=dict)

    __repr__ = by_fields

    @classmethod
    def of(
        cls,
        table: CodedTable,
        label: NDArray[np.integer[Any]],
        learn: RowNumbers,
        ask: RowNumbers,
        *,
        start: Floats | None = None,
        classes: int | None = None,
    ) -> BoostingTask:
        """Lay out rows; the parameters are those of `Boosting.probabilities`."""
        if not 0 < len(learn) <= MOST_ROWS:
            raise InputError(
                f"boosting learns from 1 to {MOST_ROWS:,} rows, got {len(learn):,}; give a sample"
            )
        classes = int(label.max()) + 1 if classes is None else classes
        rows = np.concatenate([learn, ask])
        learnt = np.ascontiguousarray(label[learn], dtype=np.int64)
        number = np.zeros((0, len(rows)), dtype=np.uint64)
        if start is None:
            known = np.tile(shares(learnt, classes)[:, None], len(rows))
        else:
            known = np.ascontiguousarray(_checked(start, table.rows, rows, classes).T)
            # Compared by their bits, so that only rows that start exactly alike are merged.
            none = np.zeros((0, len(rows)), dtype=np.uint8)
            first, place = rows_alike(none, known.view(np.uint64))
            number = place[None, :].astype(np.uint64) if len(first) > 1 else number
        return cls(table, table.places(rows), learnt, classes, known, number)

    def codes(self, column: int) -> NDArray[np.uint8]:
        """The codes of a column in the rows of the task, gathered once."""
        if column not in self._lines:
            self._lines[column] = self.table.codes[column].take(self.places)
        return self._lines[column]


class _BoostingRoom(NamedTuple):
    """Work arrays of the kernel, allocated here: allocating inside makes it slow to compile."""

    # Unsigned where an index is meant: Numba then leaves out its check for negative indices.
    gradient: Floats
    curvature: Floats
    words: NDArray[np.int64]
    """Gradient and curvature of each training row, packed into one word."""
    asked: NDArray[np.uint64]
    """Numbers of the rows to add to the histograms; beside it their node's offset and words."""
    place: NDArray[np.uint64]
    slopes: NDArray[np.int64]
    sums: NDArray[np.int64]
    """Histograms: columns by (nodes by codes), of packed words."""
    leaf: NDArray[np.uint64]
    split_column: NDArray[np.uint64]
    split_right: NDArray[np.uint64]
    kept: NDArray[np.uint64]
    alive: NDArray[np.bool_]
    small: NDArray[np.bool_]
    counts: NDArray[np.int64]
    gains: Floats
    leaves: Floats
    """Gradient and curvature of each leaf; while pruning, what each node is worth."""
    order: NDArray[np.int64]
    key: Floats
    part: Floats
    """Gradient and curvature of each code of a column, unpacked."""

    @classmethod
    def empty(cls, columns: int, rows: int, lines: int, learnt: int) -> _BoostingRoom:
        gradient, curvature = np.empty((2, lines - 1, learnt))
        words, slopes = np.empty((2, learnt), dtype=np.int64)
        asked, place = np.empty((2, learnt), dtype=np.uint64)
        split_column, split_right, kept = np.empty((3, LEAVES), dtype=np.uint64)
        alive, small = np.empty((2, LEAVES), dtype=np.bool_)
        return cls(
            gradient=gradient,
            curvature=curvature,
            words=words,
            asked=asked,
            place=place,
            slopes=slopes,
            sums=np.empty((columns, LEAVES * CODES), dtype=np.int64),
            leaf=np.empty(rows, dtype=np.uint64),
            split_column=split_column,
            split_right=split_right,
            kept=kept,
            alive=alive,
            small=small,
            counts=np.empty(LEAVES, dtype=np.int64),
            gains=np.empty((DEPTH, LEAVES)),
            leaves=np.empty((2, LEAVES)),
            order=np.empty(CODES, dtype=np.int64),
            key=np.empty(CODES),
            part=np.empty((CODES, 2)),
        )


def shares(label: NDArray[np.integer[Any]], classes: int) -> Floats:
    """Class frequencies with half a row added to each class, so that none is 0.

    >>> shares(np.array([0, 0, 1]), 2).tolist()
    [0.625, 0.375]
    """
    counts = np.bincount(label, minlength=classes) + 0.5
    return np.asarray(counts / counts.sum())


def shares_given(
    label: NDArray[np.integer[Any]],
    given: NDArray[np.integer[Any]],
    learn: RowNumbers,
    classes: int,
) -> Floats:
    """Class probabilities of every row given another label.

    Frequencies of the classes among the training rows with the same other label, shrunk towards
    their frequencies among all training rows by the weight of one row.

    >>> p = shares_given(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), np.arange(4), 2)
    >>> p.round(3).tolist()
    [[0.833, 0.167], [0.833, 0.167], [0.167, 0.833], [0.167, 0.833]]
    """
    others = int(given.max()) + 1
    pairs = given[learn].astype(np.int64) * classes + label[learn]
    counts = np.bincount(pairs, minlength=others * classes).reshape(others, classes)
    weighed = counts + shares(label[learn], classes)
    return np.asarray((weighed / weighed.sum(axis=1, keepdims=True))[given])


def _checked(start: Floats, height: int, rows: RowNumbers, classes: int) -> Floats:
    """The starting probabilities of some rows; raise if they are not a full, positive array."""
    known = start.take(rows, axis=0) if start.shape == (height, classes) else None
    if known is None or not (known > 0).all():
        raise InputError(
            f"start has a probability above 0 for each of {height} rows and {classes} classes, "
            f"got an array of shape {start.shape}"
        )
    return known


def _margins(known: Floats) -> Floats:
    """Log-odds of the second of two classes, else the logs of all classes: outputs by rows."""
    logs = np.log(known)
    return np.ascontiguousarray(logs[1:] - logs[:1] if len(logs) == 2 else logs)


def _probabilities(margins: Floats) -> Floats:
    if len(margins) == 1:
        second = 1 / (1 + np.exp(-margins[0]))
        return np.column_stack([1 - second, second])
    raised = np.exp(margins - margins.max(axis=0))  # softmax; the largest is 1, none overflows
    return np.asarray((raised / raised.sum(axis=0)).T)
