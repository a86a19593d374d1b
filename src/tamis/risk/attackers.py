"""What each attacker sees of a table: the groups by the columns they know, and the requirements.

Each requirement states its columns. Rows are grouped once for all requirements on the same columns,
and the values of a sensitive column are counted once for all requirements on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from tamis.coding import Coded, joined
from tamis.errors import CannotMeet
from tamis.people import People
from tamis.release import Release
from tamis.require import requirements
from tamis.require.attacker import Attacker, check_knowing
from tamis.require.base import Requirement, Requirements, Unit
from tamis.require.counts import ClassCounts
from tamis.risk.behind_engine import Reached, cells_of, reached_by_all
from tamis.risk.diversity import count_groups
from tamis.risk.grouping import Grouping, alike_in_all_rows, grouped, seen_together
from tamis.risk.limits import LimitCheck, check_limits
from tamis.rows.counts import Smallest, smallest
from tamis.rows.large_table import LargeTable
from tamis.table import Table

NOT_OF_RECORDS = (
    "attackers who know some columns are for tables; of sparse records every feature may be known, "
    "so leave out --attacker"
)
Known = Sequence[tuple[str, Coded]]
"""Coded columns, each with the name of the original column that attackers know."""
Secrets = Mapping[str, pl.Series] | pl.DataFrame
"""The sensitive columns of the same rows."""


def seen_classes(
    known: Known, columns: Iterable[str], rows: int, people: People | None = None
) -> Coded:
    """Equivalence classes by the columns an attacker knows; one class if none of them is there.

    No columns mean all. If a release shows which rows belong to one person, classes are by all rows
    of a person, see `seen_together`; even an attacker who knows no column then sees how many rows
    each person has.

    >>> age, job = Coded(np.array([0, 0, 1]), 2), Coded(np.array([0, 1, 1]), 2)
    >>> seen_classes([("age", age), ("job", job)], ["job"], 3).codes.tolist()
    [0, 1, 1]
    """
    wanted = set(columns)
    parts = [codes for name, codes in known if not wanted or name in wanted]
    classes = reduce(joined, parts) if parts else Coded(np.zeros(rows, dtype=np.int64), 1)
    return classes if people is None else seen_together(classes, people)


def count_asked(
    asked: Requirements, classes: Coded, people: People, secrets: Secrets
) -> Iterator[tuple[Requirements, Coded, ClassCounts]]:
    """The requirements on given classes, with the classes and counts to check each part against.

    If a release shows which rows belong to one person, a sensitive value may be learnt from any of
    them. Requirements on sensitive values are then checked twice: on the classes of rows, and on
    the classes of people with all of their rows.
    """
    groupings = [Grouping.of_classes(classes, people)]
    if people.together and not people.each_row and asked.of_secrets:
        groupings.append(Grouping.of_classes(alike_in_all_rows(classes, people), people))
    for secret, part in asked.by_secret.items():
        for grouping in groupings if secret is not None else groupings[:1]:
            counts = count_groups(grouping, None if secret is None else secrets[secret])
            yield part, grouping.keys, counts


def are_kept(
    asked: Requirements, known: Known, people: People, secrets: Secrets, beside: Coded | None = None
) -> bool:
    """Whether the requirements are met against every attacker, all of whom also know `beside`."""
    for columns, part in asked.views.items():
        classes = seen_classes(known, columns, len(people), people)
        classes = classes if beside is None else joined(classes, beside)
        if not all(
            one.met(counts) for one, _, counts in count_asked(part, classes, people, secrets)
        ):
            return False
    return True


def refuse_out_of_reach(
    asked: Requirements,
    everybody: Callable[[str | None], ClassCounts],
    unit: Unit,
    *,
    all_stay: bool,
) -> None:
    """Raise, before any search, if no release of these people can meet it; see `out_of_reach`.

    Parameters
    ----------
    asked : Requirements
    everybody : callable
        Counts all people as one group, with the sensitive column of that name, if any.
    unit : {"people", "rows"}
        The unit that is counted.
    all_stay : bool
        Whether a release contains all people.

    Examples
    --------
    >>> asked = requirements(k=9).about(["age"], None, number=False)
    >>> refuse_out_of_reach(asked, as_one_group(People.of_rows(4), {}), "people", all_stay=True)
    Traceback (most recent call last):
    ...
    tamis.errors.CannotMeet: no release can keep what is asked: k = 9 needs 9 people alike, and \
the table has 4; k can be at most 4. Ask for less
    """
    short: dict[str, None] = {}
    for secret, some in asked.by_secret.items():
        counts = everybody(secret)
        for each in some:
            words = each.out_of_reach(counts, unit, all_stay=all_stay)
            short |= {each.named(words): None} if words else {}
    if short:
        raise CannotMeet(f"no release can keep what is asked: {'; '.join(short)}. Ask for less")


def as_one_group(people: People, secrets: Secrets) -> Callable[[str | None], ClassCounts]:
    """Counts all people as one group, in memory."""
    one = Grouping.of_classes(Coded(np.zeros(len(people), dtype=np.int64), 1), people)
    return lambda secret: count_groups(one, None if secret is None else secrets[secret])


def required_of(
    table: Table, asked: Requirements, attackers: Sequence[Attacker] = ()
) -> Requirements:
    """The requirements on a table, for each attacker and each sensitive column.

    Next to named attackers, the default one, who knows the quasi-identifiers, is included only if
    quasi-identifiers were named: the default for these, all features, would make named attackers
    pointless.

    >>> frame = pl.DataFrame({"age": [31], "job": ["cook"], "ill": [1]})
    >>> table = Table(frame).with_roles(target="ill")
    >>> for each in required_of(table, requirements(3), [Attacker("boss", ["job"], l=2)]):
    ...     print(each.attacker, each.key, each.columns, each.secret)
    boss k_anonymity ('job',) None
    boss l_diversity ('job',) ill
    """
    check_knowledge(attackers, table)
    required = (
        [] if attackers and table.roles.quasi is None else [*_of(table, asked, table.quasi, ())]
    )
    for attacker in attackers:
        theirs = requirements(**{"k": asked.k, **attacker.asks})
        # `theirs.k` may be larger than the k asked for, if a largest risk asks for more people.
        theirs = requirements(**{**attacker.asks, "k": theirs.k})
        known = tuple(c for c in table.features if c in attacker.knows)
        on_known = _of(table, theirs, known, attacker.wants)
        required += [replace(one, attacker=attacker.name) for one in on_known]
    return Requirements(tuple(required))


def _of(
    table: Table, asked: Requirements, known: Sequence[str], wants: Sequence[str]
) -> Requirements:
    """The requirements for known columns; those on sensitive values once per wanted column."""
    required = [one.about(known, number=False) for one in asked if not one.about_secret]
    for secret in wants or table.secrets:
        number = table.frame.schema[secret].is_numeric()
        required += asked.about_secrets.about(known, secret, number=number)
    order = [one.key for one in asked]  # so that failures are always listed in the same order
    linked = table.people.together
    required = [replace(one, linked=linked) for one in required] if linked else required
    return Requirements(tuple(sorted(required, key=lambda one: order.index(one.key))))


@dataclass(frozen=True)
class AttackerExposure:
    """The exposure of a table to one attacker, and the limits asked for against them."""

    name: str
    knows: tuple[str, ...]
    k_anonymity: int
    unique_people: int
    limits: tuple[LimitCheck, ...]

    def to_dict(self) -> dict[str, Any]:
        limits = [each.to_dict() for each in self.limits]
        return {**asdict(self), "knows": list(self.knows), "limits": limits}


def expose(
    table: Table | LargeTable, attackers: Sequence[Attacker], k: int
) -> list[AttackerExposure]:
    """The exposure of a table to each attacker, the smallest k first.

    `k` is the limit for attackers that state none themselves.

    >>> frame = pl.DataFrame({"job": ["cook", "cook", "judge"], "ill": [1, 0, 1]})
    >>> (found,) = expose(Table(frame).with_roles(target="ill"), [Attacker("boss", ["job"])], 2)
    >>> found.k_anonymity, found.unique_people, found.limits[0].lacking
    (1, 1, 'boss: k = 2 requires 2 people alike, but the smallest group has 1 (1 too few)')
    """
    exposures, shape = [], table.shape if isinstance(table, LargeTable) else table
    for attacker in attackers:
        asked = required_of(shape.with_roles(quasi=None), requirements(k), [attacker])
        known = tuple(c for c in shape.features if c in attacker.knows)
        see = _seen_by_engine if isinstance(table, LargeTable) else _seen_in_memory
        alike, reached = see(table, known, asked)  # type: ignore[arg-type]
        checks: list[LimitCheck] = []
        for part in asked.by_secret.values():
            checks += check_limits(part, {one.name: reached[one] for one in part})
        exposures.append(AttackerExposure(attacker.name, known, *alike, tuple(checks)))
    return sorted(exposures, key=lambda exposed: exposed.k_anonymity)


def _seen_in_memory(
    table: Table, known: tuple[str, ...], asked: Requirements
) -> tuple[Smallest, Reached]:
    grouping = grouped(table.frame, known, table.people)
    reached: dict[Requirement, float] = {}
    for secret, part in asked.by_secret.items():
        counts = count_groups(grouping, None if secret is None else table.frame[secret])
        reached |= {one: one.reached(counts) for one in part}
    return Smallest(grouping.k_anonymity, grouping.unique_people), reached


def _seen_by_engine(
    large: LargeTable, known: tuple[str, ...], asked: Requirements
) -> tuple[Smallest, Reached]:
    cells = cells_of(large, [*known, *filter(None, asked.by_secret)])
    alike = smallest(large.engine, cells, large.columns(known), large.who)
    return alike, reached_by_all(asked, large, cells)


def in_release(asked: Requirements, release: Release) -> Requirements:
    """The same requirements, on those columns of a release whose originals each attacker knows."""
    known, several = release.table.quasi, asked.several
    return Requirements(
        tuple(
            replace(each, columns=tuple(c for c in known if release.source(c) in each.columns))
            if several
            else replace(each, columns=known)
            for each in asked
        )
    )


def knowing_together(table: Table, attackers: Sequence[Attacker]) -> Table:
    """The table with all columns that any attacker knows as its quasi-identifiers."""
    if not attackers:
        return table
    known = {c for each in attackers for c in each.knows} | {*(table.roles.quasi or ())}
    return table.with_roles(quasi=tuple(c for c in table.features if c in known))


def check_knowledge(attackers: Iterable[Attacker], table: Table) -> None:
    """Raise if attackers know or want columns that are missing or have the wrong role.

    They may know features, dropped ones included, and want a sensitive column or the target.
    """
    dropped = table.roles.dropped

    def role(column: str) -> str:
        return "dropped" if column in dropped else table.role(column)

    known = (*table.features, *dropped)
    check_knowing(attackers, table.frame.columns, known, table.secrets, role)
