"""k-anonymity: measured, with the risk that a row is matched; and asked for, with l, t and more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.coding import Coded, counted
from tamis.errors import InputError, plural
from tamis.requirements import (
    BetaKind,
    Kind,
    check_diversity,
    check_likeness,
    exceeds,
    falls_short,
    reaches,
)
from tamis.risk.diversity import (
    Distance,
    Spread,
    closeness,
    disclosures,
    diversity,
    largest_shares,
    spread,
    surpluses,
)
from tamis.risk.grouping import Grouping, Ints, Scope, grouped, scope, sizes_of
from tamis.risk.presence import stacked
from tamis.table import Table


def k_anonymity(data: Any, quasi: Sequence[str] | None = None, *, people: Any = None) -> int:
    """The number of people in the smallest class of rows that are equal on the quasi-identifiers.

    Parameters
    ----------
    data : Table or pandas, polars or pyarrow frame
        The table as it would be released.
    quasi : sequence of str, optional
        The columns an attacker may know; by default the quasi-identifiers of the table, else all
        features; in a bare frame, all columns.
    people : array, optional
        The person each row belongs to, by name or number; by default from the identifiers, see
        `Table.people`; in a bare frame each row is a person.

    Returns
    -------
    int
        Everyone shares what is known of them with at least this many people, themselves included.

    Notes
    -----
    If a person has several rows, a class counts each person once: eight rows of one person are
    a crowd of one.

    Missing is a value of its own: a missing cell equals other missing cells and differs from
    every present value. Leaving such rows out, as many tools do, overstates k.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [30, 30, 40, 40], "job": ["cook", "cook", None, None]})
    >>> k_anonymity(frame)
    2
    >>> k_anonymity(frame, people=["ann", "bob", "eve", "eve"])
    1
    """
    return scope(data, quasi, people=people).grouped().k_anonymity


THRESHOLD = 0.2
"""A row in a class of fewer than five."""


@dataclass(frozen=True)
class Reidentification:
    """The risk from three kinds of attacker, after El Emam and Dankar 2008.

    A person in a class of f people, whose class has F people in the population, is matched with
    probability 1/f by an attacker who knows that the person is in the table, else with 1/F. For
    people with rows in several classes, the largest 1/f and 1/F count.

    Parameters
    ----------
    threshold : float
        The risk above which a person counts as exposed.
    prosecutor : float
        The largest 1/f: the attacker looks for someone known to be in the table.
    prosecutor_above : float
        The share of the people whose 1/f is above the threshold.
    journalist : float
        The largest 1/F: the attacker wants to match anyone at all.
    journalist_above : float
        The share of the people whose 1/F is above the threshold.
    marketer : float
        The share of people that an attacker who matches everyone expects to get right: the mean
        of 1/F over the people, which is classes / rows if each row is a person and the table
        is its own population.
    """

    threshold: float
    prosecutor: float
    prosecutor_above: float
    journalist: float
    journalist_above: float
    marketer: float


def reidentification(
    data: Any,
    quasi: Sequence[str] | None = None,
    *,
    population: Any = None,
    threshold: float = THRESHOLD,
    people: Any = None,
) -> Reidentification:
    """How likely a person is to be matched to one of their rows.

    Parameters
    ----------
    data, quasi, people
        As in `k_anonymity`.
    population : Table or frame, optional
        The people the table was drawn from, including those in the table, with the
        quasi-identifiers as columns; one row each, unless it is a `Table` with people.
        By default the table is its own population, which is the
        cautious answer.
    threshold : float
        The risk above which a person counts as exposed.

    Returns
    -------
    Reidentification

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"job": ["cook", "cook", "cook", "judge"]})
    >>> found = reidentification(frame, threshold=0.5)
    >>> found.prosecutor, found.prosecutor_above, found.marketer
    (1.0, 0.25, 0.5)
    >>> town = pl.DataFrame({"job": ["cook"] * 6 + ["judge"] * 2})
    >>> found = reidentification(frame, population=town, threshold=0.5)
    >>> found.journalist, found.journalist_above, found.marketer
    (0.5, 0.0, 0.25)
    """
    scoped = scope(data, quasi, people=people)
    return matched(scoped, scoped.grouped(), population, threshold)


def matched(
    scoped: Scope, grouping: Grouping, population: Any = None, threshold: float = THRESHOLD
) -> Reidentification:
    """The three risks of grouped rows."""
    if not 0 < threshold <= 1:
        raise InputError(f"threshold must be a risk above 0 and at most 1, got {threshold}")
    sizes = grouping.sizes
    people = sizes if population is None else people_there(scoped, grouping, population)
    if grouping.people is not None:
        return _of_people(grouping, people, threshold)
    return Reidentification(
        threshold=threshold,
        prosecutor=1 / int(sizes.min()),
        prosecutor_above=int(sizes[1 / sizes > threshold].sum()) / grouping.rows,
        journalist=1 / int(people.min()),
        journalist_above=int(sizes[1 / people > threshold].sum()) / grouping.rows,
        marketer=float((sizes / people).sum()) / grouping.rows,
    )


def _of_people(grouping: Grouping, people: Ints, threshold: float) -> Reidentification:
    """The risks of people with several rows, each by their most exposed row."""
    everyones = np.full(grouping.everybody, people.max())
    np.minimum.at(everyones, grouping.members.people, people[grouping.members.classes])
    inside, outside = 1 / grouping.of_person, 1 / everyones
    return Reidentification(
        threshold=threshold,
        prosecutor=float(inside.max()),
        prosecutor_above=float((inside > threshold).mean()),
        journalist=float(outside.max()),
        journalist_above=float((outside > threshold).mean()),
        marketer=float(outside.mean()),
    )


def people_there(scoped: Scope, grouping: Grouping, population: Any) -> Ints:
    """The number of people in the population in each class of the table."""
    both = stacked(scoped, population, scoped.quasi)
    class_of = grouped(both.frame, scoped.quasi).class_of
    own, everyones = np.split(class_of, [both.rows])
    who = population.people if isinstance(population, Table) else None
    if who is not None:  # each person once in each class
        everyones = np.unique(np.column_stack([everyones, who]), axis=0)[:, 0]
    counts = np.bincount(everyones, minlength=class_of.max() + 1)
    people = np.empty_like(grouping.sizes)
    people[grouping.class_of] = counts[own]
    if short := int((people < grouping.sizes)[grouping.class_of].sum()):
        raise InputError(
            "some classes have fewer people in the population than in the table "
            f"({plural(short, 'row')}); the population must include everyone in the table"
        )
    return people


@dataclass(frozen=True)
class Anonymity:
    """k people or more alike, and what is asked of the sensitive column among them.

    All of it is lost, never won, when groups are split, so a set of columns that does not keep it
    takes all sets that hold it with it.

    Parameters
    ----------
    k : int
        The fewest people in a group.
    l : int, optional
        The least diversity: how many sensitive values a group has (`distinct`), how many by their
        entropy (`entropy`), or that the commonest is less frequent than `c` times the l-th and
        rarer ones together (`recursive`).
    kind : {"distinct", "entropy", "recursive"}
    c : float
        For `recursive`.
    t : float, optional
        The largest distance of a group's sensitive values from those of the table, 0 to 1.
    distance : {"equal", "ordered"}, optional
        See `t_closeness`; by default ordered for numbers.
    alpha : float, optional
        The largest share of a group that may have the same sensitive value.
    beta : float, optional
        By how much a value's share in a group may exceed its share in the table, as a multiple of
        it (`basic`); and by no more than minus its logarithm (`enhanced`).
    beta_kind : {"basic", "enhanced"}
    delta_disclosure : float, optional
        What the absolute logarithm of the ratio of both shares must stay below.
    max_average_risk : float, optional
        The largest mean chance of finding a person's row: 1 by the people of a group.

    Examples
    --------
    >>> import numpy as np
    >>> jobs, ill = Coded(np.array([0, 0, 1, 1]), 2), pl.Series(["flu", "flu", "flu", "cold"])
    >>> Anonymity(k=2).short_of(jobs, ill)
    ''
    >>> Anonymity(k=2, l=2).short_of(jobs, ill)
    'l = 2 is asked for, but the least diverse group has 1'
    """

    k: int = 1
    l: int | None = None  # noqa: E741 - its name in the field
    kind: Kind = "distinct"
    c: float = 3.0
    t: float | None = None
    distance: Distance | None = None
    alpha: float | None = None
    beta: float | None = None
    beta_kind: BetaKind = "basic"
    delta_disclosure: float | None = None
    max_average_risk: float | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k must be a number of people, 1 or more, got {self.k}")
        check_diversity(self.l, self.kind, self.c, self.t)
        check_likeness(
            self.alpha, self.beta, self.beta_kind, self.delta_disclosure, self.max_average_risk
        )

    @property
    def of_secrets(self) -> bool:
        """Whether anything is asked about the sensitive column."""
        asked = (self.l, self.t, self.alpha, self.beta, self.delta_disclosure)
        return any(each is not None for each in asked)

    @property
    def beyond_k(self) -> bool:
        """Whether anything is asked but the number of people in each group."""
        return self.of_secrets or self.max_average_risk is not None

    def kept(self, classes: Coded, secret: pl.Series | None, people: Coded | None = None) -> bool:
        """Whether classes of rows keep all that is asked."""
        if int(sizes_of(classes, people).min()) < self.k:
            return False
        if self._too_risky(average_risk(classes, people)):
            return False
        return secret is None or not self.short_of(classes, secret, people)

    def short_of(self, classes: Coded, secret: pl.Series, people: Coded | None = None) -> str:
        """What classes of rows lack of all but k, in words; empty where they lack nothing."""
        if not self.beyond_k:
            return ""
        return self.lacking(self.reached(classes, secret, people))

    def lacking(self, found: dict[str, Any]) -> str:
        """What `reached` lacks of what is asked for, in words."""
        return self._lacking_diversity(found) or self._lacking_likeness(found)

    def _lacking_diversity(self, found: dict[str, Any]) -> str:
        if self.l is not None and self.kind == "recursive" and reaches(found["l"], self.c):
            return (
                f"recursive ({self.c:g}, {self.l})-diversity is asked for, but the commonest value "
                f"of some group is {found['l']:.3g} times as frequent as the rarer ones"
            )
        if self.l is not None and self.kind != "recursive" and falls_short(found["l"], self.l):
            return f"l = {self.l} is asked for, but the least diverse group has {found['l']:.4g}"
        if self.t is not None and exceeds(found["t"], self.t):
            return f"t = {self.t:g} is asked for, but some group is {found['t']:.4g} away"
        return ""

    def _lacking_likeness(self, found: dict[str, Any]) -> str:
        if self.alpha is not None and exceeds(found["alpha"], self.alpha):
            return (
                f"alpha = {self.alpha:g} is asked for, but in some group {found['alpha']:.4g} have "
                "the same value"
            )
        if self.beta is not None and exceeds(found["beta"], self.beta):
            return (
                f"{self.beta_kind} beta = {self.beta:g} is asked for, but some group reaches "
                f"{found['beta']:.4g}"
            )
        delta = self.delta_disclosure
        if delta is not None and reaches(found["delta_disclosure"], delta):
            return (
                f"delta-disclosure below {delta:g} is asked for, but some group reaches "
                f"{found['delta_disclosure']:.4g}"
            )
        if self._too_risky(found["average_risk"]):
            return (
                f"an average risk of {self.max_average_risk:g} at most is asked for, but it is "
                f"{found['average_risk']:.4g}"
            )
        return ""

    def _too_risky(self, average: float) -> bool:
        most = self.max_average_risk
        return most is not None and bool(exceeds(average, most))

    def reached(
        self, classes: Coded, secret: pl.Series, people: Coded | None = None
    ) -> dict[str, Any]:
        """What classes of rows reach of everything but k, of the kinds asked for."""
        found = spread(Grouping.of_classes(classes, people), secret)
        return {**self.reached_in(found), "average_risk": average_risk(classes, people)}

    def reached_in(self, found: Spread) -> dict[str, Any]:
        """What counted sensitive values reach of everything asked about them."""
        diverse = diversity(found, self.l)
        of_kind = {
            "distinct": diverse.distinct,
            "entropy": diverse.entropy,
            "recursive": diverse.recursive_c,
        }
        return {
            "l": of_kind[self.kind],
            "t": closeness(found, self.distance),
            "alpha": float(largest_shares(found).max()),
            "beta": float(surpluses(found, self.beta_kind).max()),
            "delta_disclosure": float(disclosures(found).max()),
        }

    def unlike(self, found: Spread) -> NDArray[np.bool_]:
        """The classes that do not keep the alpha, beta or delta asked for."""
        broken = np.zeros(len(found.sizes), dtype=np.bool_)
        if self.alpha is not None:
            broken |= exceeds(largest_shares(found), self.alpha)
        if self.beta is not None:
            broken |= exceeds(surpluses(found, self.beta_kind), self.beta)
        if self.delta_disclosure is not None:
            broken |= reaches(disclosures(found), self.delta_disclosure)
        return broken

    def worst(self, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """What all classes reach, given what each of some parts of them does.

        >>> Anonymity(l=2).worst([{"l": 3, "t": 0.1}, {"l": 2, "t": 0.3}, {"l": 4, "t": 0.2}])
        {'l': 2, 't': 0.3}
        """
        found = {name: max(part[name] for part in parts) for name in parts[0]}
        if self.kind != "recursive":
            found["l"] = min(part["l"] for part in parts)
        return found


def average_risk(classes: Coded, people: Coded | None) -> float:
    """The mean over people of 1 by the people in their smallest group.

    >>> import numpy as np
    >>> average_risk(Coded(np.array([0, 0, 1]), 2), None)
    0.6666666666666666
    """
    if people is None:
        return len(counted(classes)[0]) / len(classes.codes)
    return float((1 / Grouping.of_classes(classes, people).of_person).mean())
