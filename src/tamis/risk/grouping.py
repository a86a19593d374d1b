"""Rows that no attacker can tell apart: one grouping, from which every measure is read."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import polars as pl

from tamis.risk.coding import Coded, Ints, coded, counted, dense, joined
from tamis.table import only


@dataclass(frozen=True)
class ClassSize:
    """How many classes have this size, and how many rows they hold."""

    size: int
    classes: int
    rows: int


@dataclass(frozen=True, eq=False)
class Grouping:
    """Classes of rows that are equal on some columns, missing being a value of its own.

    `coded` are the columns, in the order of `columns`; `keys` has the same code for rows of the
    same class; `sizes` has the rows of each class, in the order of the keys.
    """

    columns: tuple[str, ...]
    coded: tuple[Coded, ...]
    keys: Coded
    sizes: Ints

    @property
    def rows(self) -> int:
        return len(self.keys.codes)

    @cached_property
    def class_of(self) -> Ints:
        """For each row the number of its class, from 0 on: the place of its size in `sizes`."""
        return dense(self.keys).codes

    @property
    def k_anonymity(self) -> int:
        """The size of the smallest class."""
        return int(self.sizes.min())

    @property
    def unique_rows(self) -> int:
        """The number of rows that are alone in their class."""
        return int(np.count_nonzero(self.sizes == 1))

    @property
    def class_sizes(self) -> tuple[ClassSize, ...]:
        """The distribution of the class sizes, small sizes first."""
        sizes, counts = counted(Coded(self.sizes, int(self.sizes.max()) + 1))
        return tuple(ClassSize(s, c, s * c) for s, c in zip(sizes.tolist(), counts.tolist()))


def grouped(frame: pl.DataFrame, columns: Sequence[str]) -> Grouping:
    """Group the rows of a frame by some of its columns.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 30, None, None], "job": ["cook", "cook", None, "cook"]})
    >>> grouped(frame, ["age", "job"]).sizes.tolist()
    [2, 1, 1]
    """
    with ThreadPoolExecutor() as pool:
        columns_coded = tuple(pool.map(coded, only(frame, columns).get_columns()))
    keys = reduce(joined, columns_coded)
    return Grouping(tuple(columns), columns_coded, keys, counted(keys)[1])
