"""`Release`: a table as it could be published, how it was made, and what it promises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError, plural
from tamis.table import Table

Promised = Literal["k_anonymity", "containment_anonymity"]
MOST_ABSENCES = 4
"""Promises about more known absences would take too long to count; k-anonymity covers them all."""


@dataclass(frozen=True)
class Recipe:
    """How a release was made.

    Parameters
    ----------
    method : str
        The method that proposed it.
    public : mapping
        Parameters that may be published.
    private : mapping
        Parameters that only the data holder keeps, such as a seed.
    """

    method: str
    public: Mapping[str, Any] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Promise:
    """A level of anonymity that a release must keep over some of its columns.

    Parameters
    ----------
    name : {"k_anonymity", "containment_anonymity"}
        Whether people hide among identical rows, or among people who have everything they have.
    at_least : int
        The number of people.
    columns : tuple of str
        The columns an attacker may know. If empty, the attacker knows nothing that is released.
    absences : int
        By containment: how many things that a person lacks an attacker may know too.
    """

    name: Promised
    at_least: int
    columns: tuple[str, ...]
    absences: int = 0


@dataclass(frozen=True)
class Coarsening:
    """The coarser form that a column is released in.

    Parameters
    ----------
    ladder : mapping
        The description of its ladder, as plain values.
    level : int
        The level of the ladder, from 1; level 0 would be the column as it is.
    """

    ladder: Mapping[str, Any]
    level: int

    @property
    def key(self) -> str:
        """Equal for equal forms."""
        return json.dumps([self.level, self.ladder], sort_keys=True)


@dataclass(frozen=True, eq=False)
class Release:
    """A table as it could be published.

    Its rows are those of the original in the same order, so the two can be compared; the order
    is lost on publication. Synthetic rows describe no real person and may differ in number.

    Parameters
    ----------
    name : str
    table : Table
        The released features and the target, and nothing else.
    recipe : Recipe
    promises : tuple of Promise
    unaltered : Table, optional
        If values were altered, the same rows and features unaltered: what a model that
        learnt from the release will be applied to.
    rehearsal : Table, optional
        For synthetic rows: more rows, generated in the same way from the rows a search may see,
        so that models trained on them can be evaluated on the other rows.
    people : array of int, optional
        The number of the person each row is about, since the identifiers that distinguish people
        are not in the table. `None` if each row is a different person.
    forms : mapping of feature to Coarsening
        The features that are released in a coarser form; people in whom a model is interested are
        coarsened the same way.
    beyond : int
        Columns that it stands for beside those of its table, where an original of very many is
        compared by some; it is measured as all of them, and never published.
    unit : {"people", "rows"}
        What counts refer to, as in `Table.unit` of the original.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis import Roles
    >>> frame = pl.DataFrame({"age": [31, 47], "job": ["cook", "judge"], "ill": ["no", "yes"]})
    >>> whole = Table(frame, Roles(target="ill", identifiers=("job",)))
    >>> released(whole, ["age"], "by hand", Recipe("hand")).table.frame.columns
    ['age', 'ill']
    """

    name: str
    table: Table
    recipe: Recipe
    promises: tuple[Promise, ...] = ()
    unaltered: Table | None = None
    rehearsal: Table | None = None
    people: NDArray[np.int64] | None = None
    unit: Literal["people", "rows"] = "rows"
    forms: Mapping[str, Coarsening] = field(default_factory=dict)
    beyond: int = 0

    def __post_init__(self) -> None:
        allowed = {*self.table.features, self.table.target}
        if extra := [c for c in self.table.frame.columns if c not in allowed]:
            raise InputError(
                "a release contains only features and the target, got "
                f"{plural(len(extra), 'more column')}"
            )
        if unknown := [c for c in self.forms if c not in self.table.features]:
            raise InputError(f"{plural(len(unknown), 'coarser form')} of no released feature")
        if self.people is not None and len(self.people) != self.table.rows:
            raise InputError(
                f"people must have one entry per row: the table has {self.table.rows} rows, got "
                f"{len(self.people)} entries"
            )

    @property
    def is_drawn(self) -> bool:
        """Whether its rows are synthetic, so that none of them describes a real person."""
        return self.rehearsal is not None

    @property
    def features(self) -> tuple[str, ...]:
        return self.table.features

    @property
    def size(self) -> int:
        """The number of columns beside the target."""
        return len(self.features) + self.beyond

    @property
    def everybody(self) -> int:
        """The number of people; the number of rows if each row is a person."""
        return self.table.rows if self.people is None else int(self.people.max()) + 1


def released(
    table: Table,
    features: list[str] | tuple[str, ...],
    name: str,
    recipe: Recipe,
    promises: tuple[Promise, ...] = (),
) -> Release:
    """A release of some features of a table, without identifiers and the sensitive column."""
    kept = set(features)
    columns = [c for c in table.features if c in kept]
    quasi = None if table.roles.quasi is None else [c for c in table.quasi if c in kept]
    frame = table.only([*columns, table.target])
    narrow = Table(frame).with_roles(
        target=table.target,
        quasi=None if quasi is None else tuple(quasi),
        plain=tuple(c for c in table.roles.plain if c in kept),
    )
    return Release(name, narrow, recipe, promises, people=table.people, unit=table.unit)
