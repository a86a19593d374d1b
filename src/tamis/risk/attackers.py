"""What attackers see of a table: who is alike in what each knows, and whether that is enough.

Each requirement says which columns it is about. Rows are grouped once for all that is asked of the
same columns, and the values of a secret are counted once for all that is asked of it there.
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
"""Columns of rows as codes, each under the name by which attackers know it."""
Secrets = Mapping[str, pl.Series] | pl.DataFrame
"""The sensitive columns of these rows."""


def seen_classes(
    known: Known, columns: Iterable[str], rows: int, people: People | None = None
) -> Coded:
    """The classes of rows alike in what an attacker knows; one class where nothing of it is there.

    By all rows of each person, where `people` are released so, see `seen_together`: then whoever
    knows nothing of what is there knows how many rows a person has.

    >>> age, job = Coded(np.array([0, 0, 1]), 2), Coded(np.array([0, 1, 1]), 2)
    >>> seen_classes([("age", age), ("job", job)], ["job"], 3).codes.tolist()
    [0, 1, 1]
    """
    wanted = set(columns)
    some = [codes for name, codes in known if not wanted or name in wanted]
    classes = reduce(joined, some) if some else Coded(np.zeros(rows, dtype=np.int64), 1)
    return classes if people is None else seen_together(classes, people)


def count_asked(
    asked: Requirements, classes: Coded, people: People, secrets: Secrets
) -> Iterator[tuple[Requirements, Coded, ClassCounts]]:
    """What is asked of the same classes, part by part with the groups counted for it.

    Where a release says which rows are of one person, a secret may be in any of them: what is asked
    of secrets is asked of rows alike, and of people alike with all that they have.
    """
    groupings = [Grouping.of_classes(classes, people)]
    if people.together and not people.each_row and asked.of_secrets:
        groupings.append(Grouping.of_classes(alike_in_all_rows(classes, people), people))
    for secret, some in asked.by_secret.items():
        for each in groupings if secret is not None else groupings[:1]:
            yield some, each.keys, count_groups(each, None if secret is None else secrets[secret])


def are_kept(
    asked: Requirements, known: Known, people: People, secrets: Secrets, beside: Coded | None = None
) -> bool:
    """Whether every attacker is left with what is asked for; `beside` is known to all of them."""
    for columns, some in asked.views.items():
        classes = seen_classes(known, columns, len(people), people)
        classes = classes if beside is None else joined(classes, beside)
        if not all(
            part.met(counts) for part, _, counts in count_asked(some, classes, people, secrets)
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
    """Refuse, before any search, what no release of these people keeps; see `out_of_reach`.

    Parameters
    ----------
    asked : Requirements
    everybody : callable
        Counts all people as one group, with the sensitive column of that name, if any.
    unit : {"people", "rows"}
        What is counted.
    all_stay : bool
        Whether a release has all of them.

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
    """What is asked for, of the columns of a table: against each attacker, and each of the secrets.

    The attacker without a name, who knows the quasi-identifiers, is among several only where these
    were named: whoever knows all columns needs no others beside.

    >>> frame = pl.DataFrame({"age": [31], "job": ["cook"], "ill": [1]})
    >>> table = Table(frame).with_roles(target="ill")
    >>> for each in required_of(table, requirements(3), [Attacker("boss", ["job"], l=2)]):
    ...     print(each.attacker, each.key, each.columns, each.secret)
    boss k_anonymity ('job',) None
    boss l_diversity ('job',) ill
    """
    check_knowledge(attackers, table)
    found = [] if attackers and table.roles.quasi is None else [*_of(table, asked, table.quasi, ())]
    for each in attackers:
        theirs = requirements(**{"k": asked.k, **each.asks})
        theirs = requirements(**{**each.asks, "k": theirs.k})  # as many as the largest risk needs
        known = tuple(c for c in table.features if c in each.knows)
        some = _of(table, theirs, known, each.wants)
        found += [replace(one, attacker=each.name) for one in some]
    return Requirements(tuple(found))


def _of(
    table: Table, asked: Requirements, known: Sequence[str], wants: Sequence[str]
) -> Requirements:
    """The requirements about some columns, those about secrets once for each that is wanted."""
    found = [each.about(known, number=False) for each in asked if not each.about_secret]
    for secret in wants or table.secrets:
        number = table.frame.schema[secret].is_numeric()
        found += asked.about_secrets.about(known, secret, number=number)
    order = [each.key for each in asked]  # failures are told in one order
    linked = table.people.together
    found = [replace(each, linked=linked) for each in found] if linked else found
    return Requirements(tuple(sorted(found, key=lambda each: order.index(each.key))))


@dataclass(frozen=True)
class AttackerExposure:
    """What one attacker finds in a table as it is, and whether that is what was asked for."""

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
    """How exposed a table is to each attacker, the one with the smallest group first.

    `k` is asked for where an attacker names none.

    >>> frame = pl.DataFrame({"job": ["cook", "cook", "judge"], "ill": [1, 0, 1]})
    >>> (found,) = expose(Table(frame).with_roles(target="ill"), [Attacker("boss", ["job"])], 2)
    >>> found.k_anonymity, found.unique_people, found.limits[0].lacking
    (1, 1, 'boss: k = 2 requires 2 people alike, but the smallest group has 1 (1 too few)')
    """
    found, shape = [], table.shape if isinstance(table, LargeTable) else table
    for attacker in attackers:
        asked = required_of(shape.with_roles(quasi=None), requirements(k), [attacker])
        known = tuple(c for c in shape.features if c in attacker.knows)
        see = _seen_by_engine if isinstance(table, LargeTable) else _seen_in_memory
        alike, reached = see(table, known, asked)  # type: ignore[arg-type]
        checks: list[LimitCheck] = []
        for some in asked.by_secret.values():
            checks += check_limits(some, {each.name: reached[each] for each in some})
        found.append(AttackerExposure(attacker.name, known, *alike, tuple(checks)))
    return sorted(found, key=lambda each: each.k_anonymity)


def _seen_in_memory(
    table: Table, known: tuple[str, ...], asked: Requirements
) -> tuple[Smallest, Reached]:
    grouping = grouped(table.frame, known, table.people)
    reached: dict[Requirement, float] = {}
    for secret, some in asked.by_secret.items():
        counts = count_groups(grouping, None if secret is None else table.frame[secret])
        reached |= {each: each.reached(counts) for each in some}
    return Smallest(grouping.k_anonymity, grouping.unique_people), reached


def _seen_by_engine(
    large: LargeTable, known: tuple[str, ...], asked: Requirements
) -> tuple[Smallest, Reached]:
    cells = cells_of(large, [*known, *filter(None, asked.by_secret)])
    alike = smallest(large.engine, cells, large.columns(known), large.who)
    return alike, reached_by_all(asked, large, cells)


def in_release(asked: Requirements, release: Release) -> Requirements:
    """The same requirements, of what each attacker may know of the columns of a release."""
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
    """The table, whose quasi-identifiers are what all attackers know together."""
    if not attackers:
        return table
    known = {c for each in attackers for c in each.knows} | {*(table.roles.quasi or ())}
    return table.with_roles(quasi=tuple(c for c in table.features if c in known))


def check_knowledge(attackers: Iterable[Attacker], table: Table) -> None:
    """Refuse attackers who know, or want, what the table lacks or what is something else.

    What they know may be released, so it is a feature; what they want is sensitive, or the target.
    """
    dropped = table.roles.dropped

    def role(column: str) -> str:
        return "dropped" if column in dropped else table.role(column)

    known = (*table.features, *dropped)
    check_knowing(attackers, table.frame.columns, known, table.secrets, role)
