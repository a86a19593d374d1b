"""Cut points of numeric columns: round numbers with enough people on either side.

A quantile is someone's cell. So a cut point is the number with the fewest digits that leaves nearly
as many rows below it, and every interval has at least k people. A round number may still be
someone's cell by chance, but it is not chosen for being one.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.arrays import Floats
from tamis.people import People, PeopleLike

K = 5
"""The fewest people in an interval if no k is given."""
SHARE = 1 / 4
"""How far a cut may move from its quantile, as a share of an interval."""
DIGITS = 17
"""Significant digits that distinguish all 64-bit floats."""


def quantile_cuts(
    values: NDArray[Any], intervals: int, *, k: int = K, people: PeopleLike = None
) -> list[float]:
    """Round cut points of intervals with nearly equal numbers of rows.

    Parameters
    ----------
    values : array of numbers without missing values
    intervals : int
        How many intervals to make; fewer if values repeat often or there are few people.
    k : int
        The fewest people in an interval.
    people : People or array, optional
        The person of each value; by default each value is a different person's.

    Returns
    -------
    list of float
        Ascending; an interval ends at a cut and includes it.

    Examples
    --------
    >>> quantile_cuts(np.array([17.31, 18.02, 18.94, 20.83, 22.86, 23.1, 24.9, 30.2]), 2, k=2)
    [20.0]
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    rows = len(ordered)
    # At most half an interval, so that neighbouring cuts cannot pass each other.
    slack = int(min(max(SHARE * rows / intervals, k - 1), rows / intervals / 2))
    ranks = [-(-rows * part // intervals) for part in range(1, intervals)]
    cuts = [_near(ordered, rank, slack, k) for rank in ranks if rows]
    return populous(values, (c for c in cuts if c is not None), k, people)


def rounded_cuts(
    values: NDArray[Any],
    points: Iterable[float],
    *,
    k: int = K,
    people: PeopleLike = None,
    off_cells: bool = False,
    slack: int | None = None,
    fives: bool = False,
) -> list[float]:
    """Round given cut points, and drop those that leave too few people.

    A cut may move past `slack` rows, by default k - 1. With `fives`, 35 is rounder than 36. With
    `off_cells`, a cut that equals a value is moved between it and the next smaller value.

    >>> rounded_cuts(np.array([1012, 1043.5, 1198, 2017, 2024, 2131]), [1607.5], k=2)
    [2000.0]
    >>> rounded_cuts(np.array([30.0, 39, 40, 41.4, 42]), [40.5], k=2, off_cells=True)
    [39.5]
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    cuts = []
    for point in points:
        rank = int(np.searchsorted(ordered, point, side="right"))
        room = k - 1 if slack is None else slack
        low, high = _between(ordered, rank, room, k) or (point, point)
        if low < high:
            # Open below, so that halfway between whole numbers stays halfway.
            cuts.append(fewest_digits(float(np.nextafter(low, np.inf)), high, point, fives=fives))
    if off_cells:
        cuts = [_off_cells(ordered, cut) for cut in cuts]
    return populous(values, cuts, k, people)


def _off_cells(ordered: Floats, cut: float) -> float:
    """The cut, moved between it and the next smaller value if it is a value itself."""
    first = int(np.searchsorted(ordered, cut, side="left"))
    if first in (0, len(ordered)) or ordered[first] != cut:
        return cut
    below = float(ordered[first - 1])
    return fewest_digits(float(np.nextafter(below, np.inf)), cut, (below + cut) / 2)


def fewest_digits(low: float, high: float, near: float, *, fives: bool = False) -> float:
    """The number with the fewest significant digits in [low, high), nearest to `near`.

    With `fives`, a last digit of 5 is preferred among numbers of as many digits.

    >>> fewest_digits(22850.11, 23105.4, 22886.28), fewest_digits(-3, 8, 5), fewest_digits(6, 7, 6)
    (23000.0, 0.0, 6.0)
    >>> fewest_digits(33, 38, 37), fewest_digits(33, 38, 37, fives=True)
    (37.0, 35.0)
    """
    if low <= 0 < high:
        return 0.0
    # Decimal, since binary floats cannot represent most round numbers exactly.
    exact = Decimal(float(np.clip(near, low, np.nextafter(high, -np.inf))))
    for digits in range(1, DIGITS + 1):
        unit = Decimal((0, (1,), exact.adjusted() - digits + 1))
        for step in (unit, unit / 2) if fives else (unit,):
            # No number with this many digits lies between these two.
            around = [float((exact / step).to_integral_value(way) * step) for way in _WAYS]
            inside = [c for c in around if low <= c < high]
            if inside:
                return min(inside, key=lambda c: (abs(Decimal(c) - exact), c))
    return float(exact)


def all_whole(values: Floats) -> bool:
    """Whether all present numbers are whole and small enough for floats to count in ones.

    >>> all_whole(np.array([3.0, np.nan])), all_whole(np.array([3.5])), all_whole(np.array([]))
    (True, False, False)
    """
    present = values[~np.isnan(values)]
    return bool(len(present) and (present == np.rint(present)).all() and abs(present).max() < 1e15)


_WAYS = (ROUND_FLOOR, ROUND_CEILING)


def _near(ordered: Floats, rank: int, slack: int, k: int) -> float | None:
    bounds = _between(ordered, rank, slack, k)
    return None if bounds is None else fewest_digits(*bounds, float(ordered[rank - 1]))


def _between(ordered: Floats, rank: int, slack: int, k: int) -> tuple[float, float] | None:
    """The range of cuts, [low, high), that leave about `rank` rows at or below them.

    At least k rows are on either side; `None` if no cut leaves that many.
    """
    rows = len(ordered)
    least, most = max(rank - slack, k), min(rank + slack, rows - k)
    if least > most:
        return None
    low, high = ordered[least - 1], ordered[most]
    if low < high:
        return float(low), float(high)
    # One value fills the whole range, so the only cuts are before and after it.
    first, end = (int(np.searchsorted(ordered, low, side=side)) for side in ("left", "right"))
    ends = [count for count in (first, end) if k <= count <= rows - k]
    if not ends:
        return None
    count = min(ends, key=lambda c: abs(c - rank))
    return float(ordered[count - 1]), float(ordered[count])


def populous(
    values: NDArray[Any], cuts: Iterable[float], k: int, people: PeopleLike = None
) -> list[float]:
    """The cuts that leave at least k people in each interval, taken greedily from the lowest."""

    who = People.named(people, len(values))
    kept: list[float] = []
    for cut in sorted(set(cuts)):
        within = values <= cut
        if kept:
            within &= values > kept[-1]
        if min(who.among(within), who.among(values > cut)) >= k:
            kept.append(cut)
    return kept
