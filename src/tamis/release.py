"""`Release`: a table as it could be handed on, how it was made, and what holds for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.errors import InputError
from tamis.table import Table

Promised = Literal["k_anonymity", "containment_anonymity"]


@dataclass(frozen=True)
class Recipe:
    """How a release was made.

    Parameters
    ----------
    method : str
        The method that proposed it.
    public : mapping
        Parameters that may be handed on.
    private : mapping
        Parameters that only the data holder keeps, such as a seed.
    """

    method: str
    public: Mapping[str, Any] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Promise:
    """An anonymity that a release must keep over some of its columns.

    Parameters
    ----------
    name : {"k_anonymity", "containment_anonymity"}
        Whether people hide among equals, or among those who have all they have.
    at_least : int
        The number of people.
    columns : tuple of str
        The columns that an attacker may know. None: an attacker knows nothing that is released.
    """

    name: Promised
    at_least: int
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Release:
    """A table as it could be handed on.

    Its rows are those of the original in the same order, so that both can be compared; the order
    is lost when it is published. Rows that were drawn anew are nobody's, and as many as were drawn.

    Parameters
    ----------
    name : str
    table : Table
        The released features and the target, nothing else.
    recipe : Recipe
    promises : tuple of Promise
    unaltered : Table, optional
        Where values were altered, the same rows and features as they were: what a model that
        learnt from the release will meet.
    rehearsal : Table, optional
        Where rows were drawn anew: rows drawn in the same way from those that a search may see,
        so that models that learn from them can be judged on the others.
    people : array of int, optional
        The number of the person that each row is about: the identifiers that told people apart
        are not in the table. `None`: each row is a person.
    unit : {"people", "rows"}
        The word for a count, as `Table.unit` of the original says.

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

    def __post_init__(self) -> None:
        allowed = {*self.table.features, self.table.target}
        if extra := [c for c in self.table.frame.columns if c not in allowed]:
            raise InputError(
                f"a release holds features and the target only, got {len(extra)} more columns"
            )
        if self.people is not None and len(self.people) != self.table.rows:
            raise InputError(
                f"a release knows whose each row is: {self.table.rows} rows, got "
                f"{len(self.people)} people"
            )

    @property
    def is_drawn(self) -> bool:
        """Whether its rows were drawn anew, so that none of them is anybody's."""
        return self.rehearsal is not None

    @property
    def features(self) -> tuple[str, ...]:
        return self.table.features

    @property
    def everybody(self) -> int:
        """The number of people; of rows, where each is a person."""
        return self.table.rows if self.people is None else int(self.people.max()) + 1


def released(
    table: Table,
    features: list[str] | tuple[str, ...],
    name: str,
    recipe: Recipe,
    promises: tuple[Promise, ...] = (),
) -> Release:
    """Some features of a table as a release: identifiers and the sensitive column stay behind."""
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
