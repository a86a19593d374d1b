"""Kernels: the rows of a table nearest to what is known of a person."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.kernel_cache import njit
from tamis.learn.coded_table import rows_alike


class NearestRows:
    """An index of a table for finding the rows nearest to people.

    A cell adds |a - b| where its column holds numbers (scaled to a range of 1), else 0 or 1;
    missing (NaN) is a value of its own. Unknown cells add nothing, so where nothing is known every
    row is nearest.

    Rows that agree in all texts are stored together. The number of texts in which such a group
    differs is a lower bound of its distance, so groups are visited in that order and most are never
    visited.

    Parameters
    ----------
    table : array of float, rows by columns
    nominal : array of bool
        Which columns hold texts, numbered from 0.

    Examples
    --------
    >>> rows = NearestRows(np.array([[0, 0.5], [1, 0.5], [0, 0.9]]), np.array([True, False]))
    >>> hits, least = rows.to(np.array([[0, 0.8]]), np.array([[True, True]]))
    >>> hits.tolist(), least.round(3).tolist()
    ([[False, False, True]], [0.1])
    """

    def __init__(self, table: Any, nominal: Any) -> None:
        self._nominal, texts = nominal, _texts(table[:, nominal])
        none = np.zeros((0, len(table)), dtype=np.uint8)
        first, group = rows_alike(none, texts.T.astype(np.uint64))
        sizes = np.bincount(group, minlength=len(first))
        self._order = np.argsort(group, kind="stable")
        self._ends = np.concatenate([[0], np.cumsum(sizes)])
        self._groups = np.ascontiguousarray(texts[first].T)
        self._numbers = np.ascontiguousarray(table[:, ~nominal][self._order])

    def to(self, asked: Any, known: Any) -> Any:
        """Mask of the rows nearest to each asked row by its known cells, and their distance."""
        rows, nominal = len(self._order), self._nominal
        hits, least = np.zeros((len(asked), rows), dtype=np.bool_), np.empty(len(asked))
        _find_nearest(
            _texts(asked[:, nominal]),
            np.ascontiguousarray(known[:, nominal]),
            np.ascontiguousarray(asked[:, ~nominal]),
            np.ascontiguousarray(known[:, ~nominal]),
            self._groups,
            self._numbers,
            self._ends,
            self._order,
            np.empty(self._groups.shape[1], dtype=np.int32),
            np.empty(rows),
            hits,
            least,
        )
        return hits, least


def pairs(hits: Any) -> tuple[Any, Any]:
    """The people and rows of hits, as `numpy.nonzero` gives them: ten times faster for few hits.

    >>> [places.tolist() for places in pairs(np.array([[False, True], [True, True]]))]
    [[0, 1, 1], [1, 0, 1]]
    """
    return np.divmod(np.flatnonzero(hits), hits.shape[1])


def _texts(cells: Any) -> Any:
    """Numbered texts as int32, with -1 for missing, which unlike NaN equals itself."""
    # Always in one memory layout: Numba would compile the kernel again for each other one.
    return np.ascontiguousarray(np.where(np.isnan(cells), -1.0, cells), dtype=np.int32)


@njit(cache=True)
def _find_nearest(
    texts: Any,
    known_texts: Any,
    numbers: Any,
    known_numbers: Any,
    groups: Any,
    cells: Any,
    ends: Any,
    order: Any,
    differ: Any,
    apart: Any,
    hits: Any,
    least: Any,
) -> None:
    """Fill `hits` and `least`.

    Groups are visited by the number of differing texts, `seen`, and a row is left as soon as it is
    farther than the nearest so far.
    """
    width, many = groups.shape
    for q in range(len(texts)):
        differ[:] = 0
        for c in range(width):
            if known_texts[q, c]:
                # Column by column and without a branch, so that several groups are compared at
                # once in one vector instruction.
                text, column = texts[q, c], groups[c]
                for g in range(many):
                    differ[g] += np.int32(column[g] != text)
        best, seen = np.inf, -1
        # A group with one more differing text is at least `seen + 1` away: equal distances still
        # count as hits, so the search goes on while that is not above the best.
        while seen < width and seen + 1 <= best:
            seen += 1
            for g in range(many):
                if differ[g] != seen:
                    continue
                for r in range(ends[g], ends[g + 1]):
                    total = float(seen)
                    for c in range(cells.shape[1]):
                        if not known_numbers[q, c]:
                            continue
                        a, b = numbers[q, c], cells[r, c]
                        if a == b or (np.isnan(a) and np.isnan(b)):
                            continue
                        total += 1.0 if np.isnan(a) or np.isnan(b) else abs(a - b)
                        if total > best:
                            break
                    # Where the loop was left this is not the distance, but above the best anyway.
                    apart[r] = total
                    best = min(best, total)
        for g in range(many):
            if differ[g] <= seen:  # `apart` of other groups is left over from an earlier person
                for r in range(ends[g], ends[g + 1]):
                    hits[q, order[r]] = apart[r] == best
        least[q] = best
