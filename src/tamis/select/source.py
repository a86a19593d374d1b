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
from tamis.select.patterns import Patterns, start
from tamis.zero_one import Binary, sparse_columns

SHARE = 0.12
"""Of the bytes of a CSR table: what may be held by column at a time."""
FIRST = 64
"""Columns to begin with where a search may end early."""


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
        support, ones = class_counts(table, positive)
        counted = support
        classes = np.column_stack([~positive, positive]).astype(np.int32)
        if labelled is not None:
            classes[~labelled] = 0
            counted, ones = class_counts(table[labelled], positive[labelled])
        if table.shape[1] > WORD:
            held = sparse_columns(table) if isinstance(table, np.ndarray) else table
            return cls(held, np.empty(0, np.int32), classes, support, counted, ones)
        found = distinct_masks(row_masks(table))
        joint = [np.bincount(found.of_row, c, len(found.mask)) for c in classes.T]
        return cls(
            _columns_of(found.mask, table.shape[1]),
            found.weight.astype(np.int32),
            np.column_stack(joint).astype(np.int32),
            support,
            counted,
            ones,
        )

    def start(self, by_class: bool) -> Patterns:
        """All rows in one pattern; `by_class`: the classes are counted too."""
        return start(self.table.shape[0], self.weight, self.classes[: None if by_class else 0])

    def blocks(self, order: NDArray[np.int64], small: bool) -> Iterator[Columns]:
        """The columns in this order, some at a time; `small`: few at first, then more."""
        if self.table.format == "csc":
            yield take(self.table, order, self.support)
            return
        ends = np.cumsum(self.support[order])
        most = self._room()
        done, columns = 0, FIRST if small else len(order)
        while done < len(order):
            full = int(np.searchsorted(ends, most + (ends[done - 1] if done else 0), "right"))
            stop = max(done + 1, min(done + columns, full))
            yield take(self.table, order[done:stop], self.support)
            done, columns = stop, 4 * columns

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
    starts = np.zeros(width + 1, np.int64)
    np.cumsum(np.bincount(which, minlength=width), out=starts[1:])
    ones = np.ones(len(rows), np.uint8)
    return sparse.csc_array((ones, rows.astype(np.int32), starts), shape=(len(masks), width))
