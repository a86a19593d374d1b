"""Kernels: rows grouped by their pattern on a growing set of columns.

Each row carries the number of its pattern, each pattern its columns as bits and its weight. One
more column touches only the patterns of the rows that have it. A set of columns keeps its
anonymity by containment where every *maximal* touched pattern is heavy enough: a pattern that
lies inside another is held by all the rows of that other one too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

PATTERNS, CHOSEN, ANONYMITY = 0, 1, 2


class Patterns(NamedTuple):
    """The arrays of a growing projection; all but `mask` keep their size."""

    of_row: NDArray[np.int32]
    row_weight: NDArray[np.int32]
    """Rows that each row stands for; empty: one each."""
    row_classes: NDArray[np.int32]
    """Rows of the false and the true class that each row stands for; empty where not asked."""
    weight: NDArray[np.int64]
    classes: NDArray[np.int64]
    mask: NDArray[np.uint64]
    length: NDArray[np.int32]
    touched: NDArray[np.int32]
    hits: NDArray[np.int64]
    hits_classes: NDArray[np.int64]
    child: NDArray[np.int32]
    state: NDArray[np.int64]
    """Patterns in use, columns chosen, anonymity."""


def start(rows: int, row_weight: NDArray[np.int32], row_classes: NDArray[np.int32]) -> Patterns:
    """All rows in one empty pattern. Untouched pages of these arrays cost no memory."""
    n = max(rows, 1)
    total = int(row_weight.sum()) if len(row_weight) else rows
    asked = n if len(row_classes) else 0
    weight, classes = np.zeros(n, np.int64), np.zeros((asked, 2), np.int64)
    weight[0], classes[:1] = total, row_classes.sum(axis=0, dtype=np.int64)
    return Patterns(
        of_row=np.zeros(rows, np.int32),
        row_weight=row_weight,
        row_classes=row_classes,
        weight=weight,
        classes=classes,
        mask=np.zeros((n, 1), np.uint64),
        length=np.zeros(n, np.int32),
        touched=np.empty(n, np.int32),
        hits=np.zeros(n, np.int64),
        hits_classes=np.zeros((asked, 2), np.int64),
        child=np.empty(n, np.int32),
        state=np.array([1, 0, total], np.int64),
    )


def widen(g: Patterns) -> Patterns:
    """Room for more columns, where the bits of the masks are used up."""
    if g.state[CHOSEN] < 64 * g.mask.shape[1]:
        return g
    used, words = int(g.state[PATTERNS]), g.mask.shape[1]
    mask = np.zeros((len(g.mask), 2 * words), np.uint64)
    mask[:used, :words] = g.mask[:used]
    return g._replace(mask=mask)


@njit(cache=True)
def gather(rows: Any, g: Any) -> int:
    """Count the rows of a column by pattern; the number of patterns touched."""
    touched = 0
    weighted, labelled = g.row_weight.size > 0, g.row_classes.size > 0
    for r in rows:
        p = g.of_row[r]
        if g.hits[p] == 0:
            g.touched[touched] = p
            touched += 1
        g.hits[p] += g.row_weight[r] if weighted else 1
        if labelled:
            g.hits_classes[p, 0] += g.row_classes[r, 0]
            g.hits_classes[p, 1] += g.row_classes[r, 1]
    return touched


@njit(cache=True)
def clear(touched: int, g: Any) -> None:
    """Forget the counts of the last gather."""
    for i in range(touched):
        g.hits[g.touched[i]] = 0
    if g.row_classes.size > 0:
        for i in range(touched):
            g.hits_classes[g.touched[i], 0] = 0
            g.hits_classes[g.touched[i], 1] = 0


@njit(cache=True)
def lies_inside(p: int, touched: int, g: Any) -> bool:
    """Whether another touched pattern holds all columns of `p`."""
    words = (g.state[CHOSEN] + 63) // 64
    first, length = g.mask[p, 0], g.length[p]
    for i in range(touched):
        q = g.touched[i]
        if first & ~g.mask[q, 0] or g.length[q] <= length:
            continue
        w = 1
        while w < words and not g.mask[p, w] & ~g.mask[q, w]:
            w += 1
        if w >= words:
            return True
    return False


@njit(cache=True)
def lightest_longest(touched: int, g: Any) -> int:
    """The least count among the longest touched patterns, which are maximal for sure."""
    longest, least = -1, 0
    for i in range(touched):
        p = g.touched[i]
        if g.length[p] > longest:
            longest, least = g.length[p], g.hits[p]
        elif g.length[p] == longest:
            least = min(least, g.hits[p])
    return least


@njit(cache=True)
def anonymity_within(touched: int, limit: int, k: int, equality: bool, g: Any) -> int:
    """The anonymity of the touched patterns, at most `limit`; any number below k where below k."""
    if touched == 0:
        return limit
    least = min(limit, lightest_longest(touched, g))
    for i in range(touched):
        if least < k:
            break
        p = g.touched[i]
        count = g.hits[p]
        if equality and g.weight[p] > count:
            count = min(count, g.weight[p] - count)
        if count < least and (equality or not lies_inside(p, touched, g)):
            least = count
    return least


@njit(cache=True)
def split(rows: Any, touched: int, anonymity: int, g: Any) -> None:
    """Add the gathered column: its rows move to patterns of their own."""
    new, bit = g.state[PATTERNS], g.state[CHOSEN]
    word, flag = bit // 64, np.uint64(1) << np.uint64(bit % 64)
    for i in range(touched):
        p = g.touched[i]
        q = p
        if g.hits[p] < g.weight[p]:
            q = new
            new += 1
            g.mask[q, :] = g.mask[p, :]
            g.length[q] = g.length[p]
            g.weight[q] = g.hits[p]
            g.weight[p] -= g.hits[p]
            if g.row_classes.size > 0:
                for c in range(2):
                    g.classes[q, c] = g.hits_classes[p, c]
                    g.classes[p, c] -= g.hits_classes[p, c]
        g.mask[q, word] |= flag
        g.length[q] += 1
        g.child[p] = q
    for r in rows:
        g.of_row[r] = g.child[g.of_row[r]]
    g.state[PATTERNS], g.state[CHOSEN], g.state[ANONYMITY] = new, bit + 1, anonymity


@njit(cache=True)
def fits(rows: Any, k: int, equality: bool, g: Any) -> bool:
    """Whether the column of these rows can be added at anonymity k."""
    touched = gather(rows, g)
    least = anonymity_within(touched, k, k, equality, g)
    clear(touched, g)
    return bool(least >= k)


@njit(cache=True)
def offer(rows: Any, k: int, equality: bool, g: Any) -> bool:
    """Add the column of these rows where anonymity stays at k or above."""
    touched = gather(rows, g)
    fitting = anonymity_within(touched, k, k, equality, g) >= k
    if fitting:
        anonymity = g.state[ANONYMITY]
        if anonymity > k:
            anonymity = anonymity_within(touched, anonymity, k, equality, g)
        split(rows, touched, anonymity, g)
    clear(touched, g)
    return bool(fitting)
