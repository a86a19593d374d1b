"""Numba kernels of both searches: numbering and measuring classes, and splitting rows in two.

The first half serves the lattice: it numbers equal rows and measures the classes of a node. The
second half is local recoding (`split_classes`): it splits the rows recursively for as long as both
parts meet the requirements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba.extending import register_jitable

from tamis.kernel_cache import njit

if TYPE_CHECKING:
    from tamis.coarsen.local import Labelled, PartBounds, Register

EMPTY = np.int64(-1)
# A copy of tamis.figures.ROUNDING: Numba's cache is refreshed by changes of this file only.
ROUNDING = 1e-9


@njit(cache=True)
def mixed_keys(codes: Any, columns: Any, strides: Any) -> Any:
    """One key per row, in mixed radix: the sum of the named lines of `codes` times their strides.

    The caller keeps the product of the widths below 64 bits, so different rows have different keys.
    """
    keys = np.zeros(codes.shape[1], np.int64)
    for j in range(columns.size):
        line, stride = codes[columns[j]], strides[j]
        for row in range(keys.size):
            keys[row] += line[row] * stride
    return keys


@register_jitable
def _slots(rows: int) -> int:
    # A power of two, so that `& (size - 1)` wraps around; at most half full, so that probes are
    # short and a search for a new key always meets an empty slot.
    size = 16
    while size < 2 * rows:
        size *= 2
    return size


@register_jitable
def _place(key: Any, size: int) -> Any:
    """First slot of a key (Fibonacci hashing).

    In the product, low bits of the key spread upwards only; folding the high half down lets every
    bit of the key decide the slot. Keys in mixed radix differ in regular steps, which would
    otherwise collide.
    """
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(size - 1))


@njit(cache=True)
def number_hashed(keys: Any) -> Any:
    """Number the distinct keys in order of appearance; also return how many there are.

    An open hash table with linear probing; keys are never negative, so `EMPTY` is no key.
    """
    size = _slots(keys.size)
    held, number = np.full(size, EMPTY), np.empty(size, np.int32)
    class_of = np.empty(keys.size, np.int32)
    classes = 0
    for row in range(keys.size):
        key = keys[row]
        slot = _place(key, size)
        while held[slot] != key and held[slot] != EMPTY:
            slot = (slot + 1) & (size - 1)
        if held[slot] == EMPTY:
            held[slot] = key
            number[slot] = classes
            classes += 1
        class_of[row] = number[slot]
    return class_of, classes


@njit(cache=True)
def number_direct(keys: Any, radix: int) -> Any:
    """Like `number_hashed`, for keys below a small radix: the key itself is the table's index."""
    number = np.full(radix, -1, np.int32)
    class_of = np.empty(keys.size, np.int32)
    classes = 0
    for row in range(keys.size):
        key = keys[row]
        if number[key] < 0:
            number[key] = classes
            classes += 1
        class_of[row] = number[key]
    return class_of, classes


@njit(cache=True)
def summed_by_class(class_of: Any, weight: Any, classes: int) -> Any:
    """Total weight of the rows of each class."""
    sums = np.zeros(classes, np.int64)
    for row in range(class_of.size):
        sums[class_of[row]] += weight[row]
    return sums


@njit(cache=True)
def leaf_counts(leaves: Any, first: Any, counted: Any, class_of: Any, weight: Any) -> Any:
    """Number of rows with each leaf, in the classes marked in `counted`.

    The leaves of column j start at `first[j]`.
    """
    columns = leaves.shape[0]
    counts = np.zeros(first[columns], np.int64)
    # The rows are picked once, not once a column: few classes are counted at most nodes.
    picked = np.empty(class_of.size, np.int64)
    many = 0
    for row in range(class_of.size):
        if counted[class_of[row]]:
            picked[many] = row
            many += 1
    for j in range(columns):
        line, start = leaves[j], first[j]
        for i in range(many):
            row = picked[i]
            counts[start + line[row]] += weight[row]
    return counts


@njit(cache=True)
def first_in_class(class_of: Any, items: Any, width: int) -> Any:
    """1 for the first row of each pair of class and item, else 0; items are below `width`.

    Summed by class, this counts the distinct items of each class.
    """
    size = _slots(class_of.size)
    held = np.full(size, EMPTY)
    first = np.zeros(class_of.size, np.int64)
    for row in range(class_of.size):
        key = class_of[row] * width + items[row]
        slot = _place(key, size)
        while held[slot] != key and held[slot] != EMPTY:
            slot = (slot + 1) & (size - 1)
        if held[slot] == EMPTY:
            held[slot] = key
            first[row] = 1
    return first


@njit(cache=True)
def rows_by_class(class_of: Any, values: Any, weight: Any, classes: int) -> Any:
    """Values and weights sorted by class, and where each class starts; the last start is the end.

    A counting sort: linear in the rows, and stable, so values in order stay so in each class.
    """
    starts = np.zeros(classes + 1, np.int64)
    for row in range(class_of.size):
        starts[class_of[row] + 1] += 1
    starts = np.cumsum(starts)
    place = starts[:-1].copy()
    sorted_values, sorted_weight = np.empty_like(values), np.empty_like(weight)
    for row in range(class_of.size):
        to = place[class_of[row]]
        place[class_of[row]] += 1
        sorted_values[to], sorted_weight[to] = values[row], weight[row]
    return sorted_values, sorted_weight, starts


@njit(cache=True)
def entropies_by_class(values: Any, weight: Any, starts: Any, distinct: int) -> Any:
    """Entropy of the values of each class, in nats; values are below `distinct`."""
    # One array of counts serves all classes: the second pass over a class resets what it used, so
    # the cost is that of the rows, not of classes times values.
    counts = np.zeros(distinct, np.int64)
    entropies = np.zeros(starts.size - 1)
    for c in range(entropies.size):
        total = 0
        for i in range(starts[c], starts[c + 1]):
            counts[values[i]] += weight[i]
            total += weight[i]
        for i in range(starts[c], starts[c + 1]):
            if counts[values[i]] > 0:
                entropies[c] -= counts[values[i]] / total * np.log(counts[values[i]] / total)
            counts[values[i]] = 0  # further rows with this value add nothing
    return entropies


@njit(cache=True)
def equal_distances(values: Any, weight: Any, starts: Any, usual: Any) -> Any:
    """Total variation distance of each class from the usual shares (t-closeness, "equal").

    Half the sum of |share - usual share| equals the sum of the surpluses alone, since surpluses and
    deficits balance. Only values that occur in the class can have a surplus, so the others need not
    be visited.
    """
    counts = np.zeros(usual.size, np.int64)
    distances = np.zeros(starts.size - 1)
    for c in range(distances.size):
        total = 0
        for i in range(starts[c], starts[c + 1]):
            counts[values[i]] += weight[i]
            total += weight[i]
        for i in range(starts[c], starts[c + 1]):
            distances[c] += max(0.0, counts[values[i]] / total - usual[values[i]])
            counts[values[i]] = 0  # further rows with this value add nothing
    return distances


@njit(cache=True)
def ordered_distances(values: Any, weight: Any, starts: Any, usual: Any) -> Any:
    """Ordered earth mover's distance of each class from the usual shares, normalised to [0, 1].

    The sum of |cumulative share - usual cumulative share| over the values, divided by their number
    less one.
    """
    counts = np.zeros(usual.size, np.int64)
    distances = np.zeros(starts.size - 1)
    for c in range(distances.size):
        counts[:] = 0
        total = 0
        for i in range(starts[c], starts[c + 1]):
            counts[values[i]] += weight[i]
            total += weight[i]
        ahead = 0.0
        for value in range(usual.size):
            ahead += counts[value] / total - usual[value]
            distances[c] += abs(ahead)
        distances[c] /= max(1, usual.size - 1)
    return distances


@register_jitable
def _distance(counts: Any, usual: Any, ordered: bool, first: int) -> float:
    """Distance of one class's counts from the usual shares, equal or ordered.

    The ordered distance goes round from value `first`, which puts a value at the other end.
    """
    total, far, ahead = counts.sum(), 0.0, 0.0
    for i in range(usual.size):
        value = (i + first) % usual.size
        change = counts[value] / total - usual[value]
        if ordered:
            ahead += change
            far += abs(ahead) / max(1, usual.size - 1)
        else:
            far += max(0.0, change)
    return far


@register_jitable
def _crowd(part: Any, people: Any, seen: Any) -> int:
    """Number of people in some rows.

    `seen` is scratch space, all 0 before and after: one array for every call, reset only where it
    was used.
    """
    if people.size == 0:
        return int(part.size)
    crowd = 0
    for row in part:
        crowd += 1 - seen[people[row]]
        seen[people[row]] = 1
    for row in part:
        seen[people[row]] = 0
    return crowd


@register_jitable
def _value_counts(part: Any, about: Labelled, seen: Any) -> Any:
    """Count of each sensitive value; a person's repeated rows with one value count once."""
    counts = np.zeros(about.usual.size, np.int64)
    for row in part:
        if about.people.size == 0:
            counts[about.values[row]] += 1
        elif not seen[about.pairs[row]]:
            counts[about.values[row]] += 1
            seen[about.pairs[row]] = 1
    if about.people.size:
        for row in part:
            seen[about.pairs[row]] = 0
    return counts


@register_jitable
def _entropy(counts: Any) -> float:
    """Entropy in bits times the number of rows."""
    total, bits = counts.sum(), 0.0
    for count in counts:
        if count > 0:
            bits -= count * np.log2(count / total)
    return bits


@register_jitable
def _shared_enough(counts: Any, bounds: PartBounds) -> bool:
    """Whether the counts meet the entropy or recursive (c, l)-diversity that is asked for."""
    if bounds.l == 0:
        return True
    if bounds.entropy:
        entropy = _entropy(counts) * np.log(2.0) / counts.sum()
        return bool(np.exp(entropy) >= bounds.l - ROUNDING)
    if bounds.c == np.inf:
        return True
    # Recursive (c, l)-diversity: the commonest value is rarer than c times all from the l-th on.
    rising = np.sort(counts)
    rare = rising[: rising.size - bounds.l + 1].sum()
    return bool(rare > 0 and rising[-1] / rare < bounds.c - ROUNDING)


@register_jitable
def _like_all(counts: Any, crowd: int, usual: Any, bounds: PartBounds) -> bool:
    """Whether the counts meet alpha, beta-likeness and delta-disclosure.

    Alpha is a share of the people (`crowd`), the others compare shares of the counted values.
    """
    total = counts.sum()
    for value in range(usual.size):
        own, whole = counts[value] / total, usual[value]
        if counts[value] / crowd > bounds.alpha + ROUNDING:
            return False
        surplus = own / whole - 1.0
        if surplus > bounds.beta + ROUNDING:
            return False
        if bounds.enhanced and surplus > ROUNDING - np.log(whole):
            return False
        if bounds.delta < np.inf and (
            own == 0 or abs(np.log(own / whole)) >= bounds.delta - ROUNDING
        ):
            return False
    return True


@njit(cache=True)
def may_be_class(part: Any, about: Labelled, bounds: PartBounds, seen: Any) -> bool:
    """Whether some rows meet every requirement that kernels judge, so may be a class.

    The cheap tests come first.
    """
    crowd = _crowd(part, about.people, seen)
    if crowd < max(bounds.k, bounds.l):  # values count as no more than the people who have them
        return False
    if about.values.size == 0:
        return True
    counts = _value_counts(part, about, seen)
    if np.count_nonzero(counts) < bounds.l or not _shared_enough(counts, bounds):
        return False
    if not _like_all(counts, crowd, about.usual, bounds):
        return False
    if bounds.t == np.inf:
        return True
    far = _distance(counts, about.usual, bounds.ordered, 0)
    # A missing value has no place among numbers: the larger distance, at either end, counts.
    if bounds.ordered and bounds.missing:
        far = max(far, _distance(counts, about.usual, True, about.usual.size - 1))
    return far <= bounds.t + ROUNDING


@register_jitable
def _stands_for(part: Any, among: Any, register: Register) -> Any:
    """The rows of the register, out of `among`, that a class of these rows covers.

    The label of a class is an interval from its smallest to its largest value, or the set of its
    values; a set of all the table's values is released as ``*``, which covers every value.
    """
    # Places: -1 is missing; -2 is a value that no row of the table has, covered by ``*`` alone.
    for j in range(register.mine.shape[0]):
        mine, theirs, every = register.mine[j], register.theirs[j], register.every[j]
        blank, low, high = False, np.int64(1 << 62), np.int64(-1)
        seen = np.zeros(max(every, 1), np.int8)
        for row in part:
            place = mine[row]
            blank = blank or place < 0
            if place >= 0:
                low, high = min(low, place), max(high, place)
                if every:
                    seen[place] = 1
        alike = np.zeros(among.size, np.bool_)
        for i in range(among.size):
            place = theirs[among[i]]
            if place == -1:
                alike[i] = blank
            elif every == 0:
                alike[i] = low <= place <= high
            else:
                alike[i] = seen.sum() == every if place == -2 else seen[place] == 1
        among = among[alike]
    return among


@register_jitable
def _hidden(inside: int, outside: int, register: Register) -> bool:
    """Whether the share of a class's people in the register who are in the table is in bounds."""
    if inside > outside:  # the register lacks people of the table: no share can be stated
        return False
    share = inside / outside
    return bool(register.low - ROUNDING <= share <= register.high + ROUNDING)


@register_jitable
def _may_tell(part: Any, among: Any, about: Labelled, register: Register, seen: Any) -> bool:
    """Whether a class of these rows keeps delta-presence; `among` is who it covers."""
    outside = _crowd(among, register.people, seen)
    return _hidden(_crowd(part, about.people, seen), outside, register)


@register_jitable
def _gains(counts: Any, gains: Any, start: int, least: int) -> None:
    """Information gain of each cut of a column about the target, in bits times rows.

    `counts` has a line for each leaf. A cut after a leaf that no row has would repeat the cut
    before it, and is skipped.
    """
    below = np.zeros(counts.shape[1], np.int64)
    above = counts.sum(axis=0)
    rows, whole = above.sum(), _entropy(above)
    for leaf in range(counts.shape[0] - 1):
        below += counts[leaf]
        above -= counts[leaf]
        if below.sum() >= least and rows - below.sum() >= least and counts[leaf].sum():
            gains[start + leaf] = whole - _entropy(below) - _entropy(above)


@register_jitable
def _by_range(counts: Any, gains: Any, start: int, least: int) -> None:
    """Rating of each cut of a column: first the relative width of the column, then the balance."""
    low, high = 0, counts.shape[0] - 1
    while counts[low].sum() == 0:
        low += 1
    while counts[high].sum() == 0:
        high -= 1
    width = (high - low) / max(1, counts.shape[0] - 1)
    rows, below = counts.sum(), 0
    for leaf in range(low, high):
        held = counts[leaf].sum()
        below += held
        if held and below >= least and rows - below >= least:
            # The balance, at most 1/2, is scaled so far down that it decides within a column and
            # between columns of equal width only.
            gains[start + leaf] = width + 1e-6 * min(below, rows - below) / rows


@register_jitable
def _ratings(part: Any, leaves: Any, first: Any, about: Labelled, bounds: PartBounds) -> Any:
    """Rating of every cut of every column; -1 for cuts that leave too few rows on a side.

    Rows are an upper bound of people, so no allowed cut is ruled out here.
    """
    rated = np.full(first[-1], -1.0)
    least = max(bounds.k, bounds.l)
    classes = about.target.max() + 1 if about.target.size else 1
    for j in range(leaves.shape[0]):
        counts = np.zeros((first[j + 1] - first[j], classes), np.int64)
        for row in part:
            counts[leaves[j, row], about.target[row] if about.target.size else 0] += 1
        if about.target.size:
            _gains(counts, rated, first[j], least)
        else:
            _by_range(counts, rated, first[j], least)
    return rated


@register_jitable
def _divided(part: Any, line: Any, leaf: int) -> Any:
    """The rows up to a leaf followed by the others, both in their order; how many come first."""
    low = line[part] <= leaf
    return np.concatenate((part[low], part[~low])), np.count_nonzero(low)


@register_jitable
def _best_split(
    part: Any,
    among: Any,
    leaves: Any,
    first: Any,
    about: Labelled,
    bounds: PartBounds,
    register: Register,
    seen: Any,
) -> Any:
    """Best cut that both sides allow: the rows reordered by it, and the size of the first side.

    Also the rows of the register that each side covers, out of `among`, those of the whole part.
    A size of 0 means that no cut is allowed.
    """
    nobody = among[:0]
    if part.size < 2 * max(bounds.k, bounds.l):
        return part, 0, nobody, nobody
    rated = _ratings(part, leaves, first, about, bounds)
    # Where rows are people and no secret is guarded, the ratings have tested all that is asked.
    plain = about.people.size == 0 and about.values.size == 0
    while True:
        cut = int(np.argmax(rated))  # of equal ratings the first: the earlier column, the lower cut
        if rated[cut] < 0:
            return part, 0, nobody, nobody
        column = np.searchsorted(first, cut, side="right") - 1
        divided, many = _divided(part, leaves[column], cut - first[column])
        one, other = divided[:many], divided[many:]
        if plain or (
            may_be_class(one, about, bounds, seen) and may_be_class(other, about, bounds, seen)
        ):
            if among.size == 0:
                return divided, many, nobody, nobody
            ours, theirs = _stands_for(one, among, register), _stands_for(other, among, register)
            # Someone covered by neither side is certainly not in the table: a chance of 0.
            whole = register.low <= 0 or ours.size + theirs.size == among.size
            if (
                whole
                and _may_tell(one, ours, about, register, seen)
                and _may_tell(other, theirs, about, register, seen)
            ):
                return divided, many, ours, theirs
        rated[cut] = -1.0


@njit(cache=True)
def split_classes(
    leaves: Any, first: Any, about: Labelled, bounds: PartBounds, register: Register
) -> Any:
    """Split the rows into classes, depth first.

    Returns the class of each row, the number of classes, for each class the share of the register's
    people it covers who are in the table, and how many rows of the register no class covers.
    Without a register there are no shares, nor where even the whole table breaks delta-presence.
    """
    rows, everybody = leaves.shape[1], register.theirs.shape[1]
    seen = np.zeros(max(rows, everybody), np.int8)
    order, class_of = np.arange(rows), np.zeros(rows, np.int64)
    among = _stands_for(order, np.arange(everybody), register)
    shares = np.zeros(0)
    if everybody:
        whole = register.low <= 0 or among.size == everybody
        if not (whole and _may_tell(order, among, about, register, seen)):
            return class_of, 1, shares, everybody - among.size
        shares = np.zeros(rows)
    # A stack instead of recursion. `order` holds the rows of each part side by side, so that a part
    # is a slice; `standing` has the rows of the register that it covers.
    starts, ends, standing = [0], [rows], [among]
    classes, told = 0, everybody
    while starts:
        start, end, among = starts.pop(), ends.pop(), standing.pop()
        part, many, ours, theirs = _best_split(
            order[start:end], among, leaves, first, about, bounds, register, seen
        )
        if many == 0:
            class_of[part] = classes
            if everybody:
                outside = _crowd(among, register.people, seen)
                shares[classes] = _crowd(part, about.people, seen) / outside
                told -= among.size
            classes += 1
            continue
        order[start:end] = part
        starts.extend((start, start + many))
        ends.extend((start + many, end))
        standing.extend((ours, theirs))
    return class_of, classes, shares[:classes], told
