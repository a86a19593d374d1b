"""Kernel: rows grouped by MDAV, the maximum distance to the average vector.

The row farthest from the middle of all that remain gathers those nearest to it; so does the row
farthest from that one. This repeats until too few are left for two groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable


@njit(cache=True)
def mdav(numbers: Any, scale: Any, codes: Any, weight: Any, k: int) -> Any:
    """The group of each row; each has k to 2k - 1.

    `numbers` are compared by squared differences times `scale`. Two `codes` that differ are as far
    apart as `weight` says: they stand for one coordinate for each value, 1 or 0.

    The first `left` of `rows` have no group yet. Rows with a group give way to the last of them, so
    that those that remain lie side by side; equals are told apart by their numbers, not places.
    """
    numbers, codes = numbers.copy(), codes.copy()
    rows = np.arange(numbers.shape[0])
    group = np.empty(rows.size, np.int64)
    apart = np.empty(rows.size)
    values = 1
    for code in codes.flat:
        values = max(values, code + 1)
    shares = np.zeros((codes.shape[1], values))
    groups, left = 0, rows.size
    while left >= 2 * k:
        from_middle(numbers, scale, codes, weight, left, shares, apart)
        for _ in range(2 if left >= 3 * k else 1):
            start = farthest_place(apart, rows, left)
            from_row(numbers, scale, codes, weight, left, start, apart)
            for place in nearest_places(apart, rows, left, k):
                group[rows[place]] = groups
                left -= 1
                rows[place], apart[place] = rows[left], apart[left]
                for j in range(numbers.shape[1]):
                    numbers[place, j] = numbers[left, j]
                for j in range(codes.shape[1]):
                    codes[place, j] = codes[left, j]
            groups += 1
    for i in range(left):
        group[rows[i]] = groups
    return group


@register_jitable
def from_middle(
    numbers: Any, scale: Any, codes: Any, weight: Any, left: int, shares: Any, apart: Any
) -> None:
    """How far the remaining rows are from their middle."""
    apart[:left] = 0.0
    for j in range(numbers.shape[1]):
        middle = 0.0
        for i in range(left):
            middle += numbers[i, j]
        middle /= left
        for i in range(left):
            apart[i] += (numbers[i, j] - middle) ** 2 * scale[j]
    for j in range(codes.shape[1]):
        shares[j, :] = 0.0
        for i in range(left):
            shares[j, codes[i, j]] += 1 / left
        alike = 0.0
        for share in shares[j]:
            alike += share**2
        for i in range(left):
            # Two values differ in two coordinates, so each counts for half the weight.
            apart[i] += weight[j] * (1 - 2 * shares[j, codes[i, j]] + alike) / 2


@register_jitable
def from_row(
    numbers: Any, scale: Any, codes: Any, weight: Any, left: int, start: int, apart: Any
) -> None:
    """How far the remaining rows are from one of them."""
    for i in range(left):
        total = 0.0
        for j in range(numbers.shape[1]):
            total += (numbers[i, j] - numbers[start, j]) ** 2 * scale[j]
        for j in range(codes.shape[1]):
            if codes[i, j] != codes[start, j]:
                total += weight[j]
        apart[i] = total


@register_jitable
def farthest_place(apart: Any, rows: Any, left: int) -> int:
    """The place of the farthest row; of equals, the first row."""
    best = 0
    for i in range(1, left):
        if apart[i] > apart[best] or (apart[i] == apart[best] and rows[i] < rows[best]):
            best = i
    return best


@register_jitable
def nearest_places(apart: Any, rows: Any, left: int, k: int) -> Any:
    """The places of the k nearest rows, falling; of equals, those of later rows."""
    places = np.empty(k, np.int64)
    count = 0
    for i in range(left):
        if count == k and not before(apart, rows, i, places[k - 1]):
            continue
        count = min(count + 1, k)
        at = count - 1
        while at > 0 and before(apart, rows, i, places[at - 1]):
            places[at] = places[at - 1]
            at -= 1
        places[at] = i
    places.sort()
    return places[::-1]


@register_jitable
def before(apart: Any, rows: Any, i: int, j: int) -> bool:
    """Whether one row is taken before another."""
    return bool(apart[i] < apart[j] or (apart[i] == apart[j] and rows[i] > rows[j]))
