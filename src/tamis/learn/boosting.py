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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.learn.alike import labels_counted, rows_alike
from tamis.learn.coded_table import CodedTable

Floats = NDArray[np.float64]
RowNumbers = NDArray[np.intp]

CODES = 32
"""As in `coded_table`, written again: Numba's cache sees no change in another file."""
DEPTH = 3
LEAVES = 1 << DEPTH
LEAST = 0.5
"""The least curvature of a leaf: some five rows that one in ten is expected to differ from."""
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
        """Learn on some rows and give the probability of each class for others.

        Parameters
        ----------
        table : CodedTable
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

        Returns
        -------
        array of float, asked rows by classes
        """
        chosen = range(len(table)) if columns is None else columns
        classes = int(label.max()) + 1 if classes is None else classes
        if not 0 < len(learn) <= MOST_ROWS:
            raise InputError(
                f"boosting learns from 1 to {MOST_ROWS:,} rows, got {len(learn):,}; give a sample"
            )
        rows = np.concatenate([learn, ask])
        if start is None:
            known = np.tile(shares(label[learn], classes), (len(rows), 1))
        else:
            known = _checked(start, table.rows, rows, classes)
        if len(chosen) == 0 or classes < 2:
            return known[len(learn) :]
        part = table.slice(chosen, rows)
        before = np.ascontiguousarray(known.T)
        first, place = rows_alike(part.codes, before.view(np.uint64))
        hits = labels_counted(place, np.ascontiguousarray(label[learn], dtype=np.int64), classes)
        margins = _margins(before[:, first])
        _boost(
            np.ascontiguousarray(part.codes[:, first]),
            part.widths,
            part.ordered,
            hits,
            margins,
            self.rounds,
            self.rate,
            self.ridge,
            self.smooth,
            self.bar,
        )
        return np.asarray(_probabilities(margins)[place[len(learn) :]])


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

    Parameters
    ----------
    label, given : arrays of int
        Both labels of every row, from 0.
    learn : array of int
        The rows to learn from.
    classes : int
        How many classes `label` has.

    Returns
    -------
    array of float, rows by classes

    Examples
    --------
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


@njit(cache=True)
def _boost(
    codes: Any,
    widths: Any,
    ordered: Any,
    hits: Any,
    margins: Any,
    rounds: int,
    rate: float,
    ridge: float,
    smooth: float,
    bar: float,
) -> None:
    """Add to the margins of all rows; the first rows, which have counts, are learnt from."""
    outputs, rows = margins.shape
    learnt = hits.shape[1]
    bits = 1
    while (1 << bits) < hits[-1].sum():
        bits += 1
    gradient = np.empty((outputs, learnt))
    curvature = np.empty((outputs, learnt))
    leaf = np.empty(rows, dtype=np.uint64)
    for _ in range(rounds):
        _slopes(margins, hits, gradient, curvature)
        grew = False
        for k in range(outputs):
            row_slopes = gradient[k], curvature[k]
            if _grow(codes, widths, ordered, row_slopes, bits, leaf, ridge, smooth, bar):
                grew = True
                _step(gradient[k], curvature[k], leaf, margins[k], rate, ridge)
        if not grew:
            break


@njit(cache=True)
def _slopes(margins: Any, hits: Any, gradient: Any, curvature: Any) -> None:
    """The gradient and curvature of the log-likelihood of each row by each margin."""
    outputs = len(margins)
    for i in range(hits.shape[1]):
        rows = hits[-1, i]
        if outputs == 1:
            p = 1.0 / (1.0 + np.exp(-margins[0, i]))
            gradient[0, i] = hits[0, i] - rows * p
            curvature[0, i] = rows * p * (1.0 - p)
            continue
        top = margins[0, i]
        for k in range(1, outputs):
            top = max(top, margins[k, i])
        total = 0.0
        for k in range(outputs):
            total += np.exp(margins[k, i] - top)
        for k in range(outputs):
            p = np.exp(margins[k, i] - top) / total
            gradient[k, i] = hits[k, i] - rows * p
            curvature[k, i] = rows * p * (1.0 - p)


@njit(cache=True)
def _step(gradient: Any, curvature: Any, leaf: Any, margin: Any, rate: float, ridge: float) -> None:
    """Move each row's margin by a share of its leaf's Newton step."""
    slope = np.zeros(LEAVES)
    bend = np.zeros(LEAVES)
    for i in range(len(gradient)):
        slope[leaf[i]] += gradient[i]
        bend[leaf[i]] += curvature[i]
    for j in range(LEAVES):
        slope[j] *= rate / (bend[j] + ridge)
    for i in range(len(margin)):
        margin[i] += slope[leaf[i]]


@njit(cache=True)
def _packed(gradient: Any, curvature: Any, bits: int, out: Any) -> None:
    """Both slopes of a row in one word, so that a histogram adds them at once.

    The upper half holds the gradient, the lower one the curvature, which is never negative, so
    that sums of words are words of sums: exact, in any order.
    """
    up, low = float(1 << (30 - bits)), float(1 << (33 - bits))
    for i in range(len(gradient)):
        whole = np.int64(round(gradient[i] * up))
        out[i] = (whole << 32) + np.int64(round(curvature[i] * low))


@njit(cache=True)
def _unpack(words: Any, bits: int, out: Any) -> None:
    up, low = float(1 << (30 - bits)), float(1 << (33 - bits))
    for j in range(len(words)):
        out[j, 0] = (words[j] >> 32) / up
        out[j, 1] = (words[j] & 0xFFFFFFFF) / low


@njit(cache=True)
def _grow(
    codes: Any,
    widths: Any,
    ordered: Any,
    row_slopes: Any,
    bits: int,
    leaf: Any,
    ridge: float,
    smooth: float,
    bar: float,
) -> bool:
    """Grow a tree; gives every row its leaf and says whether there is any split."""
    gradient, curvature = row_slopes
    columns, rows = codes.shape
    learnt = len(gradient)
    words = np.empty(learnt, dtype=np.int64)
    _packed(gradient, curvature, bits, words)
    sums = np.zeros((columns, LEAVES * CODES), dtype=np.int64)
    asked = np.empty(learnt, dtype=np.uint64)
    place = np.empty(learnt, dtype=np.uint64)
    slopes = np.empty(learnt, dtype=np.int64)
    split_column = np.empty(LEAVES, dtype=np.uint64)
    split_right = np.empty(LEAVES, dtype=np.uint64)
    gains = np.zeros((DEPTH, LEAVES))
    kept = np.arange(LEAVES).astype(np.uint64)
    count = np.empty(LEAVES, dtype=np.int64)
    alive = np.zeros(LEAVES, dtype=np.bool_)
    small = np.zeros(LEAVES, dtype=np.bool_)
    leaf[:] = 0
    alive[0] = small[0] = True
    # A node's children have its own number and that plus the stride; one not split stays as it is.
    for level in range(DEPTH):
        stride = 1 << level
        n = 0
        for i in range(learnt):  # no branch, which chance would decide
            asked[n] = i
            place[n] = leaf[i] * np.uint64(CODES)
            slopes[n] = words[i]
            n += small[leaf[i]]
        _collect(codes, asked[:n], place[:n], slopes[:n], sums)
        half = stride >> 1
        for left in range(half):
            if alive[left]:
                small_one = left if small[left] else left + half
                _leave(sums, small_one, left + half if small[left] else left)
        split = False
        for node in range(stride):
            split_column[node], split_right[node] = 0, 0
            if alive[node]:
                split_column[node], split_right[node], gains[level, node] = _best_split(
                    sums, widths, ordered, node, bits, ridge, smooth
                )
                split = split or split_right[node] != 0
        if not split:
            break
        for i in range(rows):
            node = leaf[i]
            right = (split_right[node] >> np.uint64(codes[split_column[node], i])) & np.uint64(1)
            leaf[i] = node + right * np.uint64(stride)
        count[:] = 0
        for i in range(learnt):
            count[leaf[i]] += 1
        for left in range(stride):
            right = left + stride
            parted = split_right[left] != 0
            alive[left] = alive[right] = parted
            small[left] = parted and count[left] < count[right]
            small[right] = parted and not small[left]
            if small[left]:
                _move(sums, left, right)
    grew = _prune(gains, bar, kept)
    for i in range(rows):
        leaf[i] = kept[leaf[i]]
    return grew


@njit(cache=True)
def _prune(gains: Any, bar: float, kept: Any) -> bool:
    """Undo splits that do not pay; `kept` says which leaf each becomes. Is any split left?

    From the leaves up, a split is worth its gain less the bar and what those below it are worth:
    so one that gains nothing alone stands where it makes way for others.
    """
    worth = np.zeros(LEAVES)
    for level in range(DEPTH - 1, -1, -1):
        stride = 1 << level
        for node in range(stride):
            worth[node] += worth[node + stride] + gains[level, node] - bar
            worth[node + stride] = 0.0
            if worth[node] <= 0.0:
                worth[node] = 0.0
                for j in range(node, LEAVES, stride):
                    kept[j] = node
    return bool(worth[0] > 0.0)


@njit(cache=True)
def _collect(codes: Any, asked: Any, place: Any, slopes: Any, sums: Any) -> None:
    """Add the slopes of some rows to the sums of their codes, at the place of their node.

    Two columns at a time: while one sum is written the processor works on the other.
    """
    columns = len(codes)
    for c in range(0, columns - 1, 2):
        one, two, sum_one, sum_two = codes[c], codes[c + 1], sums[c], sums[c + 1]
        for j in range(len(asked)):
            sum_one[place[j] + np.uint64(one[asked[j]])] += slopes[j]
            sum_two[place[j] + np.uint64(two[asked[j]])] += slopes[j]
    if columns % 2:
        one, sum_one = codes[columns - 1], sums[columns - 1]
        for j in range(len(asked)):
            sum_one[place[j] + np.uint64(one[asked[j]])] += slopes[j]


@njit(cache=True)
def _move(sums: Any, left: int, right: int) -> None:
    """Put the sums of a split node where its larger child will be, and make room for the other."""
    for c in range(len(sums)):
        for code in range(CODES):
            sums[c, right * CODES + code] = sums[c, left * CODES + code]
            sums[c, left * CODES + code] = 0


@njit(cache=True)
def _leave(sums: Any, small: int, large: int) -> None:
    """Where the larger child will be stand the sums of both: take those of the smaller one away."""
    for c in range(len(sums)):
        for code in range(CODES):
            sums[c, large * CODES + code] -= sums[c, small * CODES + code]


@njit(cache=True)
def _best_split(
    sums: Any,
    widths: Any,
    ordered: Any,
    node: int,
    bits: int,
    ridge: float,
    smooth: float,
) -> tuple[int, int, float]:
    """The column, the codes, as bits, that go right (none: no split gains), and the gain."""
    best, best_column, best_codes = 0.0, 0, 0
    order = np.empty(CODES, dtype=np.int64)
    room = np.empty((CODES, 2))
    for c in range(len(sums)):
        part = room[: widths[c]]
        _unpack(sums[c, node * CODES : node * CODES + widths[c]], bits, part)
        if ordered[c]:
            # Missing values go with the low numbers, then with the high ones.
            _natural(order, widths[c], 0)
            gain, chosen = _best_cut(part, order, ridge)
            if gain > best:
                best, best_column, best_codes = gain, c, chosen
            if part[0, 1] == 0.0:
                continue
            _natural(order, widths[c], 1)
            gain, chosen = _best_cut(part, order, ridge)
        else:
            _by_gradient(part, order, smooth)
            gain, chosen = _best_cut(part, order, ridge)
            gain -= _luck(part)
        if gain > best:
            best, best_column, best_codes = gain, c, chosen
    return best_column, best_codes, best


@njit(cache=True)
def _luck(part: Any) -> float:
    """What codes without any bearing would gain, beyond two codes, by being put in order first.

    Their gradients are then normal; the best of all ways to part w of them in two has 2 / pi of
    their chi-square, w - 1 on average, and a gain is half of a chi-square.
    """
    used = 0
    for code in range(len(part)):
        used += part[code, 1] > 0.0
    return max(used - 2, 0) / np.pi


@njit(cache=True)
def _natural(order: Any, width: int, first: int) -> None:
    for j in range(width):
        order[j] = (j + first) % width


@njit(cache=True)
def _by_gradient(part: Any, order: Any, smooth: float) -> None:
    """The codes by their mean gradient, drawn to that of the node; ties as they are numbered."""
    slope, bend = 0.0, 0.0
    for code in range(len(part)):
        slope += part[code, 0]
        bend += part[code, 1]
    mean = slope / bend if bend > 0.0 else 0.0
    key = np.empty(CODES)
    for code in range(len(part)):
        value = (part[code, 0] + smooth * mean) / (part[code, 1] + smooth)
        j = code
        while j > 0 and key[j - 1] > value:
            key[j] = key[j - 1]
            order[j] = order[j - 1]
            j -= 1
        key[j] = value
        order[j] = code


@njit(cache=True)
def _best_cut(part: Any, order: Any, ridge: float) -> tuple[float, int]:
    """The best cut of codes in this order: what it gains, and the codes after it as bits."""
    slope, bend = 0.0, 0.0
    for code in range(len(part)):
        slope += part[code, 0]
        bend += part[code, 1]
    whole = slope * slope / (bend + ridge)
    best, best_codes, everything = 0.0, 0, (1 << len(part)) - 1
    left_slope, left_bend, codes = 0.0, 0.0, 0
    for j in range(len(part) - 1):
        left_slope += part[order[j], 0]
        left_bend += part[order[j], 1]
        codes |= 1 << order[j]
        right_slope, right_bend = slope - left_slope, bend - left_bend
        if left_bend < LEAST or right_bend < LEAST:
            continue
        gain = 0.5 * (
            left_slope * left_slope / (left_bend + ridge)
            + right_slope * right_slope / (right_bend + ridge)
            - whole
        )
        if gain > best:
            best, best_codes = gain, everything & ~codes
    return best, best_codes
