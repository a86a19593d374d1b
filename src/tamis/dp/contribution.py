"""How many rows each person contributes to a private table: others are left out at random.

Who is who follows from the roles alone, never from cells: where one identifier is named (or those
in `Roles.person`), its values are people; where the roles say that every row is a person, or name
nobody, each row stands for itself. Several identifiers, none of them said to be the person, are
refused: only the cells could show whether one of them is finer than another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from tamis.dp.budget import Unit
from tamis.errors import InputError, listed
from tamis.table import Roles, Table


def naming(roles: Roles) -> tuple[str, ...]:
    """The columns that identify people; none where each row stands for itself."""
    if roles.person is not None:
        return roles.person
    if len(roles.identifiers) > 1:
        raise InputError(
            f"columns {listed(roles.identifiers)} are identifiers, and differential privacy must "
            "know which of them identifies people; name it with --person COL (Roles.person), or "
            "pass --row-is-person if every row is a person"
        )
    return roles.identifiers


def unit_of(roles: Roles) -> Unit:
    """What the promise covers: a person where people are known, otherwise a row."""
    return "person" if naming(roles) or roles.person is not None else "row"


def check_most(most: Any, roles: Roles, neighbours: str) -> None:
    """Refuse a number of rows per person that does not fit these roles and neighbours."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InputError(f"max_rows_per_person must be a whole number of at least 1, got {most!r}")
    if most > 1 and not naming(roles):
        raise InputError(
            f"max_rows_per_person = {most} needs to know whose row each row is; name the column "
            "with --identifier COL"
        )
    if most > 1 and neighbours == "substitute":
        raise InputError(
            "neighbours 'substitute' takes the number of rows as public, which it is not where "
            "people have several; use 'add-remove', or at most one row per person"
        )


def limited(table: Table, most: int) -> Table:
    """At most so many rows of each person, drawn evenly; the rows stay in order.

    Like the noise, the draw has no seed: to someone who knows everything but the draw, each
    person's rows must be drawn independently of who else is in the table.

    >>> stays = pl.DataFrame({"patient": ["a", "a", "b"], "ill": [0, 1, 1]})
    >>> limited(Table(stays, Roles(target="ill", identifiers=("patient",))), 1).rows
    2
    """
    columns = naming(table.roles)
    if not columns:
        return table
    order = np.random.default_rng().permutation(table.rows)
    people = [
        table.frame.get_column(c).cast(pl.String)[order].alias(f"{i}")
        for i, c in enumerate(columns)
    ]
    names = [person.name for person in people]
    rank = pl.DataFrame(people).select(pl.int_range(pl.len()).over(names)).to_series()
    kept = np.sort(order[(rank < most).to_numpy()])
    return replace(table, frame=table.frame[kept])
