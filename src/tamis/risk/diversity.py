"""The distribution of sensitive values in the classes: l-diversity, t-closeness and likeness.

Likeness compares a value's share in a class with its share in the table: alpha, beta and delta.
All are measured for every class, from the same counts. A missing sensitive value is a value of its
own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tamis.coding import coded, counted, dense, joined
from tamis.errors import InputError, check_whole
from tamis.require.counts import (
    ClassCounts,
    Distance,
    Spread,
    disclosures,
    distances,
    distinct_values,
    effective_values,
    largest_shares,
    recursive_ratios,
    surpluses,
)
from tamis.risk.grouping import Grouping, people_in, scope, sizes_of


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
    # Pairs are sorted by class, then value: a class opens where its key differs from the last.
    keys, value = np.divmod(pairs, values.radix)
    opens = np.diff(keys, prepend=-1) > 0
    first, people = np.flatnonzero(opens), grouping.people
    if not people.each_row:
        counts = people_in(together, people)
    return Spread(
        classes=np.cumsum(opens) - 1,
        values=value,
        counts=counts,
        first=first,
        sizes=np.add.reduceat(counts, first),
        totals=sizes_of(values, people),
        number=sensitive.dtype.is_numeric(),
        missing=bool((column.codes == column.radix - 1).any()),
        people=grouping.sizes,
    )


def count_groups(grouping: Grouping, secret: pl.Series | None = None) -> ClassCounts:
    """The counts that requirements are checked against, of grouped rows and a sensitive column.

    >>> from tamis.risk.grouping import grouped
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "judge"], "ill": ["flu", "flu", None]})
    >>> counts = count_groups(grouped(frame, ["job"]), frame["ill"])
    >>> counts.people.tolist(), counts.distinct_values().tolist()
    ([2, 1], [1, 1])
    """
    return ClassCounts(
        grouping.sizes,
        None if secret is None else lambda: spread(grouping, secret),
        None if grouping.people.each_row else lambda: float((1 / grouping.of_person).mean()),
        count_holders_of_rows=None
        if grouping.people.each_row
        else lambda rows: int(grouping.holders_of_rows(rows).min()),
    )


@dataclass(frozen=True)
class LDiversity:
    """The three versions of l-diversity, each for the worst class.

    Parameters
    ----------
    distinct : int
        The smallest number of distinct sensitive values in a class.
    entropy : float
        The smallest effective number of sensitive values in a class: e to the entropy.
    recursive_c : float
        The table is recursive (c, l)-diverse for `recursive_l` and every c above this.
        Infinite if some class has fewer than `recursive_l` values.
    recursive_l : int
        The l used for `recursive_c`.
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
    """The l-diversity of the sensitive values within classes.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    sensitive : str, optional
        The column that must stay hard to guess; by default that of the table's roles.
    quasi : sequence of str, optional
        The columns an attacker may know; by default the quasi-identifiers of the table, else all
        features; in a bare frame, all columns except the sensitive one.
    recursive_l : int, optional
        The l for which recursive (c, l)-diversity is measured; by default the distinct l.
    people : array, optional
        The person each row belongs to, by name or number; by default from the identifiers, see
        `Table.people`; in a bare frame each row is a person.

    Returns
    -------
    LDiversity

    Notes
    -----
    Machanavajjhala et al. 2007. With r_1 >= r_2 >= ... >= r_m the counts of the m sensitive
    values in a class of n rows: distinct, l = m; entropy, log l = -sum (r_i / n) log (r_i / n),
    not rounded; recursive, r_1 < c (r_l + ... + r_m). A missing sensitive value is a value of
    its own.

    If a person has several rows, r_i counts the people who have the value, and a class is
    never more diverse than its number of people: the distinct and the entropy l are at most that
    number, and a class of fewer than l people is recursive for no c.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook"] * 4, "ill": ["flu", "flu", "cold", None]})
    >>> found = l_diversity(frame, sensitive="ill")
    >>> found.distinct, round(found.entropy, 3), found.recursive_c
    (3, 2.828, 2.0)
    """
    if recursive_l is not None:
        check_whole("recursive_l", recursive_l)
    scoped = scope(data, quasi, sensitive, people)
    column = scoped.sensitive_column
    return diversity(spread(scoped.grouped(), column), recursive_l)


def diversity(spread: Spread, recursive_l: int | None = None) -> LDiversity:
    """The three versions of l-diversity, from counted sensitive values."""
    distinct = int(distinct_values(spread).min())
    least = distinct if recursive_l is None else recursive_l
    effective = float(effective_values(spread).min())
    return LDiversity(distinct, effective, float(recursive_ratios(spread, least).max()), least)


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
    data, sensitive, quasi, people
        As in `l_diversity`.
    distance : {"equal", "ordered"}, optional
        The distance of two sensitive values: the same for all, or the steps between them.
        By default ordered for numbers, equal for everything else.

    Returns
    -------
    float
        From 0 (every class looks like the whole table) to 1.

    Notes
    -----
    Li, Li and Venkatasubramanian 2007: the earth mover's distance between the shares p of the m
    values in the table and their shares q in the class. Equal: 1/2 sum_i abs(q_i - p_i).
    Ordered: 1/(m - 1) sum_i abs(sum_{j <= i} (q_j - p_j)), the values in ascending order; 0 when
    m = 1. If a person has several rows, shares are of the distinct pairs of a person and a
    value, in the class and in the table.

    A missing sensitive value is a value of its own and counts in m. It has no place among the
    numbers, so the ordered distance is measured with missing below the smallest number and again
    with missing above the largest, and the larger result is returned: the risk is not
    understated, and reversing the scale does not change it.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "judge", "judge"], "pay": [1, 2, 3, 4]})
    >>> round(t_closeness(frame, sensitive="pay"), 3)
    0.333
    >>> t_closeness(frame, sensitive="pay", distance="equal")
    0.5
    """
    scoped = scope(data, quasi, sensitive, people)
    column = scoped.sensitive_column
    if distance not in (None, "equal", "ordered"):
        raise InputError(f"distance must be 'equal', 'ordered' or None, got {distance!r}")
    if distance == "ordered" and not column.dtype.is_numeric():
        raise InputError(
            f"the ordered distance needs numbers, but column {scoped.sensitive!r} is nominal; "
            "use distance='equal'"
        )
    return closeness(spread(scoped.grouped(), column), distance)


def closeness(spread: Spread, distance: Distance | None = None) -> float:
    """t-closeness, from counted sensitive values."""
    return float(distances(spread, distance).max())


@dataclass(frozen=True)
class Likeness:
    """How much the sensitive values of the worst class deviate from those of the table.

    Parameters
    ----------
    alpha : float
        The largest share of people in a class who have the same sensitive value.
    beta : float
        The largest relative excess of a value's share in a class over its share in the table.
    enhanced_beta : float
        Like `beta`; infinite if the excess of some value with share p is above ``-ln p``.
    delta_disclosure : float
        The largest absolute logarithm of the ratio of both shares; infinite if some class lacks a
        value.
    """

    alpha: float
    beta: float
    enhanced_beta: float
    delta_disclosure: float


def likeness(
    data: Any,
    sensitive: str | None = None,
    quasi: Sequence[str] | None = None,
    *,
    people: Any = None,
) -> Likeness:
    """How much the sensitive values of classes deviate from those of the table: alpha, beta, delta.

    Parameters
    ----------
    data, sensitive, quasi, people
        As in `l_diversity`.

    Returns
    -------
    Likeness

    Notes
    -----
    With q the share of a value in a class and p in the table: (alpha, k)-anonymity asks for
    q <= alpha (Wong et al. 2006); basic beta-likeness for (q - p) / p <= beta, and enhanced for at
    most min(beta, -ln p) (Cao and Karras 2012); delta-disclosure privacy for abs(ln(q / p)) < delta
    (Brickell and Shmatikov 2008). Splitting a class can only break them, never establish them.

    If a person has several rows, alpha counts the people of a class who have the value; the other
    shares are of the distinct pairs of a person and a value, as for t-closeness.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook"] * 4 + ["judge"] * 4, "ill": list("yynnynnn")})
    >>> found = likeness(frame, sensitive="ill")
    >>> found.alpha, round(found.beta, 3), round(found.delta_disclosure, 3)
    (0.75, 0.333, 0.405)
    """
    scoped = scope(data, quasi, sensitive, people)
    column = scoped.sensitive_column
    return worst_likeness(spread(scoped.grouped(), column))


def worst_likeness(found: Spread) -> Likeness:
    """`Likeness` from counted sensitive values."""
    return Likeness(
        float(largest_shares(found).max()),
        float(surpluses(found).max()),
        float(surpluses(found, "enhanced").max()),
        float(disclosures(found).max()),
    )


class SecretFigures(NamedTuple):
    """All measures of a sensitive column, each for the worst class."""

    l_diversity: LDiversity
    t_closeness: float
    likeness: Likeness


def measure_secrets(parts: Callable[[], Iterable[Spread]]) -> SecretFigures:
    """All measures of a sensitive column, from batches of classes (in memory, a single one).

    Recursive diversity uses the distinct l of all classes. This is known only after the last batch,
    so if some batch had another one, all batches are counted again.

    Examples
    --------
    >>> from tamis.risk.grouping import grouped
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "judge"], "ill": ["flu", "cold", "flu"]})
    >>> found = measure_secrets(lambda: [spread(grouped(frame, ["job"]), frame["ill"])])
    >>> found.l_diversity.distinct, round(found.t_closeness, 3), found.likeness.alpha
    (1, 0.333, 1.0)
    """
    measured = [(diversity(part), closeness(part), worst_likeness(part)) for part in parts()]
    diversities, t_values, likenesses = zip(*measured)
    least = min(part.distinct for part in diversities)
    ratios = [part.recursive_c for part in diversities]
    if any(part.recursive_l != least for part in diversities):
        ratios = [float(recursive_ratios(part, least).max()) for part in parts()]
    entropy = min(part.entropy for part in diversities)
    return SecretFigures(
        LDiversity(least, entropy, max(ratios), least),
        max(t_values),
        Likeness(*(max(figures) for figures in zip(*(astuple(part) for part in likenesses)))),
    )
