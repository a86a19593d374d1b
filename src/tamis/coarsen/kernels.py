"""Kernels: the classes of equal rows at a node of the lattice, and what is inside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

EMPTY = np.int64(-1)


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
