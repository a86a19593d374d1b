"""A small boosting on codes: what any few columns of a table tell of a label, in milliseconds.

Trees of depth three are grown on histograms of gradients, one tree a class and round. A split is a
set of codes, so numbers and nominal values are one thing: a column's codes are put in order, their
own one or that of their mean gradient, and cut where it pays most. A split must pay for itself as
a test would ask, which keeps probabilities honest on small tables without rows held back to stop.

Rows alike in every code, and in what is known before, are boosted as one that counts for all: of
few or coarse columns a table has few distinct rows, and the time goes with those.
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
"""Beyond so many rows the slopes of one row are too small for their half of a word."""


@dataclass(frozen=True)
class Boosting:
    """How to boost.

    Parameters
    ----------
    rounds : int, default 20
        Trees of each class, at most.
    rate : float, default 0.3
        The share of a leaf's best step that is taken.
    ridge : float, default 2
        Added to the curvature of a leaf (L2 shrinkage).
    smooth : float, default 5
        Added to the curvature of a nominal code, with the gradient of its node, when codes are put
        in order: the gradient of a rare code is mostly chance.
    bar : float, default 1.5
        What a split, with those below it, must gain in log-likelihood (nats) to stand.

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
        """Learn on some rows and give the probability of each class for others, rows by classes.

        Parameters
        ----------
        label : array of int
            The class of every row of the table, from 0.
        learn, ask : arrays of int
            Row numbers.
        columns : sequence of int, optional
            The columns to learn from. `None`: all.
        start : array of float, rows by classes, optional
            What is known before: probabilities for every row of the table, all above 0. `None`:
            the shares of the classes among the rows learnt from, see `shares`.
        classes : int, optional
            How many there are. `None`: as many as the labels show.
        """
        task = BoostingTask.of(table, label, learn, ask, start=start, classes=classes)
        return self.answer(task, columns)

    def answer(self, task: BoostingTask, columns: Sequence[int] | None = None) -> Floats:
        """Learn some columns of a task, all by default; as `probabilities` gives it."""
        chosen = range(len(task.table)) if columns is None else columns
        learnt = len(task.label)
        if len(chosen) == 0 or task.classes < 2:
            return np.ascontiguousarray(task.known[:, learnt:].T)
        codes = np.array([task.codes(column) for column in chosen])
        first, place = rows_alike(codes, task.number)
        hits = labels_counted(place, task.label, task.classes)
        margins = _margins(task.known[:, first])
        numbers = np.asarray(chosen, dtype=np.intp)
        # A word has room for the slopes of all rows together: their number has so many bits.
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
    """A label, rows to learn it from and rows to ask about: laid out once, for any columns.

    Build it with `of`.
    """

    table: CodedTable
    places: RowNumbers
    """Where the codes of these rows are: first those learnt from, then those asked about."""
    label: NDArray[np.int64]
    """The classes of the rows to learn from."""
    classes: int
    known: Floats
    """What is known before, classes by rows."""
    number: NDArray[np.uint64]
    """A number of what is known for each row, alike where that is; no line if it always is."""
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
            none = np.zeros((0, len(rows)), dtype=np.uint8)
            first, place = rows_alike(none, known.view(np.uint64))
            number = place[None, :].astype(np.uint64) if len(first) > 1 else number
        return cls(table, table.places(rows), learnt, classes, known, number)

    def codes(self, column: int) -> NDArray[np.uint8]:
        """The codes of a column in these rows, taken from the table once."""
        if column not in self._lines:
            self._lines[column] = self.table.codes[column].take(self.places)
        return self._lines[column]


class _BoostingRoom(NamedTuple):
    """Arrays that the kernel works in: made here, since each kind takes it long to compile."""

    gradient: Floats
    curvature: Floats
    words: NDArray[np.int64]
    """Of each row learnt from, both slopes in one word."""
    asked: NDArray[np.uint64]
    """Of the rows looked at: their numbers, where the sums of their node begin, their words."""
    place: NDArray[np.uint64]
    slopes: NDArray[np.int64]
    sums: NDArray[np.int64]
    leaf: NDArray[np.uint64]
    split_column: NDArray[np.uint64]
    split_right: NDArray[np.uint64]
    kept: NDArray[np.uint64]
    alive: NDArray[np.bool_]
    small: NDArray[np.bool_]
    counts: NDArray[np.int64]
    gains: Floats
    leaves: Floats
    """Two figures of each leaf."""
    order: NDArray[np.int64]
    key: Floats
    part: Floats
    """Both slopes of each code of a column."""

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
    """The share of each class, half a row added to each so that none is 0.

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
    """The probability of each class where one other label is known, for every row.

    The share of the class among the rows learnt from that have the same other label, drawn to
    its share among all of them by the weight of one row.

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
    """What is known of some rows."""
    known = start.take(rows, axis=0) if start.shape == (height, classes) else None
    if known is None or not (known > 0).all():
        raise InputError(
            f"start has a probability above 0 for each of {height} rows and {classes} classes, "
            f"got an array of shape {start.shape}"
        )
    return known


def _margins(known: Floats) -> Floats:
    """Log-odds of the second of two classes, else logs of all: classes by rows."""
    logs = np.log(known)
    return np.ascontiguousarray(logs[1:] - logs[:1] if len(logs) == 2 else logs)


def _probabilities(margins: Floats) -> Floats:
    if len(margins) == 1:
        second = 1 / (1 + np.exp(-margins[0]))
        return np.column_stack([1 - second, second])
    raised = np.exp(margins - margins.max(axis=0))
    return np.asarray((raised / raised.sum(axis=0)).T)
