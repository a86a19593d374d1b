"""`Release`: a table as it could be published, with its recipe and its promises."""

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
    """The form of a generalised column.

    Parameters
    ----------
    ladder : mapping
        The description of its ladder, as plain values.
    level : int
        The level of the ladder, from 1; level 0 would be the column as it is.
    stability : float, optional
        For learnt groups, the share of people in the same group when learnt from other rows.
    trials : tuple of CoarserForm
        For learnt groups, the groups of each round of choosing, learnt without that round's test
        rows. A release is scored by these, since groups look too good on rows that they were learnt
        from.
    """

    ladder: Mapping[str, Any]
    level: int
    stability: float | None = None
    trials: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        return in_short(self, f"level {self.level} by {', '.join(self.ladder)}")

    @property
    def key(self) -> str:
        """A text that is equal for equal forms."""
        return json.dumps([self.level, self.ladder], sort_keys=True)


@dataclass(frozen=True, eq=False)
class Release:
    """A table as it could be published.

    Its rows are those of the original in the same order, so the two can be compared; the order
    is lost on publication. Subclasses are for releases with altered values (`AlteredRelease`),
    synthetic rows (`DrawnRelease`), suppressed rows (`SuppressedRelease`), and for one that stands
    for more columns than its table has (`ScreenedRelease`).

    Parameters
    ----------
    name : str
    table : Table
        The released features and the target, and nothing else.
    recipe : Recipe
    promises : tuple of KAnonymity
        Promised sizes of equivalence classes, and the columns they are about.
    people : People, optional
        The person of each row, since the table no longer has the identifiers. By default each row
        is a different person.
    unit : {"people", "rows"}
        What is counted, as in `Table.unit` of the original.
    forms : mapping of feature to Coarsening
        The forms of generalised features; a model's test rows are generalised in the same way.
    sources : mapping of feature to column
        The original's column that a feature was made of, if it has another name.

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
    """Number of columns that it stands for besides those of its table."""

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
        """Whether cells are neither those of the original nor generalisations of them."""
        return isinstance(self, AlteredRelease)

    @property
    def is_drawn(self) -> bool:
        """Whether its rows are synthetic, so that none describes a real person."""
        return isinstance(self, DrawnRelease)

    @property
    def is_suppressed(self) -> bool:
        """Whether rows of the original are suppressed."""
        return isinstance(self, SuppressedRelease)

    @property
    def true_values(self) -> Table:
        """The same rows and features with unaltered values, in their released forms."""
        return self.table

    @property
    def unsuppressed(self) -> Release:
        """The release with all rows of the original, including suppressed ones."""
        return self

    @cached_property
    def label_counts(self) -> dict[str, int]:
        """Number of labels of each generalised column, over all rows."""
        frame = self.unsuppressed.table.frame
        return {name: frame[name].n_unique() for name in self.forms}

    @property
    def by_containment(self) -> bool:
        """Whether it promises containment anonymity only, and no classes of equal people."""
        return {promise.key for promise in self.promises} == {"containment_anonymity"}

    @property
    def features(self) -> tuple[str, ...]:
        return self.table.features

    @property
    def size(self) -> int:
        """Number of columns besides the target."""
        return len(self.features) + self.n_unlisted

    @property
    def everybody(self) -> int:
        """Number of people; of rows, if each row is a person."""
        return self.people.count

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Mask of the original's rows that are released."""
        return np.ones(self.table.rows, dtype=np.bool_)

    @property
    def suppressed_rows(self) -> int:
        """Number of suppressed rows."""
        return self.unsuppressed.table.rows - self.table.rows

    @property
    def suppressed_people(self) -> int:
        """Number of people whose rows are all suppressed."""
        return self.unsuppressed.everybody - self.everybody

    def source(self, feature: str) -> str:
        """The original's column that a feature was made of."""
        return self.sources.get(feature, feature)

    def inside(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """The given rows of the original without suppressed ones."""
        return rows

    def cells(self, column: pl.Series) -> pl.Series:
        """The cells of a column of the original in released rows."""
        return column

    def keeping(self, mask: NDArray[np.bool_]) -> SuppressedRelease:
        """The release with only the rows of a mask; the others are suppressed.

        Parameters
        ----------
        mask : array of bool
            The rows that stay; all rows of a person or none.

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
        """The release as one with altered values; `unaltered` has the true ones."""
        return AlteredRelease(**self._parts(), unaltered=unaltered)

    def standing_for(self, n_unlisted: int) -> ScreenedRelease:
        """The release as one that stands for so many further columns."""
        return ScreenedRelease(**self._parts(), n_unlisted=n_unlisted)

    def _parts(self) -> dict[str, Any]:
        """The fields that every subclass has."""
        return {each.name: getattr(self, each.name) for each in fields(Release)}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AlteredRelease(Release):
    """A release with altered values.

    Parameters
    ----------
    unaltered : Table
        The same rows and features with true values, to which a model of the release is applied.
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
        The original's people in the same columns.
    evaluation_sample : Table
        Further rows, generated in the same way from the rows a search may see, so that models
        trained on them can be evaluated on the other rows.
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
    """The baseline of records with very many columns, of which its table has the compared ones.

    It is measured as if it had all of them, and never published.
    """

    n_unlisted: int  # type: ignore[misc]  # of others it is the same for all


def released(
    table: Table,
    features: list[str] | tuple[str, ...],
    name: str,
    recipe: Recipe,
    promises: tuple[KAnonymity, ...] = (),
) -> Release:
    """A release of some features and the target, without identifiers and the sensitive column."""
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
