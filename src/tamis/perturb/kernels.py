"""Kernels: clusters of at least k similar rows.

`gathered` groups rows of a 0/1 table so that they need few flips: greedy k-member clustering, with
two shortcuts. Rows that occur k times or more are already clusters. And a row is compared only with
its neighbours in a few orders of all rows, not with every row, so the work grows in proportion to
the number of rows.

`mdav` groups any rows by maximum distance to average vector: the row farthest from the centre of
all that remain forms a group with those nearest to it, and so does the row that is then farthest
from it. This repeats until too few are left for two groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from tamis.kernel_cache import njit


@njit(cache=True)
def gathered(
    indptr: Any, indices: Any, weight: Any, orders: Any, seeds: Any, k: int, reach: int, width: int
) -> Any:
    """The cluster of each distinct row; -1 for the fewer than k that are left over.

    `orders` holds permutations of the rows, `seeds` the sequence in which clusters begin, and
    `reach` is the number of neighbours to look at on each side in each order.
    """
    rows = weight.size
    cluster = np.full(rows, -1, np.int64)
    clusters = 0
    for i in range(rows):
        if weight[i] >= k:
            cluster[i] = clusters
            clusters += 1
    anchors, rank = heavy_neighbours(orders, weight, k)
    before, after = light_neighbours(orders, weight, k)
    counts = np.zeros(width, np.int64)
    seen = np.full(rows, -1, np.int64)
    for seed in seeds:
        if cluster[seed] >= 0:
            continue
        near = shortlist(seed, before, after, reach, seen)
        members, flips, size = grown(seed, near, indptr, indices, weight, k, counts)
        anchor, apart = nearest(seed, anchors, rank, reach, indptr, indices, counts)
        # Joining a row that is a cluster already is cheaper if the seed's flips are at most the
        # mean flips of a row in a cluster of its own.
        if anchor >= 0 and (size < k or apart * size <= flips):
            cluster[seed] = cluster[anchor]
            unlink(seed, before, after)
        elif size >= k:
            for i in members:
                cluster[i] = clusters
                unlink(i, before, after)
            clusters += 1
    return cluster


@register_jitable
def light_neighbours(orders: Any, weight: Any, k: int) -> Any:
    """Linked lists of the rows that still need a cluster, one list for each order."""
    before = np.full(orders.shape, -1, np.int64)
    after = np.full(orders.shape, -1, np.int64)
    for o in range(orders.shape[0]):
        last = -1
        for i in orders[o]:
            if weight[i] < k:
                before[o, i] = last
                if last >= 0:
                    after[o, last] = i
                last = i
    return before, after


@register_jitable
def heavy_neighbours(orders: Any, weight: Any, k: int) -> Any:
    """The rows that are clusters already, in each order, and how many of them precede each row."""
    heavy = 0
    for w in weight:
        heavy += w >= k
    anchors = np.empty((orders.shape[0], heavy), np.int64)
    rank = np.empty(orders.shape, np.int64)
    for o in range(orders.shape[0]):
        met = 0
        for i in orders[o]:
            rank[o, i] = met
            if weight[i] >= k:
                anchors[o, met] = i
                met += 1
    return anchors, rank


@register_jitable
def unlink(i: int, before: Any, after: Any) -> None:
    for o in range(before.shape[0]):
        left, right = before[o, i], after[o, i]
        if left >= 0:
            after[o, left] = right
        if right >= 0:
            before[o, right] = left


@register_jitable
def shortlist(seed: int, before: Any, after: Any, reach: int, seen: Any) -> Any:
    """The rows without a cluster that are near the seed in some order, each once.

    `seen` holds the last seed that each row was listed for, and so needs no clearing.
    """
    near = np.empty(2 * reach * before.shape[0], np.int64)
    found = 0
    seen[seed] = seed
    for o in range(before.shape[0]):
        for links in (before, after):
            i = links[o, seed]
            for _ in range(reach):
                if i < 0:
                    break
                if seen[i] != seed:
                    seen[i] = seed
                    near[found] = i
                    found += 1
                i = links[o, i]
    return near[:found]


@register_jitable
def grown(seed: int, near: Any, indptr: Any, indices: Any, weight: Any, k: int, counts: Any) -> Any:
    """Grow a cluster from the seed by repeatedly adding the row that costs the fewest flips.

    Returns its distinct rows, the cells that must flip, and the rows of the table it stands for.
    """
    members = np.empty(k, np.int64)
    members[0], taken = seed, 1
    size, flips = weight[seed], 0
    add(seed, indptr, indices, weight, counts)
    free = np.ones(near.size, np.bool_)
    shift = np.empty(k, np.int64)
    while size < k:
        shift[:] = -1  # cached by weight: most distinct rows occur once, so few weights are needed
        best, least, least_each = -1, 0, np.inf
        for j in range(near.size):
            if free[j]:
                w = weight[near[j]]
                if shift[w] < 0:
                    shift[w] = moved(members[:taken], indptr, indices, counts, size, w)
                more = shift[w] + own(near[j], indptr, indices, counts, size, w)
                if more < least_each * w:
                    best, least, least_each = j, more, more / w
        if best < 0:
            break
        free[best] = False
        members[taken] = near[best]
        taken += 1
        flips += least
        size += weight[near[best]]
        add(near[best], indptr, indices, weight, counts)
    for i in members[:taken]:  # leave the shared counts clear for the next cluster
        for j in range(indptr[i], indptr[i + 1]):
            counts[indices[j]] = 0
    return members[:taken], flips, size


@register_jitable
def add(i: int, indptr: Any, indices: Any, weight: Any, counts: Any) -> None:
    for j in range(indptr[i], indptr[i + 1]):
        counts[indices[j]] += weight[i]


@register_jitable
def moved(members: Any, indptr: Any, indices: Any, counts: Any, size: int, w: int) -> int:
    """Flips that w more rows of zeros would add to a cluster; each column is counted once.

    Within a cluster a column costs the smaller of its ones and its zeros. A column that was counted
    is marked by a negative count, which is undone at the end.
    """
    more = 0
    for i in members:
        for j in range(indptr[i], indptr[i + 1]):
            ones = counts[indices[j]]
            if ones > 0:
                more += min(ones, size + w - ones) - min(ones, size - ones)
                counts[indices[j]] = -ones
    for i in members:
        for j in range(indptr[i], indptr[i + 1]):
            counts[indices[j]] = abs(counts[indices[j]])
    return more


@register_jitable
def own(i: int, indptr: Any, indices: Any, counts: Any, size: int, w: int) -> int:
    """The change of flips if w rows equal to row i are added instead of w rows of zeros."""
    more = 0
    for j in range(indptr[i], indptr[i + 1]):
        ones = counts[indices[j]]
        more += min(ones + w, size - ones) - min(ones, size + w - ones)
    return more


@register_jitable
def nearest(
    seed: int, anchors: Any, rank: Any, reach: int, indptr: Any, indices: Any, counts: Any
) -> Any:
    """The nearest of the neighbouring rows that are clusters already, and its Hamming distance."""
    for j in range(indptr[seed], indptr[seed + 1]):
        counts[indices[j]] = 1
    best, least = -1, 1 << 60
    for o in range(anchors.shape[0]):
        here = rank[o, seed]
        for place in range(max(0, here - reach), min(anchors.shape[1], here + reach)):
            i = anchors[o, place]
            # The ones of the seed, plus one for each one of i that the seed lacks, less one for
            # each that both have.
            apart = indptr[seed + 1] - indptr[seed]
            for j in range(indptr[i], indptr[i + 1]):
                apart += 1 - 2 * counts[indices[j]]
            if apart < least or (apart == least and i < best):
                best, least = i, apart
    for j in range(indptr[seed], indptr[seed + 1]):
        counts[indices[j]] = 0
    return best, least


@njit(cache=True)
def mdav(numbers: Any, scale: Any, codes: Any, weight: Any, k: int) -> Any:
    """The group of each row; each group has k to 2k - 1 rows.

    `numbers` are compared by squared differences times `scale`. Two different `codes` of a column
    have the distance `weight`: a code stands for 0/1 coordinates, one for each value.

    The first `left` of `rows` have no group yet. A row that gets a group is overwritten by the last
    of these, so that the rest lies side by side in memory. Ties are therefore decided by the rows'
    numbers, not by their places.
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
        # Below 3k rows a second group would leave fewer than k for the last one.
        for _ in range(2 if left >= 3 * k else 1):
            # The second time `apart` are the distances from the row that the first group began at.
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
    """Squared distances of the remaining rows from their centre."""
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
            # From the vector of shares: (1 - p)**2 in the own coordinate, p**2 in all others. Two
            # values differ in two coordinates, so each counts for half the weight.
            apart[i] += weight[j] * (1 - 2 * shares[j, codes[i, j]] + alike) / 2


@register_jitable
def from_row(
    numbers: Any, scale: Any, codes: Any, weight: Any, left: int, start: int, apart: Any
) -> None:
    """Squared distances of the remaining rows from one of them."""
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
    """The places of the k nearest rows, descending; of equally near rows the later ones.

    By insertion into a short sorted list. Descending, so that moving the last row into a place
    that was freed never moves a row that is still to be taken.
    """
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
    """Whether the row at one place is taken before that at another."""
    return bool(apart[i] < apart[j] or (apart[i] == apart[j] and rows[i] > rows[j]))
