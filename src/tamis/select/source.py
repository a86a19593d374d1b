"""Where the searches take columns from: the table as it came, or its distinct rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.distinct import WORD, distinct_masks, row_masks
from tamis.evaluate.separation import class_counts
from tamis.select.columns import Columns, take
from tamis.select.knockout import knock_out
from tamis.select.patterns import Patterns, start
from tamis.zero_one import Binary, sparse_columns

SHARE = 0.16
"""Of the bytes of a CSR table: what may be held by column at a time."""
FIRST = 64
"""Columns to begin with: often a search ends early, or the first rule out most others."""
SMALL = 1 << 20
"""Ones of a table that is read at once."""


@dataclass(frozen=True)
class Source:
    """A 0/1 table and its labels, read by column in blocks.

    A narrow table is reduced to its distinct rows. A CSR table is never turned into CSC as a
    whole: that would double the memory and cost more than a greedy search.
    """

    table: sparse.csr_array | sparse.csc_array
    weight: NDArray[np.int32]
    classes: NDArray[np.int32]
    support: NDArray[np.int64]
    """Ones of each column in all rows."""
    labelled: NDArray[np.int64]
    """Ones of each column in the rows that have a label."""
    ones: NDArray[np.int64]
    """Ones of each column in the rows of the true class."""

    @classmethod
    def of(
        cls, table: Binary, positive: NDArray[np.bool_], labelled: NDArray[np.bool_] | None = None
    ) -> Source:
        """Read a checked table; rows that are not `labelled` count for anonymity only."""
        classes = np.column_stack([~positive, positive]).astype(np.int32)
        if labelled is not None:
            classes[~labelled] = 0
        if table.shape[1] <= WORD:
            return cls._of_distinct(table, classes)
        held = sparse_columns(table) if isinstance(table, np.ndarray) else table
        support, ones = class_counts(held, positive)
        counted = support
        if labelled is not None:
            seen = np.flatnonzero(labelled)
            counted, ones = class_counts(held[seen], positive[seen])
        return cls(held, np.empty(0, np.int32), classes, support, counted, ones)

    @classmethod
    def _of_distinct(cls, table: Binary, classes: NDArray[np.int32]) -> Source:
        found = distinct_masks(row_masks(table))
        held = _columns_of(found.mask, table.shape[1])
        joint = [np.bincount(found.of_row, c, len(found.mask)) for c in classes.T]
        by_class = np.column_stack(joint).astype(np.int64)
        others, ones = (held.T.astype(np.int64) @ by_class).T
        return cls(
            held,
            found.weight.astype(np.int32),
            by_class.astype(np.int32),
            held.T.astype(np.int64) @ found.weight,
            others + ones,
            ones,
        )

    def start(self, by_class: bool) -> Patterns:
        """All rows in one pattern; `by_class`: the classes are counted too."""
        return start(self.table.shape[0], self.weight, self.classes[: None if by_class else 0])

    def blocks(
        self, order: NDArray[np.int64], alive: NDArray[np.bool_], few: bool, growth: int = 1000
    ) -> Iterator[Columns]:
        """The columns in this order, all at once or `few` at first and then more.

        Columns that are no longer `alive` when their block is read come without rows.
        """
        if self.table.format == "csc":
            yield take(self.table, order, self.support)
            return
        small = self.table.nnz <= SMALL
        done, columns = 0, FIRST if few and not small else len(order)
        while done < len(order):
            read = np.where(alive[order[done:]], self.support[order[done:]], 0)
            full = int(np.searchsorted(np.cumsum(read), self._room(), "right"))
            size = max(1, min(columns, full))
            block = order[done : done + size]
            yield take(self.table, block, np.where(alive, self.support, 0))
            done, columns = done + size, columns * growth

    def rule_out(self, k: int, alive: NDArray[np.bool_], g: Patterns) -> None:
        """Mark columns that cannot fit any more; a CSC table gives no cheap way to tell."""
        if self.table.format == "csr":
            knock_out(self.table, k, alive, g)

    def _room(self) -> int:
        table = self.table
        size = table.data.nbytes + table.indices.nbytes + table.indptr.nbytes
        return max(int(SHARE * size / 4), 1 << 20)


def joined(first: Columns | None, then: Columns) -> Columns:
    """Two blocks as one; blocks of a CSC table share their rows and come whole."""
    if first is None:
        return then
    shift = len(first.rows)
    return Columns(
        np.concatenate([first.begin, then.begin + shift]),
        np.concatenate([first.end, then.end + shift]),
        np.concatenate([first.rows, then.rows]),
    )


def _columns_of(masks: NDArray[np.uint64], width: int) -> sparse.csc_array:
    bits = masks[None, :] >> np.arange(width, dtype=np.uint64)[:, None] & np.uint64(1)
    which, rows = np.nonzero(bits)
    starts = np.zeros(width + 1, np.int32)
    np.cumsum(np.bincount(which, minlength=width), out=starts[1:])
    ones = np.ones(len(rows), np.uint8)
    return sparse.csc_array((ones, rows.astype(np.int32), starts), shape=(len(masks), width))
