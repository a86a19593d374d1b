"""Which sets of columns leave k rows alike, where many sets are asked about.

Rows alike in all columns are counted once for all sets. Classes only become smaller with more
columns, so a column that breaks k alone is in no set that keeps it, and is left out from the start.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from functools import reduce
from typing import Generic, TypeVar

import numpy as np

from tamis.risk.grouping import Coded, collapsed, joined
from tamis.risk.suppression import all_but_few

Key = TypeVar("Key", bound=Hashable)


class AlikeRows(Generic[Key]):
    """The rows of a table by some columns, to be asked which of these leave k rows alike.

    Parameters
    ----------
    columns : mapping of key to Coded
    k : int
        The fewest rows that must be alike.
    most : int
        The most rows that may be left out so that the rest keeps k.

    Examples
    --------
    >>> age, job = Coded(np.array([0, 0, 1, 1]), 2), Coded(np.array([0, 1, 0, 1]), 2)
    >>> rows = AlikeRows({"age": age, "job": job}, k=2)
    >>> rows.keep(["age"]), rows.keep(["age", "job"]), rows.keep([])
    (True, False, True)
    """

    def __init__(self, columns: Mapping[Key, Coded], k: int, most: int = 0) -> None:
        self._k, self._most = k, most
        self._found: dict[frozenset[Key], bool] = {}
        fit = {key: each for key, each in columns.items() if _alone(each, k, most)}
        self._columns = dict(fit)
        if fit:
            rows = collapsed(list(fit.values()))
            self._counts = rows.counts
            self._columns = {k: Coded(c.codes[rows.first], c.radix) for k, c in fit.items()}

    def keep(self, keys: Collection[Key]) -> bool:
        """Whether k rows or more are alike in all these columns, but for the few left out."""
        asked = frozenset(keys)
        if asked not in self._found:
            self._found[asked] = not asked or (asked <= self._columns.keys() and self._kept(asked))
        return self._found[asked]

    def _kept(self, asked: frozenset[Key]) -> bool:
        together = [column for key, column in self._columns.items() if key in asked]
        return all_but_few(reduce(joined, together), self._counts, self._k, self._most)


def _alone(column: Coded, k: int, most: int) -> bool:
    return all_but_few(column, np.ones(len(column.codes), dtype=np.int64), k, most)
