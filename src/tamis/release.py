"""`Release`: a table as it could be published, how it was made, and what it promises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.errors import InputError, plural
from tamis.notebook import in_short, quoted
from tamis.people import People
from tamis.table import Table, Unit

if TYPE_CHECKING:
    from tamis.require.k import KAnonymity


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

    def __repr__(self) -> str:
        counts = f"{len(self.public)} public and {len(self.private)} private parameters"
        return in_short(self, quoted(self.method), counts)


@dataclass(frozen=True)
class Coarsening:
    """The coarser form that a column is released in.

    Parameters
    ----------
    ladder : mapping
        The description of its ladder, as plain values.
    level : int
        The level of the ladder, from 1; level 0 would be the column as it is.
    stability : float, optional
        Of learnt groups, the share of people in the same group where other rows were learnt from.
    trials : tuple of CoarserForm
        Of learnt groups, those of each round of choosing, learnt without the rows that the round
        asks about: a release is scored by these, since its own groups look better than they are on
        rows that they were learnt from.
    """

    ladder: Mapping[str, Any]
    level: int
    stability: float | None = None
    trials: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        return in_short(self, f"level {self.level} by {', '.join(self.ladder)}")

    @property
    def key(self) -> str:
        """Equal for equal forms."""
        return json.dumps([self.level, self.ladder], sort_keys=True)


@dataclass(frozen=True, eq=False)
class Release:
    """A table as it could be published.

    Its rows are those of the original in the same order, so the two can be compared; the order
    is lost on publication. What is not so of every release is a kind of its own: values were
    altered (`AlteredRelease`), rows are synthetic (`DrawnRelease`), some are left out
    (`SuppressedRelease`), or it stands for more columns than its table has (`ScreenedRelease`).

    Parameters
    ----------
    name : str
    table : Table
        The released features and the target, and nothing else.
    recipe : Recipe
    promises : tuple of KAnonymity
        Among how many people everybody hides, by which columns.
    people : People, optional
        The person each row is about, since the identifiers that distinguish people are not in
        the table. By default each row is a different person.
    unit : {"people", "rows"}
        What counts refer to, as in `Table.unit` of the original.
    forms : mapping of feature to Coarsening
        The features that are released in a coarser form; people in whom a model is interested are
        coarsened the same way.
    sources : mapping of feature to column
        The column of the original that a feature was made of, where it has another name.

    Examples
    --------
    >>> from tamis import Roles
    >>> frame = pl.DataFrame({"age": [31, 47], "job": ["cook", "judge"], "ill": ["no", "yes"]})
    >>> whole = Table(frame, Roles(target="ill", identifiers=("job",)))
    >>> released(whole, ["age"], "by hand", Recipe("hand")).table.frame.columns
    ['age', 'ill']
    """

    name: str
    table: Table
    recipe: Recipe
    promises: tuple[KAnonymity, ...] = ()
    people: People = None  # type: ignore[assignment]  # each row is a person
    unit: Unit = "rows"
    forms: Mapping[str, Coarsening] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    n_unlisted: ClassVar[int] = 0
    """Columns that it stands for beside those of its table."""

    def __post_init__(self) -> None:
        allowed = {*self.table.features, self.table.target}
        if extra := [c for c in self.table.frame.columns if c not in allowed]:
            raise InputError(
                "a release contains only features and the target, got "
                f"{plural(len(extra), 'more column')}"
            )
        if unknown := [c for c in self.forms if c not in self.table.features]:
            raise InputError(f"{plural(len(unknown), 'coarser form')} of no released feature")
        if self.people is None:
            object.__setattr__(self, "people", People.of_rows(self.table.rows))
        if len(self.people) != self.table.rows:
            raise InputError(
                "people must have one entry per row: the table has "
                f"{plural(self.table.rows, 'row')}, got {len(self.people):,} in people"
            )

    def __repr__(self) -> str:
        promised = [f"{p.key} {p.k:,}" for p in self.promises]
        return in_short(
            self,
            quoted(self.name, 70),
            plural(self.table.rows, "row"),
            plural(self.size, "feature"),
            plural(len(self.forms), "coarser form") if self.forms else None,
            *promised,
        )

    @property
    def is_altered(self) -> bool:
        """Whether cells are not those of the original, nor a coarser form of them."""
        return isinstance(self, AlteredRelease)

    @property
    def is_drawn(self) -> bool:
        """Whether its rows are synthetic, so that none of them describes a real person."""
        return isinstance(self, DrawnRelease)

    @property
    def is_suppressed(self) -> bool:
        """Whether rows of the original are left out."""
        return isinstance(self, SuppressedRelease)

    @property
    def true_values(self) -> Table:
        """The same rows and features unaltered, in their released forms."""
        return self.table

    @property
    def unsuppressed(self) -> Release:
        """The same release with all rows of the original, those that are left out included."""
        return self

    @cached_property
    def label_counts(self) -> dict[str, int]:
        """How many labels each column in a coarser form has, among all rows."""
        frame = self.unsuppressed.table.frame
        return {name: frame[name].n_unique() for name in self.forms}

    @property
    def by_containment(self) -> bool:
        """Whether people hide only among those who have all that they have, not among equals."""
        return {promise.key for promise in self.promises} == {"containment_anonymity"}

    @property
    def features(self) -> tuple[str, ...]:
        return self.table.features

    @property
    def size(self) -> int:
        """The number of columns besides the target."""
        return len(self.features) + self.n_unlisted

    @property
    def everybody(self) -> int:
        """The number of people; the number of rows if each row is a person."""
        return self.people.count

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which rows of the original are in it."""
        return np.ones(self.table.rows, dtype=np.bool_)

    @property
    def suppressed_rows(self) -> int:
        """How many rows of the original are left out."""
        return self.unsuppressed.table.rows - self.table.rows

    @property
    def suppressed_people(self) -> int:
        """How many people are left out with all their rows."""
        return self.unsuppressed.everybody - self.everybody

    def source(self, feature: str) -> str:
        """The column of the original that a feature was made of."""
        return self.sources.get(feature, feature)

    def inside(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of some rows of the original that are not left out."""
        return rows

    def cells(self, column: pl.Series) -> pl.Series:
        """The cells of a column of the original that belong to released rows."""
        return column

    def keeping(self, mask: NDArray[np.bool_]) -> SuppressedRelease:
        """The same release with some rows left out.

        Parameters
        ----------
        mask : array of bool
            Which rows stay: those of a person all or none.

        Examples
        --------
        >>> ages = pl.DataFrame({"age": [31, 31, 90], "ill": ["no", "yes", "no"]})
        >>> whole = released(Table(ages).with_roles(target="ill"), ["age"], "", Recipe("hand"))
        >>> few = whole.keeping(np.array([True, True, False]))
        >>> few.table.rows, few.suppressed_rows
        (2, 1)
        """
        assert not self.is_altered, "true values would lose their rows"
        table = replace(self.table, frame=self.table.frame.filter(pl.Series(mask)))
        whose = self.people[mask].renumbered()
        parts = self._parts() | {"table": table, "people": whose}
        return SuppressedRelease(**parts, stays=mask, with_all_rows=self)

    def altered_from(self, unaltered: Table) -> AlteredRelease:
        """The same release, whose values are not those of the table that is given."""
        return AlteredRelease(**self._parts(), unaltered=unaltered)

    def standing_for(self, n_unlisted: int) -> ScreenedRelease:
        """The same release, which stands for so many more columns."""
        return ScreenedRelease(**self._parts(), n_unlisted=n_unlisted)

    def _parts(self) -> dict[str, Any]:
        """What every kind has."""
        return {each.name: getattr(self, each.name) for each in fields(Release)}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AlteredRelease(Release):
    """A release with altered values.

    Parameters
    ----------
    unaltered : Table
        The same rows and features unaltered: what a model that learnt from the release will be
        applied to.
    """

    unaltered: Table

    @property
    def true_values(self) -> Table:
        return self.unaltered


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DrawnRelease(AlteredRelease):
    """Synthetic rows, which describe no real person and may differ in number.

    Parameters
    ----------
    unaltered : Table
        The people of the original, in the same columns.
    evaluation_sample : Table
        More rows, generated in the same way from the rows a search may see, so that models trained
        on them can be evaluated on the other rows.
    """

    evaluation_sample: Table


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SuppressedRelease(Release):
    """A release without some rows of the original, see `Release.keeping`."""

    stays: NDArray[np.bool_]
    with_all_rows: Release

    @property
    def mask(self) -> NDArray[np.bool_]:
        return self.stays

    @property
    def unsuppressed(self) -> Release:
        return self.with_all_rows

    def inside(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return rows[self.stays[rows]]

    def cells(self, column: pl.Series) -> pl.Series:
        return column.filter(pl.Series(self.stays))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ScreenedRelease(Release):
    """All columns of records that have very many, by the few that are compared.

    It is measured as all of them, and never published.
    """

    n_unlisted: int  # type: ignore[misc]  # of others it is the same for all


def released(
    table: Table,
    features: list[str] | tuple[str, ...],
    name: str,
    recipe: Recipe,
    promises: tuple[KAnonymity, ...] = (),
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
