"""The best itemsets met so far: by size, then value, then lowest columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Pool(NamedTuple):
    """At most as many itemsets as `sizes` is long, in no order, nor are the columns of each."""

    sizes: NDArray[np.int64]
    totals: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.int64]
    """The value of each column of the table."""
    marks: NDArray[np.bool_]
    """One for each column of the table, for comparing; false between uses."""
    state: NDArray[np.int64]
    """How many itemsets there are, which of them is the worst, and the least size wanted."""


def empty_pool(most: int, longest: int, values: NDArray[np.int64]) -> Pool:
    """Room for `most` itemsets of at most `longest` columns."""
    return Pool(
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, longest), dtype=np.int64),
        values,
        np.zeros(len(values), dtype=np.bool_),
        np.array([0, 0, 1], dtype=np.int64),
    )


def ranked(pool: Pool, numbers: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """The itemsets, best first; the columns of each, by the numbers they had, ascend."""
    count = int(pool.state[0])
    columns = numbers[pool.columns[:count]].tolist()
    sizes, totals = pool.sizes[:count].tolist(), pool.totals[:count].tolist()
    sets = [tuple(sorted(held[:size])) for held, size in zip(columns, sizes)]
    order = sorted(range(count), key=lambda i: (-sizes[i], -totals[i], sets[i]))
    return [sets[i] for i in order]


@njit(cache=True)
def floor(pool: Any) -> Any:
    """The least size that may still enter the pool."""
    return pool.sizes[pool.state[1]] if pool.state[0] == len(pool.sizes) else pool.state[2]


@njit(cache=True)
def total_value(pool: Any, columns: Any, size: Any) -> Any:
    total = 0
    for a in range(size):
        total += pool.values[columns[a]]
    return total


@njit(cache=True)
def lowest_outside(pool: Any, columns: Any, others: Any, size: Any) -> Any:
    """The lowest column of one set that the other lacks, or a number above all columns."""
    for a in range(size):
        pool.marks[others[a]] = True
    found = len(pool.marks)
    for a in range(size):
        if columns[a] < found and not pool.marks[columns[a]]:
            found = columns[a]
    for a in range(size):
        pool.marks[others[a]] = False
    return found


@njit(cache=True)
def better(pool: Any, columns: Any, size: Any, total: Any, i: Any) -> Any:
    """Above 0 if a set comes before the pool's itemset `i`, 0 if it is the same, or below."""
    if size != pool.sizes[i]:
        return size - pool.sizes[i]
    if total != pool.totals[i]:
        return total - pool.totals[i]
    mine = lowest_outside(pool, columns, pool.columns[i], size)
    return lowest_outside(pool, pool.columns[i], columns, size) - mine


@njit(cache=True)
def welcome(pool: Any, columns: Any, size: Any) -> Any:
    """Whether a set would enter the pool, were it frequent and not there yet."""
    if pool.state[0] < len(pool.sizes):
        return True
    return better(pool, columns, size, total_value(pool, columns, size), pool.state[1]) > 0


@njit(cache=True)
def offer(pool: Any, columns: Any, size: Any) -> Any:
    """Take a maximal itemset into the pool, unless it is there or no better than the worst."""
    total = total_value(pool, columns, size)
    for i in range(pool.state[0]):
        if better(pool, columns, size, total, i) == 0:
            return
    if not welcome(pool, columns, size):
        return
    place = pool.state[1]
    if pool.state[0] < len(pool.sizes):
        place = pool.state[0]
        pool.state[0] += 1
    pool.sizes[place] = size
    pool.totals[place] = total
    for a in range(size):
        pool.columns[place, a] = columns[a]
    pool.state[1] = 0
    for i in range(1, pool.state[0]):
        worst = pool.state[1]
        if better(pool, pool.columns[worst], pool.sizes[worst], pool.totals[worst], i) > 0:
            pool.state[1] = i
