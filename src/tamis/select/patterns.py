"""Kernels: rows grouped by their pattern on a growing set of columns.

Each row carries the number of its pattern, each pattern its columns as bits and its rows. One
more column touches only the patterns of the rows that have it. A set of columns keeps its
anonymity by containment where every *maximal* touched pattern is heavy enough: a pattern that
lies inside another is held by all the rows of that other one too.

Counts of rows and of rows of the true class share one word, so that a row is counted by one
addition.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

PATTERNS, CHOSEN, ANONYMITY = 0, 1, 2
LENGTH, ABOVE, CHILD = 0, 1, 2
HALF = 32
LOW = (1 << HALF) - 1


class Patterns(NamedTuple):
    """The arrays of a growing projection; all but `mask` keep their size.

    Counts hold the number of rows in their low half and that of rows of the true class in their
    high half. A second line counts the rows without a label, where there are any.
    """

    of_row: NDArray[np.int32]
    row_counts: NDArray[np.int64]
    """What each row stands for; a single number: each for that."""
    counts: NDArray[np.int64]
    hits: NDArray[np.int64]
    """Counts of the gathered column, 0 for the patterns that it does not touch."""
    touched: NDArray[np.int32]
    tree: NDArray[np.int32]
    """Of each pattern: its `LENGTH` in columns; a longer pattern `ABOVE` it that holds all its
    columns, as far as one is known, else -1; the `CHILD` that its rows with a new column go to."""
    mask: NDArray[np.uint64]
    state: NDArray[np.int64]
    """Patterns in use, columns chosen, anonymity."""


def packed(weight: Any, ones: Any, hidden: Any = None) -> NDArray[np.int64]:
    """What rows stand for, from numbers of rows: all, of the true class, without a label."""
    lines = [np.asarray(weight, np.int64) + (np.asarray(ones, np.int64) << HALF)]
    return np.stack(lines if hidden is None else [*lines, np.asarray(hidden, np.int64)])


def start(rows: int, row_counts: NDArray[np.int64] | None = None) -> Patterns:
    """All rows in one empty pattern. Untouched pages of these arrays cost no memory."""
    total: Any = rows
    if row_counts is None:
        row_counts = np.ones((1, 1), np.int64)
    else:
        total = row_counts.sum(axis=1)
    n, lines = max(rows, 1), len(row_counts)
    counts, tree = np.zeros((lines, n), np.int64), np.zeros((n, 3), np.int32)
    counts[:, 0] = total
    tree[0, ABOVE] = -1
    return Patterns(
        of_row=np.zeros(rows, np.int32),
        row_counts=row_counts,
        counts=counts,
        hits=np.zeros((lines, n), np.int64),
        touched=np.empty(n + 1, np.int32),
        tree=tree,
        mask=np.zeros((n, 1), np.uint64),
        state=np.array([1, 0, counts[0, 0] & LOW], np.int64),
    )


def widen(g: Patterns) -> Patterns:
    """Room for more columns, where the bits of the masks are used up."""
    if g.state[CHOSEN] < 64 * g.mask.shape[1]:
        return g
    used, words = int(g.state[PATTERNS]), g.mask.shape[1]
    mask = np.zeros((len(g.mask), 2 * words), np.uint64)
    mask[:used, :words] = g.mask[:used]
    return g._replace(mask=mask)


@njit(cache=True, error_model="numpy")
def gather(rows: Any, patterns: int, of_row: Any, row_counts: Any, hits: Any, touched: Any) -> int:
    """Count the rows of a column by pattern; the number of patterns touched."""
    n, each = 0, -1 if row_counts.shape[1] > 1 else 0
    if patterns < rows.size:
        for r in rows:
            hits[0, of_row[r]] += row_counts[0, r & each]
        for p in range(patterns):
            # Written always and kept where touched: whether it is cannot be foretold.
            touched[n] = p
            n += hits[0, p] != 0
    else:
        for r in rows:
            p = of_row[r]
            before = hits[0, p]
            touched[n] = p
            n += before == 0
            hits[0, p] = before + row_counts[0, r & each]
    if hits.shape[0] == 2:
        for r in rows:
            hits[1, of_row[r]] += row_counts[1, r]
    return n


@njit(cache=True, error_model="numpy")
def clear(n: int, hits: Any, touched: Any) -> None:
    """Forget the counts of the last gather, which touched `n` patterns."""
    for line in range(hits.shape[0]):
        for i in range(n):
            hits[line, touched[i]] = 0


@njit(cache=True, error_model="numpy")
def _find_above(p: int, n: int, touched: Any, tree: Any, mask: Any) -> Any:
    """A touched pattern that holds all columns of `p` and more, or -1."""
    words, first, length = mask.shape[1], mask[p, 0], tree[p, LENGTH]
    for i in range(n):
        q = touched[i]
        if first & ~mask[q, 0] or tree[q, LENGTH] <= length:
            continue
        w = 1
        while w < words and not mask[p, w] & ~mask[q, w]:
            w += 1
        if w == words:
            return q
    return -1


@njit(cache=True, error_model="numpy")
def _lightest_longest(n: int, hits: Any, touched: Any, tree: Any) -> int:
    """The least weight among the longest touched patterns, which are maximal for sure."""
    longest, least = -1, 0
    for i in range(n):
        p = touched[i]
        length, weight = tree[p, LENGTH], hits[0, p] & LOW
        if length > longest or (length == longest and weight < least):
            longest, least = length, weight
    return least


@njit(cache=True, error_model="numpy")
def _lightest_part(n: int, counts: Any, hits: Any, touched: Any) -> Any:
    """The least weight among the touched patterns and what would be left of them."""
    least = hits[0, touched[0]] & LOW
    for i in range(n):
        p = touched[i]
        weight, left = hits[0, p] & LOW, (counts[0, p] - hits[0, p]) & LOW
        if 0 < left < weight:
            weight = left
        if weight < least:
            least = weight
    return least


@njit(cache=True, error_model="numpy")
def anonymity_within(
    n: int,
    limit: int,
    k: int,
    equality: bool,
    counts: Any,
    hits: Any,
    touched: Any,
    tree: Any,
    mask: Any,
) -> Any:
    """The anonymity of the touched patterns, at most `limit`; any number below k where below k."""
    if n == 0:
        return limit
    if equality:
        return min(limit, _lightest_part(n, counts, hits, touched))
    least = min(limit, _lightest_longest(n, hits, touched, tree))
    for i in range(n):
        if least < k:
            break
        p = touched[i]
        weight = hits[0, p] & LOW
        if weight >= least:
            continue
        above = tree[p, ABOVE]
        while above >= 0 and hits[0, above] == 0:
            above = tree[above, ABOVE]
        if above < 0:
            above = _find_above(p, n, touched, tree, mask)
        if above < 0:
            least = weight
        tree[p, ABOVE] = above
    return least


@njit(cache=True, error_model="numpy")
def _part(
    n: int, bit: int, new: int, counts: Any, hits: Any, touched: Any, tree: Any, mask: Any
) -> int:
    """Give the gathered rows of each pattern one that has column `bit` too; the patterns now."""
    word, flag = bit // 64, np.uint64(1) << np.uint64(bit % 64)
    for i in range(n):
        p = touched[i]
        q = p
        if hits[0, p] != counts[0, p]:
            q = new
            new += 1
            for w in range(word + 1):
                mask[q, w] = mask[p, w]
            tree[q, LENGTH] = tree[p, LENGTH]
            for line in range(hits.shape[0]):
                counts[line, q] = hits[line, p]
                counts[line, p] -= hits[line, p]
        mask[q, word] |= flag
        tree[q, LENGTH] += 1
        tree[p, CHILD] = q
    for i in range(n):
        p = touched[i]
        above = tree[p, ABOVE]
        joins = above >= 0 and hits[0, above] > 0
        tree[tree[p, CHILD], ABOVE] = tree[above, CHILD] if joins else -1
    return new


@njit(cache=True, error_model="numpy")
def offer(rows: Any, k: int, equality: bool, g: Any) -> bool:
    """Add the column of these rows where anonymity stays at k or above."""
    of_row, row_counts, counts, hits, touched, tree, mask, state = g
    n = gather(rows, state[PATTERNS], of_row, row_counts, hits, touched)
    limit = state[ANONYMITY]
    anonymity = anonymity_within(n, limit, k, equality, counts, hits, touched, tree, mask)
    if anonymity >= k:
        new = _part(n, state[CHOSEN], state[PATTERNS], counts, hits, touched, tree, mask)
        for r in rows:
            of_row[r] = tree[of_row[r], CHILD]
        state[PATTERNS], state[ANONYMITY] = new, anonymity
        state[CHOSEN] += 1
    clear(n, hits, touched)
    return bool(anonymity >= k)


@njit(cache=True, error_model="numpy")
def fits(rows: Any, k: int, equality: bool, g: Any) -> bool:
    """Whether the column of these rows can be added at anonymity k."""
    of_row, row_counts, counts, hits, touched, tree, mask, state = g
    n = gather(rows, state[PATTERNS], of_row, row_counts, hits, touched)
    least = anonymity_within(n, k, k, equality, counts, hits, touched, tree, mask)
    clear(n, hits, touched)
    return bool(least >= k)
