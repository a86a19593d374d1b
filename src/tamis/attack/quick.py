"""`quick_attack`: the few attackers that are tried on every release before it is published.

They are those of `attack_release` that a lay person asks about: is somebody found, are two halves
of somebody put together, is a secret guessed. The original is taken in the terms of the release, so
coarser forms and 0/1 columns need no matching.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from tamis.attack.inference import infer
from tamis.attack.learners import LOOKUP, SMALL
from tamis.attack.linkage import halves, linkage
from tamis.attack.scene import MOST, Scene
from tamis.attack.score import AttackScore
from tamis.notebook import by_fields
from tamis.release import Release
from tamis.table import Roles, Table

LEARNERS = (LOOKUP, SMALL, "nb")
"""Those that take a twentieth of a second on some thousand rows."""
MOST_CELLS = 4_000_000
"""Larger tables are left to `attack_release`, which may take its time."""
COMPARED = 6_000_000
"""People are looked for among all rows: of large tables fewer are tried, down to `FEWEST`."""
FEWEST = 200
FINALISTS, OF_FINALISTS = 3, 200
"""How many releases besides the chosen one are attacked, and on how many people at most."""


@dataclass(frozen=True)
class QuickAttack:
    """What a few attackers reach with one release.

    Attributes
    ----------
    found : AttackScore
        By one who knows the quasi-identifiers.
    joined : AttackScore, optional
        By two who hold half of the columns each.
    guessed : AttackScore, optional
        The secret, by one who knows the released columns and the target of a person. `None` if it
        cannot be guessed as classes.
    """

    found: AttackScore
    joined: AttackScore | None
    guessed: AttackScore | None

    __repr__ = by_fields


def quick_attack(
    original: Table,
    release: Release,
    *,
    most: int = MOST,
    joined: bool = True,
    random_state: int = 0,
) -> QuickAttack | None:
    """Try a few attackers on a release whose rows are those of the original, in their order.

    Parameters
    ----------
    original : Table
    release : Release
    most : int
        The most people to try.
    joined : bool
        Whether two attackers with half of the columns each are among them; they take longest.
    random_state : int

    Returns
    -------
    QuickAttack or None
        `None` for synthetic rows, which describe nobody, and for tables of many cells.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> from tamis.release import Recipe, released
    >>> table = patients(rows=300)
    >>> whole = quick_attack(table, released(table, table.features, "all", Recipe("hand")))
    >>> part = quick_attack(table, released(table, ["ward"], "ward", Recipe("hand")))
    >>> whole.found.success.value > 0.9, part.found.success.value < 0.1
    (True, True)
    """
    if release.kept is not None:  # only who is in can be found
        original = replace(original, frame=original.frame.filter(pl.Series(release.kept)))
    if release.is_drawn or release.table.rows != original.rows:
        return None
    if _many_cells(original) or _many_cells(release.table):
        return None
    values = release.unaltered or release.table
    few = min(most, max(FEWEST, COMPARED // max(original.rows, 1)))
    linked = _scene(original, release, values, few, random_state)
    # Of a secret that is held back, an attacker has the person's row as it was released.
    secret, public = original.sensitive, original.sensitive == original.roles.target
    if public or values is release.table:
        asked = linked.trying(most)
    else:
        asked = _scene(original, release, release.table, most, random_state)
    guessed = None if secret is None else infer(asked, secret, not public, LEARNERS)
    return QuickAttack(linkage(linked, ())[0], halves(linked) if joined else None, guessed)


def _many_cells(table: Table) -> bool:
    return table.rows * table.frame.width > MOST_CELLS


def _scene(original: Table, release: Release, values: Table, most: int, random_state: int) -> Scene:
    """The release beside the original, whose released columns have these values."""
    roles, columns = original.roles, {s.name: s for s in values.frame.get_columns()}
    kept = [c for c in (original.sensitive, *roles.identifiers) if c is not None]
    columns |= {c: original.frame[c] for c in kept if c not in columns}
    terms = Roles(
        target=roles.target,
        sensitive=roles.sensitive,
        quasi=release.table.quasi,
        identifiers=roles.identifiers,
        person=roles.person,
    )
    people = Table(pl.DataFrame(list(columns.values())), terms)
    return Scene(people, release.table, most=most, random_state=random_state)
