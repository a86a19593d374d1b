"""Columns for the searches, read in blocks from the table or from its distinct rows.

A `Projection` grows by such columns, and tells whether one still fits.

Columns that can no longer fit are ruled out without reading them one by one. The longest pattern
that a column touches is maximal among those that it touches; so if only 1 to k - 1 rows of that
pattern have the column, the column does not fit, now or later. Rows are read from the longest
pattern down, and each column is decided where it first appears: on a sparse table most columns are
ruled out after a few of their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.binary.kernels import WORD, Columns, distinct_masks, row_masks, take
from tamis.binary.matrix import Binary, class_counts, sparse_columns
from tamis.kernel_cache import njit
from tamis.select.containment import kernels
from tamis.select.containment.kernels import (
    CHOSEN,
    HALF,
    LENGTH,
    LOW,
    PATTERNS,
    Patterns,
    packed,
    start,
)
from tamis.select.containment.selection import Privacy, StopRule, check_k, check_privacy

UNSEEN = 2**31 - 1
"""In place of a pattern number: the column was not seen yet. Larger than any pattern number."""
# Reading by row is a sequential pass, and a column ruled out saves its turn in the search too.
WORTH = 128
"""How many ones may be read by row to save reading one in a column that does not fit."""
FEWEST_CHOSEN = 2
"""The fewest chosen columns at which enough can be ruled out to justify reading the table."""


def knock_out(
    table: sparse.csr_array,
    support: NDArray[np.int64],
    k: int,
    alive: NDArray[np.bool_],
    g: Patterns,
) -> None:
    """Clear `alive` for columns of a CSR table with unweighted rows that do not fit any more."""
    if g.state[CHOSEN] < FEWEST_CHOSEN:
        return
    patterns = int(g.state[PATTERNS])
    falling = np.argsort(-g.tree[:patterns, LENGTH], kind="stable")
    weight = g.counts[0, falling] & LOW
    ends = np.cumsum(weight)
    place = np.empty(patterns, np.int64)
    place[falling] = ends - weight
    rows = np.empty(len(g.of_row), np.int32)
    _sort_rows(g.of_row, place, rows)
    # The empty pattern rules out nothing: a column with rows only there has all its rows there,
    # and these are k or more.
    lengths = g.tree[falling, LENGTH]
    ends, lengths = ends[lengths > 0], lengths[lengths > 0]
    first = np.searchsorted(-lengths, -lengths)
    last = np.where(alive, np.int32(UNSEEN), np.int32(-1))
    count = np.zeros(len(alive), np.int32)
    _judge(table.indptr, table.indices, rows, ends, first, k, support, last, count)
    np.greater_equal(last, 0, out=alive)


@njit(cache=True, error_model="numpy")
def _sort_rows(of_row: Any, place: Any, rows: Any) -> None:
    """Counting sort of the rows by pattern; `place` has the first position of each."""
    for r in range(of_row.size):
        p = of_row[r]
        rows[place[p]] = r
        place[p] += 1


@njit(cache=True, error_model="numpy")
def _judge(
    indptr: Any,
    indices: Any,
    rows: Any,
    ends: Any,
    first: Any,
    k: int,
    support: Any,
    last: Any,
    count: Any,
) -> None:
    """Count the rows of each column in the longest patterns that it touches.

    Pattern i ends before row ``ends[i]``; ``first[i]`` is the first pattern of its length. `last`
    has the pattern in which a column was last counted, or -1 if a count ended below k. Reading
    stops when the columns not yet seen have too few ones left to be worth it.
    """
    begin, unread, unseen = 0, indices.size, 0
    for c in range(last.size):
        unseen += support[c] if last[c] == UNSEEN else 0
    for i in range(ends.size):
        since = first[i]
        if unseen * WORTH <= unread:
            break  # only between patterns: a count below k says nothing before its pattern is read
        for j in range(begin, ends[i]):
            r = rows[j]
            unread -= indptr[r + 1] - indptr[r]
            for c in indices[indptr[r] : indptr[r + 1]]:
                seen = last[c]
                # Ruled out, or counted in a longer pattern: this one may lie inside that one, and
                # then it is not maximal. Patterns of equal length never lie inside each other, so
                # each of the longest that a column touches must have k of its rows.
                if seen < since:
                    continue
                if seen == i:
                    count[c] += 1
                elif seen == UNSEEN or count[c] >= k:
                    unseen -= support[c] if seen == UNSEEN else 0
                    last[c], count[c] = i, 1
                else:
                    last[c] = -1
        begin = ends[i]
    for c in range(last.size):
        if last[c] != UNSEEN and count[c] < k:
            last[c] = -1


SHARE = 0.16
"""Fraction of the bytes of a CSR table that may be held by column at a time: memory against
passes over the table."""
FIRST = 32
"""Columns in the first block: a search often ends early, or these rule out most others."""
MOST_ONES = 1 << 20
"""The most ones that are read all at once by a search that needs most columns anyway."""
# Once columns are ruled out, what is left is read in as few passes as memory allows; a search that
# stops at the first column that does not fit may end any time, so its blocks grow more slowly.
GROWTH, STOP_GROWTH = 1000, 16
"""The factors by which the number of columns then grows: normally, and where such a column stops
the search."""


@dataclass(frozen=True)
class ColumnSource:
    """A 0/1 table and its labels, read by column in blocks.

    A narrow table is reduced to its distinct rows. A CSR table is never turned into CSC as a
    whole: that would double the memory and cost more than a greedy search.
    """

    table: sparse.csr_array | sparse.csc_array
    positive: NDArray[np.bool_]
    known: NDArray[np.bool_] | None
    """Which rows have a label; `None`: all."""
    support: NDArray[np.int64]
    """Ones of each column in all rows."""
    labelled: NDArray[np.int64]
    """Ones of each column in the rows that have a label."""
    ones: NDArray[np.int64]
    """Ones of each column in the rows of the true class."""
    distinct: NDArray[np.int64] | None = None
    """Packed counts of each distinct row; `None` if the rows are those of the table."""

    @classmethod
    def of(
        cls, table: Binary, positive: NDArray[np.bool_], known: NDArray[np.bool_] | None = None
    ) -> ColumnSource:
        """Read a checked table; rows that are not `known` count only for anonymity."""
        if table.shape[1] <= WORD:
            return cls._of_distinct(table, positive, known)
        held = sparse_columns(table) if isinstance(table, np.ndarray) else table
        support, ones = class_counts(held, positive)
        labelled = support
        if known is not None:
            seen = np.flatnonzero(known)
            labelled, ones = class_counts(held[seen], positive[seen])
        return cls(held, positive, known, support, labelled, ones)

    @classmethod
    def _of_distinct(
        cls, table: Binary, positive: NDArray[np.bool_], known: NDArray[np.bool_] | None
    ) -> ColumnSource:
        distinct = distinct_masks(row_masks(table))
        true = positive if known is None else positive & known
        ones = np.bincount(2 * distinct.of_row + true, minlength=2 * len(distinct.mask))[1::2]
        hidden = (
            None if known is None else np.bincount(distinct.of_row[~known], minlength=len(ones))
        )
        rows = packed(distinct.weight, ones, hidden)
        held = _columns_of(distinct.mask, table.shape[1])
        by_column = (held.T @ rows.T).T
        support, ones = by_column[0] & LOW, by_column[0] >> HALF
        return cls(held, positive, known, support, support - by_column[1:].sum(0), ones, rows)

    @property
    def weight(self) -> NDArray[np.int64]:
        """The number of rows behind each row of `table`."""
        if self.distinct is None:
            return np.ones(self.table.shape[0], np.int64)
        return np.asarray(self.distinct[0] & LOW)

    def start(self, by_class: bool) -> Patterns:
        """Put all rows into one pattern; with `by_class`, count the classes too."""
        counts = self.distinct
        if counts is None and by_class:
            ones = self.positive if self.known is None else self.positive & self.known
            counts = packed(1, ones, None if self.known is None else ~self.known)
        return start(self.table.shape[0], counts)

    @property
    def small(self) -> bool:
        """Whether all columns can be read at once."""
        return bool(self.table.nnz <= MOST_ONES)

    def blocks(
        self, order: NDArray[np.int64], rule: StopRule, g: Patterns, few: bool = True
    ) -> Iterator[Columns]:
        """Read the columns in this order, all at once or, with `few`, in growing blocks.

        Before the next block of a CSR table is read, columns that cannot fit `g` any more are ruled
        out and come without rows; not so where such a column must stop the search.
        """
        if self.table.format == "csc":
            yield take(self.table, order, self.support)
            return
        alive = np.zeros(len(self.support), bool)
        alive[order] = True
        done, columns, chosen = 0, FIRST if few else len(order), 0
        while done < len(order):
            if not rule.stop and g.state[CHOSEN] > chosen:
                alive[order[:done]] = False
                knock_out(self.table, self.support, rule.k, alive, g)
                chosen = g.state[CHOSEN]
            read = np.where(alive, self.support, 0)
            full = int(np.searchsorted(np.cumsum(read[order[done:]]), self._room(), "right"))
            size = max(1, min(columns, full))
            yield take(self.table, order[done : done + size], read)
            done, columns = done + size, columns * (STOP_GROWTH if rule.stop else GROWTH)

    def _room(self) -> int:
        """The most ones in a block; each takes the 4 bytes of a row number."""
        table = self.table
        size = table.data.nbytes + table.indices.nbytes + table.indptr.nbytes
        return max(int(SHARE * size / 4), 1 << 20)


def join_blocks(first: Columns | None, then: Columns) -> Columns:
    """Join two blocks of a CSR table; a CSC table comes as one block and needs no joining."""
    if first is None:
        return then
    shift = len(first.rows)
    return Columns(
        np.concatenate([first.begin, then.begin + shift]),
        np.concatenate([first.end, then.end + shift]),
        np.concatenate([first.rows, then.rows]),
    )


def _columns_of(masks: NDArray[np.uint64], width: int) -> sparse.csc_array:
    bits = masks & (np.uint64(1) << np.arange(width, dtype=np.uint64))[:, None] != 0
    starts = np.zeros(width + 1, np.int32)
    np.cumsum(np.count_nonzero(bits, axis=1), out=starts[1:])
    rows = (np.flatnonzero(bits) % len(masks)).astype(np.int32)
    return sparse.csc_array((np.ones(len(rows), np.uint8), rows, starts), (len(masks), width))


class Projection:
    """A table projected on a growing set of columns, kept at anonymity k or above.

    A row hides among the rows that contain it, or only among equal rows (`privacy`). `weight` is
    the number of rows that each row stands for, by default 1.

    >>> projection = Projection([[1, 1], [1, 0], [1, 1]], k=2)
    >>> projection.offer(0), projection.offer(1), projection.anonymity
    (True, True, 2)
    >>> Projection([[1, 1], [1, 0], [1, 1]], k=2, privacy="equality").fits(1)
    False
    """

    def __init__(
        self, X: Any, k: int, *, privacy: Privacy = "containment", weight: Any = None
    ) -> None:
        self._table = sparse_columns(X)
        self.k, self._equality = k, privacy == "equality"
        self.features: list[int] = []
        rows = self._table.shape[0]
        counts = None if weight is None else kernels.packed(weight, 0)
        self._patterns = kernels.start(rows, counts)
        check_k(k, self.anonymity)
        check_privacy(privacy)

    @property
    def anonymity(self) -> int:
        """The anonymity of the projection; without columns it is the number of rows."""
        return int(self._patterns.state[kernels.ANONYMITY])

    def fits(self, column: int) -> bool:
        """Whether the anonymity stays at k or above with this column added."""
        return bool(kernels.fits(self._rows(column), self.k, self._equality, self._patterns))

    def offer(self, column: int) -> bool:
        """Add the column if it fits; return whether it did."""
        self._patterns = kernels.widen(self._patterns)
        fitted = kernels.offer_column(self._rows(column), self.k, self._equality, self._patterns)
        if fitted:
            self.features.append(column)
        return bool(fitted)

    def _rows(self, column: int) -> NDArray[np.int32]:
        indptr = self._table.indptr
        rows: NDArray[np.int32] = self._table.indices[indptr[column] : indptr[column + 1]]
        return rows
