"""Class sizes for a page, in bins from which nobody can be singled out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.publish.summary import ClassBin, ClassSizes, Kind

Edges = list[tuple[int, int | None]]
Sizes = NDArray[np.int64]


def class_size_bins(
    before: ArrayLike, after: ArrayLike, everything: ArrayLike, *, k: int, kind: Kind
) -> ClassSizes:
    """Count people by the size of their class, before and after.

    Parameters
    ----------
    before, after : array of int
        For each person of the original, and of the release, how many are in their class.
    everything : array of int
        The same in the release where all that is released is known.
    k : int
        Neighbouring bins are merged until each holds nobody or at least k people.
    kind : {"equal", "containment"}
        What a class is.

    Returns
    -------
    ClassSizes

    Examples
    --------
    >>> found = class_size_bins([1, 1, 1, 1, 4, 4, 4, 4], [8] * 8, [8] * 8, k=4, kind="equal")
    >>> [(b["low"], b["high"], b["before"], b["after"]) for b in found["bins"]]
    [(1, 1, 4, 0), (2, 3, 0, 0), (4, 7, 4, 0), (8, None, 0, 8)]
    >>> class_size_bins([1, 5, 5, 5, 5, 5], [6] * 6, [6] * 6, k=4, kind="equal")["bins"]
    [{'low': 1, 'high': None, 'before': 6, 'after': 6, 'everything': 6}]
    """
    first, second, third = (np.asarray(s, dtype=np.int64) for s in (before, after, everything))
    smallest = int(second.min(initial=max(first.max(initial=0), second.max(initial=0))))
    return {
        "kind": kind,
        "k": k,
        "smallest_after": smallest if smallest >= k else None,
        "bins": _bins(first, second, third, k),
        "bins_released": [{**b, "before": None} for b in _bins(second, second, third, k)],
    }


def _bins(before: Sizes, after: Sizes, everything: Sizes, k: int) -> list[ClassBin]:
    sizes = [before, after, everything]
    largest = max(int(s.max(initial=0)) for s in sizes)
    edges = _without_gaps(_joined(_doubling(k, largest), sizes, k), sizes, k)
    return [
        {
            "low": low,
            "high": high,
            "before": _inside(before, low, high),
            "after": _inside(after, low, high),
            "everything": _inside(everything, low, high),
        }
        for low, high in edges
    ]


def _doubling(k: int, largest: int) -> Edges:
    """1, then up to k - 1, then from k on, each bin twice as wide as the one before."""
    starts = sorted({1, min(2, k), k})
    while starts[-1] * 2 <= largest:
        starts.append(starts[-1] * 2)
    ends: list[int | None] = [start - 1 for start in starts[1:]]
    return list(zip(starts, [*ends, None]))


def _joined(edges: Edges, sizes: Sequence[Sizes], k: int) -> Edges:
    """Bins merged with a neighbour while one of them counts fewer than k people."""
    while edges:
        counts = [[_inside(s, low, high) for s in sizes] for low, high in edges]
        small = [i for i, pair in enumerate(counts) if any(0 < n < k for n in pair)]
        if not small:
            return edges
        if len(edges) == 1:
            return []
        at = min(small[0], len(edges) - 2)
        edges = [*edges[:at], (edges[at][0], edges[at + 1][1]), *edges[at + 2 :]]
    return edges


def _without_gaps(edges: Edges, sizes: Sequence[Sizes], k: int) -> Edges:
    """Neighbouring empty bins of k and more become one."""
    found: Edges = []
    gap = False
    for low, high in edges:
        empty = low >= k and not any(_inside(s, low, high) for s in sizes)
        if empty and gap:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
        gap = empty
    return found


def _inside(sizes: Sizes, low: int, high: int | None) -> int:
    found = (sizes >= low) & (True if high is None else sizes <= high)
    return int(np.count_nonzero(found))
