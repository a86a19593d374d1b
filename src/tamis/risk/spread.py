"""How the sensitive values spread over the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.risk.coding import Ints, coded, counted, dense, joined, people_in
from tamis.risk.grouping import Grouping


@dataclass(frozen=True, eq=False)
class Spread:
    """One entry for each pair of a class and a sensitive value that occurs in it.

    The entries are ordered by class, then by value; there are never more of them than rows.
    Missing is a value of its own, the last one.

    Parameters
    ----------
    classes, values, counts : arrays, one cell for each entry
        The class, the sensitive value, and the people of the class that have it. A person who has
        several values counts once for each.
    first : array, one cell for each class
        The first entry of each class.
    sizes : array, one cell for each class
        The sum of the counts of each class: its people, where each has one value.
    totals : array, one cell for each value
        The people of the table that have each value.
    number, missing : bool
        Whether the sensitive column holds numbers, and whether some are missing.
    people : array, one cell for each class, optional
        The people of each class, where some have several rows.
    """

    classes: Ints
    values: Ints
    counts: Ints
    first: Ints
    sizes: Ints
    totals: Ints
    number: bool
    missing: bool
    people: Ints | None = None

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of its class that each entry holds."""
        return np.divide(self.counts, self.sizes[self.classes], dtype=np.float64)

    def summed(self, figures: NDArray[Any]) -> NDArray[Any]:
        """The sum over the entries of each class."""
        return np.add.reduceat(figures, self.first)


def spread(grouping: Grouping, sensitive: pl.Series) -> Spread:
    """Count the sensitive values within each class.

    Examples
    --------
    >>> from tamis.risk.grouping import grouped
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "judge"], "ill": ["flu", "flu", None]})
    >>> found = spread(grouped(frame, ["job"]), frame["ill"])
    >>> found.counts.tolist(), found.totals.tolist()
    ([2, 1], [2, 1])
    """
    column = coded(sensitive)
    values = dense(column)
    together = joined(grouping.keys, values)
    pairs, counts = counted(together)
    keys, value = np.divmod(pairs, values.radix)
    opens = np.diff(keys, prepend=-1) > 0
    first, sizes, people = np.flatnonzero(opens), grouping.sizes, grouping.people
    if people is not None:
        counts = people_in(together, people)
        sizes = np.add.reduceat(counts, first)
    return Spread(
        classes=np.cumsum(opens) - 1,
        values=value,
        counts=counts,
        first=first,
        sizes=sizes,
        totals=np.bincount(values.codes) if people is None else people_in(values, people),
        number=sensitive.dtype.is_numeric(),
        missing=bool((column.codes == column.radix - 1).any()),
        people=None if people is None else grouping.sizes,
    )
