"""Evaluate the conditions on one column as rows of packed bits, one bit for each row of the table.

Each row of the table is in one group of a column: numbers between the same two cuts, or cells with
the same value that some rule names. Every condition is a union of groups: bounds are the difference
of two cumulative unions, values a few ORs. A missing cell is in no group, so it matches no
condition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coding import as_floats, positions
from tamis.rules.rule import Between, Condition, OneOf
from tamis.rules.ruleset import Holds, holds, known_value, texts
from tamis.table import bare

Bits = NDArray[np.uint64]
Floats = NDArray[np.float32] | NDArray[np.float64]

_FEW_CUTS = 48
"""Up to this many cuts, comparing every number with each cut is faster than bisection."""


@dataclass(frozen=True)
class Places:
    """The bit of each row of a chunk, and the number of words in a row of bits."""

    bit: NDArray[np.int64]
    words: int
    ordered: bool = False

    @classmethod
    def in_order(cls, rows: int) -> Places:
        """Bits in the order of the rows."""
        return cls(np.arange(rows), (rows + 63) // 64, ordered=True)

    def spread(self, numbers: Floats) -> Floats:
        """The numbers in the order of the bits, NaN for bits without a row."""
        if self.ordered and len(numbers) == 64 * self.words:
            return numbers
        laid = np.full(64 * self.words, np.nan, dtype=numbers.dtype)
        laid[slice(len(numbers)) if self.ordered else self.bit] = numbers
        return laid

    def packed(self, answers: NDArray[np.bool_]) -> Bits:
        """Pack one answer for each row into a row of bits; bits must be in the order of rows."""
        bits = np.zeros(8 * self.words, dtype=np.uint8)
        bits[: (len(answers) + 7) // 8] = np.packbits(answers, bitorder="little")
        return bits.view(np.uint64)

    def scattered(self, groups: NDArray[np.int64], count: int) -> Bits:
        """A row of bits for each group, from the group of each row; -1 is no group."""
        bits = np.zeros(count * self.words, dtype=np.uint64)
        at = groups * self.words + (self.bit >> 6)
        bit = np.uint64(1) << (self.bit & 63).astype(np.uint64)
        if (groups < 0).any():
            at, bit = at[groups >= 0], bit[groups >= 0]
        # Each row has its own bit, so adding is the same as OR, and faster.
        np.add.at(bits, at, bit)
        return bits.reshape(count, self.words)


class PackedColumn:
    """The conditions of the rules on one column, ready to be evaluated chunk by chunk."""

    def __init__(self, name: str, wanted: Sequence[tuple[int, Condition]], dtype: pl.DataType):
        self.name = name
        self._held = holds(dtype)
        bounds = [(at, c) for at, c in wanted if isinstance(c, Between)]
        sets = [(at, c) for at, c in wanted if isinstance(c, OneOf)]
        self._cuts = _cuts([c for _, c in bounds])
        self._values = _values([c for _, c in sets], self._held)
        self._bounds = [(at, *_groups_within(c, self._cuts)) for at, c in bounds]
        position = {value: i for i, value in enumerate(self._values)}
        self._sets = [
            (at, sorted({position[_known(v, self._held)] for v in c.values}), c.negated)
            for at, c in sets
        ]

    @property
    def groups(self) -> int:
        """The number of rows of bits held at once besides the answers."""
        return max(len(self._cuts) + 2, len(self._values) + 1)

    def fill(self, answers: Bits, column: pl.Series, places: Places) -> None:
        """Write the bits of each condition into its row of `answers`."""
        if self._held == "nothing":
            answers[[at for at, *_ in (*self._bounds, *self._sets)]] = 0
            return
        if self._bounds:
            self._fill_bounds(answers, column, places)
        if self._sets:
            self._fill_sets(answers, column, places)

    def _fill_bounds(self, answers: Bits, column: pl.Series, places: Places) -> None:
        few = len(self._cuts) <= _FEW_CUTS
        if few:
            upto = _compared(self._cuts, _narrow_numbers(column), places)
        else:
            upto = _ranked(self._cuts, as_floats(column), places)
        for at, low, high in self._bounds:
            # Rows up to the lower end are also up to the upper end, so XOR removes them.
            np.bitwise_xor(upto[high], upto[low], out=answers[at])

    def _fill_sets(self, answers: Bits, column: pl.Series, places: Places) -> None:
        codes = _codes(column, self._values, self._held)
        # All values that no rule names are one more group, which `!=` needs.
        groups = np.where(codes < 0, len(self._values), codes)
        groups[bare(column).is_null().to_numpy()] = -1
        bits = places.scattered(groups, len(self._values) + 1)
        present = np.bitwise_or.reduce(bits, axis=0)
        for at, chosen, negated in self._sets:
            np.bitwise_or.reduce(bits[chosen], axis=0, out=answers[at])
            if negated:
                np.bitwise_xor(present, answers[at], out=answers[at])


def matching(condition: Condition, column: pl.Series) -> NDArray[np.bool_]:
    """Which cells of a column meet one condition.

    >>> matching(OneOf("job", ("cook",), negated=True), pl.Series(["cook", "judge", None])).tolist()
    [False, True, False]
    """
    places = Places.in_order(len(column))
    answers = np.zeros((1, places.words), dtype=np.uint64)
    PackedColumn(condition.column, [(0, condition)], column.dtype).fill(answers, column, places)
    bits = np.unpackbits(answers.view(np.uint8)[0], count=len(column), bitorder="little")
    return bits.view(np.bool_)


def _compared(cuts: NDArray[np.float64], numbers: Floats, places: Places) -> Bits:
    """Rows of bits of the numbers up to each cut, by comparisons; first none, last all present."""
    laid = places.spread(numbers)
    upto = np.zeros((len(cuts) + 2, places.words), dtype=np.uint64)
    below = np.empty(len(laid), dtype=np.bool_)
    for row, cut in zip(upto[1:], _rounded_down(np.append(cuts, np.inf), laid.dtype)):
        np.less_equal(laid, cut, out=below)
        row[:] = np.packbits(below, bitorder="little").view(np.uint64)
    return upto


def _rounded_down(cuts: NDArray[np.float64], dtype: np.dtype[Any]) -> Floats:
    """The largest numbers of a type not above the cuts: comparing with either gives the same.

    >>> float(_rounded_down(np.array([0.1]), np.dtype(np.float32))[0]) < 0.1
    True
    """
    # A cut beyond the largest number of the type becomes infinity, is above, and steps down again.
    with np.errstate(over="ignore"):
        near = cuts.astype(dtype)
    lower = np.nextafter(near, np.array(-np.inf, dtype))
    rounded: Floats = np.where(near > cuts, lower, near)
    return rounded


def _ranked(cuts: NDArray[np.float64], numbers: NDArray[np.float64], places: Places) -> Bits:
    """Like `_compared`, by one bisection for each number, which pays off with many cuts."""
    groups = rank(cuts, numbers) + 1
    groups[np.isnan(numbers)] = -1
    upto = places.scattered(groups, len(cuts) + 2)
    for i in range(2, len(upto)):
        np.bitwise_or(upto[i], upto[i - 1], out=upto[i])
    return upto


def rank(cuts: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.intp]:
    """For each number, how many of the sorted `cuts` lie below it.

    The bisection of `numpy.searchsorted`, but one step at a time for all numbers: without branches
    it takes a quarter to half of the time.

    Examples
    --------
    >>> rank(np.array([1.0, 2.0]), np.array([0.5, 1.0, 1.5, 9.0])).tolist()
    [0, 0, 1, 2]
    """
    # Padded with infinity to a power of two, every number takes the same steps.
    steps = len(cuts).bit_length()
    padded = np.full(1 << steps, np.inf)
    padded[: len(cuts)] = cuts
    below = np.zeros(len(numbers), dtype=np.intp)
    probe = np.empty_like(below)
    cell = np.empty(len(numbers))
    for step in (1 << k for k in reversed(range(steps))):
        np.add(below, step - 1, out=probe)
        np.take(padded, probe, out=cell, mode="clip")
        np.multiply(cell < numbers, step, out=probe)
        below += probe
    return below


def _narrow_numbers(column: pl.Series) -> Floats:
    """Numbers as wide as they are stored: half the width takes half the time to compare."""
    if column.dtype == pl.Float32:
        narrow: Floats = column.to_numpy()
        return narrow
    return as_floats(column)


def _ends(condition: Between) -> tuple[float, float]:
    """The bounds as an open lower and a closed upper end; each may move to the next lower float."""
    low, high = condition.low, condition.high
    below = math.nextafter(low, -math.inf) if condition.low_closed else low
    return below, high if condition.high_closed else math.nextafter(high, -math.inf)


def _cuts(bounds: Sequence[Between]) -> NDArray[np.float64]:
    ends = np.array([end for c in bounds for end in _ends(c)], dtype=np.float64)
    return np.unique(ends[np.isfinite(ends)])


def _groups_within(condition: Between, cuts: NDArray[np.float64]) -> tuple[int, int]:
    """The two cumulative unions whose difference is the condition; 0 is empty, the last is all."""
    low, high = _ends(condition)
    first = 0 if math.isinf(low) else int(np.searchsorted(cuts, low)) + 1
    last = len(cuts) + 1 if math.isinf(high) else int(np.searchsorted(cuts, high)) + 1
    return first, last


def _values(sets: Sequence[OneOf], held: Holds) -> list[str]:
    return list(dict.fromkeys(_known(value, held) for c in sets for value in c.values))


def _codes(column: pl.Series, values: Sequence[str], held: Holds) -> NDArray[np.int64]:
    """The position of each cell in `values`; -1 if it is not among them."""
    if held != "numbers":
        return positions(texts(column), values)
    wanted = np.array(values, dtype=np.float64)
    order = np.argsort(wanted)
    cells = as_floats(column)
    near = np.searchsorted(wanted, cells, sorter=order).clip(max=len(wanted) - 1)
    return np.where(wanted[order[near]] == cells, order[near], -1)


def _known(value: str, held: Holds) -> str:
    known = known_value(value, held)
    return value if known is None else known


class Block:
    """Consecutive rules, sorted by their number of conditions, longest first.

    The rules that have a j-th condition are then the first ones, and one AND serves them all.
    """

    def __init__(self, rules: NDArray[np.int64], wanted: Sequence[Sequence[int]]) -> None:
        self.in_order = rules
        self._order = np.argsort([-len(wanted[i]) for i in rules], kind="stable")
        self.rules = rules[self._order]
        longest = len(wanted[self.rules[0]])
        self._columns = [
            np.array([wanted[i][j] for i in self.rules if len(wanted[i]) > j])
            for j in range(longest)
        ]

    def matches(self, answers: Bits, everyone: Bits) -> Bits:
        """For each rule, the AND of the bits of its conditions."""
        met = np.empty((len(self.rules), len(everyone)), dtype=np.uint64)
        met[:] = everyone
        buffer = np.empty_like(met)
        for at in self._columns:
            # Positions are valid: 'clip' spares the buffer that numpy needs to raise for others.
            bits = buffer[: len(at)]
            np.take(answers, at, axis=0, out=bits, mode="clip")
            np.bitwise_and(met[: len(at)], bits, out=met[: len(at)])
        return met

    def unsorted(self, met: Bits) -> Bits:
        """The same rows of bits in the original order of the rules."""
        in_order = np.empty_like(met)
        in_order[self._order] = met
        return in_order


def first_only(bits: Bits, seen: Bits) -> Bits:
    """The bits of each rule that are set neither in an earlier rule nor in `seen`."""
    before = np.empty_like(bits)
    before[0] = seen
    for i in range(1, len(bits)):
        np.bitwise_or(before[i - 1], bits[i - 1], out=before[i])
    return bits & ~before
