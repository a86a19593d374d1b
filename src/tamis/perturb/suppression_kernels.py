"""Kernels of local suppression: choose the cells of each row to blank so that k rows are alike.

A row that blanks some columns has an image: its other cells. Rows that choose the same image are a
group, which must have k rows; each row pays for the cells that it blanks. The images of all rows by
all patterns of blanks are numbered: ``image[row, pattern]``, at ``cost[row, pattern]``. This is
facility location with lower bounds, which is NP-hard, so it is a local search: settle rows by the
cheapest patterns, then move single rows, open groups and close groups while that saves blanks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from tamis.kernel_cache import njit

UNSETTLED = -1
DEAR = 1e9
"""More than all blanks of a row can cost: what an unsettled row pays."""
LITTLE = 1e-6
"""A saving below this may be due to rounding."""


@njit(cache=True)
def settle(image: Any, weight: Any, k: int, choice: Any, size: Any) -> None:
    """Settle rows wherever k unsettled ones have an image in common, cheap patterns first.

    Of patterns that weigh the same, the one that settles most rows goes first. Patterns come in
    the order of their `weight`.
    """
    count = np.zeros(size.size, np.int64)
    first = 0
    while first < weight.size:
        last = first
        while last < weight.size and weight[last] <= weight[first] + LITTLE:
            last += 1
        gains = np.full(last - first, image.shape[0] + 1)
        while True:
            best = int(np.argmax(gains))
            if gains[best] == 0:
                break
            gains[best] = 0
            rows = settled_by(image, first + best, k, choice, size, count, False)
            # Lazy greedy: a pattern is counted again only when its last count is the largest. It
            # hardly ever grows while others settle rows, so older counts serve as upper bounds.
            if rows < gains.max():
                gains[best] = rows
            elif rows:
                settled_by(image, first + best, k, choice, size, count, True)
        first = last


@register_jitable
def settled_by(
    image: Any, pattern: int, k: int, choice: Any, size: Any, count: Any, really: bool
) -> int:
    """The number of unsettled rows that a pattern settles; if `really`, settle them."""
    waiting = np.flatnonzero(choice == UNSETTLED)
    for row in waiting:
        count[image[row, pattern]] += 1
    rows = 0
    for row in waiting:
        group = image[row, pattern]
        if count[group] >= k or size[group] >= k:
            rows += 1
            if really:
                choice[row] = pattern
    for row in waiting:
        group = image[row, pattern]
        count[group] = 0
        if really and choice[row] == pattern:
            size[group] += 1
    return rows


@register_jitable
def paid(cost: Any, choice: Any, row: int) -> float:
    """The cost that a row pays now; `DEAR` if it is unsettled."""
    return DEAR if choice[row] == UNSETTLED else float(cost[row, choice[row]])


@register_jitable
def cheapest(image: Any, cost: Any, k: int, size: Any, row: int, without: int) -> int:
    """The cheapest pattern by which a row can join an open group other than one; -1 if none."""
    best = -1
    for pattern in range(image.shape[1]):
        group = image[row, pattern]
        if (
            group != without
            and size[group] >= k
            and (best < 0 or cost[row, pattern] < cost[row, best])
        ):
            best = pattern
    return best


@njit(cache=True)
def move_single_rows(image: Any, cost: Any, k: int, choice: Any, size: Any) -> float:
    """Move single rows to open groups in which they blank less; return the saving."""
    saved = 0.0
    for row in range(choice.size):
        group = -1 if choice[row] == UNSETTLED else image[row, choice[row]]
        if group >= 0 and size[group] <= k:  # the group cannot spare the row
            continue
        best = cheapest(image, cost, k, size, row, group)
        less = paid(cost, choice, row) - cost[row, best] if best >= 0 else 0.0
        if less > LITTLE:
            saved += less
            if group >= 0:
                size[group] -= 1
            choice[row] = best
            size[image[row, best]] += 1
    return saved


@njit(cache=True)
def open_groups(
    image: Any, cost: Any, k: int, choice: Any, size: Any, start: Any, rows: Any, patterns: Any
) -> float:
    """Open groups that save blanks, with rows from other groups; return the saving.

    The rows that can join group g are ``rows[start[g]:start[g + 1]]``, by the `patterns` at the
    same places. A group that all rows leave is closed.
    """
    saved = 0.0
    total, count, gone = np.zeros(size.size), np.zeros(size.size), np.zeros(size.size, np.int64)
    for group in range(size.size):
        begin, end = start[group], start[group + 1]
        if size[group] > 0 or end - begin < k:
            continue
        who, by = rows[begin:end], patterns[begin:end]
        left = np.empty(who.size, np.int64)
        for i, row in enumerate(who):
            left[i] = -1 if choice[row] == UNSETTLED else image[row, choice[row]]
        change, whole = changes(cost, k, choice, size, who, by, left, total, count)
        joins, joining = joiners(change, whole, k, size, left, gone)
        less = 0.0
        for i in joins[:joining]:
            less += paid(cost, choice, who[i]) - cost[who[i], by[i]]
        if joining >= k and less > LITTLE:
            saved += less
            size[group] = joining
            for i in joins[:joining]:
                choice[who[i]] = by[i]
                if left[i] >= 0:
                    size[left[i]] -= 1
    return saved


@register_jitable
def changes(
    cost: Any, k: int, choice: Any, size: Any, who: Any, by: Any, left: Any, total: Any, count: Any
) -> Any:
    """The change of each row's cost if it joins, and whether it joins only with its whole group.

    A group joins as a whole if all its rows can and it can spare none, or gains in total; each of
    its rows then counts the mean change. If it can spare none and not all can join, their change is
    `DEAR`. `total` and `count` are 0 for each group, before and after.
    """
    change, whole = np.empty(who.size), np.zeros(who.size, np.bool_)
    for i, row in enumerate(who):
        change[i] = cost[row, by[i]] - paid(cost, choice, row)
        if left[i] >= 0:
            total[left[i]] += change[i]
            count[left[i]] += 1
    for i, group in enumerate(left):
        if group < 0:
            continue
        if count[group] == size[group] and (size[group] <= k or total[group] < 0):
            change[i], whole[i] = total[group] / count[group], True
        elif size[group] <= k:
            change[i] = DEAR
    for group in left:
        if group >= 0:
            total[group] = count[group] = 0
    return change, whole


@register_jitable
def joiners(change: Any, whole: Any, k: int, size: Any, left: Any, gone: Any) -> Any:
    """The rows that join a new group, and their number: all that gain, and at least k if possible.

    `gone` counts the rows that leave each group; it is 0 before and after.
    """
    joins, joining = np.empty(change.size, np.int64), 0
    for i in np.argsort(change, kind="mergesort"):
        group = left[i]
        # Once a row of a group that joins as a whole is in, the others follow.
        follows = whole[i] and gone[group] > 0
        if change[i] >= DEAR or (joining >= k and change[i] >= 0 and not follows):
            continue
        if group >= 0:
            if not whole[i] and size[group] - gone[group] <= k:
                continue
            gone[group] += 1
        joins[joining] = i
        joining += 1
    for i in joins[:joining]:
        if left[i] >= 0:
            gone[left[i]] = 0
    return joins, joining


@njit(cache=True)
def close_groups(
    image: Any, cost: Any, k: int, choice: Any, size: Any, start: Any, rows: Any
) -> float:
    """Close groups whose rows can all join other ones with fewer blanks; return the saving."""
    saved = 0.0
    going, where = np.empty(choice.size, np.int64), np.empty(choice.size, np.int64)
    for group in range(size.size):
        if size[group] == 0:
            continue
        count, less = 0, 0.0
        for i in range(start[group], start[group + 1]):
            row = rows[i]
            if choice[row] == UNSETTLED or image[row, choice[row]] != group:
                continue
            best = cheapest(image, cost, k, size, row, group)
            if best < 0:
                break
            going[count], where[count] = row, best
            less += cost[row, choice[row]] - cost[row, best]
            count += 1
        if count == size[group] and less > LITTLE:
            saved += less
            size[group] = 0
            for i in range(count):
                choice[going[i]] = where[i]
                size[image[going[i], where[i]]] += 1
    return saved


@register_jitable
def match(codes: Any, row: int, other: int) -> bool:
    """Whether two rows agree wherever neither is missing; 0 is missing."""
    for j in range(codes.shape[1]):
        if codes[row, j] != codes[other, j] and codes[row, j] != 0 and codes[other, j] != 0:
            return False
    return True


@njit(cache=True)
def matches(codes: Any, equals: Any) -> Any:
    """The number of rows that each row matches, itself included, if a blank matches anything.

    Two rows without blanks match only if they are equal. These are counted in `equals`, the number
    of rows equal to each, so only pairs with a blank need comparing.
    """
    holes = np.zeros(codes.shape[0], np.bool_)
    for row in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            holes[row] |= codes[row, j] == 0
    found = np.where(holes, 1, equals)
    for row in range(codes.shape[0]):
        for other in range(codes.shape[0] if holes[row] else 0):
            if other != row and match(codes, row, other):
                found[row] += 1
                if not holes[other]:
                    found[other] += 1
    return found


@njit(cache=True)
def unblank(true: Any, codes: Any, k: int, order: Any, equals: Any) -> None:
    """Restore cells, in place, that need not be blank for each row to match k rows.

    `order` has the numbers of the blanked cells, the most costly first.
    """
    count = matches(codes, equals)
    losing = np.empty(codes.shape[0], np.int64)
    for cell in order:
        row, column = cell // codes.shape[1], cell % codes.shape[1]
        lost = 0
        for other in range(codes.shape[0]):
            differs = codes[other, column] != 0 and codes[other, column] != true[row, column]
            if other == row or not differs or not match(codes, row, other):
                continue
            if count[other] <= k:  # another row needs this match: the cell must stay blank
                lost = count[row]
                break
            losing[lost] = other
            lost += 1
        if count[row] - lost >= k:
            codes[row, column] = true[row, column]
            count[row] -= lost
            for i in range(lost):
                count[losing[i]] -= 1
