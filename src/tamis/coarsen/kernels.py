"""Kernels: the classes of equal rows at a node of the lattice, and what is inside them.

Then rows split in two, again and again, as long as both parts keep what is required.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba.extending import register_jitable

from tamis.kernel_cache import njit

if TYPE_CHECKING:
    from tamis.coarsen.local import Labelled, PartBounds, Register

EMPTY = np.int64(-1)
# That of tamis.figures, written again: a compiled kernel notices changes in its own file only.
ROUNDING = 1e-9


@njit(cache=True)
def mixed_keys(codes: Any, columns: Any, strides: Any) -> Any:
    """One key a row: the sum of the named lines of `codes`, each times its stride."""
    keys = np.zeros(codes.shape[1], np.int64)
    for j in range(columns.size):
        line, stride = codes[columns[j]], strides[j]
        for row in range(keys.size):
            keys[row] += line[row] * stride
    return keys


@register_jitable
def _slots(rows: int) -> int:
    size = 16
    while size < 2 * rows:
        size *= 2
    return size


@register_jitable
def _place(key: Any, size: int) -> Any:
    """Where a key is looked for first: the high bits of a product, which all bits reach."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(size - 1))


@njit(cache=True)
def number_hashed(keys: Any) -> Any:
    """The number of each row's key in order of appearance, and how many keys there are."""
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
    """The same for keys below a small radix: the table is indexed by the key itself."""
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
    """The weight of the rows of each class."""
    sums = np.zeros(classes, np.int64)
    for row in range(class_of.size):
        sums[class_of[row]] += weight[row]
    return sums


@njit(cache=True)
def leaf_counts(leaves: Any, first: Any, counted: Any, class_of: Any, weight: Any) -> Any:
    """The rows of the counted classes by leaf; the leaves of column j start at `first[j]`."""
    columns = leaves.shape[0]
    counts = np.zeros(first[columns], np.int64)
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
    """1 for each row that is the first of its class with its item, else 0.

    Items are below `width`.
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
    """Values and weights in the order of the classes, and where each class starts.

    The last start is the end.
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
    """The entropy of the values of each class, in nats; each is below `distinct`."""
    counts = np.zeros(distinct, np.int64)
    found = np.zeros(starts.size - 1)
    for c in range(found.size):
        total = 0
        for i in range(starts[c], starts[c + 1]):
            counts[values[i]] += weight[i]
            total += weight[i]
        for i in range(starts[c], starts[c + 1]):
            if counts[values[i]] > 0:
                found[c] -= counts[values[i]] / total * np.log(counts[values[i]] / total)
            counts[values[i]] = 0  # its next row in the class adds nothing
    return found


@njit(cache=True)
def equal_distances(values: Any, weight: Any, starts: Any, usual: Any) -> Any:
    """Half the sum of |share in the class - usual share|: the surpluses, which few values have."""
    counts = np.zeros(usual.size, np.int64)
    found = np.zeros(starts.size - 1)
    for c in range(found.size):
        total = 0
        for i in range(starts[c], starts[c + 1]):
            counts[values[i]] += weight[i]
            total += weight[i]
        for i in range(starts[c], starts[c + 1]):
            found[c] += max(0.0, counts[values[i]] / total - usual[values[i]])
            counts[values[i]] = 0  # its next row in the class adds nothing
    return found


@njit(cache=True)
def ordered_distances(values: Any, weight: Any, starts: Any, usual: Any) -> Any:
    """The mean step between the cumulative shares of the class and the usual ones."""
    counts = np.zeros(usual.size, np.int64)
    found = np.zeros(starts.size - 1)
    for c in range(found.size):
        counts[:] = 0
        total = 0
        for i in range(starts[c], starts[c + 1]):
            counts[values[i]] += weight[i]
            total += weight[i]
        ahead = 0.0
        for value in range(usual.size):
            ahead += counts[value] / total - usual[value]
            found[c] += abs(ahead)
        found[c] /= max(1, usual.size - 1)
    return found


@register_jitable
def _distance(counts: Any, usual: Any, ordered: bool, first: int) -> float:
    """How far counts are from the usual shares; the ordered distance starts at value `first`."""
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
    """The number of people behind some rows; `seen` is 0 before and after."""
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
    """The rows with each sensitive value; of several rows of one person with it only one."""
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
    """The bits of all rows together."""
    total, bits = counts.sum(), 0.0
    for count in counts:
        if count > 0:
            bits -= count * np.log2(count / total)
    return bits


@register_jitable
def _shared_enough(counts: Any, bounds: PartBounds) -> bool:
    """Whether no sensitive value is too frequent for the entropy or recursive l asked for."""
    if bounds.l == 0:
        return True
    if bounds.entropy:
        entropy = _entropy(counts) * np.log(2.0) / counts.sum()
        return bool(np.exp(entropy) >= bounds.l - ROUNDING)
    if bounds.c == np.inf:
        return True
    rising = np.sort(counts)
    rare = rising[: rising.size - bounds.l + 1].sum()
    return bool(rare > 0 and rising[-1] / rare < bounds.c - ROUNDING)


@register_jitable
def _like_all(counts: Any, crowd: int, usual: Any, bounds: PartBounds) -> bool:
    """Whether the values keep alpha, beta and delta; `crowd` are the people they belong to."""
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
    """Whether some rows may be a class."""
    crowd = _crowd(part, about.people, seen)
    if crowd < max(bounds.k, bounds.l):
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
    if bounds.ordered and bounds.missing:
        far = max(far, _distance(counts, about.usual, True, about.usual.size - 1))
    return far <= bounds.t + ROUNDING


@register_jitable
def _stands_for(part: Any, among: Any, register: Register) -> Any:
    """Those of some people of the register whom a class of these rows may be about.

    A class tells the smallest and the largest value of a column, or which values occur; where all
    do, it tells nothing of them.
    """
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
    """Whether the share of a class of the register that is in the table is within bounds."""
    if inside > outside:
        return False
    share = inside / outside
    return bool(register.low - ROUNDING <= share <= register.high + ROUNDING)


@register_jitable
def _may_tell(part: Any, among: Any, about: Labelled, register: Register, seen: Any) -> bool:
    """Whether some rows may be a class, by whom of the register they tell."""
    outside = _crowd(among, register.people, seen)
    return _hidden(_crowd(part, about.people, seen), outside, register)


@register_jitable
def _gains(counts: Any, gains: Any, start: int, least: int) -> None:
    """The bits about the target that each cut of a column gains; `counts` has a line a leaf."""
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
    """How good each cut of a column is: wide columns first, then cuts near the middle."""
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
            gains[start + leaf] = width + 1e-6 * min(below, rows - below) / rows


@register_jitable
def _ratings(part: Any, leaves: Any, first: Any, about: Labelled, bounds: PartBounds) -> Any:
    """How good each cut of each column is; -1 for those that leave too few rows on a side."""
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
    """The rows up to a leaf, then the others, each in their order; and how many there are."""
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
    """The rows in the order of the best cut that both sides allow, and the size of the first.

    Then those of the register whom each side may be about, of `among`, whom both may be.
    """
    nobody = among[:0]
    if part.size < 2 * max(bounds.k, bounds.l):
        return part, 0, nobody, nobody
    rated = _ratings(part, leaves, first, about, bounds)
    plain = about.people.size == 0 and about.values.size == 0
    while True:
        cut = int(np.argmax(rated))
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
            # Whom neither side may be about is not in the table: a chance of 0.
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
    """The class of each row, the number of classes, the share of each in the register, and its
    rows that no class may be about.

    There are no shares without a register, or where the whole table is not hidden enough in it.
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
