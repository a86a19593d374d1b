"""Kernels of `tamis.learn.boosting`: trees grown on histograms of gradients.

Gradients here are of the log-likelihood, so that a step goes uphill. Histograms are filled for the
smaller child of each split only; that of the larger child is the parent's less the smaller one's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from tamis.kernel_cache import njit

CODES = 32
"""As in `coded_table`; repeated because Numba's cache does not notice changes in other files."""
DEPTH = 3
LEAVES = 1 << DEPTH
LEAST = 0.5
"""Least curvature, the sum of p (1 - p), of a leaf: about five rows predicted at p = 0.9."""


@njit(cache=True)
def boost(
    codes: Any,
    widths: Any,
    ordered: Any,
    hits: Any,
    margins: Any,
    rounds: int,
    rate: float,
    ridge: float,
    smooth: float,
    bar: float,
    bits: int,
    room: Any,
) -> None:
    """Boost the margins of all distinct rows, in place, learning from the first of them.

    The training rows are the columns of `hits`, and stand for at most 2**bits rows in all; `room`
    is working space.
    """
    gradient, curvature, leaf = room.gradient, room.curvature, room.leaf
    for _ in range(rounds):
        _slopes(margins, hits, gradient, curvature)
        grew = False
        for k in range(len(margins)):
            _packed(gradient[k], curvature[k], bits, room.words)
            if _grow(codes, widths, ordered, bits, ridge, smooth, bar, room):
                grew = True
                _step(gradient[k], curvature[k], leaf, margins[k], rate, ridge, room.leaves)
        # No class found a split that pays: the margins did not change, nor would the next round's.
        if not grew:
            break


@register_jitable
def _slopes(margins: Any, hits: Any, gradient: Any, curvature: Any) -> None:
    """Gradient and curvature of the log-likelihood in each margin, for the rows each stands for."""
    outputs = len(margins)
    for i in range(hits.shape[1]):
        rows = hits[-1, i]
        if outputs == 1:
            p = 1.0 / (1.0 + np.exp(-margins[0, i]))
            gradient[0, i] = hits[0, i] - rows * p
            curvature[0, i] = rows * p * (1.0 - p)
            continue
        top = margins[0, i]
        for k in range(1, outputs):
            top = max(top, margins[k, i])
        total = 0.0
        for k in range(outputs):
            total += np.exp(margins[k, i] - top)
        for k in range(outputs):
            p = np.exp(margins[k, i] - top) / total
            gradient[k, i] = hits[k, i] - rows * p
            curvature[k, i] = rows * p * (1.0 - p)


@register_jitable
def _step(
    gradient: Any, curvature: Any, leaf: Any, margin: Any, rate: float, ridge: float, leaves: Any
) -> None:
    """Move each row's margin by `rate` times the Newton step of its leaf."""
    leaves[:] = 0.0
    slope, bend = leaves[0], leaves[1]
    for i in range(len(gradient)):
        slope[leaf[i]] += gradient[i]
        bend[leaf[i]] += curvature[i]
    for j in range(LEAVES):
        slope[j] *= rate / (bend[j] + ridge)
    for i in range(len(margin)):
        margin[i] += slope[leaf[i]]


@register_jitable
def _packed(gradient: Any, curvature: Any, bits: int, out: Any) -> None:
    """Pack gradient and curvature of each row into one word, so that one addition sums both.

    The gradient is in the upper 32 bits, the curvature, which is never negative, in the lower 32.
    Sums of whole numbers are exact, so the order of the rows makes no difference to a tree.
    """
    # Of one row the gradient is below 1 and the curvature at most 1/4, so over all 2**bits rows
    # the sums stay within 2**30 and 2**31: neither half overflows into the other or the sign.
    up, low = float(1 << (30 - bits)), float(1 << (33 - bits))
    for i in range(len(gradient)):
        whole = np.int64(round(gradient[i] * up))
        out[i] = (whole << 32) + np.int64(round(curvature[i] * low))


@register_jitable
def _unpack(words: Any, bits: int, out: Any) -> None:
    up, low = float(1 << (30 - bits)), float(1 << (33 - bits))
    for j in range(len(words)):
        out[j, 0] = (words[j] >> 32) / up
        out[j, 1] = (words[j] & 0xFFFFFFFF) / low


@register_jitable
def _grow(
    codes: Any,
    widths: Any,
    ordered: Any,
    bits: int,
    ridge: float,
    smooth: float,
    bar: float,
    room: Any,
) -> bool:
    """Grow and prune one tree: write the leaf of every row, return whether any split is left."""
    learnt = len(room.words)
    sums, gains, leaf, alive, small = room.sums, room.gains, room.leaf, room.alive, room.small
    split_column, split_right = room.split_column, room.split_right
    sums[:] = 0
    gains[:] = 0.0
    leaf[:] = 0
    alive[0] = small[0] = True
    # The left child keeps its parent's number and the right one adds the stride (1, 2, 4), so a
    # node that is not split is already the leaf of its rows and needs no copying down.
    for level in range(DEPTH):
        stride = 1 << level
        n = _rows_of_small(leaf, room.words, small, room.asked, room.place, room.slopes)
        _collect(codes, n, room.asked, room.place, room.slopes, sums)
        _complete(sums, alive, small, stride >> 1)
        split = False
        for node in range(stride):
            split_column[node], split_right[node] = 0, 0
            if alive[node]:
                split_column[node], split_right[node], gains[level, node] = _best_split(
                    sums, widths, ordered, node, bits, ridge, smooth,
                    room.order, room.key, room.part,
                )  # fmt: skip
                split = split or split_right[node] != 0
        if not split:
            break
        _descend(codes, split_column, split_right, stride, leaf)
        _place_children(sums, leaf, learnt, split_right, stride, alive, small, room.counts)
    return _prune(gains, bar, leaf, room.leaves[0], room.kept)


@register_jitable
def _rows_of_small(leaf: Any, words: Any, small: Any, asked: Any, place: Any, slopes: Any) -> int:
    """List the rows of the smaller children, with their histogram's offset and words; how many."""
    n = 0
    # Without a branch: each row is written at n, which then advances only past wanted rows. An
    # `if` here would be a coin toss, mispredicted about half of the time.
    for i in range(len(words)):
        asked[n] = i
        place[n] = leaf[i] * np.uint64(CODES)
        slopes[n] = words[i]
        n += small[leaf[i]]
    return n


@register_jitable
def _complete(sums: Any, alive: Any, small: Any, half: int) -> None:
    """Histograms of the larger children: those of the parents less those of the smaller ones."""
    for left in range(half):
        if alive[left]:
            small_one = left if small[left] else left + half
            _leave(sums, small_one, left + half if small[left] else left)


@register_jitable
def _descend(codes: Any, split_column: Any, split_right: Any, stride: int, leaf: Any) -> None:
    """Send every row to the child that its code leads to."""
    for i in range(len(leaf)):
        node = leaf[i]
        # A node that is not split has no code on its right side: its rows stay where they are.
        right = (split_right[node] >> np.uint64(codes[split_column[node], i])) & np.uint64(1)
        leaf[i] = node + right * np.uint64(stride)


@register_jitable
def _place_children(
    sums: Any,
    leaf: Any,
    learnt: int,
    split_right: Any,
    stride: int,
    alive: Any,
    small: Any,
    count: Any,
) -> None:
    """Mark the children of split nodes and the smaller one of each two; clear its histogram."""
    count[:] = 0
    for i in range(learnt):
        count[leaf[i]] += 1
    for left in range(stride):
        right = left + stride
        parted = split_right[left] != 0
        alive[left] = alive[right] = parted
        small[left] = parted and count[left] < count[right]
        small[right] = parted and not small[left]
        # The parent's histogram is at the left child's place. It has to end up with the larger
        # child, for `_complete` to subtract from; the right one's place is empty so far.
        if small[left]:
            _move(sums, left, right)


@register_jitable
def _prune(gains: Any, bar: float, leaf: Any, worth: Any, kept: Any) -> bool:
    """Undo splits that do not pay, rewriting the leaf of every row; return whether any is left.

    From the leaves up, a split is worth its gain less the bar, plus what the splits below it are
    worth. So a split that gains nothing by itself is kept if it lets others gain (an XOR).
    """
    for j in range(LEAVES):
        worth[j], kept[j] = 0.0, j
    for level in range(DEPTH - 1, -1, -1):
        stride = 1 << level
        for node in range(stride):
            worth[node] += worth[node + stride] + gains[level, node] - bar
            worth[node + stride] = 0.0
            if worth[node] <= 0.0:
                worth[node] = 0.0
                # All leaves below a node have its number in their lowest bits.
                for j in range(node, LEAVES, stride):
                    kept[j] = node
    for i in range(len(leaf)):
        leaf[i] = kept[leaf[i]]
    return bool(worth[0] > 0.0)


@register_jitable
def _collect(codes: Any, n: int, asked: Any, place: Any, slopes: Any, sums: Any) -> None:
    """Add the packed words of n rows to the histograms of all columns.

    Two columns at a time: the two additions do not depend on each other, so they overlap.
    """
    columns = len(codes)
    for c in range(0, columns - 1, 2):
        one, two, sum_one, sum_two = codes[c], codes[c + 1], sums[c], sums[c + 1]
        for j in range(n):
            sum_one[place[j] + np.uint64(one[asked[j]])] += slopes[j]
            sum_two[place[j] + np.uint64(two[asked[j]])] += slopes[j]
    if columns % 2:
        one, sum_one = codes[columns - 1], sums[columns - 1]
        for j in range(n):
            sum_one[place[j] + np.uint64(one[asked[j]])] += slopes[j]


@register_jitable
def _move(sums: Any, left: int, right: int) -> None:
    """Move a split node's histogram to its right child and clear that of the left one."""
    for c in range(len(sums)):
        for code in range(CODES):
            sums[c, right * CODES + code] = sums[c, left * CODES + code]
            sums[c, left * CODES + code] = 0


@register_jitable
def _leave(sums: Any, small: int, large: int) -> None:
    """Subtract the smaller child's histogram from the parent's, which is at the larger child."""
    for c in range(len(sums)):
        for code in range(CODES):
            sums[c, large * CODES + code] -= sums[c, small * CODES + code]


@register_jitable
def _best_split(
    sums: Any,
    widths: Any,
    ordered: Any,
    node: int,
    bits: int,
    ridge: float,
    smooth: float,
    order: Any,
    key: Any,
    room: Any,
) -> tuple[int, int, float]:
    """The best split of a node: its column, the codes that go right as bits (0: none), its gain."""
    best, best_column, best_codes = 0.0, 0, 0
    for c in range(len(sums)):
        part = room[: widths[c]]
        _unpack(sums[c, node * CODES : node * CODES + widths[c]], bits, part)
        if ordered[c]:
            # Missing values (code 0) are tried with the low numbers, then with the high ones; if
            # the node has none, the second try would be the same.
            _natural(order, widths[c], 0)
            gain, chosen = _best_cut(part, order, ridge)
            if gain > best:
                best, best_column, best_codes = gain, c, chosen
            if part[0, 1] == 0.0:
                continue
            _natural(order, widths[c], 1)
            gain, chosen = _best_cut(part, order, ridge)
        else:
            _by_gradient(part, order, key, smooth)
            gain, chosen = _best_cut(part, order, ridge)
            gain -= _luck(part)
        if gain > best:
            best, best_column, best_codes = gain, c, chosen
    return best_column, best_codes, best


@register_jitable
def _luck(part: Any) -> float:
    """Expected gain, beyond that of two codes, of a nominal column that is pure noise.

    Sorting codes by gradient before cutting finds the best of all partitions in two, and so gains
    by chance. With normal gradients the best partition of w codes explains 2 / pi of their
    chi-square, whose mean is w - 1, and a gain is half of a chi-square.
    """
    used = 0
    for code in range(len(part)):
        used += part[code, 1] > 0.0
    return max(used - 2, 0) / np.pi


@register_jitable
def _natural(order: Any, width: int, first: int) -> None:
    """The codes in their own order from `first` on; those before it come last."""
    for j in range(width):
        order[j] = (j + first) % width


@register_jitable
def _by_gradient(part: Any, order: Any, key: Any, smooth: float) -> None:
    """Sort the codes by mean gradient, shrunk towards that of the node; ties by code."""
    slope, bend = 0.0, 0.0
    for code in range(len(part)):
        slope += part[code, 0]
        bend += part[code, 1]
    mean = slope / bend if bend > 0.0 else 0.0
    for code in range(len(part)):
        value = (part[code, 0] + smooth * mean) / (part[code, 1] + smooth)
        j = code  # insertion sort: there are at most 32 codes
        while j > 0 and key[j - 1] > value:
            key[j] = key[j - 1]
            order[j] = order[j - 1]
            j -= 1
        key[j] = value
        order[j] = code


@register_jitable
def _best_cut(part: Any, order: Any, ridge: float) -> tuple[float, int]:
    """The best cut of codes in this order: its gain and the codes behind it as bits.

    The gain is the usual one of second-order boosting: half the difference, children less parent,
    of gradient**2 / (curvature + ridge). Of equal gains the first cut wins.
    """
    slope, bend = 0.0, 0.0
    for code in range(len(part)):
        slope += part[code, 0]
        bend += part[code, 1]
    whole = slope * slope / (bend + ridge)
    best, best_codes, everything = 0.0, 0, (1 << len(part)) - 1
    left_slope, left_bend, codes = 0.0, 0.0, 0
    for j in range(len(part) - 1):
        left_slope += part[order[j], 0]
        left_bend += part[order[j], 1]
        codes |= 1 << order[j]
        right_slope, right_bend = slope - left_slope, bend - left_bend
        if left_bend < LEAST or right_bend < LEAST:
            continue
        gain = 0.5 * (
            left_slope * left_slope / (left_bend + ridge)
            + right_slope * right_slope / (right_bend + ridge)
            - whole
        )
        if gain > best:
            best, best_codes = gain, everything & ~codes
    return best, best_codes
