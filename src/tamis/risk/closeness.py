"""t-closeness: how far the sensitive values of a class are from those of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from tamis.errors import InputError
from tamis.risk.scope import scope
from tamis.risk.spread import Spread, spread

Distance = Literal["equal", "ordered"]


def t_closeness(
    data: Any,
    sensitive: str | None = None,
    quasi: Sequence[str] | None = None,
    *,
    distance: Distance | None = None,
    people: Any = None,
) -> float:
    """The largest distance of a class from the whole table, in the sensitive column.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    sensitive : str, optional
        The column that must stay hard to guess. `None`: that of the table's roles.
    quasi : sequence of str, optional
        The columns an attacker may know. `None`: those of the table's roles, by default all
        features; of a bare frame, all columns but the sensitive one.
    distance : {"equal", "ordered"}, optional
        How far apart two sensitive values are: all equally far, or by the steps between them.
        `None`: ordered for numbers, equal for everything else.
    people : array, optional
        Whose row each row is, by name or number. `None`: as the table's identifiers show, see
        `Table.people`; of a bare frame, each row is a person.

    Returns
    -------
    float
        From 0, every class looks like the whole table, to 1.

    Notes
    -----
    Li, Li and Venkatasubramanian 2007: the earth mover's distance between the shares p of the m
    values in the table and their shares q in the class. Equal: 1/2 sum_i abs(q_i - p_i).
    Ordered: 1/(m - 1) sum_i abs(sum_{j <= i} (q_j - p_j)), the values in rising order; 0 when
    m = 1. Where a person has several rows, shares are of the different pairs of a person and a
    value, in the class and in the table.

    A missing sensitive value is a value of its own and counts in m. It has no place among the
    numbers, so the ordered distance is measured with missing below the least number and again
    with missing above the largest, and the larger result is given: the risk is not
    understated, and turning the scale around does not change it.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "judge", "judge"], "pay": [1, 2, 3, 4]})
    >>> round(t_closeness(frame, sensitive="pay"), 3)
    0.333
    >>> t_closeness(frame, sensitive="pay", distance="equal")
    0.5
    """
    asked = scope(data, quasi, sensitive, people)
    column = asked.sensitive_column
    if distance not in (None, "equal", "ordered"):
        raise InputError(f"distance is 'equal', 'ordered' or None, got {distance!r}")
    if distance == "ordered" and not column.dtype.is_numeric():
        raise InputError(
            f"the ordered distance needs numbers, and column {asked.sensitive!r} is nominal; "
            "use distance='equal'"
        )
    return closeness(spread(asked.grouped(), column), distance)


def closeness(spread: Spread, distance: Distance | None = None) -> float:
    """The t of counted sensitive values."""
    if distance == "equal" or not spread.number:
        return _equal(spread)
    ends = [spread, _missing_first(spread)] if spread.missing else [spread]
    return max(_ordered(end) for end in ends)


def _equal(spread: Spread) -> float:
    """Half the sum of the differences is the sum of the surpluses, which only entries have."""
    usual = spread.totals / spread.totals.sum()
    surplus = np.maximum(spread.shares - usual[spread.values], 0)
    return float(spread.summed(surplus).max())


def _ordered(spread: Spread) -> float:
    """Sum the distance of two step functions piece by piece, never class by value.

    From the value of an entry up to that of the next one, the cumulated share of the class
    stays put while that of the table rises: below it until they cross, above it afterwards.
    """
    distinct = len(spread.totals)
    if distinct == 1:
        return 0.0
    usual = np.cumsum(spread.totals) / spread.totals.sum()
    area = np.concatenate(([0.0], np.cumsum(usual)))
    running = np.cumsum(spread.counts)
    before = running[spread.first] - spread.counts[spread.first]
    held = (running - before[spread.classes]) / spread.sizes[spread.classes]
    start = spread.values
    end = np.append(start[1:], distinct)
    end[spread.first[1:] - 1] = distinct
    cross = np.clip(np.searchsorted(usual, held), start, end)
    apart = held * (2 * cross - start - end) + area[start] + area[end] - 2 * area[cross]
    total = area[start[spread.first]] + spread.summed(apart)
    return max(0.0, float(total.max()) / (distinct - 1))


def _missing_first(spread: Spread) -> Spread:
    """The same spread with the missing value below all others instead of above them."""
    distinct = len(spread.totals)
    values = (spread.values + 1) % distinct
    order = np.argsort(spread.classes * distinct + values)
    return replace(
        spread,
        values=values[order],
        counts=spread.counts[order],
        totals=np.roll(spread.totals, 1),
    )
