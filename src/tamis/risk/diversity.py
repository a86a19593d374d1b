"""l-diversity: how many sensitive values an attacker is left with inside a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.errors import InputError
from tamis.risk.coding import Ints
from tamis.risk.scope import scope
from tamis.risk.spread import Spread, spread


@dataclass(frozen=True)
class LDiversity:
    """The three readings of l-diversity, each of the worst class.

    Parameters
    ----------
    distinct : int
        The least number of different sensitive values in a class.
    entropy : float
        The least effective number of sensitive values in a class: e to the entropy.
    recursive_c : float
        The table is recursive (c, l)-diverse for `recursive_l` and every c above this.
        Infinite where some class has fewer than `recursive_l` values.
    recursive_l : int
        The l of the line above.
    """

    distinct: int
    entropy: float
    recursive_c: float
    recursive_l: int


def l_diversity(
    data: Any,
    sensitive: str | None = None,
    quasi: Sequence[str] | None = None,
    *,
    recursive_l: int | None = None,
    people: Any = None,
) -> LDiversity:
    """How diverse the sensitive values are inside each class.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    sensitive : str, optional
        The column that must stay hard to guess. `None`: that of the table's roles.
    quasi : sequence of str, optional
        The columns an attacker may know. `None`: those of the table's roles, by default all
        features; of a bare frame, all columns but the sensitive one.
    recursive_l : int, optional
        The l for which recursive (c, l)-diversity is measured. `None`: the distinct l.
    people : array, optional
        Whose row each row is, by name or number. `None`: as the table's identifiers show, see
        `Table.people`; of a bare frame, each row is a person.

    Returns
    -------
    LDiversity

    Notes
    -----
    Machanavajjhala et al. 2007. With r_1 >= r_2 >= ... >= r_m the counts of the m sensitive
    values in a class of n rows: distinct, l = m; entropy, log l = -sum (r_i / n) log (r_i / n),
    not rounded; recursive, r_1 < c (r_l + ... + r_m). A missing sensitive value is a value of
    its own.

    Where a person has several rows, r_i counts the people who have the value, and a class is
    never more diverse than it has people: the distinct and the entropy l are at most their
    number, and a class of fewer than l people is recursive for no c.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook"] * 4, "ill": ["flu", "flu", "cold", None]})
    >>> found = l_diversity(frame, sensitive="ill")
    >>> found.distinct, round(found.entropy, 3), found.recursive_c
    (3, 2.828, 2.0)
    """
    if recursive_l is not None and recursive_l < 1:
        raise InputError(f"recursive_l is a whole number from 1 on, got {recursive_l}")
    asked = scope(data, quasi, sensitive, people)
    column = asked.sensitive_column
    return diversity(spread(asked.grouped(), column), recursive_l)


def diversity(spread: Spread, recursive_l: int | None = None) -> LDiversity:
    """The three readings of l-diversity of counted sensitive values."""
    entries = _entries(spread)
    shares = spread.shares
    entropy = spread.summed(-shares * np.log(shares))
    if spread.people is not None:
        entries = np.minimum(entries, spread.people)
        entropy = np.minimum(entropy, np.log(spread.people))
    distinct = int(entries.min())
    least = distinct if recursive_l is None else recursive_l
    return LDiversity(distinct, float(np.exp(entropy.min())), _recursive_c(spread, least), least)


def _entries(spread: Spread) -> Ints:
    """The number of entries of each class."""
    return np.diff(spread.first, append=len(spread.counts))


def _recursive_c(spread: Spread, least: int) -> float:
    """The largest ratio, over the classes, of the commonest value to those from `least` on."""
    if spread.people is not None and spread.people.min() < least:
        return float("inf")
    most = int(spread.counts.max())
    falling = most - np.sort(spread.classes * (most + 1) + (most - spread.counts)) % (most + 1)
    running = np.concatenate(([0], np.cumsum(falling)))
    head = running[spread.first + np.minimum(least - 1, _entries(spread))] - running[spread.first]
    tail = spread.sizes - head
    if not tail.all():
        return float("inf")
    return float((falling[spread.first] / tail).max())
