"""How the sensitive values spread over the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.risk.coding import Ints, coded, counted, dense, joined
from tamis.risk.grouping import Grouping


@dataclass(frozen=True, eq=False)
class Spread:
    """One entry for each pair of a class and a sensitive value that occurs in it.

    The entries are ordered by class, then by value; there are never more of them than rows.
    Missing is a value of its own, the last one.

    Parameters
    ----------
    classes, values, counts : arrays, one cell for each entry
        The class, the sensitive value, and the rows of the class that have it.
    first : array, one cell for each class
        The first entry of each class.
    sizes : array, one cell for each class
        The rows of each class.
    totals : array, one cell for each value
        The rows of the table that have each value.
    number, missing : bool
        Whether the sensitive column holds numbers, and whether some are missing.
    """

    classes: Ints
    values: Ints
    counts: Ints
    first: Ints
    sizes: Ints
    totals: Ints
    number: bool
    missing: bool

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
    pairs, counts = counted(joined(grouping.keys, values))
    keys, value = np.divmod(pairs, values.radix)
    opens = np.diff(keys, prepend=-1) > 0
    return Spread(
        classes=np.cumsum(opens) - 1,
        values=value,
        counts=counts,
        first=np.flatnonzero(opens),
        sizes=grouping.sizes,
        totals=np.bincount(values.codes),
        number=sensitive.dtype.is_numeric(),
        missing=bool((column.codes == column.radix - 1).any()),
    )
