"""Alignment of a foreign table with its original: column names, generalised values, rows.

Columns are matched by name. The original is generalised like the release, by ladders or by what
labels say. If each released row then equals one of the original, it is taken to be that person's;
else the rows are judged as drawn, since nobody knows whose they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tamis.attack.sources import (
    APART,
    compared_cells,
    in_its_ladders,
    in_its_terms,
    in_local_groups,
    value_groups,
)
from tamis.coarsen.foreign_labels import ANYTHING
from tamis.coarsen.ladder import Ladder
from tamis.errors import InputError, did_you_mean, listed, plural
from tamis.release import Coarsening
from tamis.table import Roles, Table, bare, frame_of_columns, only

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Foreign:
    """A table that somebody made from the original.

    Parameters
    ----------
    name : str
    table : Table
        The table as read, with the column names of the original.
    forms : mapping of column to Coarsening
        Generalised forms that are known, from a manifest.
    """

    name: str
    table: Table
    forms: Mapping[str, Coarsening] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Aligned:
    """A foreign table and its original with the same columns, types and generalised forms.

    Parameters
    ----------
    name : str
    released : Table
        The rows of the release, in the columns that both have.
    original : Table
        The original, with these columns in the forms of the release.
    forms : mapping of column to Coarsening
        The generalised columns.
    stars : int
        Rows of the release in which every generalised cell is suppressed (``*``); they are not in
        `released`.
    notes : tuple of str
        What could not be compared, and why.
    """

    name: str
    released: Table
    original: Table
    forms: Mapping[str, Coarsening]
    stars: int
    notes: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.released.frame.columns)

    @cached_property
    def mask(self) -> Mask | None:
        """Mask of the original rows in the release; `None` if some released row is not among them.

        Of equal rows the first ones are taken: it makes no difference which.
        """
        numbers = {c for c in self.columns if self.original.kind(c) == "number"}
        mine = compared_cells(self.original, self.columns, numbers)
        theirs = compared_cells(self.released, self.columns, numbers)
        names = mine.columns
        amount = theirs.group_by(names).len("amount")
        if amount.join(mine, on=names, how="anti", nulls_equal=True).height:
            return None
        place = pl.int_range(pl.len()).over(names).alias("place")
        matched = mine.with_columns(place).join(
            amount, on=names, how="left", nulls_equal=True, maintain_order="left"
        )
        stays: Mask = (matched["place"] < matched["amount"].fill_null(0)).to_numpy()
        return stays if int(stays.sum()) == self.released.rows else None


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """A table with renamed columns; `names` maps old names to new ones.

    >>> renamed(Table(pl.DataFrame({"Alter": [31]})), {"Alter": "age"}).frame.columns
    ['age']
    """
    columns = table.frame.columns
    if unknown := [old for old in names if old not in columns]:
        turned = all(names[old] in columns for old in unknown)
        hint = "" if turned else did_you_mean(unknown[0], columns)
        order = "; the name in the release comes first" if turned else ""
        raise InputError(
            f"no column {listed(unknown)} to rename{hint}{order}; the columns are "
            f"{listed(columns, most=30)}"
        )
    new = [names.get(c, c) for c in columns]
    if len(set(new)) < len(new):
        raise InputError("two columns would have one name; give each new name once")
    cells = [series.alias(name) for series, name in zip(table.frame.get_columns(), new)]
    target = table.roles.target
    return Table(frame_of_columns(cells, table.rows), Roles(target=names.get(str(target), target)))


def align(
    original: Table,
    foreign: Foreign,
    ladders: Mapping[str, Ladder] | None = None,
    encoding: Any = None,
    others: Table | None = None,
) -> Aligned:
    """Match a foreign table with the original, which is generalised like it.

    Parameters
    ----------
    original : Table
    foreign : Foreign
    ladders : mapping of column to Ladder, optional
        The ladders that it was made with; forms of other columns are read from their labels.
    encoding : optional
        How columns became 0/1, as in `tamis.attack.sources.in_its_terms`.
    others : Table, optional
        People who are not in it, whose values are also assigned to groups.

    Examples
    --------
    >>> people = Table(pl.DataFrame({"age": [31, 47, 52], "zip": ["75011", "75012", "13001"]}))
    >>> made = Table(pl.DataFrame({"zip": ["13***", "75***"], "age": ["50+", "30-49"]}))
    >>> aligned = align(people, Foreign("elsewhere.csv", made))
    >>> aligned.original.frame["age"].to_list(), aligned.mask.tolist()
    (['30-49', '30-49', '50+'], [True, False, True])
    """
    table = foreign.table
    terms = in_its_terms(original, table, encoding)
    shared = [c for c in terms.frame.columns if c in set(table.frame.columns)]
    if not shared:
        raise InputError(
            f"{foreign.name} shares no column with the original; name them with --rename OLD=NEW. "
            f"Its columns are {listed(table.frame.columns, most=30)}"
        )
    notes = []
    if extra := [c for c in table.frame.columns if c not in shared]:
        notes.append(f"the original has no column {listed(extra)}: not judged")
    released, stars = _without_stars(_years_as_texts(table, terms), terms, shared)
    local = in_local_groups(terms, released)
    forms: dict[str, Coarsening] = {}
    if local is not None and _each_is_somebody(released, local):
        terms = local
    else:
        forms = _forms(terms, released, foreign.forms, ladders or {}, others)
        terms = in_forms(terms, forms)
        # Synthetic rows in local groups: not each is a person's, and their labels overlap. The
        # reading that makes more columns comparable is taken.
        if local is not None and len(_typed(local, released)) > len(_typed(terms, released)):
            forms, terms = {}, local
    columns = _typed(terms, released)
    lost = [c for c in shared if c not in {cells.name for cells in columns}]
    if lost:
        notes.append(
            f"the values of column {listed(lost)} are not those of the original, nor labels that "
            "can be read without overlap: not judged; give --ladder COL=FILE"
        )
    if not columns:
        raise InputError(f"no column of {foreign.name} can be compared; give --ladder COL=FILE")
    if stars:
        notes.append(f"{plural(stars, 'row')} of stars alone: counted as left out")
    frame = frame_of_columns(columns, released.rows)
    roles = _roles_of(original.roles, set(frame.columns))
    kept = {c: form for c, form in forms.items() if c in frame.columns}
    return Aligned(foreign.name, Table(frame, roles), terms, kept, stars, tuple(notes))


def _years_as_texts(table: Table, terms: Table) -> Table:
    """The table with years as texts where the original has dates: there they are labels."""
    days = {c for c, kind in terms.frame.schema.items() if kind in (pl.Date, pl.Datetime)}
    cells = [
        c.cast(pl.String) if c.name in days and c.dtype.is_integer() else c
        for c in table.frame.get_columns()
    ]
    return replace(table, frame=frame_of_columns(cells, table.rows))


def _each_is_somebody(released: Table, local: Table) -> bool:
    """Whether every released row has the groups that local recoding gave to some person."""
    columns = [c for c in local.quasi if released.frame.schema.get(c) == pl.String]
    mine, theirs = (compared_cells(table, columns, ()).unique() for table in (local, released))
    return not theirs.join(mine, on=mine.columns, how="anti", nulls_equal=True).height


def _roles_of(roles: Roles, columns: set[str]) -> Roles:
    """The roles restricted to the given columns."""

    def some(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(c for c in names if c in columns)

    return replace(
        Roles(),
        target=roles.target if roles.target in columns else None,
        sensitive=roles.sensitive if roles.sensitive in columns else None,
        quasi=None if roles.quasi is None else some(roles.quasi),
        identifiers=some(roles.identifiers),
        plain=some(roles.plain),
    )


def _without_stars(table: Table, terms: Table, shared: Sequence[str]) -> tuple[Table, int]:
    """The table without rows that are ``*`` in every column with stars, and the number of these.

    Stars in other rows are suppressed cells, and become missing.
    """
    frame = only(table.frame, shared)
    starred = [c for c in shared if _has_stars_beside_labels(frame.get_column(c), terms)]
    if not starred:
        return replace(table, frame=frame, roles=_roles_of(table.roles, set(shared))), 0
    taken = [bare(frame.get_column(c)) == ANYTHING for c in starred]
    gone = np.logical_and.reduce([mask.fill_null(False).to_numpy() for mask in taken])
    blank = [
        cells.set(mask.fill_null(False), None) if cells.name in starred else cells
        for cells in frame.get_columns()
        for mask in [bare(cells).cast(pl.String) == ANYTHING]
    ]
    kept = frame_of_columns(blank, frame.height).filter(pl.Series(~gone))
    roles = _roles_of(table.roles, set(shared))
    return replace(table, frame=kept, roles=roles), int(gone.sum())


def _has_stars_beside_labels(cells: pl.Series, terms: Table) -> bool:
    if cells.dtype != pl.String:
        return False
    labels = set(bare(cells).drop_nulls().unique())
    mine = terms.frame.get_column(cells.name)
    own = mine.dtype == pl.String and bool((bare(mine) == ANYTHING).any())
    return ANYTHING in labels and len(labels) > 1 and not own


def _forms(
    terms: Table,
    released: Table,
    known: Mapping[str, Coarsening],
    ladders: Mapping[str, Ladder],
    others: Table | None,
) -> dict[str, Coarsening]:
    """The form of each generalised column: as stated, else by its ladder, else by its labels."""
    forms = {c: form for c, form in known.items() if c in terms.frame.columns}
    for cells in released.frame.get_columns():
        name, mine = cells.name, terms.frame.get_column(cells.name)
        if name in forms:
            continue
        if name in ladders:
            level = _level(terms, released, name, ladders[name])
            if level:
                forms[name] = Coarsening(ladders[name].to_dict(), level)
        elif (groups := value_groups(_with_others(mine, others), cells)) is not None:
            members: dict[str, list[str]] = {}
            for value, label in groups.items():
                members.setdefault(label, []).append(value)
            forms[name] = Coarsening({"groups": members}, 1)
    return forms


def _with_others(mine: pl.Series, others: Table | None) -> pl.Series:
    if others is None or mine.name not in others.frame.columns:
        return mine
    theirs = bare(others.frame.get_column(mine.name)).cast(mine.dtype, strict=False)
    return pl.concat([bare(mine), theirs]).alias(mine.name)


def _level(terms: Table, released: Table, name: str, ladder: Ladder) -> int:
    """The level of a ladder that a column was released in."""
    here = in_its_ladders(terms, released, {name: ladder}).frame.get_column(name)
    mine = terms.frame.get_column(name)
    levels = (level for level in range(ladder.top + 1) if ladder.apply(mine, level).equals(here))
    return next(levels)


def in_forms(terms: Table, forms: Mapping[str, Coarsening]) -> Table:
    """A table with its columns generalised to the given forms."""
    cells = [
        Ladder.from_dict(c.name, forms[c.name].ladder).apply(c, forms[c.name].level).alias(c.name)
        if c.name in forms
        else c
        for c in terms.frame.get_columns()
    ]
    return replace(terms, frame=frame_of_columns(cells, terms.rows))


def _typed(terms: Table, released: Table) -> list[pl.Series]:
    """The released columns that can be compared, in the types of the original."""
    frames = terms.frame, released.frame
    columns = [_typed_as(*(frame.get_column(c) for frame in frames)) for c in frames[1].columns]
    return [cells for cells in columns if cells is not None]


def _typed_as(mine: pl.Series, theirs: pl.Series) -> pl.Series | None:
    """Released cells in the type of the original column; `None` where they do not fit it.

    A column of texts fits only if it has some value in common with the original.
    """
    if mine.dtype != pl.String:
        try:
            cells = bare(theirs).cast(_widest(mine, theirs), strict=False)
        except pl.exceptions.InvalidOperationError:  # polars has no such cast, as of texts to dates
            return None
        return cells.alias(mine.name) if cells.null_count() == theirs.null_count() else None
    cells = bare(theirs).cast(pl.String)
    own = set(bare(mine).drop_nulls().unique())
    shared = own & set(cells.drop_nulls().unique())
    if own and not shared and cells.drop_nulls().len():
        return None
    if any(value.startswith(APART) for value in own) and not shared:
        return None
    return cells.alias(mine.name)


def _widest(mine: pl.Series, theirs: pl.Series) -> Any:
    """The type to compare in: floats if the release has any, so that fractions are not cut off."""
    return pl.Float64 if mine.dtype.is_integer() and theirs.dtype.is_float() else mine.dtype
